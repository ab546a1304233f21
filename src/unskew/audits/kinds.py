"""What an audit measures when nobody says what: the kind of each column decides.

| kind | measured |
|---|---|
| numbers, yes or no | by value (an audit puts numbers that hardly repeat into bins) |
| short texts that repeat | by value |
| other texts, identifiers too | ``characters``, and ``words`` if there are spaces |
| dates | the parts that vary: ``year``, ``month``, ``weekday``, ``hour``; by value if they repeat |
| messages of a chat | ``turns``, ``roles``, ``last_role``, ``characters`` |
| other lists | ``count``; ``has`` for each label if the lists hold few different texts |
| dicts, also as JSON text | what is inside, by path |
| examples that are tuples of one length | each item, as its kind suggests |

A value that is missing is a value of its own, ``None``.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from unskew.core.batch import EXAMPLE, Batch, Column, readable
from unskew.core.errors import UnskewError
from unskew.core.values.missing import is_missing
from unskew.core.variables.column import column_variable
from unskew.core.variables.measures.basic import HAS, date_of, turns
from unskew.core.variables.measures.measure import measured
from unskew.core.variables.measures.names import MEASURES
from unskew.core.variables.packed import python_rows
from unskew.core.variables.path import is_list, json_inside
from unskew.core.variables.variable import SalientVariable

MOST = 40  # variables
LOOK = 1024  # rows that decide
LOOK_BYTES = 1 << 24  # of a column
FEW = 20  # values that always make a histogram; labels that each make a variable
LONG = 100  # characters of a text that is too long to be a value
LONG_LABEL = 40  # characters
MOST_KEYS = 100  # of dicts that are measured by path
DEEPEST = 5  # levels of dicts

_PARTS = ("year", "month", "weekday", "hour")


def suggested(batch: Batch) -> tuple[list[SalientVariable], dict[str, str]]:
    """Return the variables that an audit measures if nobody names any, and why others are not.

    Only the first rows of the batch are looked at.
    """
    left_out: dict[str, str] = {}
    columns = _columns(batch)
    depths: dict[str, int] = {}  # of each name, in order
    for column, values in columns.items():
        for depth, name in _names(column, values, 1, left_out):
            depths.setdefault(name, depth)
    # Columns come before what is inside them, and single labels come last.
    first = sorted(depths, key=lambda name: (depths[name], name.startswith("has(")))[:MOST]
    head = batch.head(min(map(len, columns.values()), default=0))
    variables = []
    for name in depths:
        if name not in first:
            left_out[name] = f"beyond the first {MOST} variables; name it to measure it"
            continue
        variable = column_variable(name)
        try:
            variable.measure(head)
        except UnskewError as error:
            left_out[name] = str(error).removeprefix(f"column {name!r} ")
        else:
            variables.append(variable)
    return variables, left_out


def _columns(batch: Batch) -> dict[str, list[Any]]:
    """Return the first values of each column, as Python objects."""
    if not batch.is_plain:
        return {name: _first_values(column) for name, column in batch.columns.items()}
    rows = batch.columns[EXAMPLE][:LOOK].tolist()
    if not any(isinstance(row, dict) for row in rows):
        return {EXAMPLE: rows}
    dicts = [row for row in rows if isinstance(row, dict)]
    names = dict.fromkeys(key for row in dicts for key in row if isinstance(key, str))
    return {name: [row.get(name) for row in dicts] for name in names}


def _first_values(column: Column) -> list[Any]:
    if isinstance(column, np.ndarray):
        size = max(1, column.nbytes // max(1, len(column)))
        values: list[Any] = readable(column[: _look(size)]).tolist()
        return values
    head = column[:LOOK]
    return python_rows(head[: _look(head.nbytes // max(1, len(head)))])


def _look(bytes_per_row: int) -> int:
    return max(1, min(LOOK, LOOK_BYTES // max(1, bytes_per_row)))


def _names(
    path: str, values: Sequence[Any], depth: int, left_out: dict[str, str]
) -> Iterator[tuple[int, str]]:
    """Yield the names of the variables that measure the values of a path, each with its depth."""
    there = main_kind([value for value in values if not is_missing(value)])
    if path == EXAMPLE and are_records(there):
        for number in range(len(there[0])):
            items = [row[number] for row in there]
            yield from _names(f"{path}[{number}]", items, depth + 1, left_out)
        return
    filled = [value for value in there if not isinstance(value, str) or value]
    opened = main_kind([json_inside(v) if isinstance(v, str) else v for v in filled])
    if opened and all(isinstance(value, Mapping) for value in opened):
        yield from _names_inside(path, opened, depth, left_out)
        return
    if opened and all(map(is_list, opened)) and not are_values(there):
        names = _of_lists(path, opened)
        names += [f"characters({path})"] * isinstance(there[0], str)
    elif there and all(isinstance(value, bytes) for value in there):
        names = [path] if are_values(there) else [f"count({path})"]
    elif filled and all(date_of(value) is not None for value in filled):
        names = _of_dates(path, there)
    else:
        names = [path] if are_values(there) else _of_texts(path, there)
    for name in names:
        yield depth, name


def are_records(examples: Sequence[Any]) -> bool:
    """Return whether examples are tuples with an item for each field, as (input, label)."""
    sizes = {len(row) if isinstance(row, tuple) else 0 for row in examples}
    return len(sizes) == 1 and 1 < max(sizes) <= FEW


def _names_inside(
    path: str, dicts: Sequence[Mapping[Any, Any]], depth: int, left_out: dict[str, str]
) -> Iterator[tuple[int, str]]:
    keys = list(dict.fromkeys(key for row in dicts for key in row if isinstance(key, str)))
    if not keys:
        left_out[path] = "its dicts have no names"
    elif len(keys) > MOST_KEYS:
        left_out[path] = f"its dicts have {len(keys):,} different keys; name one: {path}.{keys[0]}"
    elif depth == DEEPEST:
        left_out[path] = f"dicts in dicts in dicts; name what is inside: {path}.{keys[0]}"
    else:
        for key in keys:
            values = [row.get(key) for row in dicts]
            yield from _names(f"{path}.{key}", values, depth + 1, left_out)


def main_kind(values: list[Any]) -> list[Any]:
    """Return the values of the most frequent kind, if some are lists or dicts and others not."""
    kinds = Counter(map(_holder, values))
    if len(kinds) < 2:
        return values
    [(main, _)] = kinds.most_common(1)
    return [value for value in values if _holder(value) == main]


def _holder(value: object) -> str:
    return "dict" if isinstance(value, Mapping) else "list" if is_list(value) else ""


def are_values(values: Sequence[Any]) -> bool:
    """Return whether values are counted themselves: texts and tuples are short and repeat."""
    if any(type(value).__hash__ is None for value in values):
        return False
    long = [value for value in values if isinstance(value, (str, bytes, tuple))]
    return not long or (max(map(len, long)) <= LONG and _repeat(long))


def _repeat(values: Sequence[Any]) -> bool:
    try:
        return len(set(values)) <= max(FEW, len(values) // 2)
    except TypeError:  # a tuple that holds a list
        return False


def _of_texts(path: str, values: Sequence[Any]) -> list[str]:
    spaces = any(len(value.split()) > 1 for value in values if isinstance(value, str))
    return [f"characters({path})", *([f"words({path})"] if spaces else [])]


def _of_dates(path: str, values: Sequence[Any]) -> list[str]:
    parts = [MEASURES[part] for part in _PARTS]
    varying = [part.of_path(path) for part in parts if len({measured(part, v) for v in values}) > 1]
    return [*([path] if _repeat(values) or not varying else []), *varying]


def _of_lists(path: str, lists: Sequence[Any]) -> list[str]:
    filled = [items for items in lists if len(items)]
    if filled and all(turns(items) is not None for items in filled):
        return [f"{name}({path})" for name in ("turns", "roles", "last_role", "characters")]
    return [f"count({path})", *(_has(path, label) for label in _labels(filled))]


def _has(path: str, label: str) -> str:
    return MEASURES[HAS].with_arguments(label).of_path(path)


def _labels(lists: Sequence[Any]) -> list[str]:
    """Return the different texts in lists, the most frequent first, if they are few."""
    items = [item for row in lists for item in row if item is not None]
    if not all(isinstance(item, str) for item in items):
        return []
    counts = Counter(items)
    short = all(0 < len(item) <= LONG_LABEL and item == item.strip() for item in counts)
    few = 1 < len(counts) <= FEW and 2 * len(counts) <= len(items)
    return [label for label, _ in counts.most_common()] if short and few else []
