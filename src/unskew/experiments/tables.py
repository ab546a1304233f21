"""Results of experiments as tables for a terminal, the paper's numbers beside ours."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from rich.table import Table

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
    """Models across, test sets down: there are more of these, and a terminal is high."""
    shown = Table(
        title=f"{table['title']} ({table['unit']})",
        title_justify="left",
        box=None,
        pad_edge=False,
    )
    shown.add_column("")
    for row in table["rows"]:
        shown.add_column(row, justify="right")
    cells = {(cell["row"], cell["column"]): cell for cell in table["cells"]}
    for column in table["columns"]:
        shown.add_row(column, *(_karel_cell(cells.get((row, column))) for row in table["rows"]))
    return shown


def _karel_cell(cell: dict[str, Any] | None) -> str:
    if cell is None:
        return ""
    paper = "" if cell["paper"] is None else f", paper {cell['paper']:g}"
    ours = cell["ours"]
    if ours is None:
        return f"not run{paper}"
    return f"{ours['mean']:.1f} ({ours['low']:.1f} to {ours['high']:.1f}){paper}"
