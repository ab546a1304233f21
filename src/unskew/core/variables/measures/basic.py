"""The lengths of texts and lists, the roles of messages, and the parts of dates.

Each measure takes one Python value and returns None for a value of another kind.
``arrow_measures`` has the same measures of whole Arrow columns.
"""

from __future__ import annotations

import datetime
import re
from collections.abc import Callable, Mapping
from typing import Any

from unskew.core.variables.measures.measure import Measure
from unskew.core.variables.path import is_list

# Keys of the messages and parts of a chat. The first that has a value counts.
TEXTS = ("content", "value", "text")
ROLES = ("role", "from")

_MINUTE = re.compile(r"[T ]\d\d:(\d\d)")
_DATE = re.compile(r"(-?\d{4,})-(\d\d)-(\d\d)(?:[T ](\d\d)(?::\d\d.*)?)?", re.DOTALL)


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
    return len(value) if is_list(value) and are_messages(value) else None


def roles(value: Any) -> str | None:
    """Return the different roles of messages, in the order in which they first come."""
    if not is_list(value) or not are_messages(value):
        return None
    return " ".join(dict.fromkeys(filter(None, map(role_of, value))))


def last_role(value: Any) -> str | None:
    """Return the role of the last message; None if there is no message."""
    if not is_list(value) or not len(value) or not are_messages(value):
        return None
    return role_of(value[-1])


def are_messages(items: Any) -> bool:
    """Return whether a list has no items, or only dicts, at least one with a role."""
    there = [item for item in items if item is not None]
    if not all(isinstance(item, Mapping) for item in there):
        return False
    return not there or any(role_of(item) is not None for item in there)


def role_of(message: Any) -> str | None:
    """Return the role of a message; None if it has none."""
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


def day(value: Any) -> int | None:
    """Return the day of the month of a date."""
    date = date_of(value)
    return None if date is None else date[0].day


def minute(value: Any) -> int | None:
    """Return the minute of a date with a time."""
    if isinstance(value, datetime.datetime):
        return value.minute
    if date_of(value) is None or not isinstance(value, str):
        return None
    written = _MINUTE.search(value)
    return None if written is None else int(written[1])


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


def has(value: Any, label: str) -> bool:
    """Return whether a list holds a label."""
    return any(item is not None and str(item) == label for item in value)


def _listed(value: Any) -> Any:
    return value if is_list(value) else None


HAS = "has"
MEASURES = (
    Measure("characters", "length in characters", "text", characters),
    Measure("words", "number of words", "text", words),
    Measure("count", "number of items", "a list", count, on_json=True),
    Measure("turns", "number of messages", "messages", turns, on_json=True),
    Measure(
        HAS,
        "yes or no: does it hold {!r}",
        "a list",
        has,
        _listed,
        on_json=True,
        takes="text",
        example="has(tags, python)",
    ),
    Measure(
        "roles",
        "different roles, in order of first appearance",
        "messages",
        roles,
        on_json=True,
    ),
    Measure("last_role", "role of the last message", "messages", last_role, on_json=True),
    Measure("year", "year", "dates", year),
    Measure("month", "month", "dates", month),
    Measure("weekday", "day of the week, 1 is Monday", "dates", weekday),
    Measure("day", "day of the month", "dates", day),
    Measure("hour", "hour of the day", "dates with a time", hour),
    Measure("minute", "minute of the hour", "dates with a time", minute),
)
