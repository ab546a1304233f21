"""A 64-bit hash of each row: of its columns' bytes, or of its content however it is held."""

from __future__ import annotations

import hashlib
import math
from decimal import Decimal
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from unskew.core.batch import Batch, binary_rows, is_binary, is_text, readable, text_bytes
from unskew.core.compiled import compiled
from unskew.core.errors import RowError, brief
from unskew.core.usercode import raised
from unskew.core.values.printed import printed

if TYPE_CHECKING:
    from collections.abc import Sequence

    from unskew.core.batch import Column

_OFFSET = np.uint64(0xCBF29CE484222325)
_PRIME = np.uint64(0x100000001B3)
_MIX = np.uint64(0x9E3779B97F4A7C15)


def row_hashes(batch: Batch) -> NDArray[np.uint64]:
    """Return one hash a row over all columns, in their order."""
    hashes = np.full(len(batch), _OFFSET, dtype=np.uint64)
    for column in map(readable, batch.columns.values()):
        gaps = None
        if not isinstance(column, np.ndarray) and column.null_count:
            gaps = column.is_null().to_numpy(zero_copy_only=False)
            without = hashes[gaps]
        data, offsets = _bytes_of(column)
        _hash_rows(data, offsets, hashes)
        if gaps is not None:  # the same in a column of any type, or of none
            _hash_rows(np.empty(0, np.uint8), np.zeros(len(without) + 1, np.int64), without)
            hashes[gaps] = without ^ _MIX
    return hashes


def content_hashes(batch: Batch) -> NDArray[np.uint64]:
    """Return one hash a row that is the same for an example and for what is stored of it.

    Columns have one type each, so that 5 may be stored as 5.0, a text as bytes, and what a row
    lacks as None; which of them depends on the other rows, and must not change the hash.
    """
    stored = Batch.from_arrow(batch.to_arrow()) if batch.is_plain else batch
    texts = (repr(_content(example)).encode() for example in stored.examples())
    digests = b"".join(hashlib.blake2b(text, digest_size=8).digest() for text in texts)
    return np.frombuffer(digests, dtype="<u8").astype(np.uint64)


def _content(value: object) -> object:
    """Return what is alike for values that may become one another in a column."""
    if isinstance(value, dict):
        there = ((name, item) for name, item in value.items() if item is not None)
        return {name: _content(item) for name, item in sorted(there)}
    if isinstance(value, (list, tuple)):
        return [_content(item) for item in value]
    if isinstance(value, str):
        return value.encode("utf-8", "surrogatepass")
    if isinstance(value, (bool, int, float, Decimal)):
        return _number(value)
    return value


def _number(value: float | Decimal) -> object:
    """Return the whole number it is, else the float, else the decimal."""
    try:
        whole = int(value)
    except (ValueError, OverflowError):  # not a number, or infinite
        return float(value)
    if whole == value:
        return whole
    inexact = float(value)
    return value.normalize() if isinstance(value, Decimal) and inexact != value else inexact


@compiled
def _hash_rows(
    data: NDArray[np.uint8], offsets: NDArray[np.int64], hashes: NDArray[np.uint64]
) -> None:
    """FNV-1a over the bytes of each row, then a mix so that column ends cannot be confused."""
    for row in range(len(hashes)):
        value = hashes[row]
        for i in range(offsets[row], offsets[row + 1]):
            value = (value ^ np.uint64(data[i])) * _PRIME
        value = (value ^ (value >> np.uint64(29))) * _MIX
        hashes[row] = value ^ (value >> np.uint64(32))


def _bytes_of(column: Column) -> tuple[NDArray[np.uint8], NDArray[np.int64]]:
    """Return the rows of a column as bytes, end to end, and where each begins.

    What a row without a value gives does not count, but the others must not depend on it.
    """
    rows = len(column)
    if not isinstance(column, np.ndarray):
        import pyarrow as pa

        if is_text(column):
            return text_bytes(column.fill_null("") if column.null_count else column)
        if is_binary(column):
            fixed = pa.types.is_fixed_size_binary(column.type)
            empty = bytes(column.type.byte_width) if fixed else b""
            return binary_rows(column.fill_null(empty) if column.null_count else column)
        if (
            pa.types.is_boolean(column.type)
            or pa.types.is_integer(column.type)
            or (pa.types.is_floating(column.type))
        ):
            zero = pa.scalar(0, pa.int8()).cast(column.type)
            column = column.fill_null(zero).to_numpy(zero_copy_only=False)
    if isinstance(column, np.ndarray) and column.dtype != object:
        width = column.dtype.itemsize * math.prod(column.shape[1:])
        flat = np.ascontiguousarray(column).reshape(-1).view(np.uint8)
        return flat, np.arange(rows + 1, dtype=np.int64) * width
    digests = _digests(column.tolist())
    offsets = np.arange(rows + 1, dtype=np.int64) * 16
    return np.frombuffer(b"".join(digests), dtype=np.uint8), offsets


def _digests(values: Sequence[object]) -> list[bytes]:
    digests: list[bytes] = []
    try:
        digests.extend(map(_digest, values))
    except Exception as error:  # objects within objects, endless numbers, a class of the user's
        row = len(digests)
        raise RowError(
            row,
            f"{brief(values[row], 40)} cannot be compared ({raised(error)}); make it smaller or "
            "flatter",
        ) from error
    return digests


def _digest(value: object) -> bytes:
    """Hash any Python value by its printed form, in which the order of a dict does not count."""
    text = printed(value).encode("utf-8", "surrogatepass")
    return hashlib.blake2b(text, digest_size=16).digest()
