"""Results in plain sentences, with our numbers next to the paper's."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from statistics import median
from typing import Any, TypeAlias

from unskew.audits.report.words import shown, some
from unskew.experiments.page.results import (
    LONGEST,
    PROBLEMS_OF,
    Cell,
    Result,
    Table,
    cells_not_run,
    cells_to_run,
    decimals,
    difference,
    is_count,
    number,
    plain,
    signed,
)

Fact: TypeAlias = tuple[Any, ...]

MOST_CELLS = 4  # a table with more numbers is described row by row
FEW = 2  # a row with more numbers is summed up
NEWLINE = "\n"
MOST_NAMED = 4  # names of rows, columns or cells that were not run; the table shows all
LONGEST_FINDING = 600  # characters of what is said about a whole table


def sentences(result: Result, told: set[Fact] | None = None) -> Iterator[str]:
    """Yield what an experiment found, table by table, and what was not run.

    A text with many numbers has several lines: the name of the table, then a line for each row.
    Facts in ``told`` are not repeated; new facts about single cells are added to it.
    """
    told = set() if told is None else told
    for table in result["tables"]:
        run = [cell for cell in cells_to_run(table) if cell["ours"] is not None]
        compared = [cell for cell in run if cell["paper"] is not None]
        texts = []
        if compared and (is_count(table) or len(compared) <= MOST_CELLS):
            texts = _cell_by_cell(compared, table, told)
        elif compared and (lines := list(_row_by_row(compared, table, told))):
            texts = [NEWLINE.join([_name(table), *lines])]
        elif run and not compared:
            texts = [_only_ours(run, table)]
        missing = cells_not_run(table)
        if missing:
            last = texts.pop() if texts else f"{_name(table)}:"
            space = NEWLINE if NEWLINE in last else " "
            texts.append(f"{last}{space}{_not_run(missing, table)}")
        yield from texts


def why_silent(result: Result) -> str:
    """Say why there are no sentences about an experiment."""
    cells = [cell for table in result["tables"] for cell in table["cells"]]
    if any(cell["ours"] is not None for cell in cells):
        return "The numbers of this experiment are listed above."
    return "There were no tasks." if any(c.get("empty") for c in cells) else "Nothing was run."


def _place(cell: Cell) -> str:
    return f"{shown(cell['row'], LONGEST)} / {shown(cell['column'], LONGEST)}"


def _fact(cell: Cell, table: Table) -> Fact:
    """Return what two cells have in common if they say the same under other columns."""
    ours = cell["ours"]
    numbers = (ours["mean"], *(ours.get("values") or ()), ours.get("tasks"), cell["paper"])
    return cell["row"], table["unit"], *numbers


def _comparison(cell: Cell, table: Table) -> str:
    ours, paper = _value(cell["ours"]["mean"], table), _value(cell["paper"], table)
    if table.get("paper_of"):
        ours += f" of {shown(str(table['unit']).removeprefix(PROBLEMS_OF), LONGEST)}"
        paper += f" of {shown(str(table['paper_of']), LONGEST)} other problems"
    gap = difference(cell, table)
    points = "" if gap is None else f", {signed(gap, _short(table))}{_points(table)}"
    return f"ours {ours}, the paper's {paper}{points}"


def _cell_by_cell(cells: Sequence[Cell], table: Table, told: set[Fact]) -> list[str]:
    new = [cell for cell in cells if _fact(cell, table) not in told]
    told.update(_fact(cell, table) for cell in new)
    return [f"{_place(cell)}: {_comparison(cell, table)}." for cell in new]


def _row_by_row(cells: Sequence[Cell], table: Table, told: set[Fact]) -> Iterator[str]:
    """Yield for each row how our numbers compare with the paper's."""
    for row in dict.fromkeys(cell["row"] for cell in cells):
        of_row = [cell for cell in cells if cell["row"] == row]
        if len(of_row) > FEW:
            yield f"{shown(row, LONGEST)}: {_summary(of_row, table)}."
        else:
            yield from _cell_by_cell(of_row, table, told)


def _summary(cells: Sequence[Cell], table: Table) -> str:
    """Say how many of our numbers are higher or lower than the paper's, and by how much."""
    gaps = [gap for cell in cells if (gap := difference(cell, table)) is not None]
    signs = [signed(gap, decimals(table))[0] for gap in gaps]  # as the table rounds them
    counts = {"higher": signs.count("+"), "lower": signs.count("−")}
    counts["equal"] = len(gaps) - sum(counts.values())
    (side, count), *others = [(side, count) for side, count in counts.items() if count]
    first = f"{count} of {len(gaps)} {side} {'to' if side == 'equal' else 'than'} the paper's"
    sides = ", ".join([first, *(f"{count} {side}" for side, count in others)])
    middle, low, high = (signed(gap, _short(table)) for gap in (median(gaps), min(gaps), max(gaps)))
    return f"{sides}; median difference {middle}{_points(table)}, from {low} to {high}"


def _only_ours(cells: Sequence[Cell], table: Table) -> str:
    """Say what we found where the paper has no numbers."""
    if table.get("found"):
        return f"{_name(table)}: {shown(str(table['found']), LONGEST_FINDING)}"
    describe = _first_and_last if table["form"] == "lines" else _lowest_and_highest
    lines = [
        f"{shown(row, LONGEST)}: {describe([c for c in cells if c['row'] == row], table)}."
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
    """Say which numbers of a row are the lowest and the highest."""

    def mean(cell: Cell) -> float:
        return float(cell["ours"]["mean"])

    low, high = (
        f"{_value(mean(cell), table)} ({shown(cell['column'], LONGEST)})"
        for cell in (min(cells, key=mean), max(cells, key=mean))
    )
    return low if len(cells) == 1 else f"from {low} to {high}"


def _not_run(cells: Sequence[Cell], table: Table) -> str:
    """Name the rows and columns that were not run at all, then the other cells."""
    names, left = [], list(cells)
    for side in ("row", "column"):
        in_all = Counter(cell[side] for cell in cells_to_run(table))
        missing = Counter(cell[side] for cell in cells)
        lost = [
            name
            for name in dict.fromkeys(cell[side] for cell in left)
            if 1 < missing[name] == in_all[name]
        ]
        names += [shown(name, LONGEST) for name in lost]
        left = [cell for cell in left if cell[side] not in lost]
    names += [_place(cell) for cell in left]
    more = f"; and {len(names) - MOST_NAMED} more" if len(names) > MOST_NAMED else ""
    named = "; ".join(names[:MOST_NAMED])
    return f"Not run: {len(cells)} of {some(len(cells_to_run(table)), 'cell')} ({named}{more})."


def _name(table: Table) -> str:
    return shown(table["title"], LONGEST)


def _value(value: float, table: Table) -> str:
    if is_count(table):
        return number(value, table)
    text = plain(value, _short(table))
    return f"{text} %" if table["unit"] == "%" else text


def _points(table: Table) -> str:
    return " points" if "%" in table["unit"] or "point" in table["unit"] else ""


def _short(table: Table) -> int:
    """Return how many decimals a sentence has: at most one for shares and their differences."""
    return min(decimals(table), 1) if table["unit"] == "%" or _points(table) else decimals(table)
