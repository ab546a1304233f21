"""Worlds that are drawn while a program looks at them, exactly as if drawn before.

A run looks at few cells, and most runs on random worlds end at once, so drawing the rest is
waste. How many cells are free and how many hold markers is drawn first. The free cells are then
a random choice among all cells, so Karel stands anywhere, and a cell that is looked at is free
with probability (free cells left) / (cells left); likewise a free cell holds markers with
probability (marked cells left) / (free cells left). What was not looked at is decided, in the
same way, only if the world is kept.
"""

from __future__ import annotations

from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from unskew.compiled import compiled
from unskew.domains.karel.world import CELLS, WALL

UNKNOWN, FREE = 254, 253  # a cell not looked at; a free one whose markers were not looked at
# What is left to decide, and how markers are counted.
CELLS_LEFT, FREE_LEFT, OPEN_LEFT, MARKED_LEFT, COUNTS = range(5)
GEOMETRIC, EVEN, REVERSED, ORIGINAL = range(4)  # G, U and A of the paper; the original dataset

# The generator, what is left, and the world as it was before the program changed it.
Hidden: TypeAlias = "tuple[np.random.Generator, NDArray[np.int64], NDArray[np.uint8]] | None"


@compiled
def reveal_cell(
    world: NDArray[np.uint8],
    cell: int,
    hidden: tuple[np.random.Generator, NDArray[np.int64], NDArray[np.uint8]],
) -> None:
    """Decide whether a cell is a wall or free."""
    rng, left, before = hidden
    if rng.random() * left[CELLS_LEFT] < left[FREE_LEFT]:
        world[cell] = FREE
        left[FREE_LEFT] -= 1
    else:
        world[cell] = WALL
    left[CELLS_LEFT] -= 1
    before[cell] = world[cell]


@compiled
def reveal_markers(
    world: NDArray[np.uint8],
    cell: int,
    hidden: tuple[np.random.Generator, NDArray[np.int64], NDArray[np.uint8]],
) -> None:
    """Decide how many markers lie on a free cell."""
    rng, left, before = hidden
    world[cell] = 0
    if rng.random() * left[OPEN_LEFT] < left[MARKED_LEFT]:
        world[cell] = draw_count(rng, left[COUNTS])
        left[MARKED_LEFT] -= 1
    left[OPEN_LEFT] -= 1
    before[cell] = world[cell]


@compiled
def reveal_all(
    world: NDArray[np.uint8],
    hidden: tuple[np.random.Generator, NDArray[np.int64], NDArray[np.uint8]],
) -> None:
    """Decide everything that is still open."""
    for cell in range(CELLS):
        if world[cell] == UNKNOWN:
            reveal_cell(world, cell, hidden)
        if world[cell] == FREE:
            reveal_markers(world, cell, hidden)


@compiled
def draw_count(rng: np.random.Generator, counts: int) -> int:
    """Draw the number of markers of a cell that has some."""
    if counts == ORIGINAL:  # 0.57·{1} + 0.16·U{1..5} + 0.27·U{1..9}
        u = rng.random()
        if u < 0.57:
            return 1
        return 1 + int(rng.random() * (5 if u < 0.73 else 9))
    if counts == EVEN:
        return 1 + int(rng.random() * 9)
    geometric = 1
    while geometric < 9 and rng.random() < 0.5:
        geometric += 1
    return geometric if counts == GEOMETRIC else 10 - geometric
