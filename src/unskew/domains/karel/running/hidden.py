"""Worlds that are drawn while a program looks at them, exactly as if drawn before.

A run looks at few cells, and most runs on random worlds end at once, so drawing the rest is
waste. How many cells are free and how many hold markers is drawn first. The free cells are then
a random choice among all cells, so Karel stands anywhere, and a cell that is looked at is free
with probability (free cells left) / (cells left); likewise a free cell holds markers with
probability (marked cells left) / (free cells left). What was not looked at is decided, in the
same way, only if the world is kept; if it is not, only what was looked at is forgotten, so a
world that fails at once costs a few random numbers.
"""

from __future__ import annotations

from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from unskew.core.compiled import compiled, compiled_inner
from unskew.domains.karel.running.chance import uniform
from unskew.domains.karel.world import BYTES, CELLS, HEIGHT, SIDE, WALL, WIDTH

UNKNOWN, FREE = 254, 253  # a cell not looked at; a free one whose markers were not looked at
# What is left to decide, how markers are counted, and which cells were looked at.
CELLS_LEFT, FREE_LEFT, OPEN_LEFT, MARKED_LEFT, COUNTS, KIND, LOOKED, TRAIL = range(8)
SAVED = TRAIL + CELLS + 1
STATE = SAVED + CELLS
FAIR, KINDLY = range(2)  # a kindly world lets actions succeed where nothing is known yet
# How markers are counted: G, U and A of the paper; as in the original dataset; in each world in
# one of the paper's three ways.
GEOMETRIC, EVEN, REVERSED, MIXED, VARIED = range(5)

# The generator, what is left, and the world as it was before the program changed it.
Hidden: TypeAlias = "tuple[NDArray[np.uint64], NDArray[np.int64], NDArray[np.uint8]] | None"


@compiled
def hidden_rooms(k: int) -> tuple[NDArray[np.uint8], NDArray[np.uint8], NDArray[np.int64]]:
    """Make room for k worlds before and after a run, and for what is left to decide of each."""
    before = np.empty((k, BYTES), dtype=np.uint8)
    after = np.empty((k, BYTES), dtype=np.uint8)
    left = np.zeros((k, STATE), dtype=np.int64)
    clear(before, after, left)
    return before, after, left


@compiled_inner
def clear(before: NDArray[np.uint8], after: NDArray[np.uint8], left: NDArray[np.int64]) -> None:
    """Make them worlds of which nothing is known."""
    before[:], after[:] = UNKNOWN, UNKNOWN
    left[:, LOOKED] = 0


@compiled_inner
def reveal_cell(
    world: NDArray[np.uint8],
    cell: int,
    hidden: tuple[NDArray[np.uint64], NDArray[np.int64], NDArray[np.uint8]],
    needed: bool,
) -> None:
    """Decide whether a cell is a wall or free; outside the grid all is wall."""
    state, left, before = hidden
    found = WALL
    if cell // SIDE < world[HEIGHT] and cell % SIDE < world[WIDTH]:
        if (needed and left[KIND] == KINDLY) or uniform(state) * left[CELLS_LEFT] < left[FREE_LEFT]:
            found = FREE
            left[FREE_LEFT] -= 1
        left[CELLS_LEFT] -= 1
    look(world, cell, found, left, before)


@compiled_inner
def look(
    world: NDArray[np.uint8],
    cell: int,
    found: int,
    left: NDArray[np.int64],
    before: NDArray[np.uint8],
) -> None:
    """Note what a cell is, to be forgotten if the world is not kept."""
    world[cell] = found
    before[cell] = found
    left[TRAIL + left[LOOKED]] = cell
    left[LOOKED] += 1


@compiled_inner
def reveal_markers(
    world: NDArray[np.uint8],
    cell: int,
    hidden: tuple[NDArray[np.uint64], NDArray[np.int64], NDArray[np.uint8]],
    needed: bool,
) -> None:
    """Decide how many markers lie on a free cell."""
    state, left, before = hidden
    found = 0
    if (needed and left[KIND] == KINDLY) or uniform(state) * left[OPEN_LEFT] < left[MARKED_LEFT]:
        found = draw_count(state, left[COUNTS])
        left[MARKED_LEFT] -= 1
    left[OPEN_LEFT] -= 1
    world[cell] = found
    before[cell] = found


@compiled_inner
def forget(world: NDArray[np.uint8], left: NDArray[np.int64], before: NDArray[np.uint8]) -> None:
    """Make a world that was looked at one of which nothing is known."""
    for i in range(left[LOOKED]):
        cell = left[TRAIL + i]
        world[cell] = UNKNOWN
        before[cell] = UNKNOWN
    left[LOOKED] = 0


@compiled_inner
def reveal_all(
    world: NDArray[np.uint8],
    hidden: tuple[NDArray[np.uint64], NDArray[np.int64], NDArray[np.uint8]],
) -> None:
    """Decide everything that is still open."""
    _, left, before = hidden
    looked = left[LOOKED]
    for i in range(looked):  # what the program may have changed; the trail is needed for more
        cell = left[TRAIL + i]
        left[SAVED + i] = before[cell] * CELLS + cell
    _choose(world, hidden, UNKNOWN, left[CELLS_LEFT], left[FREE_LEFT])
    _choose(world, hidden, FREE, left[OPEN_LEFT], left[MARKED_LEFT])
    height, width = int(world[HEIGHT]), int(world[WIDTH])
    for row in range(SIDE):
        for cell in range(row * SIDE + (width if row < height else 0), (row + 1) * SIDE):
            world[cell] = WALL
    for cell in range(CELLS):
        before[cell] = world[cell]
    for i in range(looked):
        value, cell = left[SAVED + i] // CELLS, left[SAVED + i] % CELLS
        if value < FREE:
            before[cell] = value


@compiled_inner
def _choose(
    world: NDArray[np.uint8],
    hidden: tuple[NDArray[np.uint64], NDArray[np.int64], NDArray[np.uint8]],
    what: int,
    cells: int,
    chosen: int,
) -> None:
    """Choose that many of the unknown cells to be free, or of the free ones to hold markers.

    The fewer are drawn; what is left over is of the other kind.
    """
    state, left, _ = hidden
    height, width = int(world[HEIGHT]), int(world[WIDTH])
    some_are = 2 * chosen <= cells
    few = chosen if some_are else cells - chosen
    at = TRAIL
    for row in range(height):
        for cell in range(row * SIDE, row * SIDE + width):
            left[at] = cell  # written over where it is not one of them
            at += world[cell] == what
    end = at
    for i in range(TRAIL, end):
        is_few = i < TRAIL + few
        if is_few:
            j = i + int(uniform(state) * (end - i))
            left[i], left[j] = left[j], left[i]
        is_chosen = is_few == some_are
        if what == UNKNOWN:
            world[left[i]] = FREE if is_chosen else WALL
        else:
            world[left[i]] = draw_count(state, left[COUNTS]) if is_chosen else 0


@compiled_inner
def counts_of_world(state: NDArray[np.uint64], counts: int) -> int:
    """Choose how the markers of one world are counted, where worlds differ in it."""
    return int(uniform(state) * 3) if counts == VARIED else counts


@compiled_inner
def draw_count(state: NDArray[np.uint64], counts: int) -> int:
    """Draw the number of markers of a cell that has some."""
    if counts == MIXED:  # 0.57·{1} + 0.16·U{1..5} + 0.27·U{1..9}
        u = uniform(state)
        if u < 0.57:
            return 1
        return 1 + int(uniform(state) * (5 if u < 0.73 else 9))
    if counts == EVEN:
        return 1 + int(uniform(state) * 9)
    geometric = 1
    while geometric < 9 and uniform(state) < 0.5:
        geometric += 1
    return geometric if counts == GEOMETRIC else 10 - geometric
