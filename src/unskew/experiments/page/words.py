"""The words of a reproduction: numbers beside the paper's, said in plain sentences.

A result is that of one experiment, as ``results/*.json`` holds it: ``tables`` of cells, each with
the paper's number and ours, either of which may be None. Rows that a table names as ``stated``
are the paper's alone: a bound, say, of which there is nothing to run. A cell that is ``empty`` has
no tasks to run. What a table has ``found`` is a sentence or two. Tables of the same ``figure`` are
drawn together, each under its ``label``. A table in "problems of 41" may say of how many others the
paper's are (``paper_of``): such counts stand beside each other, but are not subtracted.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from statistics import median
from typing import Any, TypeAlias

from unskew.audits.report.words import shown, some
from unskew.core.errors import UnskewError

Result: TypeAlias = Mapping[str, Any]
Table: TypeAlias = Mapping[str, Any]
Cell: TypeAlias = Mapping[str, Any]
Fact: TypeAlias = tuple[Any, ...]

FORMS = ("table", "heatmap", "lines")
SAID_ONE_BY_ONE = 4  # cells of a table; more are said row by row
FEW = 2  # cells of a row; more are said together
NEWLINE = "\n"
NAMED = 4  # rows, columns or cells that were not run; the table names all
LONGEST = 120  # characters of a name
LONGEST_FOUND = 600  # characters of what is said of a whole table
PROBLEMS_OF = "problems of "  # and a number: a unit
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


def is_karel(result: Result) -> bool:
    """Whether a result is one of Karel's experiments."""
    return str(result["experiment"]).startswith("karel")


def difference(cell: Cell, table: Table) -> float | None:
    """Return ours less the paper's; None where one is not there, or they are of other problems."""
    if cell["ours"] is None or cell["paper"] is None or _is_count(table):
        return None
    return float(cell["ours"]["mean"]) - float(cell["paper"])


def outside(cell: Cell, table: Table) -> bool:
    """Whether the paper's number lies outside our interval."""
    if difference(cell, table) is None or cell["ours"].get("low") is None:
        return False
    return not cell["ours"]["low"] <= cell["paper"] <= cell["ours"]["high"]


def _is_count(table: Table) -> bool:
    """Whether the numbers count problems, of which the paper's are others."""
    return bool(str(table["unit"]).startswith(PROBLEMS_OF))


def signed(value: float, decimals: int) -> str:
    """Write a difference with its sign; what rounds to zero has none."""
    text = f"{abs(value):.{decimals}f}"
    if float(text) == 0:
        return text
    return ("+" if value > 0 else "−") + text


def decimals(table: Table) -> int:
    """Return how many decimals a table's numbers need: up to two, none where all are whole."""
    numbers = [cell["paper"] for cell in table["cells"]]
    numbers += [cell["ours"]["mean"] for cell in table["cells"] if cell["ours"]]
    known = [float(number) for number in numbers if number is not None]
    return next((n for n in (0, 1) if all(round(x, n) == x for x in known)), 2)


def not_run(table: Table) -> list[Cell]:
    """Return the cells that should have a number of ours and have none."""
    return [cell for cell in to_run(table) if cell["ours"] is None]


def to_run(table: Table) -> list[Cell]:
    """Return the cells of a table that are ours to run."""
    stated = table.get("stated") or ()
    return [cell for cell in table["cells"] if cell["row"] not in stated and not cell.get("empty")]


def missing(cell: Cell, table: Table) -> str:
    """Say why a cell has no number of ours."""
    if cell["row"] in (table.get("stated") or ()):
        return "–"
    return "no tasks" if cell.get("empty") else "not run"


def plain(value: float, places: int) -> str:
    """Write a number."""
    return f"{value:,.{places}f}".replace("-", "−")


def number(value: float, table: Table) -> str:
    """Write a number of a table; a whole count has no decimals, though a mean beside it has."""
    is_whole = _is_count(table) and float(value).is_integer()
    return plain(value, 0 if is_whole else decimals(table))


def interval(cell: Cell, table: Table) -> str:
    """Write the interval of ours; a dash where there is none."""
    ours = cell["ours"] or {}
    low, high = ours.get("low"), ours.get("high")
    if low is None or high is None:
        return "–"
    return f"{plain(low, decimals(table))} to {plain(high, decimals(table))}"


def seeds(cell: Cell, table: Table) -> str:
    """List what each seed came to, where there are several: an interval of two hides both."""
    values = (cell["ours"] or {}).get("values") or ()
    return ", ".join(number(value, table) for value in values) if len(values) > 1 else ""


def sentences(result: Result, known: set[Fact] | None = None) -> Iterator[str]:
    """Say what an experiment found, table by table, and what of it was not run.

    Many numbers are a text of several lines: the table's name, then a line for each of its rows.
    What is ``known`` is not said again; what is said of single cells is added to it.
    """
    known = set() if known is None else known
    for table in result["tables"]:
        done = [cell for cell in to_run(table) if cell["ours"] is not None]
        beside = [cell for cell in done if cell["paper"] is not None]
        said = []
        if beside and (_is_count(table) or len(beside) <= SAID_ONE_BY_ONE):
            said = _one_by_one(beside, table, known)
        elif beside and (lines := list(_by_row(beside, table, known))):
            said = [NEWLINE.join([_name(table), *lines])]
        elif done and not beside:
            said = [_ours_alone(done, table)]
        absent = not_run(table)
        if absent:
            text = _missing(absent, table)
            last = said.pop() if said else f"{_name(table)}:"
            said.append(f"{last}{NEWLINE if NEWLINE in last else ' '}{text}")
        yield from said


def unsaid(result: Result) -> str:
    """Say why there is nothing to say of an experiment."""
    cells = [cell for table in result["tables"] for cell in table["cells"]]
    if any(cell["ours"] is not None for cell in cells):
        return "Its numbers are said above."
    return "There were no tasks." if any(c.get("empty") for c in cells) else "Nothing was run."


def where(cell: Cell) -> str:
    """Name a cell."""
    return f"{shown(cell['row'], LONGEST)} / {shown(cell['column'], LONGEST)}"


def _fact(cell: Cell, table: Table) -> Fact:
    """Return what makes two cells the same fact: their columns may have other names."""
    ours = cell["ours"]
    numbers = (ours["mean"], *(ours.get("values") or ()), ours.get("tasks"), cell["paper"])
    return cell["row"], table["unit"], *numbers


def _beside(cell: Cell, table: Table) -> str:
    ours, paper = _value(cell["ours"]["mean"], table), _value(cell["paper"], table)
    if table.get("paper_of"):
        ours += f" of {shown(str(table['unit']).removeprefix(PROBLEMS_OF), LONGEST)}"
        paper += f" of {shown(str(table['paper_of']), LONGEST)} others"
    gap = difference(cell, table)
    points = "" if gap is None else f", {signed(gap, _short(table))}{_points(table)}"
    return f"ours {ours}, the paper's {paper}{points}"


def _one_by_one(cells: Sequence[Cell], table: Table, known: set[Fact]) -> list[str]:
    new = [cell for cell in cells if _fact(cell, table) not in known]
    known.update(_fact(cell, table) for cell in new)
    return [f"{where(cell)}: {_beside(cell, table)}." for cell in new]


def _by_row(cells: Sequence[Cell], table: Table, known: set[Fact]) -> Iterator[str]:
    """Say on which side of the paper's numbers ours lie, row by row of the table."""
    for row in dict.fromkeys(cell["row"] for cell in cells):
        own = [cell for cell in cells if cell["row"] == row]
        if len(own) > FEW:
            yield f"{shown(row, LONGEST)}: {_sides(own, table)}."
        else:
            yield from _one_by_one(own, table, known)


def _sides(cells: Sequence[Cell], table: Table) -> str:
    """Say how many of our numbers are higher and lower than the paper's, and by how much."""
    gaps = [gap for cell in cells if (gap := difference(cell, table)) is not None]
    signs = [signed(gap, decimals(table))[0] for gap in gaps]  # as the table has them
    counts = {"higher": signs.count("+"), "lower": signs.count("−")}
    counts["equal"] = len(gaps) - sum(counts.values())
    (side, count), *others = [(side, count) for side, count in counts.items() if count]
    first = f"{count} of {len(gaps)} {side} {'to' if side == 'equal' else 'than'} the paper's"
    sides = ", ".join([first, *(f"{count} {side}" for side, count in others)])
    middle, low, high = (signed(gap, _short(table)) for gap in (median(gaps), min(gaps), max(gaps)))
    return f"{sides}, median {middle}{_points(table)}, from {low} to {high}"


def _ours_alone(cells: Sequence[Cell], table: Table) -> str:
    """Say what was found where no number of the paper's stands beside ours."""
    if table.get("found"):
        return f"{_name(table)}: {shown(str(table['found']), LONGEST_FOUND)}"
    say = _first_and_last if table["form"] == "lines" else _lowest_and_highest
    lines = [
        f"{shown(row, LONGEST)}: {say([cell for cell in cells if cell['row'] == row], table)}."
        for row in dict.fromkeys(cell["row"] for cell in cells)
    ]
    return NEWLINE.join([_name(table), *lines])


def _first_and_last(cells: Sequence[Cell], table: Table) -> str:
    """Say where a line begins and where it ends."""
    in_order = sorted(cells, key=lambda cell: list(table["columns"]).index(cell["column"]))
    ends = in_order if len(in_order) == 1 else (in_order[0], in_order[-1])
    return ", ".join(
        f"{_value(cell['ours']['mean'], table)} with {shown(cell['column'], LONGEST)}"
        for cell in ends
    )


def _lowest_and_highest(cells: Sequence[Cell], table: Table) -> str:
    """Say between which numbers a row lies."""

    def mean(cell: Cell) -> float:
        return float(cell["ours"]["mean"])

    ends = [min(cells, key=mean), max(cells, key=mean)]
    said = [f"{_value(mean(cell), table)} ({shown(cell['column'], LONGEST)})" for cell in ends]
    return said[0] if len(cells) == 1 else f"from {said[0]} to {said[1]}"


def _missing(cells: Sequence[Cell], table: Table) -> str:
    """Name what was not run: rows and columns where all of it is missing, then single cells."""
    names, left = [], list(cells)
    for side in ("row", "column"):
        whole = Counter(cell[side] for cell in to_run(table))
        gone = Counter(cell[side] for cell in cells)
        there = dict.fromkeys(cell[side] for cell in left)
        lost = [name for name in there if 1 < gone[name] == whole[name]]
        names += [shown(name, LONGEST) for name in lost]
        left = [cell for cell in left if cell[side] not in lost]
    names += [where(cell) for cell in left]
    more = f"; and {len(names) - NAMED} more" if len(names) > NAMED else ""
    named = "; ".join(names[:NAMED])
    return f"Not run: {len(cells)} of {some(len(to_run(table)), 'cell')} ({named}{more})."


def label(table: Table) -> str:
    """Name a table in its figure."""
    return shown(str(table.get("label") or table["title"]), LONGEST)


def _name(table: Table) -> str:
    return shown(table["title"], LONGEST)


def _value(value: float, table: Table) -> str:
    if _is_count(table):
        return number(value, table)
    text = plain(value, _short(table))
    return f"{text} %" if table["unit"] == "%" else text


def _points(table: Table) -> str:
    return " points" if "%" in table["unit"] or "point" in table["unit"] else ""


def _short(table: Table) -> int:
    """Sentences have one decimal less than tables, of shares and their differences."""
    return min(decimals(table), 1) if table["unit"] == "%" or _points(table) else decimals(table)


def duration(seconds: float) -> str:
    """Write a time as people say it."""
    minutes, rest = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    if hours:
        return f"{hours} h {minutes} min"
    return f"{minutes} min {rest} s" if minutes else f"{rest} s"
