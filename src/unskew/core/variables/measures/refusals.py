"""The error for values that a measure does not apply to, with what does apply."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from unskew.core.errors import UnskewError, brief
from unskew.core.variables.measures.basic import are_messages, date_of
from unskew.core.variables.measures.measure import VALUE, Measure
from unskew.core.variables.path import is_list


def wrong_kind(measure: Measure, path: str, values: list[Any]) -> UnskewError:
    """Return the error for values that a measure does not apply to, with what does apply."""
    value = values[0]
    if measure is VALUE:
        which = "dicts" if isinstance(value, Mapping) else f"{type(value).__name__}s"
        return UnskewError(f"column {path!r} holds {which}; {applicable(path, values)}")
    return UnskewError(
        f"{measure.of_path(path)} needs {measure.needs}, but {path} is {brief(value)}; "
        f"{applicable(path, values)}"
    )


def wrong_pair(measure: Measure, paths: Sequence[str], values: Sequence[Any]) -> UnskewError:
    """Return the error for two values that a measure of two values does not apply to."""
    held = " and ".join(
        f"{path} is {brief(value)}" for path, value in zip(paths, values, strict=True)
    )
    return UnskewError(
        f"{measure.of_path(*paths)} cannot be told of values of these kinds: {held}; "
        f"use same({', '.join(paths)}), or measure each of them"
    )


def applicable(path: str, values: list[Any]) -> str:
    """Return what can be measured of values instead."""
    function = "a function of the row: --by my_module:my_function"
    value = values[0]
    if isinstance(value, Mapping):
        keys = dict.fromkeys(str(key) for v in values if isinstance(v, Mapping) for key in v)
        inside = [f"{path}.{key}" for key in list(keys)[:8]] + (["…"] if len(keys) > 8 else [])
        return f"name what is inside ({', '.join(inside) or 'nothing'}), or {function}"
    if is_list(value):
        chat = f"turns({path}), roles({path}), " if len(value) and are_messages(value) else ""
        return f"measure {chat}count({path}), an item: {path}[0], or {function}"
    if isinstance(value, str):
        return f"measure {path} itself, characters({path}) or words({path})"
    if date_of(value) is not None:
        return f"measure {path} itself, year({path}) or weekday({path})"
    if isinstance(value, (bool, int, float, np.generic)):
        return f"measure {path} itself"
    return f"name {function}"
