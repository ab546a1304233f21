"""Features of numbers. Their digits are held against numbers drawn evenly in the same range."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from unskew.core.variables.measures.names import MEASURES
from unskew.core.variables.measures.numbers import decimals
from unskew.discovery.proposal import Field
from unskew.discovery.propose.make import Made, of_measure, of_measures, of_values

DIVISORS = (3, 4, 5, 6, 7, 8, 9, 12)
_DIGITS = (
    *("parity", "last_digit", "first_digit", "digits", "digit_sum", "distinct_digits"),
    *(
        "is_whole",
        "decimals",
        "fraction",
        "trailing_zeros",
        "is_prime",
        "is_square",
        "is_power_of_two",
    ),
)
_LARGEST = 2**62


def numbers(field: Field, rng: np.random.Generator) -> Iterator[Made]:
    """Propose the value, the sign, the digits and remainders of numbers."""
    yield from value(field)
    references = drawn_anew(field, rng)
    yield from of_measures(field, ("sign", "magnitude"), null="chance", references=references)
    yield from of_measures(field, _DIGITS, null="chance", references=references)
    for divisor in DIVISORS:
        yield from of_measure(field, "remainder", divisor, null="chance", references=references)


def value(field: Field) -> Iterator[Made]:
    """Propose the value itself; of texts that write numbers, the number."""
    texts = any(isinstance(value, str) for value in field.distinct)
    if texts:
        yield from of_measure(field, "number")
    else:
        values = field.of_distinct([_plain(value) for value in field.distinct])
        yield from of_values(field.path, f"{field.path}: value", (field.path,), values)


def _plain(value: object) -> object:
    return value.item() if isinstance(value, np.generic) else value


def drawn_anew(field: Field, rng: np.random.Generator) -> tuple[Field, ...]:
    """Return the field with numbers drawn evenly in their range, and from a bell curve."""
    written = field.measured(MEASURES["number"])
    there = [x for x in written.tolist() if isinstance(x, (int, float)) and abs(x) < _LARGEST]
    if len(there) < 2:
        return ()
    low, high = min(there), max(there)
    rows = len(field.values)
    whole = all(float(x).is_integer() for x in there)
    bell = rng.normal(float(np.mean(there)), float(np.std(there)), rows).clip(low, high)
    if whole:
        drawn = [rng.integers(int(low), int(high), rows, endpoint=True), np.rint(bell)]
        return tuple(field.with_values(values.astype(np.int64).tolist()) for values in drawn)
    places = min(15, max(decimals(x) for x in there[:1000]))
    even = np.round(rng.uniform(low, high, rows), places)
    return field.with_values(even.tolist()), field.with_values(np.round(bell, places).tolist())
