"""Numbers and texts between Arrow and NumPy, without pandas.

``to_numpy`` and ``pyarrow.array`` import pandas where it is installed, which takes half a second.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from unskew.core.arrays import Flags

if TYPE_CHECKING:
    import pyarrow as pa


def numpy_of(column: pa.Array, missing: float | None = None) -> NDArray[Any]:
    """Return the integers, floats or flags of a column.

    A row without a value has ``missing``. Without it, a float is nan, and others are any value.
    """
    import pyarrow as pa

    if column.null_count and missing is not None:
        return np.where(numpy_of(column.is_null()), missing, numpy_of(column))
    kind, start, length = column.type, column.offset, len(column)
    data = column.buffers()[1]
    if pa.types.is_boolean(kind):
        if data is None or not length:
            return np.zeros(length, np.bool_)
        first = start // 8
        count = (start + length + 7) // 8 - first
        bits = np.unpackbits(np.frombuffer(data, np.uint8, count, first), bitorder="little")
        return bits[start % 8 : start % 8 + length].view(np.bool_)
    sign = "f" if pa.types.is_floating(kind) else "i" if pa.types.is_signed_integer(kind) else "u"
    dtype = np.dtype(f"{sign}{kind.bit_width // 8}")
    if data is None or not length:
        return np.full(length, np.nan, dtype) if sign == "f" else np.zeros(length, dtype)
    numbers = np.frombuffer(data, dtype, length, start * dtype.itemsize)
    if sign == "f" and column.null_count:
        return np.where(numpy_of(column.is_null()), dtype.type(np.nan), numbers)
    return numbers


def arrow_of(values: NDArray[Any], there: Flags | None = None) -> pa.Array:
    """Return integers or flags as a column; ``there`` says which rows have a value."""
    import pyarrow as pa

    bits = None if there is None or there.all() else pa.py_buffer(_packed(there))
    flags = values.dtype == np.bool_
    data = _packed(values) if flags else np.ascontiguousarray(values)
    kind = pa.bool_() if flags else pa.from_numpy_dtype(values.dtype)
    return pa.Array.from_buffers(kind, len(values), [bits, pa.py_buffer(data)])


def texts_of(texts: Sequence[str]) -> pa.Array:
    """Return texts as a column."""
    import pyarrow as pa

    data = [text.encode() for text in texts]
    ends = np.cumsum([0, *map(len, data)], dtype=np.int64)
    buffers = [None, pa.py_buffer(ends), pa.py_buffer(b"".join(data))]
    return pa.Array.from_buffers(pa.large_string(), len(data), buffers).cast(pa.string())


def _packed(flags: Flags) -> NDArray[np.uint8]:
    return np.packbits(flags, bitorder="little")
