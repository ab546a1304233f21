"""The tables of experiments in a terminal, with the paper's numbers next to ours."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from typing import Any, TypeAlias

from rich.console import Console, RenderableType
from rich.table import Table as RichTable
from rich.text import Text

from unskew.experiments.table import NATS, NONE, Cell, Table

MOST_NAMED = 6  # models whose names are column heads; more models are numbered
WIDEST = 10_000  # columns of a terminal without a limit
TWO_DIGITS = 9.95  # a number from here on is written with two digits where room is short
RANGES = "[from–to] is the range of the seeds, or for one seed the 95 % interval over the tasks."
MORE = "For seeds and intervals use --json, --report, or a wider terminal."
Form: TypeAlias = Callable[[Cell, str], str]  # writes a cell of a table with this unit
TITLES = {
    "original": "Accuracy on the equal mixture of four sources (%)",
    "by_variable": "Improvement by homogenized variable at ε = 0.025 (percentage points)",
    "by_epsilon": "Improvement by ε, mean over the five variables (percentage points)",
    "kl_removed": "KL from uniform removed at ε = 0.025 (%)",
}


def result_tables(result: dict[str, Any], console: Console) -> Iterator[RenderableType]:
    """Yield the tables of a result for a console."""
    if "tables" in result:
        for table in result["tables"]:
            yield from _karel_tables(Table.of(table), console)
            yield ""
        return
    for name, title in TITLES.items():
        yield _calculator_table(title, result["ours"][name], result["paper"][name])
        yield ""
    yield _cost_table(result["costs"])


def _titled(title: str) -> RichTable:
    return RichTable(title=title, title_justify="left", box=None, pad_edge=False)


def _calculator_table(title: str, ours: dict[str, Any], paper: dict[str, Any]) -> RichTable:
    table = _titled(title)
    columns = list(next(iter(ours.values())))
    for heading in ("source", "", *columns):
        table.add_column(heading, justify="right" if heading in columns else "left")
    for source, cells in ours.items():
        table.add_row(
            source, "ours", *(f"{c['mean']:.2f} ± {c['half_width']:.2f}" for c in cells.values())
        )
        table.add_row("", "paper", *(f"{paper[source][column]:.2f}" for column in columns))
    return table


def _cost_table(costs: list[dict[str, Any]]) -> RichTable:
    table = _titled("Draws per kept example, smallest to largest over the variables")
    sources = list(dict.fromkeys(point["source"] for point in costs))
    for heading in ("ε", *sources, "bound 1 + 1/ε"):
        table.add_column(heading, justify="right")
    for epsilon in dict.fromkeys(point["epsilon"] for point in costs):
        points = [point for point in costs if point["epsilon"] == epsilon]
        cells = []
        for source in sources:
            draws = [point["draws_per_kept"] for point in points if point["source"] == source]
            cells.append(f"{min(draws):.2f} to {max(draws):.2f}")
        table.add_row(f"{epsilon:g}", *cells, f"{points[0]['bound']:.2f}")
    return table


def _karel_tables(table: Table, console: Console) -> Iterator[RenderableType]:
    """Yield a table of Karel with a column for each model and a row for each test set.

    Cells are written as fully as the console has room for. Where it has little room, the models
    are numbered; where it has even less, the table is cut into several.
    """
    names = [row.replace(", ", ",\n") for row in table.rows]
    numbers = [f"{i}" for i in range(1, len(names) + 1)]
    forms: list[tuple[Form, list[str]]] = [(_short, numbers), (_brief, numbers)]
    if len(names) <= MOST_NAMED:
        forms = [(cell_text, names), (_with_range, names), (_short, names), *forms]
    for form, heads in forms:
        filled = _filled(table, form, heads)
        if _fits(filled, console) or (form is _brief and len(names) == 1):
            yield from _framed(table, filled, form, is_numbered=heads is numbers)
            return
    half = -(-len(names) // 2)
    for rows, note in ((table.rows[:half], ""), (table.rows[half:], table.note)):
        cells = [cell for cell in table.cells if cell.row in rows]
        yield from _karel_tables(replace(table, rows=rows, cells=cells, note=note), console)


def _fits(table: RichTable, console: Console) -> bool:
    unbounded = console.options.update(width=WIDEST)
    return console.measure(table, options=unbounded).maximum <= console.width


def _framed(
    table: Table, filled: RichTable, form: Form, *, is_numbered: bool
) -> Iterator[RenderableType]:
    """Yield the title, the table, and its notes."""
    has_brackets = table.has_paper and form is not cell_text
    brackets = "; the paper’s numbers in brackets" if has_brackets else ""
    title = f"{table.title} ({table.unit}{brackets})"
    if is_numbered:
        title += ": " + "; ".join(f"{i} {row}" for i, row in enumerate(table.rows, start=1))
    yield Text(title, style="italic")
    yield filled
    if table.note:
        yield Text(table.note)
    if form is _with_range:
        yield Text(RANGES, style="dim")
    if form in (_short, _brief):
        yield Text(MORE, style="dim")


def _filled(table: Table, form: Form, heads: Sequence[str]) -> RichTable:
    filled = RichTable(box=None, pad_edge=False)
    filled.add_column("", no_wrap=True)
    for head in heads:
        filled.add_column(head, justify="right", no_wrap=True)
    for column in table.columns:
        cells = [table.places.get((row, column)) for row in table.rows]
        filled.add_row(column, *("" if cell is None else form(cell, table.unit) for cell in cells))
    return filled


def _with_range(cell: Cell, unit: str) -> str:
    """Write our number with the range of the seeds, or with the interval of a single seed."""
    ours, places = cell.ours, _places(unit)
    if ours is None or ours.low is None or ours.high is None:
        return _short(cell, unit)
    ends = ours.values if len(ours.values) > 1 else (ours.low, ours.high)
    paper = "" if cell.paper is None else f" ({_short_number(cell.paper, unit)})"
    return f"{ours.mean:.{places}f} [{min(ends):.{places}f}–{max(ends):.{places}f}]{paper}"


def _short(cell: Cell, unit: str) -> str:
    """Write our number and the paper's."""
    return _both(cell, lambda number: _short_number(number, unit))


def _brief(cell: Cell, unit: str) -> str:
    """Write our number and the paper's with two digits, except for losses."""

    def write(number: float) -> str:
        if unit != NATS and number >= TWO_DIGITS:
            return f"{number:.0f}"
        return _short_number(number, unit)

    return _both(cell, write)


def _short_number(number: float, unit: str) -> str:
    return f"{number:.{2 if number < 1 else _places(unit)}f}"


def _both(cell: Cell, write: Callable[[float], str]) -> str:
    paper = "" if cell.paper is None else f" ({write(cell.paper)})"
    return (NONE if cell.mean is None else write(cell.mean)) + paper


def _places(unit: str) -> int:
    return 2 if unit == NATS else 1


def cell_text(cell: Cell, unit: str) -> str:
    """Write our number, its seeds or interval, and the paper's number."""
    paper = "" if cell.paper is None else f"; paper {cell.paper:g}"
    ours, places = cell.ours, _places(unit)
    if ours is None:
        return f"{'no tasks' if cell.empty else 'not run yet'}{paper}"
    spread = ""
    if len(ours.values) > 1:
        spread = f" (seeds {', '.join(f'{value:.{places}f}' for value in ours.values)})"
    elif ours.low is not None:
        spread = f" ({ours.low:.{places}f} to {ours.high:.{places}f})"
    return f"{ours.mean:.{places}f}{spread}{paper}"
