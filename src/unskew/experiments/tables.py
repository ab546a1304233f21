"""Results of experiments as tables for a terminal, the paper's numbers beside ours."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any, TypeAlias

from rich.console import Console, RenderableType
from rich.table import Table
from rich.text import Text

MANY = 6  # models that are named beside each other
WIDEST = 10_000
TWO_DIGITS = 9.95
NATS = "nats a token"  # the unit of losses
RANGES = "[from–to]: the range of the seeds; of one seed the 95 % interval of the tasks."
Form: TypeAlias = "Callable[[dict[str, Any] | None, str], str]"
TITLES = {
    "original": "Accuracy on the equal mixture of four sources (%)",
    "by_variable": "Improvement by homogenized variable at ε = 0.025 (percentage points)",
    "by_epsilon": "Improvement by ε, mean over the five variables (percentage points)",
    "kl_removed": "KL from uniform removed at ε = 0.025 (%)",
}


def result_tables(result: dict[str, Any], console: Console) -> Iterator[RenderableType]:
    """Yield what a console shows: one table for each of the paper's, and one for a figure."""
    if "tables" in result:
        for table in result["tables"]:
            yield from _karel_tables(table, console)
            yield ""
        return
    for name, title in TITLES.items():
        yield _beside(title, result["ours"][name], result["paper"][name])
        yield ""
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


def _karel_tables(table: dict[str, Any], console: Console) -> Iterator[RenderableType]:
    """Models across, test sets down: there are more of these, and a terminal is high.

    As much is said of each number as there is room for; then models are numbered; at last they
    are cut into several tables.
    """
    beside = any(cell["paper"] is not None for cell in table["cells"])
    names = [row.replace(", ", ",\n") for row in table["rows"]]
    numbers = [f"{i}" for i in range(1, len(names) + 1)]
    forms: list[tuple[Form, list[str]]] = [(_short, numbers), (_brief, numbers)]
    if len(names) <= MANY:
        forms = [(cell_text, names), (_ranged, names), (_short, names), *forms]
    for text, heads in forms:
        made = _filled(table, text, heads)
        if _fits(made, console) or (text is _brief and len(names) == 1):
            yield from _framed(table, made, text, heads is numbers, beside)
            return
    half = -(-len(names) // 2)
    for rows, note in ((table["rows"][:half], ""), (table["rows"][half:], table.get("note"))):
        cells = [cell for cell in table["cells"] if cell["row"] in rows]
        yield from _karel_tables({**table, "rows": rows, "cells": cells, "note": note}, console)


def _fits(made: Table, console: Console) -> bool:
    unbounded = console.options.update(width=WIDEST)
    return console.measure(made, options=unbounded).maximum <= console.width


def _framed(
    table: dict[str, Any], made: Table, text: Form, numbered: bool, beside: bool
) -> Iterator[RenderableType]:
    """Yield the title, the table, and what is to be known of it."""
    brackets = "; the paper’s in brackets" if beside and text is not cell_text else ""
    title = f"{table['title']} ({table['unit']}{brackets})"
    if numbered:
        title += ": " + "; ".join(f"{i} {row}" for i, row in enumerate(table["rows"], start=1))
    yield Text(title, style="italic")
    yield made
    if table.get("note"):
        yield Text(table["note"])
    if text is _ranged:
        yield Text(RANGES, style="dim")
    if text in (_short, _brief):
        yield Text("Seeds and intervals: --json, --report, or a wider terminal.", style="dim")


def _filled(table: dict[str, Any], text: Form, names: Sequence[str]) -> Table:
    shown = Table(box=None, pad_edge=False)
    shown.add_column("", no_wrap=True)
    for name in names:
        shown.add_column(name, justify="right", no_wrap=True)
    cells = {(cell["row"], cell["column"]): cell for cell in table["cells"]}
    for column in table["columns"]:
        each = (cells.get((row, column)) for row in table["rows"])
        shown.add_row(column, *(text(cell, table["unit"]) for cell in each))
    return shown


def _ranged(cell: dict[str, Any] | None, unit: str) -> str:
    """Say the range of the seeds, or of the interval where there is one seed."""
    if cell is None or cell["ours"] is None or cell["ours"]["low"] is None:
        return _short(cell, unit)
    ours, places = cell["ours"], _places(unit)
    ends = ours["values"] if len(ours["values"]) > 1 else (ours["low"], ours["high"])
    paper = "" if cell["paper"] is None else f" ({_short_number(cell['paper'], unit)})"
    return f"{ours['mean']:.{places}f} [{min(ends):.{places}f}–{max(ends):.{places}f}]{paper}"


def _short(cell: dict[str, Any] | None, unit: str) -> str:
    """Say ours, or that there is none, and the paper's."""
    return _both(cell, lambda number: _short_number(number, unit))


def _brief(cell: dict[str, Any] | None, unit: str) -> str:
    """Say them with two digits where that is enough."""
    few = unit != NATS
    return _both(cell, lambda x: f"{x:.0f}" if few and x >= TWO_DIGITS else _short_number(x, unit))


def _short_number(number: float, unit: str) -> str:
    return f"{number:.{2 if number < 1 else _places(unit)}f}"


def _both(cell: dict[str, Any] | None, write: Callable[[float], str]) -> str:
    if cell is None:
        return ""
    paper = "" if cell["paper"] is None else f" ({write(cell['paper'])})"
    return ("–" if cell["ours"] is None else write(cell["ours"]["mean"])) + paper


def _places(unit: str) -> int:
    return 2 if unit == NATS else 1


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
