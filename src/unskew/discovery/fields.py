"""The fields of a sample: every path in it, with its kind and its values."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from unskew.audits.kinds import DEEPEST, FEW, MOST_KEYS, are_records, are_values, main_kind
from unskew.core.batch import EXAMPLE, Batch, readable
from unskew.core.errors import UnskewError
from unskew.core.values.missing import is_missing
from unskew.core.variables.measures.basic import date_of, turns
from unskew.core.variables.measures.measure import unquoted
from unskew.core.variables.measures.numbers import number_of
from unskew.core.variables.measures.pictures import picture_of
from unskew.core.variables.packed import python_rows
from unskew.core.variables.path import is_list, json_inside, parse_path
from unskew.discovery.proposal import Field, Kind

MOST_FIELDS = 120
LOOK = 512  # rows that decide about a kind
NARROWEST = 3  # columns of a picture that is written as lists
SHORT_LIST = 8  # items of lists of one length, each a field
FEW_CHARACTERS = 40  # different ones in a text that may be a drawing
_NO_NAME = "paths that no name can write"


def fields(batch: Batch) -> tuple[list[Field], Counter[str]]:
    """Return the fields of a batch, and how many paths were left out, by reason.

    One path may be two fields: a text that repeats is a label and a text.
    """
    left_out: Counter[str] = Counter()
    made: list[Field] = []
    for path, values in _columns(batch, left_out).items():
        for field in _fields(path, values, 1, left_out):
            if len(made) < MOST_FIELDS:
                made.append(field)
            else:
                left_out[f"paths beyond the first {MOST_FIELDS}"] += 1
    return made, +left_out


def _columns(batch: Batch, left_out: Counter[str]) -> dict[str, list[Any]]:
    if not batch.is_plain:
        return {
            name: readable(column).tolist()
            if isinstance(column, np.ndarray)
            else python_rows(column)
            for name, column in batch.columns.items()
        }
    rows = batch.columns[EXAMPLE].tolist()
    dicts = sum(isinstance(row, dict) for row in rows)
    if 0 < dicts < len(rows):
        left_out["rows that are dicts, where others are not"] += dicts
        return {}
    if not dicts:
        return {EXAMPLE: rows}
    left_out["rows without any key"] += rows.count({})
    names = dict.fromkeys(key for row in rows for key in row if isinstance(key, str))
    return {name: [row.get(name) for row in rows] for name in names}


def _fields(path: str, values: list[Any], depth: int, left_out: Counter[str]) -> Iterator[Field]:
    """Yield the fields at a path and inside it."""
    there = main_kind([value for value in values if not is_missing(value)][:LOOK])
    if not there:
        left_out["paths without a value"] += 1
        return
    if depth > 1 and not _can_be_read(path):
        left_out[_NO_NAME] += 1
        return
    if depth == 1 and (not path or path != _unquoted(path)):
        left_out[_NO_NAME] += 1
        return
    if path == EXAMPLE and are_records(there):
        yield from _inside(path, values, range(len(there[0])), depth, left_out)
        return
    filled = [value for value in there if not isinstance(value, str) or value]
    opened = main_kind([json_inside(v) if isinstance(v, str) else v for v in filled])
    opened = [value for value in opened if value is not None]
    if len(opened) * 2 < len(filled):
        opened = []
    if opened and all(isinstance(value, Mapping) for value in opened):
        image = picture_of(there[0]) is not None
        yield Field(path, "array" if image else "dict", values)
        if not image:
            keys = _keys(opened, left_out)
            yield from _inside(path, values, keys, depth, left_out)
        return
    if opened and all(map(is_list, opened)):
        yield from _of_lists(path, values, opened, depth, left_out)
        return
    for kind in _kinds(there, filled):
        yield Field(path, kind, values)


def _unquoted(path: str) -> str:
    """Return the path that the text writes; an empty text if it writes none."""
    try:
        return unquoted(path)
    except UnskewError:
        return ""


def _keys(dicts: Sequence[Mapping[Any, Any]], left_out: Counter[str]) -> list[str]:
    keys = list(dict.fromkeys(key for row in dicts for key in row if isinstance(key, str)))
    if len(keys) > MOST_KEYS:
        left_out[f"keys of dicts with more than {MOST_KEYS} different ones"] += len(keys)
        return []
    return keys


def _inside(
    path: str, values: list[Any], keys: Sequence[str | int], depth: int, left_out: Counter[str]
) -> Iterator[Field]:
    """Yield the fields at these keys or indices."""
    if depth >= DEEPEST:
        left_out[f"paths deeper than {DEEPEST} levels"] += len(keys)
        return
    opened = [json_inside(v) if isinstance(v, str) else v for v in values]
    for key in keys:
        if isinstance(key, int):
            inside = [_item(value, key) for value in opened]
            yield from _fields(f"{path}[{key}]", inside, depth + 1, left_out)
        else:
            inside = [v.get(key) if isinstance(v, Mapping) else None for v in opened]
            yield from _fields(f"{path}.{key}", inside, depth + 1, left_out)


def _item(value: Any, index: int) -> Any:
    return value[index] if is_list(value) and -len(value) <= index < len(value) else None


def _can_be_read(path: str) -> bool:
    """Return whether the text of a path can be read back."""
    if path != path.strip():
        return False
    try:
        parse_path(path)
    except UnskewError:
        return False
    return True


def _of_lists(
    path: str, values: list[Any], lists: Sequence[Any], depth: int, left_out: Counter[str]
) -> Iterator[Field]:
    filled = [items for items in lists if len(items)]
    if filled and all(turns(items) is not None for items in filled):
        yield Field(path, "messages", values)
        yield from _inside(path, values, (0, 1, -1), depth, left_out)
        return
    if filled and all(map(is_list, filled[0])) and _is_picture(filled[0]):
        yield Field(path, "array", values)
        return
    yield Field(path, "list", values)
    if any(isinstance(item, Mapping) for items in filled[:FEW] for item in items):
        yield from _inside(path, values, (0, -1), depth, left_out)
    elif filled and len({len(items) for items in lists}) == 1 and 1 < len(filled[0]) <= SHORT_LIST:
        yield from _inside(path, values, range(len(filled[0])), depth, left_out)


def _is_picture(rows: Sequence[Any]) -> bool:
    """Return whether lists in a list are the rows of a picture, and not pairs of numbers."""
    return picture_of(rows) is not None and len(rows[0]) >= NARROWEST


def _kinds(there: Sequence[Any], filled: Sequence[Any]) -> list[Kind]:
    """Return the kinds of values that hold nothing else."""
    if all(isinstance(value, (bool, np.bool_)) for value in there):
        return ["flag"]
    if filled and all(
        number_of(v) is not None and not isinstance(v, (bool, np.bool_)) for v in filled
    ):
        return ["number"]
    if filled and all(date_of(value) is not None for value in filled):
        return ["date"]
    if all(isinstance(value, str) for value in there):
        return _of_texts(there, filled)
    if picture_of(there[0]) is not None:
        return ["array"]
    return ["label"] if are_values(there) else ["other"]


def _of_texts(there: Sequence[str], filled: Sequence[str]) -> list[Kind]:
    some = filled[:FEW]
    if some and all(_is_drawing(text) for text in some):
        return ["array"]
    kinds: list[Kind] = ["label"] if are_values(there) else []
    if not kinds or len(set(there)) > FEW:
        kinds.append("text")
    return kinds


def _is_drawing(text: str) -> bool:
    """Return whether a text has lines of equally many cells, of few different characters."""
    return len(set(text)) <= FEW_CHARACTERS and picture_of(text) is not None
