"""The Calculator's result in the form of Karel's results."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from unskew.experiments.terminal import TITLES

BOUND = "bound 1 + 1/ε"


def calculator_result(result: Mapping[str, Any]) -> dict[str, Any]:
    """Return the Calculator's result in the form of Karel's results."""
    tables = [_calculator_table(result, name, title) for name, title in TITLES.items()]
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


def _calculator_table(result: Mapping[str, Any], name: str, title: str) -> dict[str, Any]:
    def heading(column: str) -> str:
        return f"ε = {column}" if name == "by_epsilon" else column.replace("_", " ")

    ours, paper = result["ours"][name], result["paper"][name]
    columns = list(next(iter(ours.values())))
    return {
        "title": title.rpartition(" (")[0],
        "unit": "%" if name in ("original", "kl_removed") else "percentage points",
        "form": "table",
        "rows": [source.upper() for source in ours],
        "columns": [heading(column) for column in columns],
        "cells": [
            {
                "row": source.upper(),
                "column": heading(column),
                "paper": paper[source].get(column),
                "ours": _estimate(ours[source][column]),
            }
            for source in ours
            for column in columns
        ],
    }


def _estimate(ours: Mapping[str, Any]) -> dict[str, Any]:
    mean, half = ours["mean"], ours["half_width"]
    return {"mean": mean, "low": mean - half, "high": mean + half, "values": ours["values"]}


def _cost_tables(costs: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """Return the figure of B.4: the draws per kept example by ε, with the bound 1 + 1/ε."""
    tables = []
    for source in dict.fromkeys(point["source"] for point in costs):
        points = [point for point in costs if point["source"] == source]
        numbers = [(p["variable"], p["epsilon"], p["draws_per_kept"]) for p in points]
        bounds = {point["epsilon"]: point["bound"] for point in points}
        cells = [
            {
                "row": variable.replace("_", " "),
                "column": f"ε = {epsilon:g}",
                "paper": None,
                "ours": {"mean": number},
            }
            for variable, epsilon, number in numbers
        ]
        cells += [
            {"row": BOUND, "column": f"ε = {epsilon:g}", "paper": bound, "ours": None}
            for epsilon, bound in bounds.items()
        ]
        tables.append(
            {
                "title": f"Draws per kept example, {source.upper()}",
                "unit": "draws per kept example",
                "form": "lines",
                "log": True,
                "stated": [BOUND],
                "rows": list(dict.fromkeys(cell["row"] for cell in cells)),
                "columns": list(dict.fromkeys(cell["column"] for cell in cells)),
                "cells": cells,
            }
        )
    return tables
