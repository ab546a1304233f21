"""Variables that read a column of a table, or a key of examples that are dicts."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from unskew.core.batch import EXAMPLE, Batch, readable
from unskew.core.errors import UnskewError, unknown
from unskew.core.variables.values import as_values
from unskew.core.variables.variable import SalientVariable, Values


def column_variable(name: str, *, known: bool = True) -> SalientVariable:
    """Return the variable that reads a column of a table, or a key of examples that are dicts.

    A row without the key counts as None; unless the key is known, some row must have it.
    """

    def measure(batch: Batch) -> Values:
        if batch.is_plain:
            values = _keys(batch.columns[EXAMPLE].tolist(), name, known)
        elif name not in batch.columns:
            raise unknown("column", name, batch.columns)
        else:
            column = batch.columns[name]
            if isinstance(column, np.ndarray) and column.ndim == 1 and column.dtype.kind in "iub":
                return column
            values = readable(column).tolist()
        for row, value in enumerate(values):
            if type(value).__hash__ is None:
                raise UnskewError(
                    f"column {name!r} holds {type(value).__name__}s; name a function of the "
                    "row: --by my_module:my_function"
                )
            if isinstance(value, float) and math.isnan(value):
                values[row] = None  # not a number is not there
        return as_values(values)

    return SalientVariable(name, measure, doc="column")


def _keys(rows: Sequence[Any], name: str, known: bool) -> list[Any]:
    for row in rows:
        if not isinstance(row, dict):
            raise UnskewError(
                f"an example is {row!r}, which has no {name!r}; name a function of it: "
                "my_module:my_function"
            )
    if not known and not any(name in row for row in rows):
        raise unknown("column", name, {str(key) for row in rows for key in row})
    return [row.get(name) for row in rows]
