"""Measures of nested values: keys, types, levels, and whether something is there."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from unskew.core.values.missing import is_missing
from unskew.core.variables.measures.lists import levels
from unskew.core.variables.measures.measure import Measure
from unskew.core.variables.path import is_list

MISSING = "missing"
_LONGEST = 200  # characters of a list of keys


def _dict(value: Any) -> Mapping[Any, Any] | None:
    return value if isinstance(value, Mapping) else None


def _nested(value: Any) -> Any:
    return value if isinstance(value, Mapping) or is_list(value) else None


def type_of(value: Any) -> str:
    """Return the type of a value as JSON calls it."""
    value = value.item() if isinstance(value, np.generic) else value
    if isinstance(value, bool):
        return "boolean"
    if isinstance(value, (int, float)):
        return "number"
    if isinstance(value, Mapping):
        return "object"
    return (
        "string" if isinstance(value, str) else "array" if is_list(value) else type(value).__name__
    )


def _keys(value: Mapping[Any, Any]) -> str:
    return " ".join(sorted(map(str, value)))[:_LONGEST]


MEASURES = (
    Measure(
        MISSING,
        "yes or no: is it missing",
        "any value",
        lambda shown: shown[0],
        lambda value: (is_missing(value),),
        on_missing=True,
    ),
    Measure("type", "type", "any value", type_of),
    Measure("keys", "number of keys", "a dict", len, _dict, on_json=True),
    Measure("key_names", "which keys there are", "a dict", _keys, _dict, on_json=True),
    Measure(
        "levels",
        "how deep lists and dicts are nested",
        "nested data",
        levels,
        _nested,
        on_json=True,
    ),
)
