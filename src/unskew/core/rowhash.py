"""A 64-bit hash of each row: of its content however it is held, or of its bytes."""

from __future__ import annotations

import hashlib
from decimal import Decimal
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from unskew.core.arrow_numbers import numpy_of
from unskew.core.batch import EXAMPLE, Batch, text_bytes
from unskew.core.compiled import compiled_when_called
from unskew.core.errors import RowError, brief
from unskew.core.hashing.arrow import hash_row
from unskew.core.hashing.mixing import Hashes, close_records, entries
from unskew.core.hashing.objects import hash_objects
from unskew.core.usercode import raised

if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any

    import pyarrow as pa

_OFFSET = np.uint64(0xCBF29CE484222325)
_PRIME = np.uint64(0x100000001B3)
_MIX = np.uint64(0x9E3779B97F4A7C15)


def row_hashes(batch: Batch, *, large: bool = False) -> Hashes:
    """Return one hash a row: the same for the same row, in whatever form it is held.

    A dict has the hash of its columns, in whatever order they are. A key whose value is missing
    counts as absent. A number counts by its value, a text by its characters, a time by its moment.
    ``large`` says that many more rows follow, so that compiled code is worth its start.
    """
    if not batch.is_plain:
        return hash_row(dict(batch.columns), len(batch), large=large)
    examples = batch.columns[EXAMPLE].tolist()
    try:
        return _example_hashes(examples)
    except Exception as error:  # objects within objects, endless numbers, a class of the user's
        _name_row(examples)
        raise RowError(0, f"the rows cannot be compared ({raised(error)})") from error


def _example_hashes(examples: Sequence[Any]) -> Hashes:
    hashes = hash_objects(examples)
    others = [row for row, example in enumerate(examples) if not isinstance(example, dict)]
    if others:  # they are stored as one column
        hashes[others] = close_records(entries(hash_objects([EXAMPLE]), hashes[others]))
    return hashes


def _name_row(examples: Sequence[Any]) -> None:
    """Raise the error of the first example that cannot be hashed."""
    for row, example in enumerate(examples):
        try:
            hash_objects([example])
        except Exception as error:  # an example may be of a user's own class
            raise RowError(
                row,
                f"{brief(example, 40)} cannot be compared ({raised(error)}); make it smaller or "
                "flatter",
            ) from error


def text_hashes(column: pa.Array) -> Hashes:
    """Return one hash for each text of a column: FNV-1a over its bytes. Splits depend on it."""
    hashes = np.full(len(column), _OFFSET, dtype=np.uint64)
    _hash_rows(*text_bytes(column.fill_null("") if column.null_count else column), hashes)
    if column.null_count:
        empty = np.full(1, _OFFSET, dtype=np.uint64)
        _hash_rows(np.empty(0, np.uint8), np.zeros(2, np.int64), empty)
        hashes[numpy_of(column.is_null())] = empty[0] ^ _MIX
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
    """Return a form of a value that stays the same if a column stores it as another type."""
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


@compiled_when_called
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
