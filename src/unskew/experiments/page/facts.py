"""What the page of a reproduction shows and results do not hold: runs to step through, audits.

A task for the page is plain data that a script draws. A world is [rows, columns, cells, Karel's
cell, direction]: cells are ``.``, ``#`` or a number of markers, row by row from the bottom. A run
is four numbers a tick: the line of the program, 4 · Karel's cell + direction, the markers where
Karel then stands, and what is to be said of the tick (an index into ``words`` of the set).
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from unskew.audits.audit import Auditor, Comparison
from unskew.core.errors import UnskewError
from unskew.core.recipe import Recipe
from unskew.datasets.api import audit
from unskew.datasets.generate import make
from unskew.domains.karel.examples import INPUTS, OUTPUTS, PROGRAM
from unskew.domains.karel.formats.problems import problems
from unskew.domains.karel.formats.show import WHY
from unskew.domains.karel.language.syntax import Program, parse, readable_lines, to_tokens
from unskew.domains.karel.running.interpreter import Status
from unskew.domains.karel.running.trace import Step, steps
from unskew.domains.karel.world import WALL, World, from_bytes, grid_of, hero_of
from unskew.experiments.terminal import TITLES
from unskew.io.files import write_text
from unskew.io.lookup import built_in_domain, find_variables
from unskew.models.karel.data.examples import read_examples

MOST_TASKS = 40  # of one model on one test set
MOST_BYTES = 5_000_000  # of all tasks
SHOWN_PAIRS = 5  # of an example; what comes after them was held out
AUDITED = 20_000
WORLD_VARIABLES = ("wall_ratio", "marker_ratio", "marker_count", "grid_size")
BOUND = "bound 1 + 1/ε"
PROBLEMS = "karel/problems"
SOLVED = "Real-world problems, with a solution"

_OUTCOMES = {None: "", True: "is true", False: "is false"}
_FAILS = {status: f"fails: {why}" for status, why in WHY.items()}
_FAILS[Status.OUT_OF_TICKS] = "has no tick left"
WORDS = [*_OUTCOMES.values(), *_FAILS.values()]


def write_page(results: Sequence[Mapping[str, Any]], path: Path) -> Path:
    """Write the page of results, with its runs and histograms; return where."""
    from unskew.experiments.page.page import reproduction_page

    shown = [calculator_result(r) if "costs" in r else r for r in results]
    tasks = [*failure_tasks(results), problem_tasks()]
    write_text(path, reproduction_page(shown, tasks, comparisons()))
    return path


def comparisons() -> list[Comparison]:
    """Return what uniform worlds and homogenizing change, each before and after."""
    worlds = [audit(f"karel/{source}", WORLD_VARIABLES, AUDITED) for source in ("msr", "uniform")]
    before = audit("calculator/dcfg", n=AUDITED)
    recipe = Recipe("calculator/dcfg", AUDITED, homogenize=("length",), epsilon=0.025)
    auditor = Auditor(find_variables(list(before.variables), built_in_domain(recipe.source)))
    for index in range(recipe.shards):
        auditor.add(make(recipe, index))
    after = auditor.result("homogenized by length", recipe=recipe)
    return [worlds[0].compare(worlds[1]), before.compare(after)]


def failure_tasks(results: Iterable[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """Return the failures of all results, a set for each model and test set."""
    by_set: dict[tuple[str, str], dict[int, str]] = {}
    for result in results:
        for failure in result.get("failures") or ():
            rows = by_set.setdefault((failure["model"], failure["test"]), {})
            if len(rows) < MOST_TASKS:
                rows.setdefault(int(failure["row"]), failure["predicted"])
    sets, room = [], MOST_BYTES
    for (model, test), predicted in by_set.items():
        examples = _rows(test, sorted(predicted))
        made = []
        for row, example in examples.items():
            one = task(_row_name(test, row), example, predicted[row], model)
            room -= len(json.dumps(one, separators=(",", ":")))
            if room < 0:
                break
            made.append(one)
        if made:
            sets.append({"name": f"{model} on {test}", "words": WORDS, "tasks": made})
    return sets


def problem_tasks() -> dict[str, Any]:
    """Return the real-world problems with a solution, as a set of their own."""
    made = [
        task(
            problem.name,
            {
                PROGRAM: to_tokens(problem.program),
                INPUTS: problem.inputs.tobytes(),
                OUTPUTS: problem.outputs.tobytes(),
            },
        )
        for problem in problems().values()
        if problem.program is not None
    ]
    return {"name": SOLVED, "words": WORDS, "tasks": made}


def _rows(test: str, wanted: Sequence[int]) -> dict[int, dict[str, Any]]:
    batch = read_examples(test, wanted[-1] + 1)
    if wanted[0] < 0 or wanted[-1] >= len(batch):
        raise UnskewError(
            f"a failure is row {wanted[-1]} of {test}, which has {len(batch):,} rows; "
            "run the experiment again"
        )
    chosen = batch.take(np.array(wanted))
    return dict(zip(wanted, chosen.examples(), strict=True))


def _row_name(test: str, row: int) -> str:
    """Name a row of a test set: problems have names of their own."""
    return list(problems())[row] if test == PROBLEMS else f"row {row}"


def task(
    name: str, example: Mapping[str, Any], predicted: str | None = None, model: str = ""
) -> dict[str, Any]:
    """Return an example as data for the page, beside what a model wrote where it did."""
    programs = [_program("True program" if model else "Program", example[PROGRAM])]
    if predicted is not None:
        programs.append(_program(f"Written by {model}", predicted))
    pairs = []
    worlds = zip(from_bytes(example[INPUTS]), from_bytes(example[OUTPUTS]), strict=True)
    for number, (before, after) in enumerate(worlds):
        pairs.append(
            {
                "note": "held out" if number >= SHOWN_PAIRS else "",
                "before": _world(before),
                "after": _world(after),
                "runs": [_run(program, before, after) for _, program in programs],
            }
        )
    return {"name": name, "programs": [shown for shown, _ in programs], "pairs": pairs}


def _program(title: str, text: str) -> tuple[dict[str, Any], Program | None]:
    """Return a program's lines; where it is none, its text as it is."""
    try:
        program = parse(text)
        lines = [[line.depth, line.text] for line in readable_lines(program)]
    except UnskewError:
        return {"title": title, "text": text}, None
    return {"title": title, "lines": lines}, program


def _world(world: World) -> list[Any]:
    grid = grid_of(world)
    row, column, facing = hero_of(world)
    cells = "".join(
        "#" if value == WALL else str(value) if value else "." for value in grid.ravel().tolist()
    )
    return [*grid.shape, cells, row * grid.shape[1] + column, facing]


def _run(program: Program | None, before: World, after: World) -> dict[str, Any] | None:
    if program is None:
        return None
    line_of = {line.place: number for number, line in enumerate(readable_lines(program))}
    ticks: list[int] = []
    last, status = before, Status.OK
    for step in steps(program, before):
        last, status = step.world, step.status
        row, column, facing = hero_of(last)
        grid = grid_of(last)
        pose = 4 * (row * grid.shape[1] + column) + facing
        ticks += [line_of[step.place], pose, int(grid[row, column]), _said(step)]
    right = status == Status.OK and np.array_equal(last, after)
    return {"ticks": ticks, "right": right, "end": _end(status, right)}


def _said(step: Step) -> int:
    text = _OUTCOMES[step.outcome] if step.status == Status.OK else _FAILS[step.status]
    return WORDS.index(text)


def _end(status: Status, right: bool) -> str:
    if status == Status.OUT_OF_TICKS:
        return "stopped, out of ticks"
    if status != Status.OK:
        return "crashed"
    return "ended as wanted" if right else "ended, not as wanted"


def calculator_result(result: Mapping[str, Any]) -> dict[str, Any]:
    """Return the Calculator's result in the form of the others."""
    tables = [_calculator_table(result, name, title) for name, title in TITLES.items()]
    return {
        "experiment": result["experiment"],
        "scale": result["scale"],
        "title": "Calculator",
        "section": "6.3, B.4 and B.5",
        "question": "What does homogenizing by one variable gain a model of arithmetic?",
        "tables": [*tables, *_cost_tables(result["costs"])],
        "seconds": result["seconds"],
        "provenance": result["provenance"],
    }


def _calculator_table(result: Mapping[str, Any], name: str, title: str) -> dict[str, Any]:
    def shown(column: str) -> str:
        return f"ε = {column}" if name == "by_epsilon" else column.replace("_", " ")

    ours, paper = result["ours"][name], result["paper"][name]
    columns = list(next(iter(ours.values())))
    return {
        "title": title.rpartition(" (")[0],
        "unit": "%" if name in ("original", "kl_removed") else "percentage points",
        "form": "table",
        "rows": [source.upper() for source in ours],
        "columns": [shown(column) for column in columns],
        "cells": [
            {
                "row": source.upper(),
                "column": shown(column),
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
    """Return the figure of B.4: draws per kept example by ε, beside the bound 1 + 1/ε."""
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
