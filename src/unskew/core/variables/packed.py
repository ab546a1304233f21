"""Values of rows in the form that is cheapest to count: numbers as arrays, others once each."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from unskew.core.arrow_numbers import numpy_of
from unskew.core.batch import readable
from unskew.core.values.missing import is_missing
from unskew.core.variables.coded import Coded
from unskew.core.variables.values import as_values

if TYPE_CHECKING:
    import pyarrow as pa

Packed: TypeAlias = "NDArray[Any] | Coded"


def packed(column: pa.Array) -> Packed:
    """Return the values of an Arrow column: numbers as an array, others with each value once.

    Nulls and nan become None, and times become text. A dictionary column keeps its codes.
    """
    import pyarrow as pa

    kind = column.type
    if pa.types.is_dictionary(kind):
        return spread(packed(column.dictionary), column.indices)
    if not column.null_count and (pa.types.is_integer(kind) or pa.types.is_boolean(kind)):
        integers: NDArray[Any] = numpy_of(column)
        return integers
    if pa.types.is_floating(kind):
        column = column.cast(pa.float64())
        numbers: NDArray[Any] = numpy_of(column)  # a null is nan
        if not np.isnan(numbers).any():
            return numbers
    try:
        encoded = column.dictionary_encode(null_encoding="encode")
    except pa.ArrowNotImplementedError:  # a rare type
        return pack(python_rows(column))
    values, codes = _without_nan(python_rows(encoded.dictionary)), numpy_of(encoded.indices)
    if len(set(values)) == len(values):  # Arrow has them in order of first appearance
        return Coded(values, codes.astype(np.int64))
    return coded(values, codes)  # nan and null, or both zeros


def python_rows(column: pa.Array) -> list[Any]:
    """Return the rows of an Arrow column as Python values. A map is a dict; a time is a text."""
    rows: Any = readable(column)
    values: list[Any] = rows.to_pylist(maps_as_pydicts="lossy")
    return values


def pack(values: Sequence[Any]) -> NDArray[Any]:
    """Return Python values as an array; nan becomes None."""
    return as_values(_without_nan(values))


def spread(values: Packed, codes: pa.Array) -> Coded:
    """Return the values of rows by their codes; a row whose code is null has None."""
    distinct = values.tolist()
    if not codes.null_count:
        return coded(distinct, numpy_of(codes))
    return coded([*distinct, None], numpy_of(codes, len(distinct)))


def coded(values: Sequence[Hashable], codes: NDArray[Any]) -> Coded:
    """Return ``Coded`` in which the values are in order of first appearance, and none comes twice.

    ``values`` may have values that no row has, and equal values.
    """
    rows = len(codes)
    first = np.full(len(values), rows, dtype=np.int64)
    first[codes[::-1]] = np.arange(rows - 1, -1, -1)  # the last assignment stays
    order = np.argsort(first, kind="stable")
    order = order[: np.count_nonzero(first < rows)]
    numbers: dict[Hashable, int] = {}
    renumbered = np.empty(len(values), dtype=np.int64)
    for code in order.tolist():
        renumbered[code] = numbers.setdefault(values[code], len(numbers))
    return Coded(list(numbers), renumbered[codes])


def _without_nan(values: Sequence[Any]) -> list[Any]:
    return [None if is_missing(value) else value for value in values]
