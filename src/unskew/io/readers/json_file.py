"""JSON files: a list of rows, an object with one list of rows, or an object of columns.

A file of JSON lines may have the suffix .json too.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

from unskew.core.batch import Batch
from unskew.core.errors import UnskewError, brief
from unskew.core.values.json_text import json_fault
from unskew.io.iterables import ROWS
from unskew.io.location import Place
from unskew.io.readers.json_lines import read_json_lines, rows_batch, typed_batch
from unskew.io.readers.streams import codec_of, no_text, open_bytes
from unskew.io.tables import SPLIT, SPLITS

RECIPE_MARK = "unskew_recipe"  # a key of recipes alone
_STEP = "give a list of rows, or columns of equal length"
_MOST = 1 << 30  # bytes of a packed file once it is unpacked: all of them are held at once
_BEGIN = 1 << 20  # bytes in which the first line of a file of JSON lines should end


def read_json(path: Place, n: int | None = None) -> Iterator[Batch]:
    """Yield the rows of a JSON file."""
    if _has_json_lines(path):
        yield from read_json_lines(path, n)
        return
    rows = _rows(_content(path), path)[:n]
    plain = rows_batch(rows, path)
    batch = (typed_batch(rows) if rows else None) or plain
    yield from (batch.slice(start, ROWS) for start in range(0, len(rows), ROWS))


def is_recipe(path: Place) -> bool:
    """Whether a JSON file is a recipe, and no data."""
    with open_bytes(path) as file:
        data = file.read(_BEGIN + 1)
    try:
        content = json.loads(data) if len(data) <= _BEGIN else None
    except (ValueError, RecursionError):
        return False
    if not isinstance(content, dict):
        return False
    rows = [value for value in content.values() if isinstance(value, list) and value]
    is_data = any(isinstance(values[0], dict) for values in rows)
    return RECIPE_MARK in content or (isinstance(content.get("source"), str) and not is_data)


def _has_json_lines(path: Place) -> bool:
    """Whether the first line is a whole JSON object, and another line follows."""
    with open_bytes(path) as file:
        begin = file.read(_BEGIN).removeprefix(b"\xef\xbb\xbf")
    first, _, rest = begin.lstrip().partition(b"\n")
    if not first.startswith(b"{") or not rest.strip():
        return False
    try:
        json.loads(first)
    except (ValueError, RecursionError):
        return False
    return True


def _content(path: Place) -> Any:
    with open_bytes(path) as file:
        data: bytes = file.read() if codec_of(path) is None else file.read(_MOST + 1)
    if len(data) > _MOST and codec_of(path) is not None:
        raise UnskewError(
            f"{path} has more than {_MOST:,} bytes once it is unpacked, and JSON is read as a "
            "whole; give JSON lines (.jsonl), which are read line by line, or unpack it yourself"
        )
    try:
        return json.loads(data.decode("utf-8-sig"))
    except UnicodeDecodeError as error:
        line = data[: error.start].count(b"\n") + 1
        raise no_text(path, line, error.reason) from error
    except (ValueError, RecursionError) as error:
        raise UnskewError(f"{path} {json_fault(error, 'mend it, or make it again')}") from error


def _rows(content: Any, path: Place) -> list[Any]:
    """Return the rows of what a file holds."""
    if isinstance(content, list):
        return content
    if not isinstance(content, dict):
        raise UnskewError(f"{path} holds {brief(content)}, which is no table; {_STEP}")
    lists = {name: value for name, value in content.items() if isinstance(value, list)}
    if len(lists) == 1:
        ((name, values),) = lists.items()
        if len(content) > 1 or any(isinstance(value, dict) for value in values):
            return values
        return [{name: value} for value in values]
    if len(lists) == len(content) and _are_splits(lists):
        return [{**row, SPLIT: name} for name, rows in lists.items() for row in rows]
    columns = lists or _indexed(content)
    if not columns or len(columns) < len(content):
        names = ", ".join(map(repr, lists)) or "none"
        raise UnskewError(f"{path} is an object in which {names} are lists; {_STEP}")
    lengths = {name: len(values) for name, values in columns.items()}
    if len(set(lengths.values())) > 1:
        raise UnskewError(f"{path} has columns of lengths {brief(lengths, 200)}; {_STEP}")
    return [dict(zip(columns, row, strict=True)) for row in zip(*columns.values(), strict=True)]


def _are_splits(lists: dict[str, list[Any]]) -> bool:
    """Whether lists are the rows of splits, as ``{"train": [{…}, …], "test": [{…}, …]}`` has them.

    Rows that have a column of that name themselves are not.
    """
    rows = [row for values in lists.values() for row in values]
    named = all(name.lower() in SPLITS for name in lists)
    return bool(named and rows) and all(isinstance(r, dict) and SPLIT not in r for r in rows)


def _indexed(content: dict[str, Any]) -> dict[str, list[Any]]:
    """Return columns that are objects by row, as pandas writes them."""
    tables = {name: value for name, value in content.items() if isinstance(value, dict)}
    keys = next(iter(tables.values()), {}).keys()
    if not keys or any(value.keys() != keys for value in tables.values()):
        return {}
    if not all(key.isdecimal() for key in keys):
        return {}
    return {name: list(value.values()) for name, value in tables.items()}
