"""Terms: a feature together with one of its values, and the rows that have it."""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from unskew.core.errors import UnskewError
from unskew.core.variables.coded import Coded

FEATURES = 50  # at most, the first ones
VALUES = 10  # of a feature, the most frequent ones

Codes = NDArray[np.int64]
Floats = NDArray[np.float32]
Term = tuple[str, Hashable]


@dataclass(frozen=True)
class Terms:
    """The terms of some features.

    Args:
        named: the name and the value of each term.
        owner: the number of each term's feature.
        table: for each row and each term, 1 if the row has the value, else 0.
    """

    named: tuple[Term, ...]
    owner: Codes
    table: Floats

    def rows(self, terms: Sequence[int]) -> NDArray[np.bool_]:
        """Return which rows have all of some terms."""
        chosen = np.ones(len(self.table), dtype=np.bool_)
        for term in terms:
            chosen &= self.table[:, term] > 0
        return chosen

    def together(self, weights: NDArray[np.float64] | None = None) -> NDArray[np.float64]:
        """Return how many rows each pair of terms has, or the sum of their weights."""
        if weights is None:
            return (self.table.T @ self.table).astype(np.float64)
        some = weights > 0
        light = self.table[some]
        return (light.T @ (light * weights[some, None].astype(np.float32))).astype(np.float64)


def terms_of(features: Mapping[str, Coded], least: int, rows: int) -> Terms:
    """Return the terms of the first 50 features: the ten most frequent values of each.

    Values with fewer than ``least`` rows are left out, and those that all rows have.
    """
    named: list[Term] = []
    owner: list[int] = []
    columns: list[NDArray[np.bool_]] = []
    for number, (name, values) in enumerate(list(features.items())[:FEATURES]):
        if len(values) != rows:
            raise UnskewError(
                f"feature {name!r} has {len(values):,} rows; the others have {rows:,}"
            )
        counts = np.bincount(values.codes, minlength=len(values.distinct))
        for code in np.argsort(-counts, kind="stable")[:VALUES].tolist():
            if least <= counts[code] < rows:
                named.append((name, values.distinct[code]))
                owner.append(number)
                columns.append(values.codes == code)
    table = np.empty((rows, len(columns)), dtype=np.float32)
    for place, column in enumerate(columns):
        table[:, place] = column
    return Terms(tuple(named), np.array(owner, dtype=np.int64), table)
