"""The values of a variable as JSON holds them, and read back as the same values.

JSON has no tuples, bytes, infinities and nan. Each of these becomes an object of one entry, whose
key says what it is. Nothing else is in such an object, so that data of strangers stays data.
"""

from __future__ import annotations

import math
from collections.abc import Hashable
from typing import Any

from unskew.core.errors import UnskewError, brief
from unskew.core.values.nesting import MAX_DEPTH

_NO_NUMBERS = {"inf": math.inf, "-inf": -math.inf, "nan": math.nan}  # floats that JSON lacks


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
    raise UnskewError(
        f"the value {brief(value)} is of type {type(value).__name__}, which cannot be saved; "
        "measure a number, a text or a tuple of them"
    )


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
    raise ValueError(f"{brief(data)} is no value")
