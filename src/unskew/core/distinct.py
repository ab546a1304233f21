"""How many of many 64-bit hashes are different, and how often each occurs: exact, little memory."""

from __future__ import annotations

import os
import tempfile
import weakref
from collections.abc import Iterator
from dataclasses import dataclass
from typing import IO, TypeVar

import numpy as np
from numpy.typing import NDArray

from unskew.core.errors import UnskewError

IN_MEMORY = 1 << 23  # hashes; more are kept in a file
_GROUPS = 256  # parts of a file that are read one after another, by the first byte of the hashes
_BOUNDS = np.arange(1, _GROUPS, dtype=np.uint64) << np.uint64(56)
_SIZE = 8  # bytes of a hash, and of a count

Hashes = NDArray[np.uint64]
Counts = NDArray[np.int64]
N = TypeVar("N", np.uint64, np.int64)


@dataclass(frozen=True)
class _Run:
    """Sorted hashes in a file, from a byte on, with their counts after them."""

    start: int
    ends: list[int]  # where the hashes with each first byte end; the first entry is 0

    def bounds(self, group: int) -> tuple[int, int, int]:
        """Return the bytes where the hashes and the counts of a group begin, and how many."""
        first, end = self.ends[group], self.ends[group + 1]
        hashes = self.start + _SIZE * first
        return hashes, hashes + _SIZE * self.ends[-1], end - first


class Distinct:
    """A set of hashes, or with ``counted`` the count of each hash.

    Up to ``in_memory`` hashes wait in memory. Then they are sorted, and equal neighbours become
    one. If many are left, they go to a temporary file. The file has no name, so nothing is left of
    it, however this process ends.
    """

    def __init__(self, in_memory: int = IN_MEMORY, *, counted: bool = False) -> None:
        """Start with nothing counted."""
        self.total = 0  # hashes added, also equal ones
        self._in_memory, self._counted = in_memory, counted
        self._waiting: list[Hashes] = []
        self._counts: list[Counts] = []  # one array for each that waits, if hashes are counted
        self._held = 0  # hashes that wait
        self._file: IO[bytes] | None = None
        self._runs: list[_Run] = []  # in the file

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
        if self._file is None:
            for hashes in self._waiting:
                yield hashes, self._counts[0] if self._counted else _ones(hashes)
            return
        self._write()
        for group in range(_GROUPS):
            hashes, counts = _different(*self._read(self._file, group))
            if len(hashes):
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
        """Append what waits to the file; it is one array."""
        try:
            if self._file is None:
                self._file = tempfile.TemporaryFile()  # noqa: SIM115 - it is open until the end
                weakref.finalize(self, self._file.close)
            for number, hashes in enumerate(self._waiting):
                start = self._file.seek(0, os.SEEK_END)
                self._file.write(hashes.data)
                if self._counted:
                    self._file.write(self._counts[number].data)
                ends = [0, *np.searchsorted(hashes, _BOUNDS).tolist(), len(hashes)]
                self._runs.append(_Run(start, ends))
            self._file.flush()
        except OSError as error:
            raise UnskewError(
                f"the temporary folder {tempfile.gettempdir()} cannot be used "
                f"({error.strerror or error}); free space there, or set TMPDIR to a folder with "
                "more"
            ) from error
        self._waiting, self._counts, self._held = [], [], 0

    def _read(self, file: IO[bytes], group: int) -> tuple[Hashes, Counts | None]:
        """Return the hashes of a group from all runs, and their counts if they are counted."""
        bounds = [run.bounds(group) for run in self._runs]
        hashes = [_numbers(file, begin, n, np.uint64) for begin, _, n in bounds]
        if not self._counted:
            return np.concatenate(hashes), None
        counts = [_numbers(file, begin, n, np.int64) for _, begin, n in bounds]
        return np.concatenate(hashes), np.concatenate(counts)


def _numbers(file: IO[bytes], begin: int, n: int, kind: type[N]) -> NDArray[N]:
    file.seek(begin)
    return np.frombuffer(file.read(_SIZE * n), kind)


def _ones(hashes: Hashes) -> Counts:
    return np.ones(len(hashes), dtype=np.int64)


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
