"""The hash of each row of a column: of an Arrow array, however nested, or of a NumPy array."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from unskew.core.arrow_numbers import numpy_of
from unskew.core.hashing.mixing import (
    NULL,
    Hashes,
    Kind,
    close_records,
    entries,
    hash_flags,
    hash_floats,
    hash_integers,
    hash_large,
    hash_lists,
    hash_records,
    hash_texts,
    hash_times,
    nulls,
)
from unskew.core.hashing.objects import PER_SECOND, hash_numpy_times, hash_objects

if TYPE_CHECKING:
    import pyarrow as pa

    from unskew.core.batch import Column

_DAY = 86_400  # seconds


def hash_column(column: Column, *, large: bool = False) -> Hashes:
    """Return the hash of the value of each row, the same as ``hash_objects`` gives it.

    ``large`` says that more rows follow, so that compiled code is worth its start.
    """
    if not isinstance(column, np.ndarray):
        return _of_arrow(column, large)
    if column.ndim > 1:
        inner = hash_column(column.reshape(-1, *column.shape[2:]), large=large)
        return hash_lists(inner, np.arange(len(column) + 1, dtype=np.int64) * column.shape[1])
    if column.dtype.kind == "b":
        return hash_flags(column)
    if column.dtype.kind in "iuf":
        return _of_numbers(column)
    return hash_numpy_times(column) if column.dtype.kind in "mM" else hash_objects(column.tolist())


def hash_row(columns: dict[str, Column], rows: int, *, large: bool = False) -> Hashes:
    """Return the hash of each row as a record of its columns, in whatever order they are."""
    sums = np.zeros(rows, dtype=np.uint64)
    keys = hash_objects(list(columns)).reshape(-1, 1)
    for key, column in zip(keys, columns.values(), strict=True):
        sums += entries(key, hash_column(column, large=large))
    return close_records(sums)


def _of_numbers(values: NDArray[Any]) -> Hashes:
    if values.dtype.kind == "f":
        exact = values.astype(np.float64)
        if values.dtype.itemsize > 8 and not (exact == values).all():
            return hash_objects(values.tolist())
        return hash_floats(exact)
    if values.dtype != np.uint64:
        return hash_integers(values.astype(np.int64))
    hashes, right = hash_large(values)
    if not right.all():
        hashes[~right] = hash_objects(values[~right].tolist())
    return hashes


def _of_arrow(array: pa.Array, large: bool) -> Hashes:
    import pyarrow as pa

    if pa.types.is_null(array.type):
        return nulls(len(array))
    hashes = _of_values(array, large)
    if array.null_count:
        hashes[_missing(array)] = NULL
    return hashes


def _of_values(array: pa.Array, large: bool) -> Hashes:
    """Return the hashes of an Arrow array; a row without a value has any hash."""
    import pyarrow as pa

    types, kind = pa.types, array.type
    if isinstance(array, pa.ExtensionArray):
        return _of_arrow(array.storage, large)
    if types.is_dictionary(kind):
        return _of_dictionary(array, large)
    if types.is_boolean(kind):
        return hash_flags(numpy_of(array, False))
    if types.is_integer(kind) or types.is_floating(kind):
        return _of_numbers(_numbers(array, kind.to_pandas_dtype()))
    if _is_text(kind) or _is_bytes(kind):
        what = Kind.TEXT if _is_text(kind) else Kind.BYTES
        return hash_texts(*_bytes(array), what, large=large)
    if types.is_struct(kind):
        names = [kind.field(i).name for i in range(kind.num_fields)]
        if len(set(names)) == len(names):
            fields = {name: array.field(i) for i, name in enumerate(names)}
            return hash_row(fields, len(array), large=large)
    if types.is_map(kind):
        offsets = _offsets(array, np.int32)
        first, inner = int(offsets[0]), int(offsets[-1] - offsets[0])
        keys = _of_arrow(array.keys.slice(first, inner), large)
        return hash_records(
            keys, _of_arrow(array.items.slice(first, inner), large), offsets - first
        )
    if types.is_list(kind) or types.is_large_list(kind):
        offsets = _offsets(array, np.int32 if types.is_list(kind) else np.int64)
        first = int(offsets[0])
        elements = array.values.slice(first, int(offsets[-1]) - first)
        return hash_lists(_of_arrow(elements, large), offsets - first)
    if types.is_fixed_size_list(kind):
        size = kind.list_size
        elements = array.values.slice(array.offset * size, len(array) * size)
        offsets = np.arange(len(array) + 1, dtype=np.int64) * size
        return hash_lists(_of_arrow(elements, large), offsets)
    if types.is_temporal(kind) and not types.is_interval(kind):
        return _of_times(array)
    if types.is_decimal(kind):
        return _of_dictionary(array.cast(pa.decimal256(kind.precision, kind.scale)), large)
    if types.is_run_end_encoded(kind):
        import pyarrow.compute as pc

        return _of_arrow(pc.run_end_decode(array), large)
    return hash_objects(array.to_pylist())


def _of_dictionary(array: pa.Array, large: bool) -> Hashes:
    """Hash each distinct value once; the rows take the hashes of their values."""
    import pyarrow as pa

    if not pa.types.is_dictionary(array.type):
        array = array.dictionary_encode()
    elif len(array.dictionary) > len(array):
        return _of_arrow(array.dictionary_decode(), large)
    if pa.types.is_decimal(array.dictionary.type):
        distinct = hash_objects(array.dictionary.to_pylist())
    else:
        distinct = _of_arrow(array.dictionary, large)
    if not len(distinct):
        return nulls(len(array))
    taken: Hashes = distinct[numpy_of(array.indices, 0)]
    return taken


def _of_times(array: pa.Array) -> Hashes:
    """Return the hashes of times by their seconds and nanoseconds, whatever their unit."""
    import pyarrow as pa

    types, kind = pa.types, array.type
    values = _numbers(array, np.dtype(f"i{kind.bit_width // 8}")).astype(np.int64)
    if types.is_date32(kind):
        return hash_times(Kind.INSTANT, values * _DAY, np.zeros_like(values))
    per_second = PER_SECOND["ms" if types.is_date64(kind) else kind.unit]
    seconds, rest = np.divmod(values, per_second)
    what = Kind.INSTANT
    if types.is_time(kind):
        what = Kind.CLOCK
    elif types.is_duration(kind):
        what = Kind.DURATION
    return hash_times(what, seconds, rest * (PER_SECOND["ns"] // per_second))


def _missing(array: pa.Array) -> NDArray[np.bool_]:
    missing: NDArray[np.bool_] = numpy_of(array.is_null())
    return missing


def _numbers(array: pa.Array, dtype: Any) -> NDArray[Any]:
    """Return the numbers of an array without a copy; a row without a value has any number."""
    data = array.buffers()[1]
    if data is None or not len(array):
        return np.zeros(len(array), dtype)
    return np.frombuffer(data, dtype=dtype)[array.offset : array.offset + len(array)]


def _offsets(array: pa.Array, dtype: type) -> NDArray[np.int64]:
    data = array.buffers()[1]
    if data is None or not len(array):
        return np.zeros(len(array) + 1, np.int64)
    ends: NDArray[Any] = np.frombuffer(data, dtype=dtype)[
        array.offset : array.offset + len(array) + 1
    ]
    return ends.astype(np.int64)


def _is_text(kind: pa.DataType) -> bool:
    import pyarrow as pa

    types = pa.types
    return bool(types.is_string(kind) or types.is_large_string(kind) or types.is_string_view(kind))


def _is_bytes(kind: pa.DataType) -> bool:
    import pyarrow as pa

    types = pa.types
    return bool(
        types.is_binary(kind)
        or types.is_large_binary(kind)
        or types.is_binary_view(kind)
        or types.is_fixed_size_binary(kind)
    )


def _bytes(array: pa.Array) -> tuple[NDArray[np.uint8], NDArray[np.int64]]:
    """Return the bytes of all rows end to end, and where each row begins."""
    import pyarrow as pa

    kind = array.type
    if pa.types.is_fixed_size_binary(kind):
        places = (array.offset + np.arange(len(array) + 1, dtype=np.int64)) * kind.byte_width
        return np.frombuffer(array.buffers()[1] or b"", dtype=np.uint8), places
    if pa.types.is_string_view(kind) or pa.types.is_binary_view(kind):
        array = array.cast(pa.large_binary())
        kind = array.type
    wide = pa.types.is_large_string(kind) or pa.types.is_large_binary(kind)
    offsets = _offsets(array, np.int64 if wide else np.int32)
    return np.frombuffer(array.buffers()[2] or b"", dtype=np.uint8), offsets
