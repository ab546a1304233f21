"""The arithmetic of hashes: numbers, texts, lists and records as 64-bit words, many at a time.

A hash of bytes or of a list is a sum over its words. Each word is mixed with its place first, so
that the order counts. A hash of a record is a sum over its entries. Each entry is a key mixed with
its value, so that the order does not count. Sums of many rows are differences of one running sum.
"""

from __future__ import annotations

import sys
from enum import IntEnum

import numpy as np
from numpy.typing import NDArray

from unskew.core.compiled import compiled_when_called

_STEP = np.uint64(0x9E3779B97F4A7C15)  # the odd number nearest to 2^64 / golden ratio
_FIRST = np.uint64(0xBF58476D1CE4E5B9)  # the multipliers of SplitMix64
_SECOND = np.uint64(0x94D049BB133111EB)
_ALL_BITS = np.uint64(0xFFFFFFFFFFFFFFFF)
NULL = np.uint64(0x6E756C6C6E756C6C)  # the hash of a value that is missing
COMPILED_FROM = 1 << 24  # bytes of text in one column; for fewer, Numba is not worth its import
COMPILED_WITH_NUMBA = 1 << 20  # the same where Numba is imported already

Hashes = NDArray[np.uint64]


class Kind(IntEnum):
    """What a hash is a hash of. Two kinds never share a hash, except by chance."""

    INTEGER = 1  # a number that is whole and fits into 64 bits, also 2.0
    FLOAT = 2  # any other number that a float holds exactly
    NUMBER = 3  # any other number
    TEXT = 4  # as UTF-8
    LIST = 5
    RECORD = 6  # a dict, a struct or a map
    INSTANT = 7  # a date or a time of a day; in UTC unless it says otherwise
    CLOCK = 8  # a time of any day
    DURATION = 9
    OTHER = 10  # an object of another class, by its printed form
    BYTES = 11
    FLAG = 12  # true or false


def _seed(kind: Kind) -> np.uint64:
    return np.uint64((kind * int(_STEP)) & int(_ALL_BITS))


def mixed(words: Hashes) -> Hashes:
    """Return the words with their bits mixed (SplitMix64); the array itself is overwritten."""
    shifted = words >> np.uint64(30)
    words ^= shifted
    words *= _FIRST
    np.right_shift(words, np.uint64(27), out=shifted)
    words ^= shifted
    words *= _SECOND
    np.right_shift(words, np.uint64(31), out=shifted)
    words ^= shifted
    return words


def nulls(rows: int) -> Hashes:
    """Return the hashes of rows without a value."""
    return np.full(rows, NULL)


def hash_integers(values: NDArray[np.int64], kind: Kind = Kind.INTEGER) -> Hashes:
    """Return the hash of each whole number."""
    return mixed(values.view(np.uint64) + _seed(kind))


def hash_flags(values: NDArray[np.bool_]) -> Hashes:
    """Return the hash of each yes or no."""
    return hash_integers(values.astype(np.int64), Kind.FLAG)


def hash_floats(values: NDArray[np.float64]) -> Hashes:
    """Return the hash of each float; a whole number has the hash that it has as an integer."""
    whole = (np.floor(values) == values) & (values >= -(2.0**63)) & (values < 2.0**63)
    bits = np.where(np.isnan(values), np.nan, values).view(np.uint64) + _seed(Kind.FLOAT)
    as_integers = np.where(whole, values, 0.0).astype(np.int64).view(np.uint64)
    return mixed(np.where(whole, as_integers + _seed(Kind.INTEGER), bits))


def hash_large(values: NDArray[np.uint64]) -> tuple[Hashes, NDArray[np.bool_]]:
    """Return hashes of whole numbers without a sign, and for which of them they are right.

    They are right for numbers that 63 bits or a float hold.
    """
    small = values < np.uint64(2**63)
    floats = values.astype(np.float64)
    # A float that is 2^64 does not fit back into 64 bits, so it is compared as the next lower one.
    below = np.where(floats < 2.0**64, floats, 0.0)
    exact = below.astype(np.uint64) == values
    hashes = np.where(small, hash_integers(values.astype(np.int64)), hash_floats(floats))
    return hashes, small | exact


def hash_times(kind: Kind, seconds: NDArray[np.int64], nanoseconds: NDArray[np.int64]) -> Hashes:
    """Return the hash of each time: whole seconds, and the rest in nanoseconds."""
    return mixed(mixed(seconds.view(np.uint64) + _seed(kind)) + nanoseconds.view(np.uint64))


def hash_lists(elements: Hashes, offsets: NDArray[np.int64]) -> Hashes:
    """Return the hash of each list: row i has the elements from ``offsets[i]`` on."""
    elements = elements[offsets[0] : offsets[-1]]
    offsets = offsets - offsets[0]
    lengths = np.diff(offsets)
    return _of_words(elements, lengths, offsets, lengths, Kind.LIST)


def hash_records(keys: Hashes, values: Hashes, offsets: NDArray[np.int64]) -> Hashes:
    """Return the hash of each record: row i has the entries from ``offsets[i]`` on."""
    first, end = offsets[0], offsets[-1]
    sums = _sums(entries(keys[first:end], values[first:end]), offsets - first)
    return close_records(sums)


def entries(keys: Hashes, values: Hashes) -> Hashes:
    """Return what each entry adds to the sum of its record; a value that is missing adds 0.

    There is one key for each value, or one for all.
    """
    words = mixed(keys * _STEP + values)
    words[values == NULL] = 0
    return words


def close_records(sums: Hashes) -> Hashes:
    """Return the hashes of records from the sums of their entries."""
    return mixed(sums + _seed(Kind.RECORD))


def hash_texts(
    data: NDArray[np.uint8],
    offsets: NDArray[np.int64],
    kind: Kind = Kind.TEXT,
    *,
    large: bool = False,
) -> Hashes:
    """Return the hash of each row of bytes: row i begins at ``offsets[i]``.

    ``large`` says that more rows follow, so that the compiled code is worth its start.
    """
    enough = COMPILED_WITH_NUMBA if "numba" in sys.modules else COMPILED_FROM
    if large or offsets[-1] - offsets[0] >= enough:
        hashes = np.empty(len(offsets) - 1, dtype=np.uint64)
        _hash_bytes(data, offsets, _seed(kind), hashes)
        return hashes
    data = data[offsets[0] : offsets[-1]]
    offsets = offsets - offsets[0]
    lengths = np.diff(offsets)
    words, ends = _words(data, offsets, lengths)
    return _of_words(words, np.diff(ends), ends, lengths, kind)


def _words(
    data: NDArray[np.uint8], offsets: NDArray[np.int64], lengths: NDArray[np.int64]
) -> tuple[Hashes, NDArray[np.int64]]:
    """Return the bytes of all rows as words of eight, zeros after a row's end, and n + 1 places."""
    counts = (lengths + 7) >> 3
    ends = np.concatenate([[0], np.cumsum(counts)])
    begin = np.repeat(offsets[:-1] - 8 * ends[:-1], counts) + 8 * np.arange(ends[-1])
    left = np.minimum(np.repeat(offsets[1:], counts) - begin, 8).astype(np.uint64)
    padded = np.concatenate([data, np.zeros(8, np.uint8)])
    at_every_byte = np.ndarray(len(data) + 1, np.dtype("<u8"), padded.data, strides=(1,))
    words = at_every_byte[begin].astype(np.uint64, copy=False)
    words &= _ALL_BITS >> (np.uint64(64) - left * np.uint64(8))
    return words, ends


def _of_words(
    words: Hashes,
    counts: NDArray[np.int64],
    offsets: NDArray[np.int64],
    lengths: NDArray[np.int64],
    kind: Kind,
) -> Hashes:
    """Return the hashes of rows of words, each mixed with its place in the row."""
    places = np.arange(1, len(words) + 1) - np.repeat(offsets[:-1], counts)
    sums = _sums(mixed(words + places.view(np.uint64) * _STEP), offsets)
    return mixed(sums + lengths.view(np.uint64) * _FIRST + _seed(kind))


def _sums(words: Hashes, offsets: NDArray[np.int64]) -> Hashes:
    """Return the sum of each row's words, modulo 2^64."""
    running = np.zeros(len(words) + 1, dtype=np.uint64)
    np.cumsum(words, out=running[1:])
    sums: Hashes = running[offsets[1:]] - running[offsets[:-1]]
    return sums


@compiled_when_called
def _hash_bytes(
    data: NDArray[np.uint8], offsets: NDArray[np.int64], seed: np.uint64, hashes: Hashes
) -> None:
    """Do the same as ``_words`` and ``_of_words`` in one pass."""
    for row in range(len(hashes)):
        at, end = np.uint64(offsets[row]), np.uint64(offsets[row + 1])
        total = (end - at) * _FIRST + seed
        place = np.uint64(0)
        while at + np.uint64(8) <= end:
            word = (  # the compiler makes one load of these eight
                np.uint64(data[at])
                | np.uint64(data[at + np.uint64(1)]) << np.uint64(8)
                | np.uint64(data[at + np.uint64(2)]) << np.uint64(16)
                | np.uint64(data[at + np.uint64(3)]) << np.uint64(24)
                | np.uint64(data[at + np.uint64(4)]) << np.uint64(32)
                | np.uint64(data[at + np.uint64(5)]) << np.uint64(40)
                | np.uint64(data[at + np.uint64(6)]) << np.uint64(48)
                | np.uint64(data[at + np.uint64(7)]) << np.uint64(56)
            )
            place += _STEP
            word += place
            word = (word ^ (word >> np.uint64(30))) * _FIRST
            word = (word ^ (word >> np.uint64(27))) * _SECOND
            total += word ^ (word >> np.uint64(31))
            at += np.uint64(8)
        if at < end:
            word, shift = np.uint64(0), np.uint64(0)
            while at < end:
                word |= np.uint64(data[at]) << shift
                shift += np.uint64(8)
                at += np.uint64(1)
            word += place + _STEP
            word = (word ^ (word >> np.uint64(30))) * _FIRST
            word = (word ^ (word >> np.uint64(27))) * _SECOND
            total += word ^ (word >> np.uint64(31))
        total = (total ^ (total >> np.uint64(30))) * _FIRST
        total = (total ^ (total >> np.uint64(27))) * _SECOND
        hashes[row] = total ^ (total >> np.uint64(31))
