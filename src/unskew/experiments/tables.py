"""Results of experiments as tables for a terminal, the paper's numbers beside ours."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from rich.table import Table

MANY = 6  # models that fit beside each other in a terminal
TITLES = {
    "original": "Accuracy on the equal mixture of four sources (%)",
    "by_variable": "Improvement by homogenized variable at ε = 0.025 (percentage points)",
    "by_epsilon": "Improvement by ε, mean over the five variables (percentage points)",
    "kl_removed": "KL from uniform removed at ε = 0.025 (%)",
}


def result_tables(result: dict[str, Any]) -> Iterator[Table]:
    """Yield one table for each of the paper's, and one for a figure."""
    if "tables" in result:
        yield from (_karel_table(table) for table in result["tables"])
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


def _karel_table(table: dict[str, Any]) -> Table:
    """Models across, test sets down: there are more of these, and a terminal is high.

    Where there are many models, they are numbered, and numbers stand alone.
    """
    many = len(table["rows"]) > MANY
    names = [f"{i}" for i in range(1, len(table["rows"]) + 1)] if many else table["rows"]
    listed = ", ".join(f"{i} {row}" for i, row in zip(names, table["rows"], strict=True))
    shown = Table(
        title=f"{table['title']} ({table['unit']})" + (f": {listed}" if many else ""),
        title_justify="left",
        box=None,
        pad_edge=False,
    )
    shown.add_column("", no_wrap=True)
    for name in names:
        shown.add_column(name, justify="right")
    cells = {(cell["row"], cell["column"]): cell for cell in table["cells"]}
    for column in table["columns"]:
        each = (cells.get((row, column)) for row in table["rows"])
        told = (_brief(cell) if many else cell_text(cell, table["unit"]) for cell in each)
        shown.add_row(column, *told)
    return shown


def _brief(cell: dict[str, Any] | None) -> str:
    return "–" if cell is None or cell["ours"] is None else f"{cell['ours']['mean']:.0f}"


def cell_text(cell: dict[str, Any] | None, unit: str) -> str:
    """Say ours, how sure it is, and the paper's."""
    if cell is None:
        return ""
    paper = "" if cell["paper"] is None else f"; paper {cell['paper']:g}"
    ours, places = cell["ours"], 1 if unit == "%" else 2
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
