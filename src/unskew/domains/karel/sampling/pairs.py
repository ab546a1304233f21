"""Draw worlds for programs until they are valid, at a low cost for the worlds thrown away.

The paper draws five worlds. It draws all five again if the program crashes on one of them, or
if none of them takes some branch (section 4.2). If no run crashes, the five are independent. So
each world may be drawn until its run does not crash: the distribution is the same, for a
fraction of the draws. Only coverage is a property of all five. Each world is drawn while the
program looks at it (``hidden``), and what the program does before its first test is checked
before the run (``prefix``).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from unskew.core.compiled import compiled, compiled_inner
from unskew.domains.karel.language.compiler import Code
from unskew.domains.karel.running.chance import Chance, chance, two_below, uniform
from unskew.domains.karel.running.hidden import (
    CELLS_LEFT,
    COUNTS,
    FAIR,
    FREE,
    FREE_LEFT,
    KIND,
    MARKED_LEFT,
    MIXED,
    OPEN_LEFT,
    STATE,
    Hidden,
    Left,
    clear,
    counts_of_world,
    forget,
    look,
    reveal_all,
    reveal_cell,
)
from unskew.domains.karel.running.interpreter import (
    MAX_TICKS,
    NESTED_REPEATS,
    run_one,
    with_branch,
)
from unskew.domains.karel.sampling.prefix import SIZE, lets_begin, read_prefix
from unskew.domains.karel.sampling.worlds import (
    CORNER,
    NARROW_SMALLEST,
    NARROW_WORLDS,
    ORIGINAL_WORLDS,
    UNIFORM_WORLDS,
    narrow_numbers,
    original_numbers,
    original_size,
)
from unskew.domains.karel.world import (
    BYTES,
    FACING,
    HEIGHT,
    POSITION,
    SIDE,
    SMALLEST,
    WALL,
    WIDTH,
    World,
)

# The status of a program: its worlds were found; it crashes in every world; no valid world was
# found; too few were found; enough were found, but no set of them takes every branch.
MADE, CRASHES, NONE, FEW, UNCOVERED = range(5)
# For 99 % of 2,200 original programs, ORIGINAL_BUDGET draws of worlds like the original's give six
# valid worlds, and ORIGINAL_FIRST draws give the first of them.
ORIGINAL_BUDGET, ORIGINAL_FIRST = 1000, 250
DRAWS_PER_CALL = 20_000_000  # four seconds: Ctrl-C waits until the call ends

# Which worlds: their kind, r_wall and r_marker of narrow worlds, and how markers are counted.
Worlds: TypeAlias = tuple[int, float, float, int]
# The arrays that a run needs: counters, coverage, executed actions.
RunRoom: TypeAlias = tuple[NDArray[np.int64], NDArray[np.uint64], NDArray[np.int32]]
ORIGINAL = (ORIGINAL_WORLDS, 0.0, 0.0, MIXED)


@compiled
def run_room() -> RunRoom:
    """Make the arrays that a run needs."""
    return (
        np.empty(NESTED_REPEATS, dtype=np.int64),
        np.zeros(2, dtype=np.uint64),
        np.zeros(5, dtype=np.int32),
    )


@compiled_inner
def start_hidden(worlds: Worlds, world: World, hidden: Hidden) -> None:
    """Begin a hidden world: draw its size, its numbers of walls and markers, and Karel's cell.

    In a uniform world each cell is a wall with a probability that is itself uniform. So the
    number of walls is uniform too. The same holds for the free cells with markers.
    """
    state, left, before = hidden
    kind, r_wall, r_marker, counts = worlds
    forget(world, hidden)
    smallest = NARROW_SMALLEST if kind == NARROW_WORLDS else SMALLEST
    sizes = SIDE + 1 - smallest
    while True:
        if kind == ORIGINAL_WORLDS:
            height, width = original_size(state)
        else:
            tall, wide = two_below(uniform(state), sizes, sizes)
            height, width = smallest + tall, smallest + wide
        cells = height * width
        if kind == NARROW_WORLDS:
            walls, markers = narrow_numbers(cells, r_wall, r_marker)
        elif kind == UNIFORM_WORLDS:
            walls = int(uniform(state) * (cells + 1))
            markers = int(uniform(state) * (cells - walls + 1))
        else:
            walls, markers = original_numbers(state, cells)
        if walls < cells:
            break
    left[CELLS_LEFT], left[FREE_LEFT] = cells, cells - walls
    left[OPEN_LEFT], left[MARKED_LEFT] = cells - walls, markers
    left[COUNTS], left[KIND] = counts_of_world(state, counts), FAIR
    if kind == ORIGINAL_WORLDS:
        left[COUNTS] = MIXED
    world[HEIGHT], world[WIDTH] = height, width
    world[FACING] = int(uniform(state) * 4)
    _place_karel(kind, world, hidden)
    for byte in range(HEIGHT, BYTES):
        before[byte] = world[byte]


@compiled_inner
def _place_karel(kind: int, world: World, hidden: Hidden) -> None:
    """Put Karel on a free cell: on any cell, as the free cells are a random choice of all."""
    state, left, _ = hidden
    if kind == ORIGINAL_WORLDS and uniform(state) < CORNER:
        reveal_cell(world, 0, hidden, False)
        if world[0] == FREE:
            world[POSITION] = 0
            return
    height, width = int(world[HEIGHT]), int(world[WIDTH])
    while True:
        row, column = two_below(uniform(state), height, width)
        place = row * SIDE + column
        if world[place] != WALL:
            break
    world[POSITION] = place
    look(world, place, FREE, hidden)
    left[CELLS_LEFT] -= 1
    left[FREE_LEFT] -= 1


@dataclass(frozen=True)
class Pairs:
    """Worlds before and after, (n, k, 260), and of each program its status and its draws."""

    inputs: NDArray[np.uint8]
    outputs: NDArray[np.uint8]
    status: NDArray[np.uint8]
    tries: NDArray[np.int64]


def draw_pairs(
    rng: np.random.Generator, code: Code, worlds: Worlds, k: int, shown: int, budget: int
) -> Pairs:
    """Draw k worlds for each program, in at most ``budget`` draws.

    If the worlds are like the original's, each run must move and handle a marker. If ``shown``
    is not 0, the first ``shown`` worlds together must take every branch. A program without worlds
    gets a status other than MADE, and zeros.
    """
    n = len(code)
    inputs, outputs = np.empty((n, k, BYTES), np.uint8), np.empty((n, k, BYTES), np.uint8)
    made = Pairs(inputs, outputs, np.empty(n, np.uint8), np.empty(n, np.int64))
    state, step = chance(rng), max(1, DRAWS_PER_CALL // budget)
    for start in range(0, n, step):
        rows = slice(start, start + step)
        _draw_rows(
            state, code.instructions[rows], code.tests[rows], worlds, shown, budget,
            inputs[rows], outputs[rows], made.status[rows], made.tries[rows],
        )  # fmt: skip
    return made


@compiled
def _draw_rows(
    state: Chance,
    code: NDArray[np.int64],
    tests: NDArray[np.int64],
    worlds: Worlds,
    shown: int,
    budget: int,
    inputs: NDArray[np.uint8],
    outputs: NDArray[np.uint8],
    status: NDArray[np.uint8],
    tries: NDArray[np.int64],
) -> None:
    """Draw the worlds of each program, one after the other."""
    left = np.zeros((inputs.shape[1], STATE), dtype=np.int64)
    prefix = np.empty(SIZE, dtype=np.int64)
    room = run_room()
    for row in range(len(code)):
        clear(inputs[row], outputs[row], left)
        status[row], tries[row] = CRASHES, 0
        if read_prefix(code[row], prefix, room[0]):
            status[row], tries[row] = draw_set(
                state, code[row], tests[row], worlds, shown, budget, budget,
                inputs[row], outputs[row], left, prefix, room,
            )  # fmt: skip
        if status[row] == MADE:
            for j in range(inputs.shape[1]):
                reveal_all(outputs[row, j], (state, left[j], inputs[row, j]))
        else:
            inputs[row], outputs[row] = 0, 0


@compiled_inner
def draw_set(
    state: Chance,
    code: NDArray[np.int64],
    tests: int,
    worlds: Worlds,
    shown: int,
    budget: int,
    first: int,
    before: World,
    after: World,
    left: Left,
    prefix: NDArray[np.int64],
    room: RunRoom,
) -> tuple[int, int]:
    """Draw the worlds of one program; return its status and the number of draws.

    The first world must be found in ``first`` draws, all worlds in ``budget`` draws.
    """
    low, high = all_branches(tests)
    coverage = room[1]
    tries, sets = 0, 0
    while tries < budget:
        seen_low, seen_high = np.uint64(0), np.uint64(0)
        covered = True
        for j in range(len(before)):
            most = min(budget - tries, first) if j == 0 else budget - tries
            hidden = (state, left[j], before[j])
            used = draw_valid(code, worlds, most, after[j], hidden, prefix, room)
            tries += abs(used)
            if used <= 0:
                return (UNCOVERED if sets > 0 else NONE if j == 0 else FEW), tries
            seen_low |= coverage[0]
            seen_high |= coverage[1]
            if j == shown - 1 and (seen_low != low or seen_high != high):
                sets += 1
                covered = False
                break
        if covered:
            return MADE, tries
    return UNCOVERED, tries


@compiled_inner
def draw_valid(
    code: NDArray[np.int64],
    worlds: Worlds,
    budget: int,
    world: World,
    hidden: Hidden,
    prefix: NDArray[np.int64],
    room: RunRoom,
) -> int:
    """Draw worlds until one is valid; return the number of draws, negated if none is valid."""
    for used in range(1, budget + 1):
        start_hidden(worlds, world, hidden)
        if lets_begin(prefix, world, hidden) and run_is_valid(
            code, world, hidden, room, worlds[0] == ORIGINAL_WORLDS
        ):
            return used
    return -max(budget, 0)


@compiled_inner
def run_is_valid(
    code: NDArray[np.int64], world: World, hidden: Hidden, room: RunRoom, must_act: bool
) -> bool:
    """Run a program on a hidden world, and return whether the run is valid.

    A valid run does not crash. If it ``must_act``, it also moves and handles a marker.
    """
    counters, coverage, actions = room
    actions[:] = 0
    ended, _ = run_one(code, world, MAX_TICKS, counters, coverage, actions, hidden)
    return ended == 0 and (not must_act or (actions[0] > 0 and actions[3] + actions[4] > 0))


@compiled_inner
def all_branches(tests: int) -> tuple[np.uint64, np.uint64]:
    """Return the coverage in which every test has had both outcomes."""
    low, high = np.uint64(0), np.uint64(0)
    for bit in range(2 * tests):
        low, high = with_branch(low, high, bit)
    return low, high


def pick_pairs(
    rng: np.random.Generator, code: Code, pool: NDArray[np.uint8], k: int, budget: int
) -> Pairs:
    """Pick k different worlds of a pool for each program on which it does not crash (section 4.3).

    Each pick is a random world among those of the pool that were not tried for the program.
    """
    n = len(code)
    inputs, outputs = np.zeros((n, k, BYTES), np.uint8), np.zeros((n, k, BYTES), np.uint8)
    made = Pairs(inputs, outputs, np.empty(n, np.uint8), np.zeros(n, np.int64))
    _pick_rows(
        chance(rng), code.instructions, np.ascontiguousarray(pool), budget,
        made.inputs, made.outputs, made.status, made.tries,
    )  # fmt: skip
    return made


@compiled
def _pick_rows(
    state: Chance,
    code: NDArray[np.int64],
    pool: NDArray[np.uint8],
    budget: int,
    inputs: NDArray[np.uint8],
    outputs: NDArray[np.uint8],
    status: NDArray[np.uint8],
    tries: NDArray[np.int64],
) -> None:
    counters, coverage, actions = run_room()
    world = np.empty(BYTES, dtype=np.uint8)
    order = np.arange(len(pool))
    for row in range(len(code)):
        picked = 0
        while picked < inputs.shape[1] and tries[row] < min(budget, len(pool)):
            # One step of a shuffle of the pool. A shuffle may begin from any order.
            at = tries[row]
            other = at + int(uniform(state) * (len(pool) - at))
            order[at], order[other] = order[other], order[at]
            candidate = order[at]
            tries[row] += 1
            world[:] = pool[candidate]
            ended, _ = run_one(code[row], world, MAX_TICKS, counters, coverage, actions, None)
            if ended == 0:
                inputs[row, picked] = pool[candidate]
                outputs[row, picked] = world
                picked += 1
        status[row] = MADE if picked == inputs.shape[1] else FEW if picked > 0 else NONE
        if status[row] != MADE:
            inputs[row], outputs[row] = 0, 0
