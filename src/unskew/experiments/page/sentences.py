"""Results in plain sentences, with our numbers next to the paper's."""

from collections import Counter
from collections.abc import Iterator, Sequence
from statistics import median
from typing import Any, TypeAlias

from unskew.audits.report.words import some
from unskew.experiments.table import PROBLEMS_OF, Cell, Result, Table, plain, signed

Fact: TypeAlias = tuple[Any, ...]

MOST_CELLS = 4  # a table with more numbers is described row by row
FEW = 2  # a row with more numbers is summed up
NEWLINE = "\n"
MOST_NAMED = 4  # names of rows, columns or cells that were not run; the table shows all


def sentences(result: Result, told: set[Fact] | None = None) -> Iterator[str]:
    """Yield what an experiment found, table by table, and what was not run.

    A text with many numbers has several lines: the name of the table, then a line for each row.
    Facts in ``told`` are not repeated; new facts about single cells are added to it.
    """
    told = set() if told is None else told
    for table in result.tables:
        run = [cell for cell in table.to_run if cell.ours is not None]
        compared = [cell for cell in run if cell.paper is not None]
        texts = []
        if compared and (table.counts_problems or len(compared) <= MOST_CELLS):
            texts = _cell_by_cell(compared, table, told)
        elif compared and (lines := list(_row_by_row(compared, table, told))):
            texts = [NEWLINE.join([table.title, *lines])]
        elif run and not compared:
            texts = [_only_ours(run, table)]
        if table.not_run:
            last = texts.pop() if texts else f"{table.title}:"
            space = NEWLINE if NEWLINE in last else " "
            texts.append(f"{last}{space}{_not_run(table)}")
        yield from texts


def why_silent(result: Result) -> str:
    """Say why there are no sentences about an experiment."""
    if any(table.ours for table in result.tables):
        return "The numbers of this experiment are listed above."
    is_empty = any(cell.empty for table in result.tables for cell in table.cells)
    return "There were no tasks." if is_empty else "Nothing was run."


def _place(cell: Cell) -> str:
    return f"{cell.row} / {cell.column}"


def _fact(cell: Cell, table: Table) -> Fact:
    """Return what two cells have in common if they say the same under other columns."""
    ours = cell.ours and (cell.ours.mean, *cell.ours.values, cell.ours.tasks)
    return cell.row, table.unit, ours, cell.paper


def _comparison(cell: Cell, table: Table) -> str:
    ours, paper = _ours(cell, table), _value(cell.paper, table)
    if table.paper_of:
        ours += f" of {table.unit.removeprefix(PROBLEMS_OF)}"
        paper += f" of {table.paper_of} other problems"
    gap = table.difference(cell)
    points = "" if gap is None else f", {signed(gap, _short(table))}{_points(table)}"
    return f"ours {ours}, the paper's {paper}{points}"


def _cell_by_cell(cells: Sequence[Cell], table: Table, told: set[Fact]) -> list[str]:
    new = [cell for cell in cells if _fact(cell, table) not in told]
    told.update(_fact(cell, table) for cell in new)
    return [f"{_place(cell)}: {_comparison(cell, table)}." for cell in new]


def _by_row(cells: Sequence[Cell]) -> dict[str, list[Cell]]:
    rows: dict[str, list[Cell]] = {}
    for cell in cells:
        rows.setdefault(cell.row, []).append(cell)
    return rows


def _row_by_row(cells: Sequence[Cell], table: Table, told: set[Fact]) -> Iterator[str]:
    """Yield for each row how our numbers compare with the paper's."""
    for row, of_row in _by_row(cells).items():
        if len(of_row) > FEW:
            yield f"{row}: {_summary(of_row, table)}."
        else:
            yield from _cell_by_cell(of_row, table, told)


def _summary(cells: Sequence[Cell], table: Table) -> str:
    """Say how many of our numbers are higher or lower than the paper's, and by how much."""
    gaps = [gap for cell in cells if (gap := table.difference(cell)) is not None]
    signs = [signed(gap, table.decimals)[0] for gap in gaps]  # as the table rounds them
    counts = {"higher": signs.count("+"), "lower": signs.count("−")}
    counts["equal"] = len(gaps) - sum(counts.values())
    (side, count), *others = [(side, count) for side, count in counts.items() if count]
    first = f"{count} of {len(gaps)} {side} {'to' if side == 'equal' else 'than'} the paper's"
    sides = ", ".join([first, *(f"{count} {side}" for side, count in others)])
    middle, low, high = (signed(gap, _short(table)) for gap in (median(gaps), min(gaps), max(gaps)))
    return f"{sides}; median difference {middle}{_points(table)}, from {low} to {high}"


def _only_ours(cells: Sequence[Cell], table: Table) -> str:
    """Say what we found where the paper has no numbers."""
    if table.found:
        return f"{table.title}: {table.found}"
    describe = _first_and_last if table.form == "lines" else _lowest_and_highest
    lines = [f"{row}: {describe(of_row, table)}." for row, of_row in _by_row(cells).items()]
    return NEWLINE.join([table.title, *lines])


def _first_and_last(cells: Sequence[Cell], table: Table) -> str:
    """Say where a line begins and where it ends."""
    in_order = sorted(cells, key=lambda cell: table.columns.index(cell.column))
    ends = in_order[:1] + in_order[1:][-1:]
    return ", ".join(f"{_ours(cell, table)} with {cell.column}" for cell in ends)


def _lowest_and_highest(cells: Sequence[Cell], table: Table) -> str:
    """Say which numbers of a row are the lowest and the highest."""

    in_order = sorted(cells, key=lambda cell: cell.mean or 0.0)
    low, high = (f"{_ours(cell, table)} ({cell.column})" for cell in (in_order[0], in_order[-1]))
    return low if len(cells) == 1 else f"from {low} to {high}"


def _not_run(table: Table) -> str:
    """Name the rows and columns that were not run at all, then the other cells."""
    left = cells = table.not_run
    names: list[str] = []
    for side in ("row", "column"):
        in_all = Counter(getattr(cell, side) for cell in table.to_run)
        missing = Counter(getattr(cell, side) for cell in cells)
        lost = [
            name
            for name in dict.fromkeys(getattr(cell, side) for cell in left)
            if 1 < missing[name] == in_all[name]
        ]
        names += lost
        left = [cell for cell in left if getattr(cell, side) not in lost]
    names += map(_place, left)
    more = f"; and {len(names) - MOST_NAMED} more" if len(names) > MOST_NAMED else ""
    named = "; ".join(names[:MOST_NAMED])
    return f"Not run: {len(cells)} of {some(len(table.to_run), 'cell')} ({named}{more})."


def _ours(cell: Cell, table: Table) -> str:
    return _value(cell.mean, table)


def _value(value: float | None, table: Table) -> str:
    if value is None or table.counts_problems:
        return table.number(value)
    text = plain(value, _short(table))
    return f"{text} %" if table.unit == "%" else text


def _points(table: Table) -> str:
    return " points" if "%" in table.unit or "point" in table.unit else ""


def _short(table: Table) -> int:
    """Return how many decimals a sentence has: at most one for shares and their differences."""
    return min(table.decimals, 1) if table.unit == "%" or _points(table) else table.decimals
