"""Writing JSON that every reader takes, and reading JSON that may be damaged."""

from __future__ import annotations

import json
import math
import sys
from collections.abc import Hashable
from typing import Any, cast

from unskew.core.errors import brief


def json_text(data: Any, indent: int | None = None) -> str:
    """Return data as JSON. What JSON has no form for becomes text: nan, an infinity, a date.

    Half of a character (a lone surrogate) is written as JSON writes it, ``\\ud800``.
    """
    try:
        text = json.dumps(
            data, ensure_ascii=False, allow_nan=False, indent=indent, default=_default
        )
    except (TypeError, ValueError, RecursionError):
        text = json.dumps(_allowed(data), ensure_ascii=False, indent=indent)
    return text.encode("utf-8", "backslashreplace").decode()


def parse_json(text: str | bytes) -> Any:
    """Return the value of a JSON text; raise ``ValueError`` for any text that has none.

    Python raises ``RecursionError`` for a text that is nested too deeply.
    """
    try:
        return json.loads(text)
    except RecursionError as error:
        raise ValueError("it is nested too deeply") from error


def hashable(value: Any) -> Hashable:
    """Return a value of JSON as one that can be counted: lists become tuples."""
    return tuple(map(hashable, value)) if isinstance(value, list) else cast("Hashable", value)


def json_fault(error: Exception, step: str) -> str:
    """Return what is wrong with a text that ``json.loads`` refused; ``step`` mends what is cut."""
    if isinstance(error, RecursionError):
        return "is nested too deeply; make it flatter"
    if isinstance(error, json.JSONDecodeError):
        return f"is no JSON ({error}); it may be truncated: {step}"
    return f"has a whole number of more than {sys.get_int_max_str_digits():,} digits; make it text"


def _default(value: Any) -> Any:
    """Turn an array or one of its numbers into lists and numbers, anything else into text."""
    if hasattr(type(value), "tolist"):
        return value.tolist()
    return _text(value)


def _allowed(value: Any, above: frozenset[int] = frozenset()) -> Any:
    """Return the value with all parts that JSON does not have as text."""
    if value is None or isinstance(value, (str, bool)):
        return value
    if isinstance(value, int):
        return value if value.bit_length() <= _MOST_BITS else hex(value)
    if isinstance(value, float):
        return value if math.isfinite(value) else str(value)
    if id(value) in above or len(above) > _DEEPEST:
        return brief(value)
    above |= {id(value)}
    if isinstance(value, dict):
        return {_key(key): _allowed(item, above) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [_allowed(item, above) for item in value]
    if hasattr(type(value), "tolist"):
        return _allowed(value.tolist(), above)
    return _text(value)


_MOST_BITS = 10_000  # of a whole number that Python writes in decimal digits
_DEEPEST = 200  # levels


def _key(key: Any) -> str:
    return key if isinstance(key, str) else _text(key)


def _text(value: Any) -> str:
    try:
        return str(value)
    except Exception:  # it may be of a user's own class, and raise anything
        return brief(value)
