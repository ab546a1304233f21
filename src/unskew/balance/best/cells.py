"""The combinations of values that a sample has, each with its share of the sample."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Shares = NDArray[np.float64]  # of values or combinations; they sum to one
Codes = NDArray[np.int64]


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

    def only(self, variables: Sequence[int]) -> Cells:
        """Return the combinations of some of the variables."""
        chosen = list(variables)
        return _distinct(self.codes[:, chosen], self.shares, [self.sizes[j] for j in chosen])


def cells_of(codes: Codes, sizes: Sequence[int]) -> Cells:
    """Return the combinations among the rows of ``codes``, a row for each example."""
    return _distinct(codes, np.ones(len(codes)), sizes)


def _distinct(codes: Codes, weights: Shares, sizes: Sequence[int]) -> Cells:
    """Return the distinct rows of ``codes``, with the share of the weight that each has."""
    order = np.lexsort(codes.T[::-1])
    ordered = codes[order]
    new = np.ones(len(codes), dtype=np.bool_)
    new[1:] = (ordered[1:] != ordered[:-1]).any(axis=1)
    starts = np.flatnonzero(new)
    summed = np.add.reduceat(weights[order], starts)
    return Cells(np.ascontiguousarray(ordered[starts]), summed / summed.sum(), tuple(sizes))
