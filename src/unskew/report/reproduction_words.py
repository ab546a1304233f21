"""The words of a reproduction: numbers beside the paper's, said in plain sentences.

A result is that of one experiment, as ``results/*.json`` holds it: ``tables`` of cells, each with
the paper's number and ours, either of which may be None. Rows that a table names as ``stated``
are the paper's alone: a bound, say, of which there is nothing to run.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, TypeAlias

from unskew.errors import UnskewError
from unskew.report.words import shown, some

Result: TypeAlias = Mapping[str, Any]
Table: TypeAlias = Mapping[str, Any]
Cell: TypeAlias = Mapping[str, Any]

FORMS = ("table", "heatmap", "lines")
SAID_ONE_BY_ONE = 4  # cells of a table; more are said together
NAMED = 4  # cells that were not run; the table names all
LONGEST = 120  # characters of a name
PARTS = {
    "result": ("experiment", "title", "tables", "seconds", "provenance"),
    "table": ("title", "unit", "form", "rows", "columns", "cells"),
    "cell": ("row", "column", "paper", "ours"),
}


def check_result(result: Result) -> None:
    """Refuse what is not the result of an experiment."""
    name = shown(str(result.get("experiment", "?")), LONGEST)
    _check("result", result, name)
    for table in result["tables"]:
        _check("table", table, name)
        if table["form"] not in FORMS:
            raise UnskewError(
                f"a table of {name} has the form {table['form']!r}; allowed are {', '.join(FORMS)}"
            )
        for cell in table["cells"]:
            _check("cell", cell, name)
            if cell["row"] not in table["rows"] or cell["column"] not in table["columns"]:
                where = shown(f"{cell['row']}, {cell['column']}", LONGEST)
                raise UnskewError(f"{name} has a cell {where} outside its table; run it again")


def _check(what: str, data: Mapping[str, Any], name: str) -> None:
    missing = [part for part in PARTS[what] if part not in data]
    if missing:
        raise UnskewError(f"a {what} of {name} has no {missing[0]}; run the experiment again")


def difference(cell: Cell) -> float | None:
    """Return ours less the paper's; None where one of them is not there."""
    if cell["ours"] is None or cell["paper"] is None:
        return None
    return float(cell["ours"]["mean"]) - float(cell["paper"])


def outside(cell: Cell) -> bool:
    """Whether the paper's number lies outside our interval."""
    ours, paper = cell["ours"], cell["paper"]
    if ours is None or paper is None or ours.get("low") is None:
        return False
    return not ours["low"] <= paper <= ours["high"]


def signed(value: float, decimals: int) -> str:
    """Write a difference with its sign; what rounds to zero has none."""
    text = f"{abs(value):.{decimals}f}"
    if float(text) == 0:
        return text
    return ("+" if value > 0 else "−") + text


def decimals(table: Table) -> int:
    """Return how many decimals a table's numbers need: none where all are whole."""
    numbers = [cell["paper"] for cell in table["cells"]]
    numbers += [cell["ours"]["mean"] for cell in table["cells"] if cell["ours"]]
    return 0 if all(float(n).is_integer() for n in numbers if n is not None) else 2


def not_run(table: Table) -> list[Cell]:
    """Return the cells that should have a number of ours and have none."""
    return [cell for cell in to_run(table) if cell["ours"] is None]


def to_run(table: Table) -> list[Cell]:
    """Return the cells of a table that are ours to run."""
    stated = table.get("stated") or ()
    return [cell for cell in table["cells"] if cell["row"] not in stated]


def sentences(result: Result) -> Iterator[str]:
    """Say what an experiment found, table by table, and what of it was not run."""
    for table in result["tables"]:
        done = [cell for cell in to_run(table) if cell["ours"] is not None]
        beside = [cell for cell in done if cell["paper"] is not None]
        said = []
        if 0 < len(beside) <= SAID_ONE_BY_ONE:
            said = [_alone(cell, table) for cell in beside]
        elif beside:
            said = [_together(beside, table)]
        elif done:
            said = [_ours_alone(done, table)]
        missing = not_run(table)
        if missing:
            text = _missing(missing, table)
            said = [*said[:-1], f"{said[-1]} {text}"] if said else [f"{_name(table)}: {text}"]
        yield from said


def where(cell: Cell) -> str:
    """Name a cell."""
    return f"{shown(cell['row'], LONGEST)}, {shown(cell['column'], LONGEST)}"


def _alone(cell: Cell, table: Table) -> str:
    gap = difference(cell)
    points = "" if gap is None else f", {signed(gap, _short(table))}{_points(table)}"
    return (
        f"{where(cell)}: ours {_value(cell['ours']['mean'], table)}, "
        f"the paper's {_value(cell['paper'], table)}{points}."
    )


def _together(cells: Sequence[Cell], table: Table) -> str:
    gaps = [(gap, cell) for cell in cells if (gap := difference(cell)) is not None]
    inside = len(cells) - sum(outside(cell) for cell in cells)
    many = f"{inside or 'none'} of the paper's {len(cells)} numbers"
    higher = max(gaps, key=lambda pair: pair[0])
    lower = min(gaps, key=lambda pair: pair[0])
    said = []
    for (gap, cell), is_side in ((higher, higher[0] > 0), (lower, lower[0] < 0)):
        if is_side:
            ours = _value(cell["ours"]["mean"], table)
            size = f"{signed(gap, _short(table))}{_points(table)}"
            paper = _value(cell["paper"], table)
            said.append(f"{size} ({where(cell)}: ours {ours}, the paper's {paper})")
    largest = f" Largest differences: {' and '.join(said)}." if said else ""
    verb = "lie" if inside > 1 else "lies"
    return f"{_name(table)}: {many} {verb} inside our 95 % interval.{largest}"


def _ours_alone(cells: Sequence[Cell], table: Table) -> str:
    def mean(cell: Cell) -> float:
        return float(cell["ours"]["mean"])

    low, high = min(cells, key=mean), max(cells, key=mean)
    return (
        f"{_name(table)}: {some(len(cells), 'number')} of ours, from "
        f"{_value(mean(low), table)} ({where(low)}) to {_value(mean(high), table)} "
        f"({where(high)}); the paper gives none to set beside them."
    )


def _missing(cells: Sequence[Cell], table: Table) -> str:
    named = "; ".join(where(cell) for cell in cells[:NAMED])
    rest = len(cells) - NAMED
    more = f"; and {rest} more" if rest > 0 else ""
    return f"Not run: {len(cells)} of {some(len(to_run(table)), 'cell')} ({named}{more})."


def _name(table: Table) -> str:
    return shown(table["title"], LONGEST)


def _value(value: float, table: Table) -> str:
    text = f"{value:.{_short(table)}f}".replace("-", "−")
    return f"{text} %" if table["unit"] == "%" else text


def _points(table: Table) -> str:
    return " points" if "%" in table["unit"] or "point" in table["unit"] else ""


def _short(table: Table) -> int:
    """Sentences have one decimal less than tables."""
    return min(decimals(table), 1)


def duration(seconds: float) -> str:
    """Write a time as people say it."""
    minutes, rest = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    if hours:
        return f"{hours} h {minutes} min"
    return f"{minutes} min {rest} s" if minutes else f"{rest} s"
