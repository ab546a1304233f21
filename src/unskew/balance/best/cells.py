"""The combinations of values that a sample has, each with its share of the sample."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Shares = NDArray[np.float64]  # of values or combinations; they sum to one
Codes = NDArray[np.int64]
_MOST_KEYS = 2**62  # different numbers that a key may be


@dataclass(frozen=True)
class Cells:
    """The distinct rows of several columns of codes.

    Row i of ``codes`` is a combination: one code for each variable. ``shares[i]`` is its share.
    Variable j has ``sizes[j]`` values; a value may be in no combination.
    """

    codes: Codes
    shares: Shares
    sizes: tuple[int, ...]

    def margins(self, shares: Shares) -> list[Shares]:
        """Return the share of each value of each variable, if combinations have ``shares``."""
        columns = zip(self.codes.T, self.sizes, strict=True)
        return [np.bincount(column, shares, size).astype(np.float64) for column, size in columns]

    def total(self, tables: Sequence[NDArray[np.float64]]) -> NDArray[np.float64]:
        """Return for each combination the sum of its entries in one table for each variable."""
        columns = zip(tables, self.codes.T, strict=True)
        sums = np.zeros(len(self.shares))
        for table, column in columns:
            sums += table[column]
        return sums

    def thinned(self, most: int) -> Cells:
        """Return ``most`` examples that are spread evenly over the combinations, as cells."""
        marks = (np.arange(most) + 0.5) / most
        ends = np.cumsum(self.shares)
        chosen = np.minimum(np.searchsorted(ends, marks * ends[-1]), len(ends) - 1)
        return cells_of(self.codes[chosen], self.sizes)

    def only(self, variables: Sequence[int]) -> Cells:
        """Return the combinations of some of the variables."""
        columns = [self.codes[:, j] for j in variables]
        return grouped(columns, [self.sizes[j] for j in variables], self.shares)[0]


def cells_of(codes: Codes, sizes: Sequence[int]) -> Cells:
    """Return the combinations among the rows of ``codes``, a row for each example."""
    return grouped(list(codes.T), sizes)[0]


def grouped(
    columns: Sequence[NDArray[np.integer]], sizes: Sequence[int], weights: Shares | None = None
) -> tuple[Cells, NDArray[np.int32]]:
    """Return the combinations among the rows of several columns, and for each row which one it has.

    The combinations are in the order of their codes. ``weights`` are those of the rows.
    """
    keys, size = np.zeros(len(columns[0]), dtype=np.int64), 1
    for column, values in zip(columns, sizes, strict=True):
        if size * values >= _MOST_KEYS:
            present, keys = np.unique(keys, return_inverse=True)
            size = len(present)
        keys = keys * values + column
        size *= values
    places, found = _numbered(keys, size)
    first = np.zeros(found, dtype=np.int64)
    first[places[::-1]] = np.arange(len(keys))[::-1]
    codes = np.stack([column[first] for column in columns], axis=1).astype(np.int64)
    summed = np.bincount(places, weights, found)
    return Cells(codes, summed / summed.sum(), tuple(sizes)), places


def _numbered(keys: Codes, size: int) -> tuple[NDArray[np.int32], int]:
    """Return the keys numbered in their order, and how many are different; all are < ``size``."""
    if size > 4 * len(keys) + 1024:
        present, numbers = np.unique(keys, return_inverse=True)
        return numbers.astype(np.int32), len(present)
    has = np.zeros(size, dtype=np.bool_)
    has[keys] = True
    of_keys = np.cumsum(has, dtype=np.int32) - 1
    return of_keys[keys], int(has.sum())
