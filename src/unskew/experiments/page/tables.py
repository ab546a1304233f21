"""The tables of the page: the paper's number, ours, the difference, and the interval."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, TypeAlias

from unskew.audits.report.templates import Data
from unskew.audits.report.words import shown, some
from unskew.experiments.table import LONGEST, NONE, Cell, Result, Table, duration

MOST_GROUPS = 3  # models side by side; a table with more has a block for each
EVERYWHERE = "all cells"
Line: TypeAlias = tuple[str, list[Cell | None]]  # a name, and the cell of each group
TRAINING = {  # the columns of a table, and how they are written
    "seed": "{seed}",
    "data": "{data}",
    "steps": "{steps:,}",
    "batch": "{batch:,}",
    "examples": "{examples:,}",
    "different examples": "{distinct:,}",
    "passes": "{passes:,.4g}",
    "pairs shown": "{pairs}",
    "time": "{time}",
    "hash": "{hash:.12}",
}
TEST_SET = {
    "tasks": "{tasks:,}",
    "programs without valid worlds": "{dropped:,}",
    "beam": "{beam:,}",
}


def numbers(table: Table) -> Data | None:
    """Return a table of results; None if it has no number.

    The shorter side goes across, as groups of columns. If both sides are long, every row of the
    table becomes a block of lines.
    """
    if not any(map(_has_number, table.cells)):
        return None
    groups: Sequence[str] = []
    if min(len(table.rows), len(table.columns)) > MOST_GROUPS:
        blocks: list[Data] = [{"name": row, "lines": _block(row, table)} for row in table.rows]
    else:
        cells, groups, names = table.places, table.rows, table.columns
        if len(groups) > len(names):
            cells = {(column, row): cell for (row, column), cell in cells.items()}
            groups, names = names, groups
        lines = [(name, [cells.get((group, name)) for group in groups]) for name in names]
        blocks = [{"name": None, "lines": lines}]
    return {"note": _note(table), "groups": groups, "parts": _parts(table), "blocks": blocks}


def _has_number(cell: Cell | None) -> bool:
    return cell is not None and (cell.ours is not None or cell.paper is not None)


def _block(row: str, table: Table) -> list[Line]:
    """Return a row of the table as lines; one line if the row has no number."""
    cells = {column: table.places.get((row, column)) for column in table.columns}
    if not any(map(_has_number, cells.values())):
        cells = {EVERYWHERE: cells[table.columns[0]]}
    return [(column, [cell]) for column, cell in cells.items()]


def _parts(table: Table) -> list[str]:
    """Return the columns of each cell, without those that would be empty; three fit on a phone."""
    has_interval = any(ours.low is not None or len(ours.values) > 1 for ours in table.ours)
    is_needed = {
        "paper": table.has_paper,
        "ours": True,
        "difference": any(table.difference(cell) is not None for cell in table.cells),
        "95 % interval": has_interval or not table.ours,
        "common programs": table.has_common,
    }
    return [part for part, needed in is_needed.items() if needed]


def _note(table: Table) -> str:
    """Return the unit of a table, how many tasks and seeds it has, and how to read it."""
    compared = [cell.ours for cell in table.cells if table.difference(cell) is not None]
    texts = {
        "Percent" if table.unit == "%" else table.unit.capitalize(): True,
        _counted("task", [ours.tasks for ours in table.ours]): True,
        _counted("seed", [len(ours.values) for ours in table.ours]): True,
        "common programs: our number for the programs that all test sets have": table.has_common,
        f"the paper counts {table.paper_of} other problems": table.paper_of,
        "a difference is bold if the paper’s number lies outside our interval": any(
            map(table.is_outside, table.cells)
        ),
        "an interval of two seeds is wide: a number inside it may still differ from ours": any(
            ours and len(ours.values) == 2 for ours in compared
        ),
    }
    return "; ".join(text for text, is_so in texts.items() if text and is_so) + "."


def _counted(what: str, counts: Iterable[int]) -> str:
    """Say how many there are of something, from the least to the most; empty if none."""
    positive = [count for count in counts if count]
    if not positive:
        return ""
    least, most = min(positive), max(positive)
    return some(most, what) if least == most else f"{least:,} to {some(most, what)}"


def trainings(result: Result) -> Data:
    """Return how each model was trained."""
    records = []
    for training in result.trainings:
        pairs = " to ".join(map(str, dict.fromkeys(training["shown"])))
        records.append({**training, "pairs": pairs, "time": duration(training["seconds"])})
    return _records("model", TRAINING, records)


def tests(result: Result) -> Data:
    """Return the test sets, and how many programs each leaves out."""
    sets = [{"name": name, **test} for name, test in result.tests.items()]
    return _records("test set", TEST_SET, sets)


def _records(first: str, columns: Mapping[str, str], records: Sequence[Mapping[str, Any]]) -> Data:
    """Return a row of facts for each record; the first column has the name of the record."""
    rows = [
        (_fact("{name}", record), {name: _fact(form, record) for name, form in columns.items()})
        for record in records
    ]
    return {"first": first, "columns": list(columns), "rows": rows}


def _fact(form: str, record: Mapping[str, Any]) -> str:
    """Write a fact, or a dash if it is not known."""
    try:
        return shown(form.format_map(record), LONGEST)
    except (KeyError, TypeError, ValueError):
        return NONE
