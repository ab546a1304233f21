"""The values of a variable: packed into arrays, and refused where they cannot be counted."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from unskew.core.errors import RowError, brief
from unskew.core.usercode import raised
from unskew.core.values.nesting import check_nesting

_PLAIN = {type(None), bool, int, float, str, bytes}  # values that need no check
_MOST_BITS = 10_000  # of a whole number that Python prints
EXACT = 2**53  # whole numbers up to here are themselves as floats too


def as_values(measured: Sequence[Hashable]) -> NDArray[Any]:
    """Pack measured values into an array: of numbers where all are, of objects otherwise.

    Raise ``RowError`` for a value that cannot be counted.
    """
    plain: list[Any] = list(measured)
    kinds = set(map(type, plain))
    if any(issubclass(kind, np.generic) for kind in kinds):
        plain = [v.item() if isinstance(v, np.generic) else v for v in plain]
        kinds = set(map(type, plain))
    if kinds == {bool}:
        return np.array(plain, dtype=np.bool_)
    if kinds == {int} and min(plain) >= -(2**63) and max(plain) < 2**63:
        return np.array(plain, dtype=np.int64)
    if kinds <= {int, float} and all(abs(value) <= EXACT for value in plain if type(value) is int):
        return np.array(plain, dtype=np.float64)
    values = np.empty(len(plain), dtype=object)
    if kinds <= {str, type(None)}:
        values[:] = plain
        return values
    check_values(plain)
    for row, value in enumerate(plain):
        values[row] = value
    return values


def check_values(values: Sequence[object]) -> None:
    """Raise ``RowError`` for a value that cannot be counted: hashed, compared and printed."""
    foreign = [
        row
        for row, value in enumerate(values)
        if type(value) not in _PLAIN or (type(value) is int and value.bit_length() > _MOST_BITS)
    ]
    if not foreign:
        return
    try:
        check_nesting([values[row] for row in foreign])  # first: a deep tuple cannot be hashed
    except RowError as error:
        raise RowError(foreign[error.row], error.problem) from error
    distinct: set[object] = set()
    for row in foreign:
        value, size, step = values[row], len(distinct), "hashed"
        try:
            hash(value)
            step = "compared or printed"
            distinct.add(value)
            if len(distinct) > size:
                f"{value} {value!r}"
        except Exception as error:  # it may be of a user's own class
            why = "" if isinstance(error, TypeError) else f" ({raised(error)})"
            raise RowError(
                row,
                f"{brief(value)}, which cannot be {step}{why}; return a number, a text or a tuple",
            ) from error
