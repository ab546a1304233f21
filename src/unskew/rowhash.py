"""A 64-bit hash of each row's content: what duplicates are found by."""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from unskew.batch import is_text, text_bytes
from unskew.compiled import compiled

if TYPE_CHECKING:
    from unskew.batch import Batch, Column

_OFFSET = np.uint64(0xCBF29CE484222325)
_PRIME = np.uint64(0x100000001B3)
_MIX = np.uint64(0x9E3779B97F4A7C15)


def row_hashes(batch: Batch) -> NDArray[np.uint64]:
    """Return one hash a row over all columns, in their order."""
    hashes = np.full(len(batch), _OFFSET, dtype=np.uint64)
    for column in batch.columns.values():
        data, offsets = _bytes_of(column)
        _hash_rows(data, offsets, hashes)
    return hashes


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
    """Return the rows of a column as bytes, end to end, and where each begins."""
    rows = len(column)
    if not isinstance(column, np.ndarray):
        import pyarrow as pa

        if is_text(column) and column.null_count == 0:
            return text_bytes(column)
        if pa.types.is_primitive(column.type) and column.null_count == 0:
            column = column.to_numpy(zero_copy_only=False)
    if isinstance(column, np.ndarray) and column.dtype != object:
        flat = np.ascontiguousarray(column).reshape(rows, -1).view(np.uint8)
        return flat.reshape(-1), np.arange(rows + 1, dtype=np.int64) * flat.shape[1]
    digests = [_digest(value) for value in column.tolist()]
    offsets = np.arange(rows + 1, dtype=np.int64) * 16
    return np.frombuffer(b"".join(digests), dtype=np.uint8), offsets


def _digest(value: object) -> bytes:
    """Hash any Python value by its printed form; dicts by sorted keys."""
    if isinstance(value, dict):
        value = sorted(value.items(), key=lambda item: str(item[0]))
    return hashlib.blake2b(repr(value).encode("utf-8", "surrogatepass"), digest_size=16).digest()
