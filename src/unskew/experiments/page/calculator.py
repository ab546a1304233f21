"""The Calculator's result in the form of Karel's results."""

from __future__ import annotations

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
    for source in dict.fromkeys(point["source"] for point in costs):
        points = [point for point in costs if point["source"] == source]
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


def _with_sides(cells: Sequence[Mapping[str, Any]], **facts: Any) -> dict[str, Any]:
    """Return a table whose rows and columns are those of its cells."""
    return {
        **facts,
        "rows": list(dict.fromkeys(cell["row"] for cell in cells)),
        "columns": list(dict.fromkeys(cell["column"] for cell in cells)),
        "cells": cells,
    }
