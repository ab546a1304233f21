"""Characters and words of Arrow texts, counted in their UTF-8 bytes."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from unskew.core.arrays import Bytes, Flags, Ints
from unskew.core.arrow_numbers import numpy_of

if TYPE_CHECKING:
    import pyarrow as pa

# Every character that is space to Python's str.split.
_SPACES = [
    *(*range(0x09, 0x0E), *range(0x1C, 0x21), 0x85, 0xA0, 0x1680, *range(0x2000, 0x200B)),
    *(0x2028, 0x2029, 0x202F, 0x205F, 0x3000),
]
_ASCII = 0x80  # bytes below are characters


def text_lengths(column: pa.Array) -> Ints:
    """Return the number of characters of each text; of a null, any number."""
    import pyarrow.compute as pc

    data, ends = _bytes(column)
    if not len(data) or data.max() < _ASCII:
        return np.diff(ends)
    lengths: Ints = numpy_of(pc.utf8_length(column), 0)
    return lengths


def text_words(column: pa.Array) -> Ints:
    """Return the number of words of each text, divided by space; of a null, any number."""
    data, ends = _bytes(column)
    space = _are_space(data)
    begins = ~space
    begins[1:] &= space[:-1]
    first = ends[:-1][ends[:-1] < len(data)]
    begins[first] = ~space[first]  # also where the text before ends without space
    counts: Ints = np.diff(np.searchsorted(np.flatnonzero(begins), ends))
    return counts


def _bytes(column: pa.Array) -> tuple[Bytes, Ints]:
    """Return the bytes of all texts end to end, and their n + 1 offsets."""
    import pyarrow as pa

    if not len(column):
        return np.empty(0, np.uint8), np.zeros(1, np.int64)
    large = pa.types.is_large_string(column.type)
    _, offsets, data = column.buffers()
    every: NDArray[Any] = np.frombuffer(offsets, np.int64 if large else np.int32)
    ends: Ints = every[column.offset : column.offset + len(column) + 1].astype(np.int64)
    first, last = int(ends[0]), int(ends[-1])
    flat: Bytes = np.empty(0, np.uint8) if data is None else np.frombuffer(data, np.uint8)
    return flat[first:last], ends - ends[0]


def _are_space(data: Bytes) -> Flags:
    """Return which bytes belong to a character that is space."""
    sizes = np.frombuffer(data.tobytes().translate(_SPACE_SIZES), np.uint8)
    space: Flags = sizes == 1
    for size in (2, 3):
        starts = np.flatnonzero(sizes == size)
        starts = starts[starts <= len(data) - size]
        code = data[starts].astype(np.int64) & (0x1F if size == 2 else 0x0F)
        for place in range(1, size):
            code = code << 6 | (data[starts + place] & 0x3F)
        starts = starts[_IS_SPACE[code]]
        for place in range(size):
            space[starts + place] = True
    return space


def _space_sizes() -> bytes:
    """Return, for each value of a byte, the size of the spaces that begin with it, or 0."""
    sizes = bytearray(256)
    for code in _SPACES:
        encoded = chr(code).encode()
        sizes[encoded[0]] = len(encoded)
    return bytes(sizes)


_SPACE_SIZES = _space_sizes()
# Whether each character of at most three bytes is space. (np.isin would import np.ma, 0.04 s.)
_IS_SPACE = np.zeros(0x10000, np.bool_)
_IS_SPACE[_SPACES] = True
