"""The distributions of input worlds: the original's, uniform and narrow (section 4.2).

A world begins hidden (``hidden``): its size, its numbers of walls and of cells with markers and
Karel's cell are drawn first. The rest is drawn when it is needed.
"""

from __future__ import annotations

from typing import TypeAlias

import numpy as np

from unskew.core.arrays import Floats
from unskew.core.compiled import compiled_inner
from unskew.domains.karel import world as w
from unskew.domains.karel.running import hidden as h
from unskew.domains.karel.running.chance import Chance, two_below, uniform
from unskew.domains.karel.world import World

# Which worlds: their kind, r_wall and r_marker of narrow worlds, and how markers are counted.
Worlds: TypeAlias = tuple[int, float, float, int]
ORIGINAL_WORLDS, UNIFORM_WORLDS, NARROW_WORLDS = range(3)
ORIGINAL = (ORIGINAL_WORLDS, 0.0, 0.0, h.MIXED)
NARROW_SMALLEST = 10

# The distribution of worlds like the original's, before a program is run on them. It was chosen so
# that the valid worlds have the known figures of 307 original worlds (docs/karel.md, tests).
# The shares of worlds in which Karel starts in the corner, without walls, and without markers:
CORNER, NO_WALLS, NO_MARKERS = 0.28, 0.315, 0.172
SIZES_ORIGINAL = np.array([
    1.289, 1.139, 1.087, 1.071, 1.035, 0.991, 0.963, 0.979, 0.959, 0.926, 0.931, 0.923, 0.914,
    0.894, 0.899,
])  # fmt: skip
_STEPS = 64


def _by_chance(chances: list[float], values: list[float]) -> Floats:
    """Return the values at evenly spaced chances, and one value more to interpolate the last."""
    return np.interp(np.arange(_STEPS + 2) / _STEPS, chances, values)


WALL_SHARES = _by_chance(
    [0, 0.1, 0.25, 0.5, 0.75, 0.9, 0.97, 1], [0.03, 0.05, 0.071, 0.1, 0.139, 0.19, 0.3, 0.54]
)
MARKED_SHARES = _by_chance(
    [0, 0.1, 0.25, 0.5, 0.8, 0.93, 0.97, 0.991, 1],
    [0.04, 0.06, 0.08, 0.1, 0.125, 0.16, 0.25, 0.6, 0.8],
)
# A height or width for each of 1,024 chances.
ORIGINAL_SIZES = w.SMALLEST + np.searchsorted(
    np.cumsum(SIZES_ORIGINAL / SIZES_ORIGINAL.sum()), (np.arange(1024) + 0.5) / 1024
)


@compiled_inner
def start_hidden(worlds: Worlds, world: World, hidden: h.Hidden) -> None:
    """Begin a hidden world: draw its size, its numbers of walls and markers, and Karel's cell."""
    state, left, before = hidden
    kind, r_wall, r_marker, counts = worlds
    h.forget(world, hidden)
    while True:
        height, width = _size(state, kind)
        cells = height * width
        if kind == NARROW_WORLDS:
            walls = int(cells * r_wall + 0.5)
            markers = min(int(cells * r_marker + 0.5), cells - walls)
        elif kind == UNIFORM_WORLDS:
            # Each cell is a wall with a probability that is itself uniform. So the number of walls
            # is uniform too. The same holds for the free cells with markers.
            walls = int(uniform(state) * (cells + 1))
            markers = int(uniform(state) * (cells - walls + 1))
        else:
            walls = min(_number(state, cells, NO_WALLS, WALL_SHARES), cells - 1)
            markers = min(_number(state, cells, NO_MARKERS, MARKED_SHARES), cells - walls)
        if walls < cells:
            break
    left[h.CELLS_LEFT], left[h.FREE_LEFT] = cells, cells - walls
    left[h.OPEN_LEFT], left[h.MARKED_LEFT] = cells - walls, markers
    left[h.COUNTS], left[h.KIND] = h.counts_of_world(state, counts), h.FAIR
    if kind == ORIGINAL_WORLDS:
        left[h.COUNTS] = h.MIXED
    world[w.HEIGHT], world[w.WIDTH] = height, width
    world[w.FACING] = int(uniform(state) * 4)
    _place_karel(kind, world, hidden)
    for byte in range(w.HEIGHT, w.BYTES):
        before[byte] = world[byte]


@compiled_inner
def _place_karel(kind: int, world: World, hidden: h.Hidden) -> None:
    """Put Karel on a free cell: on any cell, as the free cells are a random choice of all."""
    state, left, _ = hidden
    if kind == ORIGINAL_WORLDS and uniform(state) < CORNER:
        h.reveal_cell(world, 0, hidden, False)
        if world[0] == h.FREE:
            world[w.POSITION] = 0
            return
    height, width = int(world[w.HEIGHT]), int(world[w.WIDTH])
    while True:
        row, column = two_below(uniform(state), height, width)
        place = row * w.SIDE + column
        if world[place] != w.WALL:
            break
    world[w.POSITION] = place
    h.look(world, place, h.FREE, hidden)
    left[h.CELLS_LEFT] -= 1
    left[h.FREE_LEFT] -= 1


@compiled_inner
def _size(state: Chance, kind: int) -> tuple[int, int]:
    """Draw the height and the width of a world."""
    if kind == ORIGINAL_WORLDS:
        both = int(uniform(state) * 1024 * 1024)
        return ORIGINAL_SIZES[both // 1024], ORIGINAL_SIZES[both % 1024]
    smallest = NARROW_SMALLEST if kind == NARROW_WORLDS else w.SMALLEST
    sizes = w.SIDE + 1 - smallest
    tall, wide = two_below(uniform(state), sizes, sizes)
    return smallest + tall, smallest + wide


@compiled_inner
def _number(state: Chance, cells: int, none: float, shares: Floats) -> int:
    """Draw a number of cells: 0 with the probability ``none``, else a share from a table."""
    position = uniform(state)
    if position < none:
        return 0
    position = (position - none) / (1 - none) * _STEPS
    step = int(position)
    share = shares[step] + (position - step) * (shares[step + 1] - shares[step])
    return int(cells * share + uniform(state))  # up or down at random: the mean is the number
