"""Results as the page reads them, and how their numbers are written.

A result of one experiment is what ``results/*.json`` holds. It has ``tables``, and a table has
cells. A cell has the paper's number and ours; either may be None. Some parts are optional:

- ``stated`` names the rows of a table that have only the paper's numbers, such as a bound.
- A cell that is ``empty`` has no tasks to run.
- ``found`` is a sentence or two about a whole table.
- Tables with the same ``figure`` are drawn together, each under its ``label``.
- ``paper_of`` says how many problems the paper counts. They are other problems than ours, so the
  two counts stand next to each other but are not subtracted.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeAlias

from unskew.audits.report.words import shown
from unskew.core.errors import UnskewError

Result: TypeAlias = Mapping[str, Any]
Table: TypeAlias = Mapping[str, Any]
Cell: TypeAlias = Mapping[str, Any]

FORMS = ("table", "heatmap", "lines")
LONGEST = 120  # characters of a name
NONE = "–"
PROBLEMS_OF = "problems of "  # a unit that counts problems begins so
PARTS = {
    "result": ("experiment", "title", "tables", "seconds", "provenance"),
    "table": ("title", "unit", "form", "rows", "columns", "cells"),
    "cell": ("row", "column", "paper", "ours"),
}


def check_result(result: Result) -> None:
    """Refuse data that is not the result of an experiment."""
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
                place = shown(f"{cell['row']}, {cell['column']}", LONGEST)
                raise UnskewError(f"{name} has a cell {place} outside its table; run it again")


def _check(what: str, data: Mapping[str, Any], name: str) -> None:
    missing = [part for part in PARTS[what] if part not in data]
    if missing:
        raise UnskewError(f"a {what} of {name} has no {missing[0]}; run the experiment again")


def is_karel(result: Result) -> bool:
    """Return whether a result is of an experiment of Karel."""
    return str(result["experiment"]).startswith("karel")


def cells_to_run(table: Table) -> list[Cell]:
    """Return the cells of a table that we can run."""
    stated = table.get("stated") or ()
    return [cell for cell in table["cells"] if cell["row"] not in stated and not cell.get("empty")]


def cells_not_run(table: Table) -> list[Cell]:
    """Return the cells that we can run and did not run."""
    return [cell for cell in cells_to_run(table) if cell["ours"] is None]


def why_missing(cell: Cell, table: Table) -> str:
    """Say why a cell has no number of ours."""
    if cell["row"] in (table.get("stated") or ()):
        return NONE
    return "no tasks" if cell.get("empty") else "not run"


def is_count(table: Table) -> bool:
    """Return whether the numbers of a table count problems; the paper's problems are others."""
    return str(table["unit"]).startswith(PROBLEMS_OF)


def difference(cell: Cell, table: Table) -> float | None:
    """Return our number less the paper's; None if one is missing or they count other problems."""
    if cell["ours"] is None or cell["paper"] is None or is_count(table):
        return None
    return float(cell["ours"]["mean"]) - float(cell["paper"])


def is_outside(cell: Cell, table: Table) -> bool:
    """Return whether the paper's number lies outside our interval."""
    if difference(cell, table) is None or cell["ours"].get("low") is None:
        return False
    return not cell["ours"]["low"] <= cell["paper"] <= cell["ours"]["high"]


def decimals(table: Table) -> int:
    """Return how many decimals the numbers of a table need: none, one or two."""
    numbers = [cell["paper"] for cell in table["cells"]]
    numbers += [cell["ours"]["mean"] for cell in table["cells"] if cell["ours"]]
    known = [float(number) for number in numbers if number is not None]
    return next((n for n in (0, 1) if all(round(x, n) == x for x in known)), 2)


def plain(value: float, places: int) -> str:
    """Write a number with a true minus sign."""
    return f"{value:,.{places}f}".replace("-", "−")


def signed(value: float, places: int) -> str:
    """Write a difference with its sign; a difference that rounds to zero has no sign."""
    text = f"{abs(value):.{places}f}"
    if float(text) == 0:
        return text
    return ("+" if value > 0 else "−") + text


def number(value: float, table: Table) -> str:
    """Write a number of a table. A whole number of problems has no decimals."""
    is_whole = is_count(table) and float(value).is_integer()
    return plain(value, 0 if is_whole else decimals(table))


def interval(cell: Cell, table: Table) -> str:
    """Write our interval, or a dash if there is none."""
    ours = cell["ours"] or {}
    low, high = ours.get("low"), ours.get("high")
    if low is None or high is None:
        return NONE
    return f"{plain(low, decimals(table))} to {plain(high, decimals(table))}"


def seeds(cell: Cell, table: Table) -> str:
    """List the number of each seed if there are several seeds."""
    values = (cell["ours"] or {}).get("values") or ()
    return ", ".join(number(value, table) for value in values) if len(values) > 1 else ""


def label(table: Table) -> str:
    """Return the name of a table in its figure."""
    return shown(str(table.get("label") or table["title"]), LONGEST)


def duration(seconds: float) -> str:
    """Write a time in hours and minutes, or in minutes and seconds."""
    minutes, rest = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    if hours:
        return f"{hours} h {minutes} min"
    return f"{minutes} min {rest} s" if minutes else f"{rest} s"
