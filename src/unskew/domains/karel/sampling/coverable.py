"""Find out whether a program can take each of its branches without a crash.

Every known program of the original dataset can do so on worlds like the original's. A grammar
alone makes many programs that cannot. The search runs the program on kindly worlds. There an
action never fails on an unknown cell, and a test may have either outcome. So a run rarely crashes
if another world would let it go on, and a few runs find nearly every branch that can be reached.
Every run is one that a real world allows.
"""

from __future__ import annotations

import numpy as np

from unskew.core.arrays import Bytes, Ints
from unskew.core.compiled import compiled_inner
from unskew.domains.karel.language import compiler as c
from unskew.domains.karel.language.compiler import decoded
from unskew.domains.karel.running import hidden as h
from unskew.domains.karel.running.chance import uniform
from unskew.domains.karel.sampling.pairs import Room, all_branches, run_is_valid
from unskew.domains.karel.world import CELLS, FACING, HEIGHT, POSITION, SIDE, WIDTH, World

RUNS = 100
# The search gives up after PATIENCE + PER_RUN · n runs, if run n was the last with a new branch.
# With these numbers 99 % of 2,200 original programs pass, and few of the programs that cannot
# pass cost more than 20 runs.
PATIENCE, PER_RUN = 20, 4


@compiled_inner
def _size(code: Ints) -> int:
    """Return the number of instructions before END."""
    size = 0
    while code[size] & 15 != c.END:
        size += 1
    return size


@compiled_inner
def can_leave_loops(code: Ints) -> bool:
    """Return whether the body of every WHILE has an action that can change its condition."""
    size = _size(code)
    for head in range(size):
        if code[head] & 15 != c.TEST:
            continue
        end = size - 1  # becomes the last jump back to the test: the end of the body
        while end > head and (code[end] & 15 != c.JUMP or decoded(code[end])[2] != head):
            end -= 1
        if end > head and not _can_change(code, head, end):
            return False
    return True


@compiled_inner
def _can_change(code: Ints, head: int, end: int) -> bool:
    """Return whether an instruction in the body of a loop can make its condition fail."""
    condition = (code[head] >> c.DETAIL) & 7
    present = (condition == 0) != ((code[head] >> c.DETAIL) & c.NEGATED != 0)
    for at in range(head + 1, end):
        operation = code[at] & 15
        if condition >= 2 and operation in (c.MOVE, c.LEFT, c.RIGHT):
            return True
        if condition < 2 and operation in (c.MOVE, c.PICK if present else c.PUT):
            return True
    return False


@compiled_inner
def can_act_everywhere(code: Ints, acts: Bytes) -> bool:
    """Return whether every branch lies on a path with a move and a marker action.

    This is a quick look at the instructions, before any run. ``acts`` is room for two rows with
    a set for each instruction. The first row holds what the paths to the instruction have done.
    The second row holds what must be done before it, so that the rest of some path does what is
    missing. A set has a bit for each of nothing, a move, a marker action, and both.
    """
    size = _size(code)
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
        operation, _, onward, other = decoded(code[at])
        if operation == c.TEST:
            done = acts[0, at]
            if not done & acts[1, onward] or not done & acts[1, other]:
                return False
    return bool(acts[0, size] & 8)


@compiled_inner
def _after(operation: int, done: int) -> int:
    """Return the set of what was done after an operation, from the set before it."""
    if operation == c.MOVE:
        return ((done & 5) << 1) | (done & 10)
    if operation in (c.PICK, c.PUT):
        return ((done & 3) << 2) | (done & 12)
    return done


@compiled_inner
def _add(acts: Bytes, row: int, at: int, more: int) -> bool:
    """Add to a set, and return whether it grew."""
    old = int(acts[row, at])
    acts[row, at] = old | more
    return old | more != old


@compiled_inner
def _pass_on(instruction: int, acts: Bytes, at: int) -> bool:
    """Pass what was done to the instructions that follow; return whether that is new."""
    operation, _, onward, other = decoded(instruction)
    if operation == c.JUMP:
        return False
    done = _after(operation, int(acts[0, at]))
    changed = _add(acts, 0, onward, done)
    if operation in (c.TEST, c.LOOP):
        changed |= _add(acts, 0, other, done)
    return changed


@compiled_inner
def _pass_back(instruction: int, acts: Bytes, at: int) -> bool:
    """Work out what must be done before an instruction; return whether that is new."""
    operation, _, onward, other = decoded(instruction)
    if operation == c.JUMP:
        return False
    later = int(acts[1, onward])
    if operation in (c.TEST, c.LOOP):
        later |= int(acts[1, other])
    enough = 0
    for done in range(4):
        if _after(operation, 1 << done) & later:
            enough |= 1 << done
    return _add(acts, 1, at, enough)


@compiled_inner
def is_coverable(code: Ints, tests: int, world: World, hidden: h.Hidden, room: Room) -> bool:
    """Return whether valid runs of a program were found that together take every branch."""
    low, high = all_branches(tests)
    seen_low, seen_high = np.uint64(0), np.uint64(0)
    last = 0
    for run in range(1, RUNS + 1):
        _start_kindly(world, hidden)
        if run_is_valid(code, world, hidden, room, True):
            if seen_low | room.coverage[0] != seen_low or seen_high | room.coverage[1] != seen_high:
                last = run
            seen_low |= room.coverage[0]
            seen_high |= room.coverage[1]
            if seen_low == low and seen_high == high:
                return True
        if run >= PATIENCE + PER_RUN * last:
            return False
    return False


@compiled_inner
def _start_kindly(world: World, hidden: h.Hidden) -> None:
    """Begin a large kindly world: cells that are only tested are free or marked half the time."""
    state, left, _ = hidden
    h.forget(world, hidden)
    pose = int(uniform(state) * (4 * CELLS))
    world[HEIGHT], world[WIDTH] = SIDE, SIDE
    world[FACING], world[POSITION] = pose & 3, pose >> 2
    half = 1 << 30  # enough cells that a few revealed ones do not matter
    left[h.CELLS_LEFT], left[h.FREE_LEFT] = 2 * half, half
    left[h.OPEN_LEFT], left[h.MARKED_LEFT] = 2 * half, half
    left[h.COUNTS], left[h.KIND] = h.MIXED if pose & 4 else h.EVEN, h.KINDLY
    h.look(world, pose >> 2, h.FREE, hidden)
