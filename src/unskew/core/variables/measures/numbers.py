"""Measures of numbers: sign, digits, remainders. A text that writes a number is one, too."""

from __future__ import annotations

import math
import re
from typing import Any

import numpy as np

from unskew.core.variables.measures.measure import Measure

_NUMBER = re.compile(r"\s*[+-]?(?:\d{1,400}(?:\.\d{0,400})?|\.\d{1,400})(?:[eE][+-]?\d{1,3})?\s*")
_WHOLE = re.compile(r"\s*[+-]?\d+\s*")
_MOST = 10**400  # larger numbers are not measured: their digits would take long
_WITNESSES = (2, 3, 5, 7, 11, 13, 17, 19, 23, 29, 31, 37)  # enough for numbers below 3 · 10²⁴
_MOST_PLACES = 6  # after the point, that are a value
_MOST_PRIME = 3 * 10**24


def number_of(value: Any) -> int | float | None:
    """Return a finite number, or the number that a text writes; None for anything else."""
    if isinstance(value, np.generic):
        value = value.item()
    kind = type(value)
    if kind is int:
        return value if -_MOST < value < _MOST else None
    if kind is str:
        return _written(value)
    return value if kind is float and math.isfinite(value) else None


def _written(text: str) -> int | float | None:
    if len(text) > 1000 or _NUMBER.fullmatch(text) is None:
        return None
    if _WHOLE.fullmatch(text):
        return int(text)
    number = float(text)
    return number if math.isfinite(number) else None


def _whole(value: Any) -> int | None:
    """Return a whole number, also one that is held as a float."""
    number = number_of(value)
    if isinstance(number, float):
        return int(number) if number.is_integer() else None
    return number


def sign(number: float) -> int:
    """Return -1, 0 or 1."""
    return (number > 0) - (number < 0)


def magnitude(number: float) -> int | None:
    """Return the power of ten: 0 for 1 to 9.99, 2 for 100 to 999, -1 for 0.1; None for 0."""
    if isinstance(number, int):
        return len(str(abs(number))) - 1 if number else None
    return int(f"{number:e}".partition("e")[2]) if number else None


def trailing_zeros(number: int) -> int:
    """Return the number of zeros at the end of a whole number; 0 for 0."""
    digits = str(number)
    return len(digits) - len(digits.rstrip("0")) if number else 0


def decimals(number: float) -> int:
    """Return the number of digits after the point, without zeros at the end."""
    if isinstance(number, int):
        return 0
    mantissa, _, power = repr(number).partition("e")
    places = len(mantissa.partition(".")[2].rstrip("0"))
    return max(0, places - int(power or 0))


def fraction(number: float) -> str | None:
    """Return the digits after the point, without zeros at the end; None for very many."""
    places = decimals(number)
    if places > _MOST_PLACES:
        return None
    return f"{abs(number):.{places}f}".partition(".")[2] if places else "0"


def is_prime(number: int) -> bool | None:
    """Return whether a whole number is prime; None for one too large to tell."""
    if number >= _MOST_PRIME:
        return None
    if number < 2 or any(number % p == 0 for p in _WITNESSES):
        return number in _WITNESSES
    twos = (number - 1 & 1 - number).bit_length() - 1
    return all(_passes(number, base, twos) for base in _WITNESSES)


def _passes(number: int, base: int, twos: int) -> bool:
    """Miller and Rabin's test with one base."""
    power = pow(base, number - 1 >> twos, number)
    if power in (1, number - 1):
        return True
    for _ in range(twos - 1):
        power = power * power % number
        if power == number - 1:
            return True
    return False


def _of_whole(name: str, doc: str, of: Any) -> Measure:
    return Measure(name, doc, "whole numbers", of, _whole)


MEASURES = (
    Measure("number", "the number that it is or writes", "numbers", lambda x: x, number_of),
    Measure("sign", "sign: -1, 0 or 1", "numbers", sign, number_of),
    Measure(
        "size",
        "distance from 0",
        "numbers",
        abs,
        number_of,
    ),
    Measure("magnitude", "power of ten: 2 for 100 to 999", "numbers", magnitude, number_of),
    Measure(
        "is_whole", "yes or no: is it a whole number", "numbers", lambda x: x == int(x), number_of
    ),
    Measure("decimals", "number of digits after the point", "numbers", decimals, number_of),
    Measure("fraction", "digits after the point", "numbers", fraction, number_of),
    _of_whole("parity", "even or odd", lambda x: "odd" if x % 2 else "even"),
    Measure(
        "remainder",
        "remainder when divided by {}",
        "whole numbers",
        lambda x, divisor: x % divisor,
        _whole,
        takes="number",
        example="remainder(answer, 3)",
    ),
    _of_whole("digits", "number of digits", lambda x: len(str(abs(x)))),
    _of_whole("first_digit", "first digit", lambda x: int(str(abs(x))[0])),
    _of_whole("last_digit", "last digit", lambda x: abs(x) % 10),
    _of_whole("digit_sum", "sum of the digits", lambda x: sum(map(int, str(abs(x))))),
    _of_whole("distinct_digits", "number of different digits", lambda x: len(set(str(abs(x))))),
    _of_whole("trailing_zeros", "number of zeros at the end", trailing_zeros),
    _of_whole("is_prime", "yes or no: is it a prime number", is_prime),
    _of_whole(
        "is_square",
        "yes or no: is it the square of a whole number",
        lambda x: x >= 0 and math.isqrt(x) ** 2 == x,
    ),
    _of_whole(
        "is_power_of_two",
        "yes or no: is it a power of two",
        lambda x: x & (x - 1) == 0 if x > 0 else None,
    ),
)
