"""Turns the values of a salient variable into codes 0 … k−1; the support is declared or grows."""

from __future__ import annotations

import math
from itertools import repeat
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from unskew.core.errors import UnskewError
from unskew.core.usercode import raised
from unskew.core.variables.coded import Coded, appearances
from unskew.core.variables.variable import SalientVariable, Values, check_support

if TYPE_CHECKING:
    from collections.abc import Hashable, Iterable, Sequence

    from unskew.core.batch import Batch

MAX_VALUES = 100_000  # a variable with more values is an identifier, not a feature
UNNAMED = -1  # the code of a value for which a codebook has no room
_MAX_SPAN = 1 << 20  # the longest table of codes; integers farther apart are kept in a dict


class Codebook:
    """The values of one variable, numbered in the order declared or first seen."""

    def __init__(self, variable: SalientVariable, *, most_named: int | None = None) -> None:
        """Start with the declared support, or with no values.

        A variable with more than 100,000 values is refused. With ``most_named``, only that many
        values get codes of their own, and later ones get the code ``UNNAMED``, unless the support
        is declared.
        """
        self.variable, self._most_named = variable, most_named
        self.declared = variable.support is not None
        self.values: list[Hashable] = []
        self._codes: dict[Hashable, int] = {}
        self._low = 0
        self._table: NDArray[np.int64] = np.empty(0, dtype=np.int64)
        for value in variable.support or ():
            self._add(value)

    def learn(self, values: Iterable[Hashable]) -> None:
        """Give codes to the values that have none yet, in this order."""
        for value in values:
            self._code(value)

    def measure(self, batch: Batch) -> NDArray[np.int64]:
        """Measure the variable and return the code of each row."""
        return self.encode(self.variable.measure(batch))

    def encode(self, values: Values) -> NDArray[np.int64]:
        """Return the code of each value; new values join a support that grows."""
        if isinstance(values, Coded):
            order = appearances(values.codes, len(values.distinct))
            codes = np.zeros(len(values.distinct), dtype=np.int64)
            codes[order] = self.encode_objects([values.distinct[i] for i in order.tolist()])
            return codes[values.codes]
        if len(values) and values.dtype.kind in "iu":
            low, high = int(values.min()), int(values.max())
            span = max(high, self._high()) - min(low, self._low) + 1
            if span <= _MAX_SPAN:
                return self._encode_integers(values.astype(np.int64, copy=False), low, high)
        if values.dtype.kind == "O":
            return self.encode_objects(values.tolist())
        unique, inverse = np.unique(values, return_inverse=True)
        codes = self.encode_objects(unique.tolist())
        return codes[inverse]

    def encode_objects(self, values: Sequence[Hashable]) -> NDArray[np.int64]:
        """Return the code of each value; new values get theirs in this order."""
        try:
            codes = np.fromiter(map(self._codes.get, values, repeat(UNNAMED)), np.int64)
        except Exception:  # a value cannot be hashed or compared; the next line says which
            return np.fromiter(map(self._code, values), np.int64, len(values))
        for row in np.flatnonzero(codes < 0).tolist():
            codes[row] = self._code(values[row])
        return codes

    def _encode_integers(self, values: NDArray[np.int64], low: int, high: int) -> NDArray[np.int64]:
        if low < self._low or high > self._high():
            self._widen(min(low, self._low), max(high, self._high()))
        codes: NDArray[np.int64] = self._table[values - self._low]
        if codes.min() < 0:
            for value in sorted(set(values[codes < 0].tolist())):  # np.unique imports np.ma
                self._table[value - self._low] = self._code(value)
            codes = self._table[values - self._low]
        return codes

    def _high(self) -> int:
        return self._low + len(self._table) - 1

    def _widen(self, low: int, high: int) -> None:
        table = np.full(high - low + 1, -1, dtype=np.int64)
        table[self._low - low : self._low - low + len(self._table)] = self._table
        self._low, self._table = low, table

    def _code(self, value: Hashable) -> int:
        try:
            code = self._codes.get(value)
        except Exception as error:  # the value may be of a user's own class
            raise UnskewError(
                f"variable {self.variable.name!r} gave values that cannot be compared "
                f"({raised(error)}); measure a number, a text or a tuple"
            ) from error
        if code is not None:
            return code
        if isinstance(value, float) and math.isnan(value):  # each nan would be a new value
            raise UnskewError(
                f"variable {self.variable.name!r} gave nan; measure a number or a name instead"
            )
        if self.declared:
            check_support(self.variable, [value])
        return self._add(value)

    def _add(self, value: Hashable) -> int:
        if self._most_named is not None and not self.declared:
            if len(self.values) >= self._most_named:
                return UNNAMED
        elif len(self.values) >= MAX_VALUES:
            raise UnskewError(
                f"variable {self.variable.name!r} has more than {MAX_VALUES} values (the last was "
                f"{value!r}); clip, round or bin it"
            )
        self._codes[value] = len(self.values)
        self.values.append(value)
        return len(self.values) - 1
