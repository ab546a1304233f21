"""Tables of a reproduction: the paper's number, ours, the difference, the interval."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from unskew.audits.report.templates import Data
from unskew.audits.report.words import shown, some
from unskew.experiments.page.words import (
    LONGEST,
    Cell,
    Result,
    Table,
    decimals,
    difference,
    duration,
    interval,
    missing,
    number,
    outside,
    seeds,
    signed,
)

MOST_GROUPS = 3  # models side by side; more of them go below each other
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
    """What one cell of a table shows, and how; ``kind`` are its classes in the style sheet."""

    text: str
    kind: str = "number"
    span: int = 0
    is_quiet: bool = False
    is_bold: bool = False
    seeds: str = ""


def numbers(table: Table) -> Data | None:
    """Return a table of results; None where it has no number.

    The shorter side goes across, as groups of columns; where both sides are long, every row of
    the table becomes a block of lines.
    """
    if not any(cell["ours"] or cell["paper"] is not None for cell in table["cells"]):
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
        flip = len(rows) <= len(columns)
        groups, down = (rows, columns) if flip else (columns, rows)
        lines = [
            _line(
                name,
                [cells.get((group, name) if flip else (name, group)) for group in groups],
                parts,
                table,
            )
            for name in down
        ]
        blocks = [{"name": None, "lines": lines}]
    return {
        "title": shown(table["title"], LONGEST),
        "note": _note(table),
        "groups": [_text(group) for group in groups],
        "parts": parts,
        "blocks": blocks,
    }


def _block(row: str, cells: Mapping[str, Cell | None], parts: Sequence[str], table: Table) -> Data:
    """Return a row of the table as lines; as one, if there is no number in any of them."""
    if not any(cell and (cell["ours"] or cell["paper"] is not None) for cell in cells.values()):
        cells = {EVERYWHERE: next(iter(cells.values()))}
    lines = [_line(name, [cell], parts, table) for name, cell in cells.items()]
    return {"name": _text(row), "span": len(parts) + 1, "lines": lines}


def _parts(table: Table) -> list[str]:
    """Return which columns there are: none that would be empty."""
    cells: Sequence[Cell] = table["cells"]
    has_paper = any(cell["paper"] is not None for cell in cells)
    done = [cell["ours"] for cell in cells if cell["ours"] is not None]
    there = {
        PAPER: has_paper,
        OURS: True,
        DIFFERENCE: any(difference(cell, table) is not None for cell in cells),
        INTERVAL: not done
        or any(ours.get("low") is not None or len(ours.get("values") or ()) > 1 for ours in done),
        COMMON: any(ours.get("common") is not None for ours in done),
    }
    return [part for part, is_there in there.items() if is_there]


def _line(
    name: str, cells: Sequence[Cell | None], parts: Sequence[str], table: Table
) -> tuple[str, list[Number]]:
    return _text(name), [number for cell in cells for number in _numbers(cell, parts, table)]


def _numbers(cell: Cell | None, parts: Sequence[str], table: Table) -> list[Number]:
    """Return the columns of one cell; one that was not run says so over all of them but one."""
    if cell is None:
        return [Number("–", "first", len(parts), is_quiet=True)]
    if cell["ours"] is None:
        paper = [_part(PAPER, cell, table)] if PAPER in parts else []
        rest = len(parts) - len(paper)
        said = Number(missing(cell, table), "number not-run", rest, is_quiet=True)
        first, *others = [*paper, said]
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
    return Number(signed(gap, decimals(table)), is_bold=outside(cell, table))


def _number(value: float | None, table: Table) -> Number:
    return Number("–", is_quiet=True) if value is None else Number(number(value, table))


def _note(table: Table) -> str:
    """Say the unit, how many tasks and seeds there are behind the numbers, and what is bold."""
    done = [cell["ours"] for cell in table["cells"] if cell["ours"] is not None]
    said = ["Percent" if table["unit"] == "%" else _text(table["unit"]).capitalize()]
    for key, word, count in (("tasks", "task", int), ("values", "seed", len)):
        known = [count(ours[key]) for ours in done if ours.get(key)]
        if known:
            low, high = min(known), max(known)
            said.append(some(low, word) if low == high else f"{low:,} to {some(high, word)}")
    if any(ours.get("common") is not None for ours in done):
        said.append("common programs: on the programs that all test sets have")
    if table.get("paper_of"):
        said.append(f"the paper’s are of {_text(table['paper_of'])} others")
    if any(outside(cell, table) for cell in table["cells"]):
        said.append("a difference is bold where the paper’s number lies outside our interval")
    compared = [c["ours"] for c in table["cells"] if difference(c, table) is not None]
    if any(len(ours.get("values") or ()) == 2 for ours in compared):
        said.append("an interval of two seeds is wide: a number inside it need not agree with ours")
    return "; ".join(said) + "."


def _text(value: Any) -> str:
    return shown(value, LONGEST) if value != "" else ""


def trainings(result: Result) -> Data:
    """Return what was trained, and on how much."""

    def shown_pairs(training: Mapping[str, Any]) -> str:
        low, high = training["shown"]
        return f"{low}" if low == high else f"{low} to {high}"

    columns: dict[str, Callable[[Mapping[str, Any]], str]] = {
        "seed": lambda t: f"{t['seed']}",
        "data": lambda t: f"{t['data']}",
        "steps": lambda t: f"{t['steps']:,}",
        "batch": lambda t: f"{t['batch']:,}",
        "examples": lambda t: f"{t['examples']:,}",
        "distinct": lambda t: f"{t['distinct']:,}",
        "passes": lambda t: f"{t['passes']:,.4g}",
        "pairs shown": shown_pairs,
        "time": lambda t: duration(t["seconds"]),
        "hash": lambda t: f"{t['hash']}"[:12],
    }
    return _records("model", columns, result.get("trainings") or ())


def tests(result: Result) -> Data:
    """Return the test sets, and how many programs were left out for want of valid worlds."""
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
    """Return a row of facts for each record; the first column has its name."""
    texts = [{name: _fact(write, row) for name, write in columns.items()} for row in rows]
    names = [_text(row["name"]) for row in rows]
    return {
        "first": first,
        "columns": list(columns),
        "rows": list(zip(names, texts, strict=True)),
    }


def _fact(write: Callable[[Mapping[str, Any]], str], row: Mapping[str, Any]) -> str:
    """Return a cell; a dash where a fact is not known."""
    try:
        return _text(write(row))
    except (KeyError, TypeError, ValueError):
        return "–"
