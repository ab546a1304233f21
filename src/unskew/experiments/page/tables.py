"""The tables of the page: the paper's number, ours, the difference, and the interval."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from unskew.audits.report.templates import Data
from unskew.audits.report.words import shown, some
from unskew.experiments.page.results import (
    LONGEST,
    NONE,
    Cell,
    Result,
    Table,
    decimals,
    difference,
    duration,
    interval,
    is_outside,
    number,
    seeds,
    signed,
    why_missing,
)

MOST_GROUPS = 3  # models side by side; a table with more has a block for each
EVERYWHERE = "all cells"
PAPER, OURS, DIFFERENCE, INTERVAL, COMMON = (  # the first three fit on a phone
    "paper",
    "ours",
    "difference",
    "95 % interval",
    "common programs",
)


@dataclass(frozen=True)
class Number:
    """A number of a table as the page shows it."""

    text: str
    kind: str = "number"  # its classes in the style sheet
    span: int = 0  # columns
    is_quiet: bool = False
    is_bold: bool = False
    seeds: str = ""


def numbers(table: Table) -> Data | None:
    """Return a table of results; None if it has no number.

    The shorter side goes across, as groups of columns. If both sides are long, every row of the
    table becomes a block of lines.
    """
    if not any(_has_number(cell) for cell in table["cells"]):
        return None
    rows, columns = list(table["rows"]), list(table["columns"])
    cells = {(cell["row"], cell["column"]): cell for cell in table["cells"]}
    parts = _parts(table)
    groups: list[str] = []
    if min(len(rows), len(columns)) > MOST_GROUPS:
        blocks = [
            _block(row, {column: cells.get((row, column)) for column in columns}, parts, table)
            for row in rows
        ]
    else:
        if len(rows) <= len(columns):
            groups, names = rows, columns
        else:
            groups, names = columns, rows
            cells = {(column, row): cell for (row, column), cell in cells.items()}
        lines = [
            _line(name, [cells.get((group, name)) for group in groups], parts, table)
            for name in names
        ]
        blocks = [{"name": None, "lines": lines}]
    return {
        "title": shown(table["title"], LONGEST),
        "note": _note(table),
        "groups": [_text(group) for group in groups],
        "parts": parts,
        "blocks": blocks,
    }


def _has_number(cell: Cell | None) -> bool:
    return cell is not None and (bool(cell["ours"]) or cell["paper"] is not None)


def _block(row: str, cells: Mapping[str, Cell | None], parts: Sequence[str], table: Table) -> Data:
    """Return a row of the table as a block of lines; one line if the row has no number."""
    if not any(_has_number(cell) for cell in cells.values()):
        cells = {EVERYWHERE: next(iter(cells.values()))}
    lines = [_line(name, [cell], parts, table) for name, cell in cells.items()]
    return {"name": _text(row), "span": len(parts) + 1, "lines": lines}


def _parts(table: Table) -> list[str]:
    """Return the columns of each cell, without those that would be empty."""
    cells: Sequence[Cell] = table["cells"]
    numbers = [cell["ours"] for cell in cells if cell["ours"] is not None]
    is_needed = {
        PAPER: any(cell["paper"] is not None for cell in cells),
        OURS: True,
        DIFFERENCE: any(difference(cell, table) is not None for cell in cells),
        INTERVAL: not numbers
        or any(
            ours.get("low") is not None or len(ours.get("values") or ()) > 1 for ours in numbers
        ),
        COMMON: any(ours.get("common") is not None for ours in numbers),
    }
    return [part for part, needed in is_needed.items() if needed]


def _line(
    name: str, cells: Sequence[Cell | None], parts: Sequence[str], table: Table
) -> tuple[str, list[Number]]:
    return _text(name), [number for cell in cells for number in _numbers(cell, parts, table)]


def _numbers(cell: Cell | None, parts: Sequence[str], table: Table) -> list[Number]:
    """Return the columns of one cell. If the cell was not run, a text fills the columns of ours."""
    if cell is None:
        return [Number(NONE, "first", len(parts), is_quiet=True)]
    if cell["ours"] is None:
        paper = [_part(PAPER, cell, table)] if PAPER in parts else []
        rest = len(parts) - len(paper)
        reason = Number(why_missing(cell, table), "number not-run", rest, is_quiet=True)
        first, *others = [*paper, reason]
    else:
        first, *others = [_part(part, cell, table) for part in parts]
    kind = first.kind.removesuffix(" ours")
    return [replace(first, kind=f"{kind} first"), *others]


def _part(part: str, cell: Cell, table: Table) -> Number:
    ours = cell["ours"]
    if part == PAPER:
        return _number(cell["paper"], table)
    if part == OURS:
        return Number(number(ours["mean"], table), "number ours", is_bold=True)
    if part == COMMON:
        return _number(ours.get("common"), table)
    if part == INTERVAL:
        return Number(interval(cell, table), seeds=seeds(cell, table))
    gap = difference(cell, table)
    if gap is None:
        return _number(None, table)
    return Number(signed(gap, decimals(table)), is_bold=is_outside(cell, table))


def _number(value: float | None, table: Table) -> Number:
    return Number(NONE, is_quiet=True) if value is None else Number(number(value, table))


def _note(table: Table) -> str:
    """Return the unit of a table, how many tasks and seeds it has, and how to read it."""
    cells: Sequence[Cell] = table["cells"]
    numbers = [cell["ours"] for cell in cells if cell["ours"] is not None]
    texts = ["Percent" if table["unit"] == "%" else _text(table["unit"]).capitalize()]
    for key, word, count in (("tasks", "task", int), ("values", "seed", len)):
        counts = [count(ours[key]) for ours in numbers if ours.get(key)]
        if counts:
            low, high = min(counts), max(counts)
            texts.append(some(low, word) if low == high else f"{low:,} to {some(high, word)}")
    if any(ours.get("common") is not None for ours in numbers):
        texts.append("common programs: our number for the programs that all test sets have")
    if table.get("paper_of"):
        texts.append(f"the paper counts {_text(table['paper_of'])} other problems")
    if any(is_outside(cell, table) for cell in cells):
        texts.append("a difference is bold if the paper’s number lies outside our interval")
    compared = [cell["ours"] for cell in cells if difference(cell, table) is not None]
    if any(len(ours.get("values") or ()) == 2 for ours in compared):
        texts.append(
            "an interval of two seeds is wide: a number inside it may still differ from ours"
        )
    return "; ".join(texts) + "."


def _text(value: Any) -> str:
    return shown(value, LONGEST) if value != "" else ""


def trainings(result: Result) -> Data:
    """Return how each model was trained."""

    def shown_pairs(training: Mapping[str, Any]) -> str:
        low, high = training["shown"]
        return f"{low}" if low == high else f"{low} to {high}"

    columns: dict[str, Callable[[Mapping[str, Any]], str]] = {
        "seed": lambda t: f"{t['seed']}",
        "data": lambda t: f"{t['data']}",
        "steps": lambda t: f"{t['steps']:,}",
        "batch": lambda t: f"{t['batch']:,}",
        "examples": lambda t: f"{t['examples']:,}",
        "different examples": lambda t: f"{t['distinct']:,}",
        "passes": lambda t: f"{t['passes']:,.4g}",
        "pairs shown": shown_pairs,
        "time": lambda t: duration(t["seconds"]),
        "hash": lambda t: f"{t['hash']}"[:12],
    }
    return _records("model", columns, result.get("trainings") or ())


def tests(result: Result) -> Data:
    """Return the test sets, and how many programs each leaves out."""
    sets = [{"name": name, **test} for name, test in (result.get("tests") or {}).items()]
    columns: dict[str, Callable[[Mapping[str, Any]], str]] = {
        "tasks": lambda t: f"{t['tasks']:,}",
        "programs without valid worlds": lambda t: f"{t['dropped']:,}",
        "beam": lambda t: f"{t['beam']:,}",
    }
    return _records("test set", columns, sets)


def _records(
    first: str,
    columns: Mapping[str, Callable[[Mapping[str, Any]], str]],
    rows: Sequence[Mapping[str, Any]],
) -> Data:
    """Return a row of facts for each record; the first column has the name of the record."""
    texts = [{name: _fact(write, row) for name, write in columns.items()} for row in rows]
    names = [_text(row["name"]) for row in rows]
    return {
        "first": first,
        "columns": list(columns),
        "rows": list(zip(names, texts, strict=True)),
    }


def _fact(write: Callable[[Mapping[str, Any]], str], row: Mapping[str, Any]) -> str:
    """Write a fact, or a dash if it is not known."""
    try:
        return _text(write(row))
    except (KeyError, TypeError, ValueError):
        return NONE
