"""Runs of Karel to step through on the page, as plain data that a script draws.

A world is [rows, columns, cells, Karel's cell, direction]. The cells are ``.``, ``#`` or a number
of markers, row by row from the bottom. A run has four numbers for each tick: the line of the
program, 4 · Karel's cell + direction, the markers in Karel's cell, and the index of a text in the
``words`` of the set.
"""

import json
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from unskew.core.errors import UnskewError
from unskew.domains.karel.examples import INPUTS, OUTPUTS, PROGRAM
from unskew.domains.karel.formats.problems import problems
from unskew.domains.karel.formats.show import WHY
from unskew.domains.karel.language.syntax import Program, parse, readable_lines, to_tokens
from unskew.domains.karel.running.interpreter import Status
from unskew.domains.karel.running.trace import steps
from unskew.domains.karel.world import WALL, World, from_bytes, grid_of, hero_of
from unskew.models.karel.data.examples import read_examples

MOST_TASKS = 40  # of one model on one test set
MOST_BYTES = 5_000_000  # of all tasks
SHOWN_PAIRS = 5  # of an example; the later pairs are held out
PROBLEMS = "karel/problems"
SOLVED = "Real-world problems, with a solution"

_OUTCOMES = {None: "", True: "is true", False: "is false"}
_FAILURES = {status: f"fails: {why}" for status, why in WHY.items()}
_FAILURES[Status.OUT_OF_TICKS] = "has no tick left"
WORDS = [*_OUTCOMES.values(), *_FAILURES.values()]


def failure_tasks(
    results: Iterable[Mapping[str, Any]], most_tasks: int = MOST_TASKS, most_bytes: int = MOST_BYTES
) -> list[dict[str, Any]]:
    """Return the failures of all results, a set of tasks for each model and test set."""
    by_set: dict[tuple[str, str], dict[int, str]] = {}
    for result in results:
        for failure in result.get("failures") or ():
            predicted = by_set.setdefault((failure["model"], failure["test"]), {})
            if len(predicted) < most_tasks:
                predicted.setdefault(int(failure["row"]), failure["predicted"])
    sets, room = [], most_bytes
    for (model, test), predicted in by_set.items():
        tasks = []
        for row, example in _examples(test, sorted(predicted)).items():
            name = list(problems())[row] if test == PROBLEMS else f"row {row}"
            one = task(name, example, predicted[row], model)
            room -= len(json.dumps(one, separators=(",", ":")))
            if room < 0:
                break
            tasks.append(one)
        if tasks:
            sets.append({"name": f"{model} on {test}", "words": WORDS, "tasks": tasks})
    return sets


def problem_tasks() -> dict[str, Any]:
    """Return a set of tasks: the real-world problems that have a solution."""
    tasks = [
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
    return {"name": SOLVED, "words": WORDS, "tasks": tasks}


def _examples(test: str, rows: Sequence[int]) -> dict[int, dict[str, Any]]:
    """Return examples of a test set by row; ``rows`` are in order."""
    batch = read_examples(test, rows[-1] + 1)
    if rows[0] < 0 or rows[-1] >= len(batch):
        raise UnskewError(
            f"a failure is row {rows[-1]} of {test}, which has {len(batch):,} rows; "
            "run the experiment again"
        )
    return dict(zip(rows, batch.take(np.array(rows)).examples(), strict=True))


def task(
    name: str, example: Mapping[str, Any], predicted: str | None = None, model: str = ""
) -> dict[str, Any]:
    """Return an example as data for the page, with the program that a model wrote for it."""
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
    """Return the lines of a program, or the text alone if it is not a valid program."""
    try:
        program = parse(text)
        lines = [[line.depth, line.text] for line in readable_lines(program)]
    except UnskewError:
        return {"title": title, "text": text}, None
    return {"title": title, "lines": lines}, program


def _world(world: World) -> list[Any]:
    grid, hero, facing = _grid_and_hero(world)
    cells = "".join(
        "#" if value == WALL else str(value) if value else "." for value in grid.ravel().tolist()
    )
    return [*grid.shape, cells, hero, facing]


def _grid_and_hero(world: World) -> tuple[NDArray[np.uint8], int, int]:
    """Return the cells of a world, the number of Karel's cell, and Karel's direction."""
    grid = grid_of(world)
    row, column, facing = hero_of(world)
    return grid, row * grid.shape[1] + column, facing


def _run(program: Program | None, before: World, after: World) -> dict[str, Any] | None:
    if program is None:
        return None
    line_of = {line.place: number for number, line in enumerate(readable_lines(program))}
    ticks: list[int] = []
    last, status = before, Status.OK
    for step in steps(program, before):
        last, status = step.world, step.status
        grid, hero, facing = _grid_and_hero(last)
        text = _OUTCOMES[step.outcome] if status == Status.OK else _FAILURES[status]
        pose, markers = 4 * hero + facing, int(grid.ravel()[hero])
        ticks += [line_of[step.place], pose, markers, WORDS.index(text)]
    right = status == Status.OK and np.array_equal(last, after)
    return {"ticks": ticks, "right": right, "end": _end(status, right)}


def _end(status: Status, right: bool) -> str:
    if status == Status.OUT_OF_TICKS:
        return "stopped, out of ticks"
    if status != Status.OK:
        return "crashed"
    return "ended in the wanted world" if right else "ended in another world"
