"""Run Karel programs on worlds, compiled: one dispatch a tick, no read outside the grid."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from enum import IntEnum
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import DTypeLike, NDArray

from unskew.core.arrays import Bytes, Flags, Ints
from unskew.core.compiled import compiled, compiled_inner
from unskew.core.errors import UnskewError, check_count
from unskew.domains.karel.language import compiler as c
from unskew.domains.karel.language.compiler import Code, compile_programs, decoded
from unskew.domains.karel.running.hidden import FREE, UNKNOWN, Hidden, reveal_cell, reveal_markers
from unskew.domains.karel.world import BYTES, FACING, MAX_MARKERS, POSITION, SIDE, WALL, World

MAX_TICKS = 200
MOST_TICKS = 2**31 - 1  # more cannot be counted
NESTED_REPEATS = 64  # a program of MAX_TOKENS tokens has no more

# The statement of each instruction, and a flag for each statement: it ran.
Marks: TypeAlias = tuple[NDArray[np.int16], Flags]


class Status(IntEnum):
    """How a run ended."""

    OK = 0
    WALL = 1
    NO_MARKER = 2
    FULL = 3
    OUT_OF_TICKS = 4


@dataclass(frozen=True)
class Runs:
    """The result of each run. After a crash, the world is as it was before the failed action.

    ``coverage`` (n, 2) has bit 2·test + outcome for each outcome that occurred. The tests are
    numbered in the order of their keywords. ``actions`` (n, 5) counts the executed actions.

    ``statements`` (n, width) is True at the first token of each statement that was started. The
    action at which a run crashed was started, and so was a REPEAT of no iterations. A statement
    for which no tick was left was not. It is None unless the caller asked for it.
    """

    worlds: Bytes
    status: Bytes
    ticks: NDArray[np.int32]
    coverage: NDArray[np.uint64]
    actions: NDArray[np.int32]
    statements: Flags | None = None


def run(
    programs: Bytes | Code,
    worlds: Bytes,
    which: Ints | None = None,
    *,
    max_ticks: int = MAX_TICKS,
    threads: int = 1,
    statements: bool = False,
) -> Runs:
    """Run programs on packed worlds (n, 260).

    Args:
        programs: rows of token ids, or compiled programs.
        worlds: packed worlds; their cells are not checked here (``world.are_worlds`` does that).
        which: the number of the program of each world. Without it there are k worlds for each
            program, and world i belongs to program i // k.
        max_ticks: a run of more ticks ends with OUT_OF_TICKS.
        threads: how many threads share the runs.
        statements: whether to return which statements ran.
    """
    check_count("threads", threads)
    code, which = checked_pairs(programs, worlds, which, max_ticks)
    n, width = len(worlds), code.instructions.shape[1] - 1
    results = (
        np.empty_like(worlds),
        np.empty(n, np.uint8),
        np.empty(n, np.int32),
        np.empty((n, 2), np.uint64),
        np.empty((n, 5), np.int32),
    )
    started = np.zeros((n, width), np.bool_) if statements else None

    def chunk(start: int, stop: int) -> None:
        part = slice(start, stop)
        before, after = np.ascontiguousarray(worlds[part]), tuple(array[part] for array in results)
        marks = None if started is None else (code.places, started[part])
        run_rows(code.instructions, before, which[part], max_ticks, after, marks)

    if threads == 1:
        chunk(0, n)
    else:
        bounds = np.linspace(0, n, 4 * threads + 1).astype(int).tolist()
        with ThreadPoolExecutor(threads) as pool:
            list(pool.map(chunk, bounds[:-1], bounds[1:]))
    return Runs(*results, started)


def checked_pairs(
    programs: Bytes | Code, worlds: Bytes, which: Ints | None, max_ticks: int
) -> tuple[Code, Ints]:
    """Return the compiled programs and the program of each world; refuse what cannot run."""
    check_count("max_ticks", max_ticks)
    if max_ticks > MOST_TICKS:
        raise UnskewError(f"max_ticks is {max_ticks}; allowed are 1 to {MOST_TICKS}: give fewer")
    if not isinstance(programs, Code):
        _need_array("programs", programs, np.uint8, "uint8, (n, width) token ids")
        programs = compile_programs(programs)
    _need_array("worlds", worlds, np.uint8, f"uint8, (n, {BYTES}) packed worlds")
    if worlds.ndim != 2 or worlds.shape[1] != BYTES:
        raise UnskewError(f"worlds have the shape {worlds.shape}; give bytes (n, {BYTES})")
    if which is None:
        if len(programs) == 0 or len(worlds) % len(programs):
            raise UnskewError(
                f"{len(worlds)} worlds do not divide by {len(programs)} programs; pass which"
            )
        which = np.arange(len(worlds), dtype=np.int64) // (len(worlds) // len(programs))
    _need_array("which", which, np.integer, "whole numbers, the program of each world")
    inside = which.size == 0 or 0 <= which.min() <= which.max() < len(programs)
    if which.shape != (len(worlds),) or not inside:
        raise UnskewError(
            f"which, of the shape {which.shape}, must name one of {len(programs)} programs, from "
            f"0 on, for each of {len(worlds)} worlds"
        )
    if programs.status[which].any():
        bad = int(which[np.flatnonzero(programs.status[which])[0]])
        raise UnskewError(f"program {bad} is no program; leave out those with a status")
    return programs, np.ascontiguousarray(which, dtype=np.int64)


def _need_array(name: str, value: object, kind: DTypeLike, content: str) -> None:
    if not isinstance(value, np.ndarray) or not np.issubdtype(value.dtype, kind):
        actual = value.dtype if isinstance(value, np.ndarray) else type(value).__name__
        raise UnskewError(f"{name} are {actual}; give a NumPy array of {content}")


@compiled
def run_rows(
    code: Ints, worlds: Bytes, which: Ints, max_ticks: int, results: Any, all_marks: Marks | None
) -> None:
    """Run the program of each world on a copy of it. ``all_marks`` has a row for each run.

    ``results`` are the arrays of ``Runs`` without the statements.
    """
    after, status, ticks, coverage, actions = results
    counters = np.empty(NESTED_REPEATS, dtype=np.int64)
    for row in range(len(worlds)):
        after[row] = worlds[row]
        actions[row] = 0
        program = code[which[row]]
        if all_marks is None:
            status[row], ticks[row] = run_one(
                program, after[row], max_ticks, counters, coverage[row], actions[row], None
            )
        else:
            marks = (all_marks[0][which[row]], all_marks[1][row])
            status[row], ticks[row] = run_one(
                program, after[row], max_ticks, counters, coverage[row], actions[row], None, marks
            )


@compiled_inner
def neighbour(position: int, direction: int) -> int:
    """Return the cell next to a cell, or −1 past the edge of the 16 × 16 square."""
    row = position // SIDE + (direction == 0) - (direction == 2)
    column = position % SIDE + (direction == 1) - (direction == 3)
    return row * SIDE + column if 0 <= row < SIDE and 0 <= column < SIDE else -1


@compiled_inner
def is_clear(world: World, cell: int, hidden: Hidden | None, needed: bool) -> bool:
    """Return whether Karel can go to a cell. A packed world has walls outside a smaller grid."""
    if cell < 0:
        return False
    if hidden is not None and world[cell] == UNKNOWN:
        reveal_cell(world, cell, hidden, needed)
    clear: bool = world[cell] != WALL
    return clear


@compiled_inner
def markers_at(world: World, cell: int, hidden: Hidden | None, needed: bool) -> int:
    """Return the number of markers where Karel stands."""
    if hidden is not None and world[cell] == FREE:
        reveal_markers(world, cell, hidden, needed)
    return int(world[cell])


@compiled_inner
def _holds(condition: int, world: World, position: int, facing: int, hidden: Hidden | None) -> bool:
    """Return whether a condition holds. Its highest bit negates it."""
    plain = condition & 7
    if plain < 2:
        holds = (markers_at(world, position, hidden, False) > 0) == (plain == 0)
    else:
        side = 3 if plain == 2 else 1 if plain == 3 else 0
        holds = is_clear(world, neighbour(position, (facing + side) & 3), hidden, False)
    answer: bool = holds != (condition >= c.NEGATED)
    return answer


@compiled_inner
def with_branch(low: np.uint64, high: np.uint64, bit: int) -> tuple[np.uint64, np.uint64]:
    """Return a coverage, as two numbers, with one bit more."""
    if bit < 64:
        return low | (np.uint64(1) << np.uint64(bit)), high
    return low, high | (np.uint64(1) << np.uint64(bit - 64))


@compiled_inner
def run_one(  # noqa: PLR0915 - an interpreter is one loop
    code: Ints,
    world: World,
    max_ticks: int,
    counters: Ints,
    coverage: NDArray[np.uint64],
    actions: NDArray[np.int32],
    hidden: Hidden | None,
    marks: Marks | None = None,
) -> tuple[int, int]:
    """Run one program in place; return how the run ended, and its ticks.

    ``hidden`` is None if the world is known. Otherwise the world is still being drawn, and
    ``hidden`` decides a cell when the program first looks at it. ``marks`` notes which
    statements ran, or is None.
    """
    position, facing = int(world[POSITION]), int(world[FACING])
    at, ticks, status = 0, 0, 0
    low, high = np.uint64(0), np.uint64(0)
    while True:
        instruction = code[at]
        operation, number, onward, other = decoded(instruction)
        if operation > c.TEST:  # of these, only an iteration of a REPEAT costs a tick
            if operation == c.END:
                break
            if operation == c.SET:
                counters[number] = (instruction >> c.COUNT) & 255
                at = onward
                continue
            if counters[number] == 0:
                if marks is not None:
                    marks[1][marks[0][at]] = True
                at = other  # leaving a REPEAT is no iteration
                continue
        if ticks == max_ticks:
            status = 4
            break
        ticks += 1
        if marks is not None:
            marks[1][marks[0][at]] = True
        at = onward
        if operation == c.MOVE:
            cell = neighbour(position, facing)
            if not is_clear(world, cell, hidden, True):
                status = 1
                break
            position = cell
        elif operation == c.TEST:
            holds = _holds((instruction >> c.DETAIL) & 15, world, position, facing, hidden)
            low, high = with_branch(low, high, 2 * number + holds)
            at = onward if holds else other
            continue
        elif operation == c.LOOP:
            counters[number] -= 1
            continue
        elif operation == c.LEFT:
            facing = (facing + 3) & 3
        elif operation == c.RIGHT:
            facing = (facing + 1) & 3
        elif operation == c.PICK:
            if markers_at(world, position, hidden, True) == 0:
                status = 2
                break
            world[position] -= 1
        else:
            if markers_at(world, position, hidden, False) >= MAX_MARKERS:
                status = 3
                break
            world[position] += 1
        actions[operation] += 1
    world[POSITION], world[FACING] = position, facing
    coverage[0], coverage[1] = low, high
    return status, ticks
