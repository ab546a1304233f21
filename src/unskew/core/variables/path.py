"""Paths: the names of what is inside an example, such as ``meta.lang``.

The grammar of a name that ``--by`` and ``by=`` take:

    variable = path | word "(" path ")" | "has(" path "," label ")"
    path     = name { "." name | "[" number "]" }

- A name is a column of a table, or a key of a dict. It may hold any character but ``.[]``.
- A number is an index of a list. It counts from 0; a negative one counts from the end.
- The longest name that is there wins, on every level: in ``{"a.b": 1}`` the path ``a.b`` is this
  key. In a table the columns and fields decide; in Python examples the keys of each example do.
- A text that holds a JSON object or list is read when a path goes on inside it.
- What a row does not have is ``None``.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, TypeAlias

import numpy as np

from unskew.core.errors import UnskewError, brief, unknown
from unskew.core.values.json_text import parse_json

Key: TypeAlias = str | int  # a name, or an index

_STEP = re.compile(r"\[(-?\d{1,9})\]|(?:^|\.)([^.\[\]]+)")
_EXAMPLES = "write it as meta.lang or messages[-1].role"


@dataclass(frozen=True)
class Path:
    """The steps of a path, and where each of them ends in its text."""

    text: str
    keys: tuple[Key, ...]
    ends: tuple[int, ...]

    @cached_property
    def names(self) -> tuple[tuple[tuple[str, int], ...], ...]:
        """For each step: the names that may start there, the longest first, and the next step."""
        starts = (0, *(end + 1 for end in self.ends[:-1]))  # after a dot
        return tuple(
            tuple(
                (self.text[start:end], number)
                for number, end in reversed(list(enumerate(self.ends, 1)))
                if number > step
            )
            for step, start in enumerate(starts)
        )

    def first(self, steps: int) -> Path:
        """Return the path that has only the first ``steps`` steps."""
        end = self.ends[steps - 1] if steps else 0
        return Path(self.text[:end], self.keys[:steps], self.ends[:steps])


def parse_path(text: str) -> Path:
    """Return the path that a text writes, or raise an error that says how to write one."""
    keys: list[Key] = []
    ends: list[int] = []
    end = 0
    while end < len(text):
        step = _STEP.match(text, end)
        if step is None or (step[1] and not keys):
            break
        keys.append(step[2] if step[1] is None else int(step[1]))
        end = step.end()
        ends.append(end)
    if end == len(text) and keys:
        return Path(text, tuple(keys), tuple(ends))
    if text.count("[") != text.count("]"):
        raise UnskewError(f"path {text!r} has brackets that do not match; {_EXAMPLES}")
    raise UnskewError(f"path {text!r} cannot be read from {text[end:]!r} on; {_EXAMPLES}")


def is_inside(text: str, name: str | None = None) -> bool:
    """Return whether a text is written like a path into a column: the named one, or any."""
    try:
        path = parse_path(text)
    except UnskewError:
        return False
    return any(steps < len(path.keys) and name in (None, start) for start, steps in path.names[0])


def whole_name(text: str) -> Path:
    """Return the path of one step whose name is the whole text."""
    return Path(text, (text,), (len(text),))


class Absent:
    """What ``follow`` returns for a row that has nothing at the path."""


ABSENT = Absent()


def follow(rows: Iterable[Any], path: Path, start: int = 0) -> list[Any]:
    """Return what each row has at the steps from ``start`` on, or ``ABSENT``.

    A text inside which the path goes on is read as JSON, once for all rows that have it.
    """
    opened: dict[str, Any] = {}
    return [_at(row, path, start, opened) for row in rows]


def _at(value: Any, path: Path, step: int, opened: dict[str, Any]) -> Any:
    while step < len(path.keys):
        if isinstance(value, str):
            if value not in opened:
                opened[value] = json_inside(value)
            value = opened[value]
        key = path.keys[step]
        if isinstance(key, int):
            if not is_list(value) or not -len(value) <= key < len(value):
                return ABSENT
            value = value[key]
            step += 1
        elif isinstance(value, Mapping):
            for name, after in path.names[step]:
                if name in value:
                    value, step = value[name], after
                    break
            else:
                return ABSENT
        else:
            return ABSENT
    return value


def is_list(value: object) -> bool:
    """Return whether a value has items that an index names."""
    return isinstance(value, (list, tuple)) or (isinstance(value, np.ndarray) and value.ndim > 0)


def json_inside(text: str) -> dict[str, Any] | list[Any] | None:
    """Return the object or list that a JSON text holds; None for any other text."""
    if text.lstrip()[:1] not in ("{", "["):
        return None
    try:
        value = parse_json(text)
    except ValueError:
        return None
    return value if isinstance(value, (dict, list)) else None


def no_such_path(rows: Sequence[Any], path: Path, start: int = 0) -> UnskewError:
    """Return the error for a path that no row has: what is there instead, and the next step."""
    for steps in range(len(path.keys) - 1, start - 1, -1):
        before = path.first(steps)
        reached = [v for v in follow(rows, before, start) if v is not None and v is not ABSENT]
        if reached:
            return _nothing_inside(reached, before.text, path)
    return UnskewError(
        f"no row has {path.text!r}: {path.first(max(start, 1)).text!r} is missing in all of the "
        "first rows; choose another path"
    )


def _nothing_inside(values: Sequence[Any], before: str, path: Path) -> UnskewError:
    """Return the error for values that do not have the next step of a path."""
    name = repr(path.text)
    inside: list[Any] = [json_inside(v) if isinstance(v, str) else v for v in values]
    dicts = [value for value in inside if isinstance(value, Mapping)]
    lists = [value for value in inside if is_list(value)]
    if dicts:
        known = {f"{before}.{key}" if before else str(key) for value in dicts for key in value}
        return unknown("path" if before else "column", path.text, known)
    if lists:
        longest = max(map(len, lists))
        return UnskewError(
            f"unknown path {name}; {before} is a list of at most {longest} items: name one, as in "
            f"{before}[0] or {before}[-1], or measure count({before})"
        )
    value = values[0]
    if isinstance(value, str):
        return UnskewError(
            f"unknown path {name}; {before} holds text that is no JSON ({brief(value)}): measure "
            f"{before} itself or characters({before})"
        )
    return UnskewError(
        f"unknown path {name}; {before} is {brief(value)}, which has nothing inside: measure "
        f"{before} itself"
    )
