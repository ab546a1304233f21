"""Hidden worlds: a cell is drawn when a program looks at it, with the same distribution.

A run looks at few cells, and most runs on random worlds end at once. So drawing the other cells
would be wasted. The numbers of free cells and of cells with markers are drawn first. The free
cells are a random choice among all cells. So Karel may stand on any cell, and a new cell is free
with probability (free cells left) / (cells left). A free cell has markers with probability
(marked cells left) / (free cells left). The rest of the world is drawn in the same way, but only
if the world is kept. Otherwise only the cells that were looked at are reset. So a world that
fails at once costs a few random numbers.
"""

from __future__ import annotations

from typing import TypeAlias

import numpy as np

from unskew.core.arrays import Ints
from unskew.core.compiled import compiled, compiled_inner
from unskew.domains.karel.running.chance import Chance, uniform
from unskew.domains.karel.world import BYTES, CELLS, HEIGHT, SIDE, WALL, WIDTH, World

UNKNOWN, FREE = 254, 253  # an unknown cell; a free cell with an unknown number of markers
# What `left` holds: how much is left to decide, how markers are counted, whether the world is
# fair, how many cells were looked at, and from TRAIL on, which.
CELLS_LEFT, FREE_LEFT, OPEN_LEFT, MARKED_LEFT, COUNTS, KIND, LOOKED, TRAIL = range(8)
SAVED = TRAIL + CELLS + 1
STATE = SAVED + CELLS
FAIR, KINDLY = range(2)  # in a kindly world an action never fails on a cell that is unknown
# How markers are counted: like G, U and A of the paper; like the original dataset; in one of
# the paper's three ways, which differs from world to world.
GEOMETRIC, EVEN, REVERSED, MIXED, VARIED = range(5)

# The state of the generator, what is left to decide, and the world before the run.
Left: TypeAlias = Ints
Hidden: TypeAlias = tuple[Chance, Left, World]


@compiled
def hidden_rooms(k: int) -> tuple[World, World, Left]:
    """Make arrays for k worlds before and after a run, and for what is left to decide."""
    before = np.empty((k, BYTES), dtype=np.uint8)
    after = np.empty((k, BYTES), dtype=np.uint8)
    left = np.zeros((k, STATE), dtype=np.int64)
    clear(before, after, left)
    return before, after, left


@compiled_inner
def clear(before: World, after: World, left: Left) -> None:
    """Make every cell of the worlds unknown."""
    before[:], after[:] = UNKNOWN, UNKNOWN
    left[:, LOOKED] = 0


@compiled_inner
def reveal_cell(world: World, cell: int, hidden: Hidden, needed: bool) -> None:
    """Decide whether a cell is a wall or free. Outside the grid all cells are walls."""
    inside = cell // SIDE < world[HEIGHT] and cell % SIDE < world[WIDTH]
    is_free = inside and _decide(hidden, needed, CELLS_LEFT, FREE_LEFT)
    look(world, cell, FREE if is_free else WALL, hidden)


@compiled_inner
def reveal_markers(world: World, cell: int, hidden: Hidden, needed: bool) -> None:
    """Decide how many markers lie on a free cell."""
    state, left, before = hidden
    markers = 0
    if _decide(hidden, needed, OPEN_LEFT, MARKED_LEFT):
        markers = draw_count(state, left[COUNTS])
    world[cell] = markers
    before[cell] = markers


@compiled_inner
def _decide(hidden: Hidden, needed: bool, cells: int, chosen: int) -> bool:
    """Decide whether the next of the ``cells`` left is a ``chosen`` one, and count it."""
    state, left, _ = hidden
    certain = needed and left[KIND] == KINDLY
    is_chosen: bool = certain or uniform(state) * left[cells] < left[chosen]
    if is_chosen:
        left[chosen] -= 1
    left[cells] -= 1
    return is_chosen


@compiled_inner
def look(world: World, cell: int, content: int, hidden: Hidden) -> None:
    """Write what a cell is, and note the cell, so that ``forget`` can reset it."""
    _, left, before = hidden
    world[cell] = content
    before[cell] = content
    left[TRAIL + left[LOOKED]] = cell
    left[LOOKED] += 1


@compiled_inner
def forget(world: World, hidden: Hidden) -> None:
    """Reset the cells that were looked at."""
    _, left, before = hidden
    for i in range(left[LOOKED]):
        cell = left[TRAIL + i]
        world[cell] = UNKNOWN
        before[cell] = UNKNOWN
    left[LOOKED] = 0


@compiled_inner
def reveal_all(world: World, hidden: Hidden) -> None:
    """Decide all cells that are still unknown, in the world before and after the run."""
    _, left, before = hidden
    looked = left[LOOKED]
    for i in range(looked):  # the program may have changed these, and _choose needs the trail
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
def _choose(world: World, hidden: Hidden, what: int, cells: int, chosen: int) -> None:
    """Choose ``chosen`` of the unknown cells to be free, or of the free cells to have markers.

    The smaller of the two groups is drawn; the other cells are the other group.
    """
    state, left, _ = hidden
    height, width = int(world[HEIGHT]), int(world[WIDTH])
    draws_chosen = 2 * chosen <= cells
    few = chosen if draws_chosen else cells - chosen
    at = TRAIL
    for row in range(height):
        for cell in range(row * SIDE, row * SIDE + width):
            left[at] = cell  # the next cell overwrites it, if the cell is not one of them
            at += world[cell] == what
    end = at
    for i in range(TRAIL, end):
        is_few = i < TRAIL + few
        if is_few:
            j = i + int(uniform(state) * (end - i))
            left[i], left[j] = left[j], left[i]
        is_chosen = is_few == draws_chosen
        if what == UNKNOWN:
            world[left[i]] = FREE if is_chosen else WALL
        else:
            world[left[i]] = draw_count(state, left[COUNTS]) if is_chosen else 0


@compiled_inner
def counts_of_world(state: Chance, counts: int) -> int:
    """Choose how markers are counted in one world, if that differs from world to world."""
    return int(uniform(state) * 3) if counts == VARIED else counts


@compiled_inner
def draw_count(state: Chance, counts: int) -> int:
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
