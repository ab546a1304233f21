"""The Calculator's result in the form of Karel's results, and its figure."""

from collections.abc import Mapping, Sequence
from typing import Any

from unskew.experiments.terminal import TITLES

BOUND = "bound 1 + 1/ε"


def calculator_result(result: Mapping[str, Any]) -> dict[str, Any]:
    """Return the Calculator's result in the form of Karel's results."""
    tables = [_table(result, name, title) for name, title in TITLES.items()]
    return {
        "experiment": result["experiment"],
        "scale": result["scale"],
        "title": "Calculator",
        "section": "6.3, B.4 and B.5",
        "question": "How much better is a model of arithmetic if its training set is homogenized?",
        "tables": [*tables, *_cost_tables(result["costs"])],
        "seconds": result["seconds"],
        "provenance": result["provenance"],
    }


def _table(result: Mapping[str, Any], name: str, title: str) -> dict[str, Any]:
    paper = result["paper"][name]
    cells = [
        {
            "row": source.upper(),
            "column": f"ε = {column}" if name == "by_epsilon" else column.replace("_", " "),
            "paper": paper[source].get(column),
            "ours": {
                "mean": ours["mean"],
                "low": ours["mean"] - ours["half_width"],
                "high": ours["mean"] + ours["half_width"],
                "values": ours["values"],
            },
        }
        for source, columns in result["ours"][name].items()
        for column, ours in columns.items()
    ]
    unit = "%" if name in ("original", "kl_removed") else "percentage points"
    return _with_sides(cells, title=title.rpartition(" (")[0], unit=unit, form="table")


def _cost_tables(costs: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """Return the figure of B.4: the draws per kept example by ε, with the bound 1 + 1/ε."""
    tables = []
    for source, points in _by_source(costs).items():
        cells = [
            {
                "row": point["variable"].replace("_", " "),
                "column": f"ε = {point['epsilon']:g}",
                "paper": None,
                "ours": {"mean": point["draws_per_kept"]},
            }
            for point in points
        ]
        cells += [
            {"row": BOUND, "column": f"ε = {epsilon:g}", "paper": bound, "ours": None}
            for epsilon, bound in {point["epsilon"]: point["bound"] for point in points}.items()
        ]
        title, unit = f"Draws per kept example, {source.upper()}", "draws per kept example"
        more = {"log": True, "stated": [BOUND]}
        tables.append(_with_sides(cells, title=title, unit=unit, form="lines", **more))
    return tables


def _by_source(costs: Sequence[Mapping[str, Any]]) -> dict[str, list[Mapping[str, Any]]]:
    """Return the points of each source."""
    by_source: dict[str, list[Mapping[str, Any]]] = {}
    for point in costs:
        by_source.setdefault(point["source"], []).append(point)
    return by_source


def _with_sides(cells: Sequence[Mapping[str, Any]], **facts: Any) -> dict[str, Any]:
    """Return a table whose rows and columns are those of its cells."""
    return {
        **facts,
        "rows": list(dict.fromkeys(cell["row"] for cell in cells)),
        "columns": list(dict.fromkeys(cell["column"] for cell in cells)),
        "cells": cells,
    }


def cost_figure(costs: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """Return the figure of B.4 in Vega-Lite: draws per kept example against ε, with the bound."""
    return {
        "title": {"text": "Draws per kept example", "subtitle": "dashed: the bound 1 + 1/ε"},
        "hconcat": [_panel(source, points) for source, points in _by_source(costs).items()],
        "resolve": {"scale": {"y": "shared", "color": "shared"}},
        "padding": 20,
    }


def _panel(source: str, points: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    x = {
        "field": "epsilon",
        "type": "quantitative",
        "scale": {"type": "log"},
        "title": "ε",
        "axis": {"values": sorted({point["epsilon"] for point in points}), "format": "~g"},
    }
    y = {"type": "quantitative", "scale": {"type": "log"}, "title": "draws per kept example"}
    variable = {"field": "variable", "type": "nominal", "scale": {"scheme": "category10"}}
    return {
        "title": source.upper(),
        "width": 320,
        "height": 260,
        "data": {"values": points},
        "layer": [
            {
                "mark": {"type": "line", "point": True},
                "encoding": {"x": x, "y": {"field": "draws_per_kept", **y}, "color": variable},
            },
            {
                "mark": {"type": "line", "strokeDash": [5, 4], "color": "#5b636e"},
                "encoding": {"x": x, "y": {"field": "bound", "aggregate": "max", **y}},
            },
        ],
    }
