"""A run one tick at a time: which statement it is at, and the world after it.

Plain Python on the compiled instructions, for people who look at single runs; ``run`` is for
everything else, and the tests hold the two together at every tick.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from unskew.core.errors import UnskewError
from unskew.domains.karel.language import compiler as c
from unskew.domains.karel.language import tokens as t
from unskew.domains.karel.language.compiler import FINE, compile_programs
from unskew.domains.karel.language.syntax import Program, parse_tokens, to_tokens
from unskew.domains.karel.running.interpreter import MAX_TICKS, Status
from unskew.domains.karel.world import (
    BYTES,
    CELLS,
    FACING,
    MAX_MARKERS,
    POSITION,
    SIDE,
    WALL,
    World,
)


@dataclass(frozen=True)
class Step:
    """One tick of a run.

    ``tick`` counts from 1, ``place`` is the index of the statement's first token, ``world`` is
    as the statement left it. ``status`` is OK, or why the run stops here: an action that fails,
    or no tick left for this statement (then ``tick`` is one past the last). ``outcome`` is the
    outcome of a test, and None for other statements.
    """

    tick: int
    place: int
    world: World
    status: Status
    outcome: bool | None = None


def steps(program: Program, world: World, max_ticks: int = MAX_TICKS) -> Iterator[Step]:
    """Run a program on a copy of a world, and yield each tick."""
    code = compile_programs(program.reshape(1, -1))
    if code.status[0] != FINE:
        raise UnskewError(f"{to_tokens(program)!r} is no program; parse it to see why")
    instructions, places = code.instructions[0].tolist(), code.places[0].tolist()
    world = world.copy()
    counters: dict[int, int] = {}
    at, tick = 0, 0
    while (operation := instructions[at] & 15) != c.END:
        instruction, place = instructions[at], places[at]
        number = (instruction >> c.NUMBER) & 255
        at, other = (instruction >> c.NEXT) & 0xFFFF, instruction >> c.ELSE
        if operation == c.SET:
            counters[number] = (instruction >> c.COUNT) & 255
            continue
        if operation == c.LOOP and counters[number] == 0:
            at = other  # leaving a REPEAT is no iteration
            continue
        tick += 1
        status, outcome = Status.OK, None
        if tick > max_ticks:
            status = Status.OUT_OF_TICKS
        elif operation == c.LOOP:
            counters[number] -= 1
        elif operation == c.TEST:
            outcome = _holds((instruction >> c.DETAIL) & 15, world)
            at = at if outcome else other
        else:
            status = _act(operation, world)
        yield Step(tick, place, world.copy(), status, outcome)
        if status != Status.OK:
            return


def executed(program: Program, world: World) -> tuple[list[str], World, Status]:
    """Return the actions that a run executes, the world it leaves, and how it ends."""
    texts = t.to_texts(program)
    actions, after, status = [], world, Status.OK
    for step in steps(program, world):
        after, status = step.world, step.status
        if status == Status.OK and texts[step.place] in t.ACTIONS:
            actions.append(texts[step.place])
    return actions, after, status


def _act(operation: int, world: World) -> Status:
    """Do an action in place, or say why it fails."""
    position = int(world[POSITION])
    if operation == c.MOVE:
        front = _neighbour(world, 0)
        if front is None:
            return Status.WALL
        world[POSITION] = front
    elif operation in (c.LEFT, c.RIGHT):
        world[FACING] = (int(world[FACING]) + (3 if operation == c.LEFT else 1)) % 4
    elif operation == c.PICK:
        if world[position] == 0:
            return Status.NO_MARKER
        world[position] -= 1
    else:
        if world[position] >= MAX_MARKERS:
            return Status.FULL
        world[position] += 1
    return Status.OK


def _holds(condition: int, world: World) -> bool:
    """Say whether a condition holds, its negation in the highest bit."""
    name = t.CONDITIONS[condition & (c.NEGATED - 1)]
    marked = world[world[POSITION]] > 0
    holds = {
        "markersPresent": marked,
        "noMarkersPresent": not marked,
        "leftIsClear": _neighbour(world, 3) is not None,
        "rightIsClear": _neighbour(world, 1) is not None,
        "frontIsClear": _neighbour(world, 0) is not None,
    }[name]
    return bool(holds) != (condition >= c.NEGATED)


def _neighbour(world: World, turn: int) -> int | None:
    """Return the cell to which one can go after so many turns to the right, or None."""
    facing, position = (int(world[FACING]) + turn) % 4, int(world[POSITION])
    row, column = divmod(position, SIDE)
    row += (1, 0, -1, 0)[facing]
    column += (0, 1, 0, -1)[facing]
    cell = row * SIDE + column
    on_square = 0 <= cell < CELLS and 0 <= column < SIDE
    return cell if on_square and world[cell] != WALL else None  # past a grid's edge are walls


def replays(example: Mapping[str, Any]) -> bool:
    """Whether each input becomes its output, one tick after the other."""
    program = parse_tokens(example["program"])
    inputs, outputs = (
        np.frombuffer(example[name], np.uint8).reshape(-1, BYTES) for name in ("inputs", "outputs")
    )
    if len(inputs) != len(outputs):
        return False
    for before, after in zip(inputs, outputs, strict=True):
        world, status = before, Status.OK
        for step in steps(program, before):
            world, status = step.world, step.status
        if status != Status.OK or not np.array_equal(world, after):
            return False
    return True
