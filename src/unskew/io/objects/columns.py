"""Arrays of any library, and dicts of columns, as batches."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from unskew.core.batch import EXAMPLE, Batch
from unskew.core.errors import UnskewError, brief
from unskew.io.iterables import chunked, kind_name
from unskew.io.objects.torch_data import plain_value
from unskew.io.tables import TABLE_ROWS, Columns, check_names, table_batches, wanted

if TYPE_CHECKING:
    import pyarrow as pa


def read_columns(target: Mapping[Any, Any], columns: Columns) -> Iterator[Batch]:
    """Read a dict of columns."""
    lengths = {name: _length(value) for name, value in target.items()}
    odd = next((name for name, length in lengths.items() if length is None), None)
    if odd is not None or not target or len(set(lengths.values())) > 1:
        given = f"{odd!r} is {brief(target[odd])}" if odd is not None else f"lengths {lengths}"
        reason = given if target else "it is empty"
        raise UnskewError(
            f"{kind_name(target)} cannot be read as columns ({reason}); "
            "give a dict of columns of one length, or a list of examples"
        )
    check_names([str(name) for name in target], kind_name(target))
    names = {str(name): name for name in target}
    chosen = {name: target[names[name]] for name in wanted(list(names), columns)}
    if next(iter(lengths.values())):
        yield from _batches(chosen, kind_name(target))


def _batches(columns: Mapping[str, Any], where: str) -> Iterator[Batch]:
    """Yield columns as tables; as examples if Arrow would change a value."""
    made = {name: _column(value) for name, value in columns.items()}
    if any(column is None for column in made.values()):
        rows = zip(*(map(plain_value, value) for value in columns.values()), strict=True)
        return chunked(dict(zip(columns, row, strict=True)) for row in rows)
    return table_batches([_table(made)], where)


def _table(columns: Mapping[str, Any]) -> pa.Table:
    import pyarrow as pa

    return pa.table(dict(columns))


def _length(value: object) -> int | None:
    if isinstance(value, (str, bytes, Mapping)) or not hasattr(value, "__len__"):
        return None
    try:
        return len(value)
    except TypeError:  # an array of no dimensions
        return None


def _column(value: Any) -> Any:
    """Return a column as Arrow; None if Arrow would change its values."""
    import pyarrow as pa

    try:
        if hasattr(value, "__arrow_c_stream__"):
            return pa.chunked_array(value)
        if hasattr(value, "__arrow_c_array__"):
            return pa.array(value)
        array = as_array(value)
        if array is not None and array.ndim == 1:
            return pa.array(array)
        values = list(map(plain_value, value))
        if len({type(item) for item in values} - {type(None), int, float}) > 1:
            return None
        column = pa.array(values)
    except (pa.ArrowException, OverflowError, TypeError, ValueError):
        return None
    return column


def as_array(target: object) -> np.ndarray[Any, Any] | None:
    """Return an array of any library as one of NumPy's; None if it is none."""
    if isinstance(target, np.ndarray):
        return target
    is_sequence = isinstance(target, (Sequence, Mapping, Iterator))
    if is_sequence or not hasattr(target, "shape") or not hasattr(target, "dtype"):
        return None
    value = plain_value(target)
    if isinstance(value, np.ndarray):
        return value
    if not hasattr(target, "__array__"):
        return None
    return np.asarray(target)


def read_numpy(array: np.ndarray[Any, Any], columns: Columns) -> Iterator[Batch]:
    """Read an array: its fields are columns; of more dimensions, each first index is an example."""
    if array.ndim == 0:
        raise UnskewError(f"{brief(array)} has no dimensions; pass a list of examples")
    if not len(array):
        return iter(())
    if array.dtype.names is not None and array.ndim == 1:
        names = wanted(array.dtype.names, columns)
        return _batches({name: array[name] for name in names}, "the array")
    if array.ndim == 1 and array.dtype.kind in "iufbSUMm":
        import pyarrow as pa

        column = np.ascontiguousarray(array) if array.dtype.kind in "iufb" else pa.array(array)
        return iter(
            Batch({EXAMPLE: column[i : i + TABLE_ROWS]}) for i in range(0, len(array), TABLE_ROWS)
        )
    return chunked(array.tolist() if array.ndim == 1 else array)
