"""The values of a variable as JSON holds them, and read back as the same values.

JSON has no tuples, bytes, dates, decimals, infinities and nan. Each of these becomes an object of
one entry, whose key says what it is. Nothing else is in such an object, so that data of strangers
stays data. A time with a zone comes back with the distance of its zone from UTC, and is equal.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Hashable, Iterable
from datetime import date, datetime, time
from decimal import Decimal, InvalidOperation
from typing import Any

from unskew.core.errors import UnskewError, brief
from unskew.core.values.nesting import MAX_DEPTH

_NO_NUMBERS = {"inf": math.inf, "-inf": -math.inf, "nan": math.nan}  # floats that JSON lacks
# Types whose values are written as a text, and what reads it.
_WRITTEN: dict[type, Callable[[str], Hashable]] = {
    date: date.fromisoformat,
    datetime: datetime.fromisoformat,
    time: time.fromisoformat,
    Decimal: Decimal,
}
_READ = {kind.__name__.lower(): read for kind, read in _WRITTEN.items()}


def value_data(value: Hashable) -> Any:
    """Return a value as plain data, ready for JSON; refuse a value that would come back changed."""
    if value is None or isinstance(value, (bool, int, str)):
        return value
    if isinstance(value, float):
        return value if math.isfinite(value) else {"float": str(float(value))}
    if isinstance(value, tuple):
        return {"tuple": [value_data(part) for part in value]}
    if isinstance(value, bytes):
        return {"bytes": value.hex()}
    if type(value) in _WRITTEN:
        return {type(value).__name__.lower(): _text(value)}
    raise UnskewError(
        f"the value {brief(value)} is of type {type(value).__name__}, which cannot be saved; "
        "measure a number, a text or a tuple of them"
    )


def values_data(name: str, values: Iterable[Hashable]) -> list[Any]:
    """Return the values of a variable as plain data; an error names the variable."""
    try:
        return list(map(value_data, values))
    except UnskewError as error:
        raise UnskewError(f"variable {name!r}: {error}") from error


def _text(value: Any) -> str:
    return str(value) if isinstance(value, Decimal) else str(value.isoformat())


def value_of(data: Any, depth: int = 0) -> Hashable:
    """Return the value that ``value_data`` made this of; raise ``ValueError`` for anything else."""
    if data is None or isinstance(data, (bool, int, str)):
        return data
    if isinstance(data, float) and math.isfinite(data):
        return data
    if isinstance(data, dict) and len(data) == 1 and depth < MAX_DEPTH:
        [(kind, held)] = data.items()
        if kind == "tuple" and isinstance(held, list):
            return tuple(value_of(part, depth + 1) for part in held)
        if kind == "float" and isinstance(held, str) and held in _NO_NUMBERS:
            return _NO_NUMBERS[held]
        if kind == "bytes" and isinstance(held, str):
            return bytes.fromhex(held)
        if kind in _READ and isinstance(held, str):
            return _written(kind, held)
    raise ValueError(f"{brief(data)} is no value")


def _written(kind: str, text: str) -> Hashable:
    try:
        return _READ[kind](text)
    except InvalidOperation:
        raise ValueError(f"{brief(text)} is no value") from None
