"""The hash of each of many Python objects. Objects of one type are hashed together."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from datetime import date, datetime, time, timedelta
from decimal import Decimal
from itertools import accumulate, chain
from typing import Any

import numpy as np
from numpy.typing import NDArray

from unskew.core.hashing.mixing import (
    NULL,
    Hashes,
    Kind,
    hash_flags,
    hash_floats,
    hash_integers,
    hash_lists,
    hash_records,
    hash_texts,
    hash_times,
    nulls,
)
from unskew.core.values.missing import is_missing_type
from unskew.core.values.printed import printed

_MOST_BITS = 10_000  # of a whole number that Python prints
_EPOCH = date(1970, 1, 1)
_DAY = 86_400  # seconds
PER_SECOND = {"s": 1, "ms": 1_000, "us": 1_000_000, "ns": 1_000_000_000}


def hash_objects(values: Sequence[Any]) -> Hashes:
    """Return the hash of each value.

    Numbers that are equal have one hash. So have a list, a tuple and an array of the same values,
    and a date and its midnight. A key whose value is None counts as absent.
    """
    kinds = list(map(type, values))
    if len(set(kinds)) == 1:
        return _of_type(kinds[0], values)
    rows_by_kind: dict[type, list[int]] = {}
    for row, kind in enumerate(kinds):
        rows_by_kind.setdefault(kind, []).append(row)
    hashes = np.empty(len(values), dtype=np.uint64)
    for kind, rows in rows_by_kind.items():
        hashes[rows] = _of_type(kind, [values[row] for row in rows])
    return hashes


def _of_type(kind: type, values: Sequence[Any]) -> Hashes:
    """Return the hashes of values of one type."""
    if is_missing_type(kind):
        return nulls(len(values))
    for kinds, function in _BY_TYPE:
        if issubclass(kind, kinds):
            return function(values)
    if hasattr(kind, "__array__"):
        return _arrays(values)
    return _texts([printed(value) for value in values], Kind.OTHER)


def _integers(values: Sequence[Any]) -> Hashes:
    try:
        return hash_integers(np.array(values, dtype=np.int64))
    except OverflowError:
        return _numbers(values)


def _flags(values: Sequence[Any]) -> Hashes:
    return hash_flags(np.array(values, dtype=np.bool_))


def _floats(values: Sequence[Any]) -> Hashes:
    return hash_floats(np.array(values, dtype=np.float64))


def _numbers(values: Sequence[int | Decimal]) -> Hashes:
    """Return the hashes of numbers of any size: as 64 bits, as a float, or else as digits."""
    return np.concatenate([_number(value) for value in values])


def _number(value: int | Decimal) -> Hashes:
    if isinstance(value, Decimal) and not value.is_finite():
        return _floats([math.nan if value.is_nan() else float(value)])
    if -(2**63) <= value < 2**63 and value == int(value):
        return _integers([int(value)])
    try:
        inexact = float(value)
    except OverflowError:
        inexact = math.inf
    if inexact == value:
        return _floats([inexact])
    if isinstance(value, int) and value.bit_length() > _MOST_BITS:
        raise ValueError(f"a whole number of more than {_MOST_BITS:,} bits cannot be printed")
    sign, digits, exponent = Decimal(value).as_tuple()
    text = "".join(map(str, digits))
    shown = text.rstrip("0")
    return _texts([f"{sign} {shown} {int(exponent) + len(text) - len(shown)}"], Kind.NUMBER)


def _texts(values: Sequence[Any], kind: Kind = Kind.TEXT) -> Hashes:
    joined = "".join(values)
    if joined.isascii():
        return _bytes_of([joined.encode()], list(map(len, values)), kind)
    encoded = [value.encode("utf-8", "surrogatepass") for value in values]
    return _bytes_of(encoded, list(map(len, encoded)), kind)


def _bytes(values: Sequence[Any]) -> Hashes:
    encoded = list(map(bytes, values))
    return _bytes_of(encoded, list(map(len, encoded)), Kind.BYTES)


def _bytes_of(parts: Sequence[bytes], lengths: Sequence[int], kind: Kind) -> Hashes:
    return hash_texts(np.frombuffer(b"".join(parts), dtype=np.uint8), _offsets(lengths), kind)


def _lists(values: Sequence[Any]) -> Hashes:
    elements = hash_objects(list(chain.from_iterable(values)))
    return hash_lists(elements, _offsets(map(len, values)))


def _records(values: Sequence[dict[Any, Any]]) -> Hashes:
    keys = list(chain.from_iterable(values))
    numbers = {key: number for number, key in enumerate(dict.fromkeys(keys))}
    of_entries = np.fromiter(map(numbers.__getitem__, keys), dtype=np.int64, count=len(keys))
    items = list(chain.from_iterable(value.values() for value in values))
    key_hashes = hash_objects(list(numbers))[of_entries]
    return hash_records(key_hashes, hash_objects(items), _offsets(map(len, values)))


def _arrays(values: Sequence[Any]) -> Hashes:
    return hash_objects([_listed(value) for value in values])


def _listed(value: Any) -> object:
    """Return an array or a number of NumPy or of another library as plain Python values."""
    try:
        array = np.asarray(value)
    except (TypeError, ValueError, RuntimeError):  # NumPy cannot hold it: an array of a GPU
        return printed(value)
    listed = list(array) if array.dtype.kind in "mM" and array.ndim else array.tolist()
    return printed(value) if type(listed) is type(value) else listed


def _numpy_times(values: Sequence[Any]) -> Hashes:
    """Return the hashes of times that may have different units: no unit holds all of them."""
    rows_by_unit: dict[np.dtype[Any], list[int]] = {}
    for row, value in enumerate(values):
        rows_by_unit.setdefault(value.dtype, []).append(row)
    hashes = np.empty(len(values), dtype=np.uint64)
    for unit, rows in rows_by_unit.items():
        hashes[rows] = hash_numpy_times(np.array([values[row] for row in rows], unit))
    return hashes


def hash_numpy_times(values: NDArray[Any]) -> Hashes:
    """Return the hash of each time of an array: of moments, or of lengths of time."""
    kind = Kind.INSTANT if values.dtype.kind == "M" else Kind.DURATION
    unit, step = np.datetime_data(values.dtype)
    if unit in PER_SECOND:
        numbers = values.astype(values.dtype.newbyteorder("=")).view(np.int64)
        seconds, rest = np.divmod(numbers * step, PER_SECOND[unit])
        nanoseconds = rest * (PER_SECOND["ns"] // PER_SECOND[unit])
    else:
        seconds = values.astype(f"{values.dtype.kind}8[s]").view(np.int64)
        nanoseconds = np.zeros_like(seconds)
    hashes = hash_times(kind, seconds, nanoseconds)
    hashes[np.isnat(values)] = NULL
    return hashes


def _instants(values: Sequence[datetime]) -> Hashes:
    spans = []
    for value in values:
        offset = value.utcoffset()
        moment = value.replace(tzinfo=None)
        spans.append(moment - datetime(1970, 1, 1) - (offset or timedelta()))
    return _spans(spans, Kind.INSTANT)


def _dates(values: Sequence[date]) -> Hashes:
    return _spans([value - _EPOCH for value in values], Kind.INSTANT)


def _clocks(values: Sequence[time]) -> Hashes:
    spans = [
        timedelta(
            hours=value.hour,
            minutes=value.minute,
            seconds=value.second,
            microseconds=value.microsecond,
        )
        for value in values
    ]
    return _spans(spans, Kind.CLOCK)


def _durations(values: Sequence[timedelta]) -> Hashes:
    return _spans(values, Kind.DURATION)


def _spans(values: Sequence[timedelta], kind: Kind) -> Hashes:
    seconds = [value.days * _DAY + value.seconds for value in values]
    finer = [value.microseconds * 1000 + getattr(value, "nanoseconds", 0) for value in values]
    return hash_times(kind, np.array(seconds, np.int64), np.array(finer, np.int64))


def _offsets(lengths: Any) -> NDArray[np.int64]:
    return np.array([0, *accumulate(lengths)], dtype=np.int64)


_BY_TYPE: tuple[tuple[type | tuple[type, ...], Callable[[Sequence[Any]], Hashes]], ...] = (
    # np.timedelta64 is a signed integer for NumPy, so it comes first
    ((np.datetime64, np.timedelta64), _numpy_times),
    ((bool, np.bool_), _flags),  # a bool is a whole number too
    ((int, np.signedinteger), _integers),
    ((float, np.float16, np.float32), _floats),
    (str, _texts),
    ((bytes, bytearray, memoryview), _bytes),
    (dict, _records),
    ((list, tuple), _lists),
    (Decimal, _numbers),
    (datetime, _instants),  # a datetime is a date too
    (date, _dates),
    (time, _clocks),
    (timedelta, _durations),
)
