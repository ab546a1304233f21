"""Results of experiments as tables for a terminal, the paper's numbers beside ours."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any

from rich.console import Console
from rich.table import Table

from unskew.experiments.karel.plan import NATS

MANY = 6  # models that are named beside each other
WIDEST = 10_000
TITLES = {
    "original": "Accuracy on the equal mixture of four sources (%)",
    "by_variable": "Improvement by homogenized variable at ε = 0.025 (percentage points)",
    "by_epsilon": "Improvement by ε, mean over the five variables (percentage points)",
    "kl_removed": "KL from uniform removed at ε = 0.025 (%)",
}


def result_tables(result: dict[str, Any], console: Console) -> Iterator[Table]:
    """Yield one table for each of the paper's, and one for a figure, for a console's width."""
    if "tables" in result:
        yield from (_karel_table(table, console) for table in result["tables"])
        return
    for name, title in TITLES.items():
        yield _beside(title, result["ours"][name], result["paper"][name])
    yield _cost_table(result["costs"])


def _beside(title: str, ours: dict[str, Any], paper: dict[str, Any]) -> Table:
    table = Table(title=title, title_justify="left", box=None, pad_edge=False)
    columns = list(next(iter(ours.values())))
    for heading in ("source", "", *columns):
        table.add_column(heading, justify="right" if heading in columns else "left")
    for source, cells in ours.items():
        table.add_row(
            source, "ours", *(f"{c['mean']:.2f} ± {c['half_width']:.2f}" for c in cells.values())
        )
        table.add_row("", "paper", *(f"{paper[source][column]:.2f}" for column in columns))
    return table


def _cost_table(costs: list[dict[str, Any]]) -> Table:
    table = Table(
        title="Draws per kept example, smallest to largest over the variables",
        title_justify="left",
        box=None,
        pad_edge=False,
    )
    sources = list(dict.fromkeys(point["source"] for point in costs))
    for heading in ("ε", *sources, "bound 1 + 1/ε"):
        table.add_column(heading, justify="right")
    for epsilon in dict.fromkeys(point["epsilon"] for point in costs):
        at = [point for point in costs if point["epsilon"] == epsilon]
        cells = []
        for source in sources:
            drawn = [point["draws_per_kept"] for point in at if point["source"] == source]
            cells.append(f"{min(drawn):.2f} to {max(drawn):.2f}")
        table.add_row(f"{epsilon:g}", *cells, f"{at[0]['bound']:.2f}")
    return table


def _karel_table(table: dict[str, Any], console: Console) -> Table:
    """Models across, test sets down: there are more of these, and a terminal is high.

    As much is said of each number as there is room for; at last models are numbered.
    """
    unbounded = console.options.update(width=WIDEST)
    names = [row.replace(", ", ",\n") for row in table["rows"]]
    numbers = [f"{i}" for i in range(1, len(names) + 1)]
    forms = [(cell_text, names), (_short, names)] if len(names) <= MANY else []
    for text, heads in (*forms, (_short, numbers), (_brief, numbers)):
        made = _filled(table, text, heads)
        if console.measure(made, options=unbounded).maximum <= console.width:
            break
    if heads is numbers:
        listed = "; ".join(f"{i} {row}" for i, row in zip(numbers, table["rows"], strict=True))
        made.title = f"{made.title}: {listed}"
    return made


def _filled(
    table: dict[str, Any], text: Callable[[dict[str, Any] | None, str], str], names: Sequence[str]
) -> Table:
    beside = any(cell["paper"] is not None for cell in table["cells"]) and text is not cell_text
    said = f"{table['title']} ({table['unit']}{'; the paper’s in brackets' if beside else ''})"
    shown = Table(title=said, caption=table.get("note"), title_justify="left", box=None)
    shown.pad_edge, shown.caption_justify = False, "left"
    shown.add_column("", no_wrap=True)
    for name in names:
        shown.add_column(name, justify="right", no_wrap=True)
    cells = {(cell["row"], cell["column"]): cell for cell in table["cells"]}
    for column in table["columns"]:
        each = (cells.get((row, column)) for row in table["rows"])
        shown.add_row(column, *(text(cell, table["unit"]) for cell in each))
    return shown


def _short(cell: dict[str, Any] | None, unit: str) -> str:
    return _numbers(cell, _places(unit))


def _brief(cell: dict[str, Any] | None, unit: str) -> str:
    return _numbers(cell, _places(unit, fewest=0))


def _places(unit: str, fewest: int = 1) -> int:
    return 2 if unit == NATS else fewest


def _numbers(cell: dict[str, Any] | None, places: int) -> str:
    """Say ours, or that there is none, and the paper's."""
    if cell is None:
        return ""
    paper = "" if cell["paper"] is None else f" ({cell['paper']:.{places}f})"
    ours = cell["ours"]
    return ("–" if ours is None else f"{ours['mean']:.{places}f}") + paper


def cell_text(cell: dict[str, Any] | None, unit: str) -> str:
    """Say ours, how sure it is, and the paper's."""
    if cell is None:
        return ""
    paper = "" if cell["paper"] is None else f"; paper {cell['paper']:g}"
    ours, places = cell["ours"], _places(unit)
    if ours is None and cell.get("empty"):
        return f"no tasks{paper}"
    if ours is None:
        return f"not run yet{paper}"
    spread = _spread(ours, places)
    return f"{ours['mean']:.{places}f}{f' ({spread})' if spread else ''}{paper}"


def _spread(ours: dict[str, Any], places: int) -> str:
    """What each seed gives or, of one seed, the interval of the tasks."""
    if len(ours["values"]) > 1:
        return "seeds " + ", ".join(f"{value:.{places}f}" for value in ours["values"])
    return "" if ours["low"] is None else f"{ours['low']:.{places}f} to {ours['high']:.{places}f}"
