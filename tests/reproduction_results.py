"""A small reproduction in which everything occurs that a page has to show."""

from __future__ import annotations

from typing import Any

ATTACK = "<script>window.pwned=1</script><img src=x onerror='window.pwned=2'>"
PROVENANCE = {"unskew": "0.1.0", "source_sha256": "abc123", "hardware": "one GPU", "python": "3.12"}
SETS = [".05/.85 G", ".05/.85 U", ".05/.85 A", ".25/.65 G"]


def cell(
    row: str, column: str, paper: float | None, mean: float | None, half: float = 1.0, **more: Any
) -> dict[str, Any]:
    ours = None
    if mean is not None:
        ours = {
            "mean": mean,
            "low": mean - half,
            "high": mean + half,
            "values": [mean],
            "tasks": 2410,
            "common": None,
        } | more
    return {"row": row, "column": column, "paper": paper, "ours": ours}


def table(
    title: str, rows: list[str], columns: list[str], cells: list[dict[str, Any]], **more: Any
) -> dict[str, Any]:
    made = {"title": title, "unit": "%", "form": "table", "rows": rows, "columns": columns}
    return made | {"cells": cells} | more


def result(name: str, title: str, tables: list[dict[str, Any]], **more: Any) -> dict[str, Any]:
    made: dict[str, Any] = {
        "experiment": name,
        "scale": "full",
        "title": title,
        "section": "4.2, table 1",
        "question": f"What of {name}?",
        "tables": tables,
        "failures": [],
        "trainings": [],
        "tests": {},
        "seconds": 125.0,
        "provenance": PROVENANCE,
    }
    return made | more


def original() -> dict[str, Any]:
    cells = [
        cell("baseline", "original test set", 73.52, 77.96, values=[77.5, 78.0, 78.38]),
        cell("baseline", "uniform test set", 27.9, 50.66, common=52.8),
    ]
    columns = ["original test set", "uniform test set"]
    training = {
        "name": "baseline",
        "seed": 0,
        "data": "an endless stream of karel/msr, each example used twice",
        "steps": 12800,
        "batch": 2048,
        "examples": 26_214_400,
        "distinct": 13_107_200,
        "passes": 2.0,
        "seconds": 291.0,
        "shown": [1, 5],
        "hash": "9f86d081884c7d65",
    }
    return result(
        "karel-original",
        "The original",
        [table("Generalization of the baseline", ["baseline"], columns, cells)],
        trainings=[training],
        tests={
            "karel/uniform-test": {"tasks": 2434, "dropped": 66, "beam": 64},
            "karel/problems": {"tasks": 41, "dropped": 0, "beam": 8},
            "karel/actions-test": {"tasks": 4000, "dropped": 0, "beam": 8},
        },
        tries=20_000,
        failures=[
            {
                "model": "baseline",
                "test": "karel/problems",
                "row": row,
                "predicted": "DEF run m( move turnLeft putMarker m)",
            }
            for row in (0, 3)
        ],
    )


def narrow() -> dict[str, Any]:
    baseline = [
        cell("baseline", s, p, o)
        for s, p, o in zip(SETS, (24.3, 1.32, 0.04, 21.08), (47.93, 46.1, None, 40.2), strict=True)
    ]
    uniform = [
        cell("uniform", s, p, o)
        for s, p, o in zip(
            SETS, (69.37, 70.21, 68.99, 63.25), (68.4, 69.9, 69.0, None), strict=True
        )
    ]
    lines = table("By set", ["baseline", "uniform"], SETS, [*baseline, *uniform], form="lines")
    return result("karel-narrow-sets", "Narrow test sets", [lines])


def matrix() -> dict[str, Any]:
    models = [f"narrow {name}" for name in SETS]
    cells = [
        cell(model, name, None, None if (i, j) == (1, 2) else 10.0 + 20 * i + j)
        for i, model in enumerate(models)
        for j, name in enumerate(SETS)
        if (i, j) != (3, 3)
    ]
    heat = table("Model × test set", models, SETS, cells, form="heatmap")
    return result("karel-narrow-training", "Narrow training", [heat], section="")


def passes() -> dict[str, Any]:
    """Return two tables of one figure; of its last row only the second was run."""
    sizes = ["32 (400 passes)", "64 (200 passes)", "stream"]
    rows = ["msr-test", "uniform-test", "narrow-test"]
    tables = []
    for kind in ("like the original", "uniform"):
        cells = [
            cell(row, size, None, None if (i, kind[0]) == (2, "l") else 10.0 * i + j)
            for i, row in enumerate(rows)
            for j, size in enumerate(sizes)
        ]
        more = {"form": "lines", "figure": "By size", "label": f"trained on {kind}"}
        more["sides"] = ["tested on", "examples in the set"]
        tables.append(table(f"By size, {kind}", rows, sizes, cells, **more))
    return result("karel-passes", "Why it breaks", tables, section="")


def problems() -> dict[str, Any]:
    rows = ["baseline", "uniform"]
    cells = [
        cell("baseline", "solved", 4, 6, half=3.0, tasks=41),
        cell("uniform", "solved", 7, None),
    ]
    solved = table("Problems solved", rows, ["solved"], cells, unit="problems of 41")
    return result("karel-problems", "Real-world problems", [solved])


def everything() -> list[dict[str, Any]]:
    return [original(), narrow(), matrix(), problems()]


def hostile() -> list[dict[str, Any]]:
    """Markup in every text that a result has."""
    columns = [f"column {ATTACK}", "</script><b>", "</td><u>", "x"]
    rows = [f"row {ATTACK}", "a", "b", "c"]
    forms = ("table", "heatmap", "lines")
    cells = [cell(r, c, 1.0 + i, 50.0 + i) for r in rows for i, c in enumerate(columns)]
    tables = [
        table(f"title {ATTACK}", rows, columns, cells, form=form, unit=f"unit {ATTACK}")
        for form in forms
    ]
    drawn: dict[str, Any] = {
        "form": "lines",
        "figure": ATTACK,
        "label": ATTACK,
        "sides": [ATTACK, ATTACK],
    }
    drawn |= {"found": ATTACK, "unit": f"unit {ATTACK}"}
    tables.append(table(f"title {ATTACK}", rows, columns, cells, **drawn))
    training = original()["trainings"][0] | {"name": ATTACK, "data": ATTACK, "hash": ATTACK}
    return [
        result(
            ATTACK,
            ATTACK,
            tables,
            section=ATTACK,
            question=ATTACK,
            scale=ATTACK,
            trainings=[training],
            tests={ATTACK: {"tasks": 1, "dropped": 0}},
            provenance=dict.fromkeys(PROVENANCE, ATTACK) | {"commit": ATTACK},
            failures=[
                {"model": ATTACK, "test": "karel/problems", "row": 0, "predicted": ATTACK},
                {
                    "model": ATTACK,
                    "test": "karel/problems",
                    "row": 1,
                    "predicted": "DEF run m( move m)",
                },
            ],
        )
    ]
