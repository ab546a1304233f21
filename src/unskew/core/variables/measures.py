"""Measures: numbers and short texts of a value that is itself too large to count.

Each measure takes one Python value and returns None for a value of another kind.
``arrow_measures`` has the same measures of whole Arrow columns.
"""

from __future__ import annotations

import datetime
import re
from collections.abc import Callable, Hashable, Mapping
from dataclasses import dataclass
from difflib import get_close_matches
from typing import Any

import numpy as np

from unskew.core.errors import UnskewError, brief
from unskew.core.values.missing import is_missing
from unskew.core.variables.path import is_list, json_inside

# Keys of the messages and parts of a chat. The first that has a value counts.
TEXTS = ("content", "value", "text")
ROLES = ("role", "from")

_CALL = re.compile(r"(\w+)\((.*)\)", re.DOTALL)
_DATE = re.compile(r"(-?\d{4,})-(\d\d)-(\d\d)(?:[T ](\d\d)(?::\d\d.*)?)?", re.DOTALL)


@dataclass(frozen=True)
class Measure:
    """A measure: its name, what it says of a value, the kind of value it needs, its function."""

    name: str
    doc: str
    needs: str
    of: Callable[[Any], Hashable]
    label: str = ""  # the second argument, of ``has``

    def of_path(self, path: str) -> str:
        """Return how the measure of a path is written."""
        if not self.name:
            return path
        return f"{self.name}({path}, {self.label})" if self.name == HAS else f"{self.name}({path})"


def characters(value: Any) -> int | None:
    """Return the number of characters of a text, or of all texts in messages."""
    return _total(value, len)


def words(value: Any) -> int | None:
    """Return the number of words, divided by space, of a text, or of all texts in messages."""
    return _total(value, lambda text: len(text.split()))


def _total(value: Any, of_text: Callable[[str], int]) -> int | None:
    """Add up the texts of a value; None if it can hold none."""
    if isinstance(value, str):
        return of_text(value)
    if isinstance(value, Mapping):
        text = next((value[key] for key in TEXTS if value.get(key) is not None), None)
        return None if text is None else _total(text, of_text)
    if is_list(value):
        totals = [_total(item, of_text) for item in value]
        known = [total for total in totals if total is not None]
        empty = all(item is None or isinstance(item, Mapping) for item in value)
        return sum(known) if known or empty else None
    return None


def count(value: Any) -> int | None:
    """Return the number of items of a list, or of bytes."""
    return len(value) if is_list(value) or isinstance(value, bytes) else None


def turns(value: Any) -> int | None:
    """Return the number of messages."""
    return len(value) if is_list(value) and _are_messages(value) else None


def roles(value: Any) -> str | None:
    """Return the different roles of messages, in the order in which they first come."""
    if not is_list(value) or not _are_messages(value):
        return None
    return " ".join(dict.fromkeys(filter(None, map(_role, value))))


def last_role(value: Any) -> str | None:
    """Return the role of the last message; None if there is no message."""
    if not is_list(value) or not len(value) or not _are_messages(value):
        return None
    return _role(value[-1])


def _are_messages(items: Any) -> bool:
    """Return whether a list has no items, or only dicts, at least one with a role."""
    there = [item for item in items if item is not None]
    if not all(isinstance(item, Mapping) for item in there):
        return False
    return not there or any(_role(item) is not None for item in there)


def _role(message: Any) -> str | None:
    if message is None:
        return None
    role = next((message[key] for key in ROLES if message.get(key) is not None), None)
    return None if role is None else str(role)


def year(value: Any) -> int | None:
    """Return the year of a date."""
    date = date_of(value)
    return None if date is None else date[0].year


def month(value: Any) -> int | None:
    """Return the month of a date."""
    date = date_of(value)
    return None if date is None else date[0].month


def weekday(value: Any) -> int | None:
    """Return the day of the week: 1 is Monday, 7 is Sunday."""
    date = date_of(value)
    return None if date is None else date[0].isoweekday()


def hour(value: Any) -> int | None:
    """Return the hour of a date with a time."""
    date = date_of(value)
    return None if date is None else date[1]


def date_of(value: Any) -> tuple[datetime.date, int | None] | None:
    """Return the day and the hour of a date, or of a text as ISO 8601 writes dates."""
    if isinstance(value, datetime.datetime):
        return value, value.hour
    if isinstance(value, datetime.date):
        return value, None
    written = _DATE.fullmatch(value) if isinstance(value, str) else None
    if written is None:
        return None
    try:
        day = datetime.date(*map(int, written.groups()[:3]))
    except (ValueError, OverflowError):
        return None
    return day, None if written[4] is None else int(written[4])


HAS = "has"
VALUE = Measure("", "by value", "a value", lambda value: value)
MEASURES = {
    measure.name: measure
    for measure in (
        Measure("characters", "length in characters", "text", characters),
        Measure("words", "number of words", "text", words),
        Measure("count", "number of items", "a list", count),
        Measure("turns", "number of messages", "messages", turns),
        Measure("roles", "different roles, in order of first appearance", "messages", roles),
        Measure("last_role", "role of the last message", "messages", last_role),
        Measure("year", "year", "dates", year),
        Measure("month", "month", "dates", month),
        Measure("weekday", "day of the week, 1 is Monday", "dates", weekday),
        Measure("hour", "hour of the day", "dates with a time", hour),
    )
}
ON_JSON = frozenset({"count", "turns", "roles", "last_role", HAS})  # also of a list as JSON text


def parse_measure(text: str) -> tuple[Measure, str]:
    """Return the measure that a text names, and the text of its path."""
    call = _CALL.fullmatch(text)
    if call is None:
        return VALUE, text
    name, inside = call[1], call[2].strip()
    if name == HAS:
        path, label = (part.strip() for part in inside.partition(",")[::2])
        if not (path and label):
            raise UnskewError(f"{text!r} names no label; write it as has(tags, python)")
        return has(label), path
    if name not in MEASURES:
        known = [*MEASURES, HAS]
        near = get_close_matches(name, known, n=1, cutoff=0.7)
        hint = f"did you mean {near[0]!r}?" if near else f"choose from {', '.join(known)}"
        raise UnskewError(f"unknown measure {name!r}; {hint}")
    if not inside:
        raise UnskewError(f"{text!r} names nothing to measure; write it as {name}(prompt)")
    return MEASURES[name], inside


def is_call(text: str) -> bool:
    """Return whether a text is written like a measure."""
    return _CALL.fullmatch(text) is not None


def has(label: str) -> Measure:
    """Return the measure that says whether a list holds a label."""

    def holds(value: Any) -> bool | None:
        if not is_list(value):
            return None
        return any(item is not None and str(item) == label for item in value)

    return Measure(HAS, f"yes or no: does it hold {label!r}", "a list", holds, label)


def measured(measure: Measure, value: Any) -> Any:
    """Return the measure of one value; None if the value is missing or of another kind."""
    if is_missing(value):
        return None
    if measure.name in ON_JSON and isinstance(value, str):
        value = json_inside(value)
    return measure.of(value)


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


def applicable(path: str, values: list[Any]) -> str:
    """Return what can be measured of values instead."""
    function = "a function of the row: --by my_module:my_function"
    value = values[0]
    if isinstance(value, Mapping):
        keys = dict.fromkeys(str(key) for v in values if isinstance(v, Mapping) for key in v)
        inside = [f"{path}.{key}" for key in list(keys)[:8]] + (["…"] if len(keys) > 8 else [])
        return f"name what is inside ({', '.join(inside) or 'nothing'}), or {function}"
    if is_list(value):
        chat = f"turns({path}), roles({path}), " if len(value) and _are_messages(value) else ""
        return f"measure {chat}count({path}), an item: {path}[0], or {function}"
    if isinstance(value, str):
        return f"measure {path} itself, characters({path}) or words({path})"
    if date_of(value) is not None:
        return f"measure {path} itself, year({path}) or weekday({path})"
    if isinstance(value, (bool, int, float, np.generic)):
        return f"measure {path} itself"
    return f"name {function}"
