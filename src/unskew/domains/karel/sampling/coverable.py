"""Whether a program can take every one of its branches without a crash: sought by kindly runs.

Every surviving program of the original dataset can, on worlds like the original's; a grammar
alone makes many that cannot. On a kindly world an action succeeds where nothing is known yet,
and a test goes either way, so a run seldom ends in a crash that another world would spare it,
and a few runs find nearly every branch that can be reached. All of them are runs on real worlds.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from unskew.core.compiled import compiled, compiled_inner
from unskew.domains.karel.language import compiler as c
from unskew.domains.karel.language.compiler import Code
from unskew.domains.karel.running.chance import chance, uniform
from unskew.domains.karel.running.hidden import (
    CELLS_LEFT,
    COUNTS,
    EVEN,
    FREE,
    FREE_LEFT,
    KIND,
    KINDLY,
    MARKED_LEFT,
    MIXED,
    OPEN_LEFT,
    forget,
    hidden_rooms,
    look,
)
from unskew.domains.karel.running.interpreter import MAX_TICKS, run_one
from unskew.domains.karel.sampling.pairs import all_branches, run_room
from unskew.domains.karel.world import CELLS, FACING, HEIGHT, POSITION, SIDE, WIDTH

RUNS = 100
# It is given up after 20 runs without a new branch, and 4 more for each run up to the last new
# one: of 2,200 original programs 99 % pass, of those that cannot few cost more than 20 runs.
PATIENCE, FOR_EACH = 20, 4


def coverable(rng: np.random.Generator, code: Code) -> NDArray[np.bool_]:
    """Say of each program whether runs without a crash were found that take every branch."""
    found = np.zeros(len(code), dtype=np.bool_)
    _coverable_rows(chance(rng), code.instructions, code.tests, found)
    return found


@compiled
def _coverable_rows(
    state: NDArray[np.uint64],
    code: NDArray[np.int64],
    tests: NDArray[np.int64],
    found: NDArray[np.bool_],
) -> None:
    before, world, left = hidden_rooms(1)
    room = run_room()
    for row in range(len(code)):
        found[row] = is_coverable(state, code[row], tests[row], world[0], before[0], left[0], room)


@compiled_inner
def can_leave_loops(code: NDArray[np.int64]) -> bool:
    """Whether the body of every WHILE has something in it that can change its condition."""
    size = 0
    while code[size] & 15 != c.END:
        size += 1
    for head in range(size):
        if code[head] & 15 != c.TEST:
            continue
        end = size - 1  # the last jump back to it, past all that is in its body
        while end > head and not _jumps_to(code[end], head):
            end -= 1
        if end > head and not _can_change(code, head, end):
            return False
    return True


@compiled_inner
def _jumps_to(instruction: int, head: int) -> bool:
    return instruction & 15 == c.JUMP and (instruction >> c.NEXT) & 0xFFFF == head


@compiled_inner
def _can_change(code: NDArray[np.int64], head: int, end: int) -> bool:
    """Whether the instructions of a loop can make its condition fail."""
    condition = (code[head] >> c.DETAIL) & 7
    present = (condition == 0) != ((code[head] >> c.DETAIL) & c.NEGATED != 0)
    for at in range(head + 1, end):
        operation = code[at] & 15
        if operation == c.MOVE:
            return True
        if condition >= 2 and operation in (c.LEFT, c.RIGHT):
            return True
        if condition < 2 and operation == (c.PICK if present else c.PUT):
            return True
    return False


@compiled_inner
def can_act_everywhere(code: NDArray[np.int64], acts: NDArray[np.uint8]) -> bool:
    """Whether every branch lies on a way that has a move and a marker action on it.

    A quick look at the instructions alone, before any run. ``acts`` is room: for what has been
    done on the ways to each instruction, and for what suffices there to have done both at the
    end, each a bit for nothing, a move, a marker action, both.
    """
    size = 0
    while code[size] & 15 != c.END:
        size += 1
    acts[:, : size + 1] = 0
    acts[0, 0], acts[1, size] = 1, 8
    changed = True
    while changed:
        changed = False
        for at in range(size):
            changed |= _pass_on(code[at], acts, at)
        for at in range(size - 1, -1, -1):
            changed |= _pass_back(code[at], acts, at)
    for at in range(size):
        instruction = code[at]
        if instruction & 15 == c.TEST:
            done = acts[0, at]
            onward, other = (instruction >> c.NEXT) & 0xFFFF, instruction >> c.ELSE
            if not done & acts[1, onward] or not done & acts[1, other]:
                return False
    return bool(acts[0, size] & 8)


@compiled_inner
def _after(operation: int, done: int) -> int:
    """Return what has been done after an action, bits for nothing, a move, a marker, both."""
    if operation == c.MOVE:
        return ((done & 1) << 1) | (done & 2) | ((done & 4) << 1) | (done & 8)
    if operation in (c.PICK, c.PUT):
        return ((done & 1) << 2) | ((done & 2) << 2) | (done & 4) | (done & 8)
    return done


@compiled_inner
def _pass_on(instruction: int, acts: NDArray[np.uint8], at: int) -> bool:
    onward = (instruction >> c.NEXT) & 0xFFFF
    operation = instruction & 15
    if operation == c.JUMP:
        return False
    done = _after(operation, int(acts[0, at]))
    changed = acts[0, onward] | done != acts[0, onward]
    acts[0, onward] |= done
    if operation in (c.TEST, c.LOOP):
        other = instruction >> c.ELSE
        changed |= acts[0, other] | done != acts[0, other]
        acts[0, other] |= done
    return bool(changed)


@compiled_inner
def _pass_back(instruction: int, acts: NDArray[np.uint8], at: int) -> bool:
    operation = instruction & 15
    if operation == c.JUMP:
        return False
    enough = 0
    later = int(acts[1, (instruction >> c.NEXT) & 0xFFFF])
    if operation in (c.TEST, c.LOOP):
        later |= int(acts[1, instruction >> c.ELSE])
    for done in range(4):
        if _after(operation, 1 << done) & later:
            enough |= 1 << done
    changed = acts[1, at] | enough != acts[1, at]
    acts[1, at] |= enough
    return bool(changed)


@compiled_inner
def is_coverable(
    state: NDArray[np.uint64],
    code: NDArray[np.int64],
    tests: int,
    world: NDArray[np.uint8],
    before: NDArray[np.uint8],
    left: NDArray[np.int64],
    room: tuple[NDArray[np.int64], NDArray[np.uint64], NDArray[np.int32]],
) -> bool:
    """Say of one program whether valid runs were found that take every branch.

    Valid as in the original dataset: no crash, at least one move and one marker action.
    """
    low, high = all_branches(tests)
    seen_low, seen_high = np.uint64(0), np.uint64(0)
    counters, coverage, actions = room
    last = 0
    for run in range(1, RUNS + 1):
        _start_kindly(state, world, left, before)
        actions[:] = 0
        hidden = (state, left, before)
        ended, _ = run_one(code, world, MAX_TICKS, counters, coverage, actions, hidden)
        if ended == 0 and actions[0] > 0 and actions[3] + actions[4] > 0:
            if seen_low | coverage[0] != seen_low or seen_high | coverage[1] != seen_high:
                last = run
            seen_low |= coverage[0]
            seen_high |= coverage[1]
            if seen_low == low and seen_high == high:
                return True
        if run >= PATIENCE + FOR_EACH * last:
            return False
    return False


@compiled_inner
def _start_kindly(
    state: NDArray[np.uint64],
    world: NDArray[np.uint8],
    left: NDArray[np.int64],
    before: NDArray[np.uint8],
) -> None:
    """Begin a large world in which half of what is not needed is free, and half marked."""
    forget(world, left, before)
    pose = int(uniform(state) * (4 * CELLS))
    world[HEIGHT], world[WIDTH] = SIDE, SIDE
    world[FACING], world[POSITION] = pose & 3, pose >> 2
    half = 1 << 30  # so many that a few revealed ones do not matter
    left[CELLS_LEFT], left[FREE_LEFT], left[OPEN_LEFT], left[MARKED_LEFT] = (
        2 * half,
        half,
        2 * half,
        half,
    )
    left[COUNTS], left[KIND] = MIXED if pose & 4 else EVEN, KINDLY
    look(world, pose >> 2, FREE, left, before)
