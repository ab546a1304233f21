"""How often each of many 64-bit hashes occurs, exactly, in bounded memory."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
from numpy.typing import NDArray

IN_MEMORY = 1 << 24  # hashes; more are kept in files
_BUCKETS = 256  # files; each holds the hashes between two bounds
_BOUNDS = np.arange(1, _BUCKETS, dtype=np.uint64) << np.uint64(56)
_PAIR = np.dtype([("hash", "<u8"), ("count", "<i8")])

Hashes = NDArray[np.uint64]
Counts = NDArray[np.int64]


class Distinct:
    """Counts hashes: sorted, neighbours compared.

    Up to ``in_memory`` hashes wait in memory. Then equal hashes become one hash with a count. If
    half of them are different still, they go to files in a temporary folder, by their first byte.
    """

    def __init__(self, in_memory: int = IN_MEMORY) -> None:
        """Start with nothing counted."""
        self.total = 0  # hashes added, also equal ones
        self._in_memory = in_memory
        self._waiting: list[tuple[Hashes, Counts | None]] = []  # without counts: once each
        self._held = 0  # hashes that wait
        self._folder: TemporaryDirectory[str] | None = None

    def add(self, hashes: Hashes) -> None:
        """Count each hash once more."""
        self._add(hashes, None)

    def merge(self, other: Distinct) -> None:
        """Count what another one has counted; it is not changed."""
        for hashes, counts in other.groups():
            self._add(hashes, counts)

    def count(self) -> int:
        """Return the number of different hashes."""
        return sum(len(hashes) for hashes, _ in self.groups())

    def groups(self) -> Iterator[tuple[Hashes, Counts]]:
        """Yield the different hashes in ascending order, a part of them at a time, with counts."""
        self._compact()
        if self._folder is None:
            yield from ((hashes, _ones(hashes, counts)) for hashes, counts in self._waiting)
            return
        self._write()
        for path in self._paths():
            if path.exists():
                pairs = np.fromfile(path, dtype=_PAIR)
                yield _counted(pairs["hash"], pairs["count"])

    def _add(self, hashes: Hashes, counts: Counts | None) -> None:
        self.total += len(hashes) if counts is None else int(counts.sum())
        self._waiting.append((hashes, counts))
        self._held += len(hashes)
        if self._held > self._in_memory:
            self._compact()
            if self._held > self._in_memory // 2:
                self._write()

    def _compact(self) -> None:
        """Make one sorted array of the arrays that wait, with a count for each hash."""
        if not self._waiting or (len(self._waiting) == 1 and self._waiting[0][1] is not None):
            return
        hashes = np.concatenate([hashes for hashes, _ in self._waiting])
        if all(counts is None for _, counts in self._waiting):
            self._waiting.clear()
            hashes.sort()
            self._waiting = [_counted_sorted(hashes, None)]
        else:
            counts = np.concatenate([_ones(*waiting) for waiting in self._waiting])
            self._waiting = [_counted(hashes, counts)]
        self._held = len(self._waiting[0][0])

    def _write(self) -> None:
        """Append what waits to the files."""
        if self._folder is None:
            self._folder = TemporaryDirectory(prefix="unskew-")
        for hashes, counts in self._waiting:
            pairs = np.empty(len(hashes), dtype=_PAIR)
            pairs["hash"], pairs["count"] = hashes, _ones(hashes, counts)
            ends = [0, *np.searchsorted(hashes, _BOUNDS).tolist(), len(hashes)]
            for path, start, end in zip(self._paths(), ends, ends[1:], strict=False):
                if end > start:
                    with path.open("ab") as file:
                        pairs[start:end].tofile(file)
        self._waiting, self._held = [], 0

    def _paths(self) -> list[Path]:
        folder = "" if self._folder is None else self._folder.name
        return [Path(folder, f"{number:02x}") for number in range(_BUCKETS)]


def _ones(hashes: Hashes, counts: Counts | None) -> Counts:
    return np.ones(len(hashes), dtype=np.int64) if counts is None else counts


def _counted(hashes: Hashes, counts: Counts) -> tuple[Hashes, Counts]:
    """Return the different hashes in order, each with the sum of its counts."""
    order = hashes.argsort()
    return _counted_sorted(hashes[order], counts[order])


def _counted_sorted(hashes: Hashes, counts: Counts | None) -> tuple[Hashes, Counts]:
    is_first = np.ones(len(hashes), dtype=np.bool_)
    np.not_equal(hashes[1:], hashes[:-1], out=is_first[1:])
    firsts = np.flatnonzero(is_first)
    if counts is None:
        return hashes[firsts], np.diff(firsts, append=len(hashes))
    return hashes[firsts], np.add.reduceat(counts, firsts) if len(firsts) else counts
