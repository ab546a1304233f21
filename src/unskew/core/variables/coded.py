"""Values of many rows in which each distinct value is held once."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

Codes = NDArray[np.int64]


@dataclass(frozen=True)
class Coded:
    """The value of row i is ``distinct[codes[i]]``. No value comes twice in ``distinct``.

    Work that depends on the value alone is done once for each distinct value.
    """

    distinct: Sequence[Hashable]
    codes: NDArray[np.int64]

    def __len__(self) -> int:
        """Return the number of rows."""
        return len(self.codes)

    def tolist(self) -> list[Hashable]:
        """Return the value of each row."""
        return [self.distinct[code] for code in self.codes.tolist()]

    def rows(self, chosen: slice | NDArray[np.bool_]) -> Coded:
        """Return the values of some rows."""
        return Coded(self.distinct, self.codes[chosen])

    def in_order(self) -> Coded:
        """Return the same rows; only the values that occur are held, in order of appearance."""
        order = appearances(self.codes, len(self.distinct))
        renumbered = np.zeros(len(self.distinct), dtype=np.int64)
        renumbered[order] = np.arange(len(order))
        return Coded([self.distinct[code] for code in order.tolist()], renumbered[self.codes])

    def change(self, function: Callable[[list[Hashable]], Iterable[Hashable]]) -> Coded:
        """Return the rows with other values; the function changes a list of distinct values."""
        ordered = self.in_order()
        changed = list(function(list(ordered.distinct)))
        numbers = {value: number for number, value in enumerate(dict.fromkeys(changed))}
        renumbered = np.fromiter(map(numbers.__getitem__, changed), np.int64, len(changed))
        return Coded(list(numbers), renumbered[ordered.codes])


def as_coded(values: NDArray[Any] | Coded) -> Coded:
    """Return values with each distinct value held once, in order of appearance."""
    if isinstance(values, Coded):
        return values.in_order()
    if values.dtype.kind in "iub" and len(values):
        span = int(values.max()) - int(values.min()) + 1
        if span <= 4 * len(values) + 1024:
            return _as_coded_integers(values, span)
    if values.dtype.kind != "O":
        distinct, codes = np.unique(values, return_inverse=True)
        return Coded(distinct.tolist(), codes.astype(np.int64, copy=False)).in_order()
    numbers: dict[Hashable, int] = {}
    listed = [numbers.setdefault(value, len(numbers)) for value in values.tolist()]
    return Coded(list(numbers), np.array(listed, dtype=np.int64))


def _as_coded_integers(values: NDArray[Any], span: int) -> Coded:
    numbers = values.astype(np.int64)  # of more than 63 bits, the differences are right still
    shifted = numbers - numbers[values.argmin()]
    first, codes = _first_rows(shifted, span)
    return Coded(values[first].tolist(), codes)


def end_to_end(parts: Sequence[Coded]) -> Coded:
    """Return the rows of all parts, one part after the other."""
    numbers: dict[Hashable, int] = {}
    codes = [
        np.array([numbers.setdefault(v, len(numbers)) for v in part.distinct], np.int64)[part.codes]
        for part in parts
    ]
    rows = np.concatenate(codes) if codes else np.empty(0, np.int64)
    return Coded(list(numbers), rows).in_order()


def appearances(codes: Codes, size: int) -> Codes:
    """Return the codes that occur, in the order in which they first appear; all are < ``size``."""
    rows = np.arange(len(codes))
    first = np.full(size, len(codes))
    first[codes[::-1]] = rows[::-1]  # of rows with the same code, the last assignment stays
    occurring = np.flatnonzero(first < len(codes))
    ordered: Codes = occurring[np.argsort(first[occurring])]
    return ordered


def combine(columns: Sequence[Coded]) -> Coded:
    """Return the tuples of the rows' values; a tuple is made once for each combination."""
    columns = [as_coded(column) for column in columns]
    combined, size = columns[0].codes, len(columns[0].distinct)
    for column in columns[1:]:
        if size * len(column.distinct) >= 2**62:
            present, combined = np.unique(combined, return_inverse=True)
            size = len(present)
        combined = combined * len(column.distinct) + column.codes
        size *= len(column.distinct)
    first, codes = _first_rows(combined, size)
    parts = [[column.distinct[code] for code in column.codes[first].tolist()] for column in columns]
    return Coded(list(zip(*parts, strict=True)), codes)


def _first_rows(codes: Codes, size: int) -> tuple[Codes, Codes]:
    """Return the first row of each code, in order, and the codes numbered in that order."""
    if size > 4 * len(codes) + 1024:
        present, codes = np.unique(codes, return_inverse=True)
        size = len(present)
    order = appearances(codes, size)
    numbers = np.zeros(size, dtype=np.int64)
    numbers[order] = np.arange(len(order))
    renumbered: Codes = numbers[codes]
    first = np.zeros(len(order), dtype=np.int64)
    first[renumbered[::-1]] = np.arange(len(codes))[::-1]
    return first, renumbered
