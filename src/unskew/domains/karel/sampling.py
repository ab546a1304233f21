"""Worlds for programs: drawn until they are valid, without paying for what is thrown away.

The paper draws five worlds, and all five again if the program crashes on one or some branch is
taken on none. Given that none crashes the five are independent, so each may be drawn until it
does not crash: the same distribution for a fraction of the draws. Only coverage is a property of
the five. And each world is drawn while the program looks at it (see ``hidden``).
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from unskew.compiled import compiled
from unskew.domains.karel.hidden import (
    CELLS_LEFT,
    COUNTS,
    EVEN,
    FREE,
    FREE_LEFT,
    MARKED_LEFT,
    OPEN_LEFT,
    ORIGINAL,
    UNKNOWN,
    reveal_all,
)
from unskew.domains.karel.interpreter import MAX_TICKS, NESTED_REPEATS, run_one
from unskew.domains.karel.world import BYTES, FACING, HEIGHT, POSITION, SIDE, SMALLEST, WALL, WIDTH
from unskew.domains.karel.worlds import (
    NARROW_SMALLEST,
    NARROW_WORLDS,
    ORIGINAL_WORLDS,
    UNIFORM_WORLDS,
    clear_grid,
    draw_size,
    narrow_numbers,
    original_numbers,
)

MADE, CRASHES, UNCOVERED = range(3)


@compiled
def start_hidden(
    rng: np.random.Generator,
    kind: int,
    r_wall: float,
    r_marker: float,
    counts: int,
    world: NDArray[np.uint8],
    left: NDArray[np.int64],
) -> None:
    """Begin a world of which only its size, how many walls and markers, and Karel are known."""
    while True:
        smallest = NARROW_SMALLEST if kind == NARROW_WORLDS else SMALLEST
        height, width = draw_size(rng, smallest), draw_size(rng, smallest)
        cells = height * width
        if kind == NARROW_WORLDS:
            walls, markers = narrow_numbers(cells, r_wall, r_marker)
        elif kind == UNIFORM_WORLDS:
            marked, walled = rng.random(), rng.random()
            walls = rng.binomial(cells, walled)
            markers = rng.binomial(cells - walls, marked)
        else:
            walls, markers = original_numbers(rng, cells)
        if walls < cells:
            break
    clear_grid(world, height, width)
    for r in range(height):
        world[r * SIDE : r * SIDE + width] = UNKNOWN
    left[CELLS_LEFT], left[FREE_LEFT] = cells, cells - walls
    left[OPEN_LEFT], left[MARKED_LEFT] = cells - walls, markers
    left[COUNTS] = counts
    if kind != NARROW_WORLDS:
        left[COUNTS] = ORIGINAL if kind == ORIGINAL_WORLDS else EVEN
    _place_karel(rng, kind, world, left)


@compiled
def _place_karel(
    rng: np.random.Generator, kind: int, world: NDArray[np.uint8], left: NDArray[np.int64]
) -> None:
    """Put Karel on a free cell: any cell, since the free ones are a random choice of all."""
    height, width = int(world[HEIGHT]), int(world[WIDTH])
    place = -1
    if kind == ORIGINAL_WORLDS and rng.random() < 0.2:
        if rng.random() * left[CELLS_LEFT] < left[FREE_LEFT]:
            place = 0
        else:
            world[0] = WALL
            left[CELLS_LEFT] -= 1
    while place < 0:
        cell = int(rng.random() * height * width)
        place = (cell // width) * SIDE + cell % width
        if world[place] == WALL:
            place = -1
    world[place] = FREE
    left[CELLS_LEFT] -= 1
    left[FREE_LEFT] -= 1
    world[POSITION], world[FACING] = place, int(rng.random() * 4)


@compiled
def draw_pairs(
    rng: np.random.Generator,
    code: NDArray[np.int64],
    tests: NDArray[np.int64],
    kind: int,
    r_wall: float,
    r_marker: float,
    counts: int,
    shown: int,
    budget: int,
    inputs: NDArray[np.uint8],
    outputs: NDArray[np.uint8],
    status: NDArray[np.uint8],
    tries: NDArray[np.int64],
) -> None:
    """Draw the worlds of each program into ``inputs`` and ``outputs``, (n, k, 260).

    Worlds like the original's must see a move and a marker action; the others together, the
    first ``shown`` of them, every branch. A program whose worlds are not found in ``budget``
    draws gets a status instead, and zeros.
    """
    k = inputs.shape[1]
    left = np.zeros((k, 5), dtype=np.int64)
    counters = np.empty(NESTED_REPEATS, dtype=np.int64)
    coverage = np.zeros(2, dtype=np.uint64)
    actions = np.zeros(5, dtype=np.int32)
    covers = kind != ORIGINAL_WORLDS
    for row in range(len(code)):
        low, high = _all_branches(tests[row])
        tries[row] = 0
        sets = 0
        status[row] = UNCOVERED
        while status[row] == UNCOVERED and tries[row] < budget:
            seen_low, seen_high = np.uint64(0), np.uint64(0)
            status[row] = MADE
            for j in range(k):
                used = _draw_valid(
                    rng, code[row], kind, r_wall, r_marker, counts, budget - tries[row],
                    inputs[row, j], outputs[row, j], left[j], counters, coverage, actions,
                )  # fmt: skip
                tries[row] += abs(used)
                if used < 0:
                    status[row] = CRASHES if sets == 0 else UNCOVERED
                    break
                seen_low |= coverage[0]
                seen_high |= coverage[1]
                if covers and j == shown - 1 and (seen_low != low or seen_high != high):
                    sets += 1
                    status[row] = UNCOVERED
                    break
        if status[row] != MADE:
            inputs[row], outputs[row] = 0, 0
        else:
            for j in range(k):
                reveal_all(outputs[row, j], (rng, left[j], inputs[row, j]))


@compiled
def _draw_valid(
    rng: np.random.Generator,
    code: NDArray[np.int64],
    kind: int,
    r_wall: float,
    r_marker: float,
    counts: int,
    budget: int,
    before: NDArray[np.uint8],
    after: NDArray[np.uint8],
    left: NDArray[np.int64],
    counters: NDArray[np.int64],
    coverage: NDArray[np.uint64],
    actions: NDArray[np.int32],
) -> int:
    """Draw worlds until one is valid; return how many, negated where none was within budget."""
    for used in range(1, max(budget, 1) + 1):
        start_hidden(rng, kind, r_wall, r_marker, counts, after, left)
        before[:] = after
        actions[:] = 0
        ended, _ = run_one(code, after, MAX_TICKS, counters, coverage, actions, (rng, left, before))
        does = kind != ORIGINAL_WORLDS or (actions[0] > 0 and actions[3] + actions[4] > 0)
        if ended == 0 and does:
            return used
    return -max(budget, 1)


@compiled
def _all_branches(tests: int) -> tuple[np.uint64, np.uint64]:
    """Return the coverage in which every test has had both outcomes."""
    low, high = np.uint64(0), np.uint64(0)
    for bit in range(2 * tests):
        if bit < 64:
            low |= np.uint64(1) << np.uint64(bit)
        else:
            high |= np.uint64(1) << np.uint64(bit - 64)
    return low, high


def room(n: int, k: int) -> tuple[NDArray[np.uint8], NDArray[np.uint8]]:
    """Return room for the inputs and outputs of ``n`` programs, k worlds each."""
    return np.empty((n, k, BYTES), np.uint8), np.empty((n, k, BYTES), np.uint8)
