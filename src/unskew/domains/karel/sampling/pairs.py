"""Worlds for programs: drawn until they are valid, without paying for what is thrown away.

The paper draws five worlds, and all five again if the program crashes on one or some branch is
taken on none (section 4.2). Given that none crashes the five are independent, so each may be
drawn until it does not crash: the same distribution for a fraction of the draws. Only coverage
is a property of the five. Each world is drawn while the program looks at it (``hidden``), and
what the program does before its first test is checked before it is run (``prefix``).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from unskew.core.compiled import compiled, compiled_inner
from unskew.domains.karel.language.compiler import Code
from unskew.domains.karel.running.chance import chance, two_below, uniform
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
    clear,
    counts_of_world,
    forget,
    look,
    reveal_all,
    reveal_cell,
)
from unskew.domains.karel.running.interpreter import MAX_TICKS, NESTED_REPEATS, run_one
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
from unskew.domains.karel.world import BYTES, FACING, HEIGHT, POSITION, SIDE, SMALLEST, WALL, WIDTH

# Worlds were found; the program crashes in all there are; no valid one was found; too few were;
# there were enough, but some branch was taken in none of a set.
MADE, CRASHES, NONE, FEW, UNCOVERED = range(5)
# Of 2,200 original programs 99 % find six valid worlds like the original's in so many draws,
# the first of them in so many.
ORIGINAL_BUDGET, ORIGINAL_FIRST = 1000, 250
AT_ONCE = 20_000_000  # draws of one call, four seconds: Ctrl-C has to wait for its end

# Which worlds: their kind and, of narrow ones, r_wall, r_marker and how markers are counted.
Worlds: TypeAlias = "tuple[int, float, float, int]"
ORIGINAL = (ORIGINAL_WORLDS, 0.0, 0.0, MIXED)


@compiled
def run_room() -> tuple[NDArray[np.int64], NDArray[np.uint64], NDArray[np.int32]]:
    """Make room for runs."""
    return (
        np.empty(NESTED_REPEATS, dtype=np.int64),
        np.zeros(2, dtype=np.uint64),
        np.zeros(5, dtype=np.int32),
    )


@compiled_inner
def start_hidden(
    state: NDArray[np.uint64],
    worlds: tuple[int, float, float, int],
    world: NDArray[np.uint8],
    left: NDArray[np.int64],
    before: NDArray[np.uint8],
) -> None:
    """Begin a world of which only its size, how many walls and markers, and Karel are known.

    A uniform world's cells are walls with a probability that is itself uniform, so the number
    of walls is uniform too, and likewise the number of cells with markers among the free ones.
    """
    kind, r_wall, r_marker, counts = worlds
    forget(world, left, before)
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
    _place_karel(kind, (state, left, before), world)
    for byte in range(HEIGHT, BYTES):
        before[byte] = world[byte]


@compiled_inner
def _place_karel(
    kind: int,
    hidden: tuple[NDArray[np.uint64], NDArray[np.int64], NDArray[np.uint8]],
    world: NDArray[np.uint8],
) -> None:
    """Put Karel on a free cell: any cell, since the free ones are a random choice of all."""
    state, left, before = hidden
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
    look(world, place, FREE, left, before)
    left[CELLS_LEFT] -= 1
    left[FREE_LEFT] -= 1


@dataclass(frozen=True)
class Pairs:
    """Worlds of programs: (n, k, 260) before and after, the status of each program, its draws."""

    inputs: NDArray[np.uint8]
    outputs: NDArray[np.uint8]
    status: NDArray[np.uint8]
    tries: NDArray[np.int64]


def draw_pairs(
    rng: np.random.Generator, code: Code, worlds: Worlds, k: int, shown: int, budget: int
) -> Pairs:
    """Draw k worlds for each program, from at most ``budget``.

    Each world like the original's must see a move and a marker action. The first ``shown``
    together must take every branch, where that is not 0. A program whose worlds are not found
    gets a status instead, and zeros.
    """
    n = len(code)
    inputs, outputs = np.empty((n, k, BYTES), np.uint8), np.empty((n, k, BYTES), np.uint8)
    made = Pairs(inputs, outputs, np.empty(n, np.uint8), np.empty(n, np.int64))
    state, step = chance(rng), max(1, AT_ONCE // budget)
    for start in range(0, n, step):
        rows = slice(start, start + step)
        _draw_rows(
            state, code.instructions[rows], code.tests[rows], worlds, shown, budget,
            inputs[rows], outputs[rows], made.status[rows], made.tries[rows],
        )  # fmt: skip
    return made


@compiled
def _draw_rows(
    state: NDArray[np.uint64],
    code: NDArray[np.int64],
    tests: NDArray[np.int64],
    worlds: tuple[int, float, float, int],
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
    state: NDArray[np.uint64],
    code: NDArray[np.int64],
    tests: int,
    worlds: tuple[int, float, float, int],
    shown: int,
    budget: int,
    first: int,
    before: NDArray[np.uint8],
    after: NDArray[np.uint8],
    left: NDArray[np.int64],
    prefix: NDArray[np.int64],
    room: tuple[NDArray[np.int64], NDArray[np.uint64], NDArray[np.int32]],
) -> tuple[int, int]:
    """Draw the worlds of one program; return its status and how many were drawn.

    The first world must be found in ``first`` draws, all of them in ``budget``.
    """
    low, high = all_branches(tests)
    coverage = room[1]
    tries, sets = 0, 0
    while tries < budget:
        seen_low, seen_high = np.uint64(0), np.uint64(0)
        covered = True
        for j in range(len(before)):
            most = min(budget - tries, first) if j == 0 else budget - tries
            used = draw_valid(state, code, worlds, most, before[j], after[j], left[j], prefix, room)
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
    state: NDArray[np.uint64],
    code: NDArray[np.int64],
    worlds: tuple[int, float, float, int],
    budget: int,
    before: NDArray[np.uint8],
    after: NDArray[np.uint8],
    left: NDArray[np.int64],
    prefix: NDArray[np.int64],
    room: tuple[NDArray[np.int64], NDArray[np.uint64], NDArray[np.int32]],
) -> int:
    """Draw worlds until one is valid; return how many, negated where none was within budget."""
    counters, coverage, actions = room
    for used in range(1, budget + 1):
        start_hidden(state, worlds, after, left, before)
        if not lets_begin(prefix, after, (state, left, before)):
            continue
        actions[:] = 0
        ended, _ = run_one(
            code, after, MAX_TICKS, counters, coverage, actions, (state, left, before)
        )
        does = worlds[0] != ORIGINAL_WORLDS or (actions[0] > 0 and actions[3] + actions[4] > 0)
        if ended == 0 and does:
            return used
    return -max(budget, 0)


@compiled_inner
def all_branches(tests: int) -> tuple[np.uint64, np.uint64]:
    """Return the coverage in which every test has had both outcomes."""
    low, high = np.uint64(0), np.uint64(0)
    for bit in range(2 * tests):
        if bit < 64:
            low |= np.uint64(1) << np.uint64(bit)
        else:
            high |= np.uint64(1) << np.uint64(bit - 64)
    return low, high


def pick_pairs(
    rng: np.random.Generator, code: Code, pool: NDArray[np.uint8], k: int, budget: int
) -> Pairs:
    """Pick k different worlds of a pool for each program on which it does not crash (section 4.3).

    Each is any of the pool that is left, however many were looked at before.
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
    state: NDArray[np.uint64],
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
        found = 0
        while found < inputs.shape[1] and tries[row] < min(budget, len(pool)):
            # A shuffle of the pool, as far as it is needed; it goes on from any order.
            at = tries[row]
            other = at + int(uniform(state) * (len(pool) - at))
            order[at], order[other] = order[other], order[at]
            picked = order[at]
            tries[row] += 1
            world[:] = pool[picked]
            ended, _ = run_one(code[row], world, MAX_TICKS, counters, coverage, actions, None)
            if ended == 0:
                inputs[row, found] = pool[picked]
                outputs[row, found] = world
                found += 1
        status[row] = MADE if found == inputs.shape[1] else FEW if found > 0 else NONE
        if status[row] != MADE:
            inputs[row], outputs[row] = 0, 0
