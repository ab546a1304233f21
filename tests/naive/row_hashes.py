"""Row hashes as slow and plain as possible: one Python value, one number at a time."""

import struct
from datetime import UTC, date, datetime, time, timedelta
from decimal import Decimal
from fractions import Fraction

BITS = (1 << 64) - 1
STEP = 0x9E3779B97F4A7C15
FIRST = 0xBF58476D1CE4E5B9
SECOND = 0x94D049BB133111EB
NULL = 0x6E756C6C6E756C6C
INTEGER, FLOAT, NUMBER, TEXT, LIST, RECORD, INSTANT, CLOCK, DURATION, _, BYTES, FLAG = range(1, 13)


def row_hash(columns):
    """The hash of a row that is a dict of its columns."""
    return value_hash(columns)


def value_hash(value):
    if value is None:
        return NULL
    if isinstance(value, bool):
        return mixed(int(value) + seed(FLAG))
    if isinstance(value, (int, float, Decimal)):
        return number_hash(value)
    if isinstance(value, str):
        return bytes_hash(value.encode("utf-8", "surrogatepass"), TEXT)
    if isinstance(value, bytes):
        return bytes_hash(value, BYTES)
    if isinstance(value, dict):
        total = seed(RECORD)
        for key, item in value.items():
            if item is not None:
                total += mixed(value_hash(key) * STEP + value_hash(item))
        return mixed(total)
    if isinstance(value, (list, tuple)):
        return words_hash([value_hash(item) for item in value], len(value), LIST)
    return time_hash(value)


def number_hash(value):
    if value != value:  # noqa: PLR0124
        return mixed(float_bits(float("nan")) + seed(FLOAT))
    if value in (float("inf"), float("-inf")):
        return mixed(float_bits(float(value)) + seed(FLOAT))
    exact = Fraction(value)
    if exact.denominator == 1 and -(2**63) <= exact < 2**63:
        return mixed(int(exact) + seed(INTEGER))
    try:
        inexact = float(value)
    except OverflowError:
        inexact = float("inf")
    if inexact not in (float("inf"), float("-inf")) and Fraction(inexact) == exact:
        return mixed(float_bits(inexact) + seed(FLOAT))
    sign = 1 if exact < 0 else 0
    exact, exponent = abs(exact), 0
    while exact.denominator != 1:
        exact, exponent = exact * 10, exponent - 1
    while exact % 10 == 0:
        exact, exponent = exact / 10, exponent + 1
    return bytes_hash(f"{sign} {exact} {exponent}".encode(), NUMBER)


def time_hash(value):
    if isinstance(value, time):
        ticks = ((value.hour * 60 + value.minute) * 60 + value.second) * 10**6 + value.microsecond
        kind = CLOCK
    elif isinstance(value, timedelta):
        ticks, kind = value // timedelta(microseconds=1), DURATION
    else:
        if isinstance(value, date) and not isinstance(value, datetime):
            value = datetime(value.year, value.month, value.day)
        if value.tzinfo is None:
            value = value.replace(tzinfo=UTC)
        start = datetime(1970, 1, 1, tzinfo=UTC)
        ticks, kind = (value - start) // timedelta(microseconds=1), INSTANT
    seconds, rest = ticks // 10**6, ticks % 10**6
    return mixed(mixed(seconds + seed(kind)) + rest * 1000)


def bytes_hash(data, kind):
    words = [int.from_bytes(data[i : i + 8], "little") for i in range(0, len(data), 8)]
    return words_hash(words, len(data), kind)


def words_hash(words, length, kind):
    total = length * FIRST + seed(kind)
    for place, word in enumerate(words, 1):
        total += mixed(word + place * STEP)
    return mixed(total)


def seed(kind):
    return kind * STEP


def float_bits(value):
    return struct.unpack("<Q", struct.pack("<d", value))[0]


def mixed(word):
    word &= BITS
    word = ((word ^ word >> 30) * FIRST) & BITS
    word = ((word ^ word >> 27) * SECOND) & BITS
    return word ^ word >> 31
