"""How many of many 64-bit hashes are different, and how often each occurs: exact, little memory."""

from __future__ import annotations

import shutil
import tempfile
import weakref
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from unskew.core.errors import UnskewError

IN_MEMORY = 1 << 23  # hashes; more are kept in files
_BUCKETS = 256  # files; each holds the hashes with one first byte
_BOUNDS = np.arange(1, _BUCKETS, dtype=np.uint64) << np.uint64(56)

Hashes = NDArray[np.uint64]
Counts = NDArray[np.int64]


class Distinct:
    """A set of hashes, or with ``counted`` the count of each hash.

    Up to ``in_memory`` hashes wait in memory. Then they are sorted, and equal neighbours become
    one. If many are left, they go to files in a temporary folder, by their first byte.
    """

    def __init__(self, in_memory: int = IN_MEMORY, *, counted: bool = False) -> None:
        """Start with nothing counted."""
        self.total = 0  # hashes added, also equal ones
        self._in_memory, self._counted = in_memory, counted
        self._waiting: list[Hashes] = []
        self._counts: list[Counts] = []  # one array for each that waits, if hashes are counted
        self._held = 0  # hashes that wait
        self._folder: Path | None = None

    def add(self, hashes: Hashes) -> None:
        """Add each hash once."""
        self.add_counts(hashes, _ones(hashes))

    def add_counts(self, hashes: Hashes, counts: Counts) -> None:
        """Add each hash as often as its count says, which is at least once."""
        self.total += int(counts.sum())
        self._add(hashes, counts)

    def add_different(self, hashes: Hashes, total: int) -> None:
        """Add the different ones of ``total`` hashes, each once."""
        self.total += total
        self._add(hashes, _ones(hashes))

    def count(self) -> int:
        """Return the number of different hashes."""
        return sum(len(hashes) for hashes, _ in self.groups())

    def groups(self) -> Iterator[tuple[Hashes, Counts]]:
        """Yield the different hashes in ascending order, a part at a time, and their counts.

        The counts are 1 unless hashes are ``counted``.
        """
        self._compact()
        if self._folder is None:
            for hashes in self._waiting:
                yield hashes, self._counts[0] if self._counted else _ones(hashes)
            return
        self._write()
        for path in self._paths(self._folder):
            if path.exists():
                hashes = np.fromfile(path, dtype=np.uint64)
                counts = np.fromfile(_counts_of(path), dtype=np.int64) if self._counted else None
                hashes, counts = _different(hashes, counts)
                yield hashes, _ones(hashes) if counts is None else counts

    def _add(self, hashes: Hashes, counts: Counts) -> None:
        if not len(hashes):
            return
        self._waiting.append(hashes)
        if self._counted:
            self._counts.append(counts)
        self._held += len(hashes)
        if self._held > self._in_memory:
            self._compact()
            if self._held > self._in_memory // 2:
                self._write()

    def _compact(self) -> None:
        """Make one array of the arrays that wait: sorted, and each hash once."""
        if not self._waiting:
            return
        hashes = np.concatenate(self._waiting)
        self._waiting.clear()
        counts = np.concatenate(self._counts) if self._counted else None
        self._counts.clear()
        hashes, counts = _different(hashes, counts)
        self._waiting, self._held = [hashes], len(hashes)
        self._counts = [] if counts is None else [counts]

    def _write(self) -> None:
        """Append what waits to the files; it is one array."""
        try:
            if self._folder is None:
                self._folder = Path(tempfile.mkdtemp(prefix="unskew-"))
                weakref.finalize(self, shutil.rmtree, self._folder, ignore_errors=True)
            for hashes in self._waiting:
                self._append(self._folder, hashes)
        except OSError as error:
            folder = self._folder or tempfile.gettempdir()
            raise UnskewError(
                f"the temporary folder {folder} cannot be used ({error.strerror or error}); free "
                "space there, or set TMPDIR to a folder with more"
            ) from error
        self._waiting, self._counts, self._held = [], [], 0

    def _append(self, folder: Path, hashes: Hashes) -> None:
        ends = [0, *np.searchsorted(hashes, _BOUNDS).tolist(), len(hashes)]
        for path, start, end in zip(self._paths(folder), ends, ends[1:], strict=False):
            if end > start:
                _append(path, hashes[start:end])
                if self._counted:
                    _append(_counts_of(path), self._counts[0][start:end])

    @staticmethod
    def _paths(folder: Path) -> list[Path]:
        return [folder / f"{number:02x}" for number in range(_BUCKETS)]


def _ones(hashes: Hashes) -> Counts:
    return np.ones(len(hashes), dtype=np.int64)


def _counts_of(path: Path) -> Path:
    return path.with_suffix(".counts")


def _append(path: Path, numbers: NDArray[Any]) -> None:
    with path.open("ab") as file:
        numbers.tofile(file)


def _different(hashes: Hashes, counts: Counts | None) -> tuple[Hashes, Counts | None]:
    """Return the different hashes in order, each with the sum of its counts.

    The array of the hashes may be overwritten.
    """
    if counts is None:
        hashes.sort()
    else:
        order = hashes.argsort()
        hashes, counts = hashes[order], counts[order]
    first = np.ones(len(hashes), dtype=np.bool_)
    np.not_equal(hashes[1:], hashes[:-1], out=first[1:])
    if first.all():
        return hashes, counts
    if counts is not None:
        counts = np.add.reduceat(counts, np.flatnonzero(first))
    return hashes[first], counts
