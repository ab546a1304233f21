"""The distributions of input worlds, compiled: the original's, uniform and narrow (section 4.2)."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from unskew.core.compiled import compiled, compiled_inner
from unskew.domains.karel.running.chance import Chance, chance, uniform
from unskew.domains.karel.running.hidden import MIXED, counts_of_world, draw_count
from unskew.domains.karel.world import (
    BYTES,
    CELLS,
    FACING,
    HEIGHT,
    POSITION,
    SIDE,
    SMALLEST,
    WALL,
    WIDTH,
    World,
)

ORIGINAL_WORLDS, UNIFORM_WORLDS, NARROW_WORLDS = range(3)
NARROW_SMALLEST = 10

# The distribution of worlds like the original's, before a program is run on them. It was chosen so
# that the valid worlds have the known figures of 307 original worlds (docs/karel.md, tests).
# The shares of worlds in which Karel starts in the corner, without walls, and without markers:
CORNER, NO_WALLS, NO_MARKERS = 0.28, 0.315, 0.172
SIZES_ORIGINAL = np.array([
    1.289, 1.139, 1.087, 1.071, 1.035, 0.991, 0.963, 0.979, 0.959, 0.926, 0.931, 0.923, 0.914,
    0.894, 0.899,
])  # fmt: skip
_CHANCES = np.array([0, 0.1, 0.25, 0.5, 0.75, 0.9, 0.97, 1])
_WALLS = np.array([0.03, 0.05, 0.071, 0.1, 0.139, 0.19, 0.3, 0.54])
_MARKED_CHANCES = np.array([0, 0.1, 0.25, 0.5, 0.8, 0.93, 0.97, 0.991, 1])
_MARKED = np.array([0.04, 0.06, 0.08, 0.1, 0.125, 0.16, 0.25, 0.6, 0.8])
_STEPS = 64


def _by_chance(chances: NDArray[np.float64], values: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the values at evenly spaced chances, and one value more to interpolate the last."""
    return np.interp(np.arange(_STEPS + 2) / _STEPS, chances, values)


WALL_SHARES = _by_chance(_CHANCES, _WALLS)
MARKED_SHARES = _by_chance(_MARKED_CHANCES, _MARKED)
# A height or width for each of 1,024 chances.
ORIGINAL_SIZES = SMALLEST + np.searchsorted(
    np.cumsum(SIZES_ORIGINAL / SIZES_ORIGINAL.sum()), (np.arange(1024) + 0.5) / 1024
)


@compiled_inner
def draw_world(
    state: Chance,
    kind: int,
    r_wall: float,
    r_marker: float,
    counts: int,
    world: World,
    order: NDArray[np.int64],
) -> None:
    """Draw one world into ``world``. If no cell is free for Karel, draw it again.

    Only narrow worlds use ``r_wall`` and ``r_marker``; worlds like the original's do not use
    ``counts``. ``order`` is room for the numbers of the cells.
    """
    chosen = counts_of_world(state, counts)
    while True:
        if kind == NARROW_WORLDS:
            clear_grid(world, draw_size(state, NARROW_SMALLEST), draw_size(state, NARROW_SMALLEST))
            walls, markers = narrow_numbers(world[HEIGHT] * world[WIDTH], r_wall, r_marker)
            free = _fill(state, walls, markers, chosen, world, order)
        elif kind == UNIFORM_WORLDS:
            free = _uniform_cells(state, chosen, world)
        else:
            height, width = original_size(state)
            clear_grid(world, height, width)
            walls, markers = original_numbers(state, height * width)
            free = _fill(state, walls, markers, MIXED, world, order)
        if free > 0:
            break
    corner = kind == ORIGINAL_WORLDS and world[0] != WALL and uniform(state) < CORNER
    world[POSITION] = 0 if corner else _free_cell(state, world, free)
    world[FACING] = int(uniform(state) * 4)


@compiled_inner
def clear_grid(world: World, height: int, width: int) -> None:
    """Make an empty grid. The cells outside it are walls."""
    world[:CELLS] = WALL
    for r in range(height):
        for c in range(width):
            world[r * SIDE + c] = 0
    world[HEIGHT], world[WIDTH] = height, width


@compiled_inner
def draw_size(state: Chance, smallest: int) -> int:
    """Draw a height or a width from ``smallest`` to 16."""
    return smallest + int(uniform(state) * (SIDE + 1 - smallest))


@compiled_inner
def _uniform_cells(state: Chance, counts: int, world: World) -> int:
    """Do steps 1 to 5 of the paper's uniform procedure; return how many cells are free."""
    height, width = draw_size(state, SMALLEST), draw_size(state, SMALLEST)
    clear_grid(world, height, width)
    r_marker, r_wall = uniform(state), uniform(state)
    free = 0
    for r in range(height):
        for c in range(width):
            marker, wall = uniform(state) < r_marker, uniform(state) < r_wall
            if wall:
                world[r * SIDE + c] = WALL
                continue
            free += 1
            if marker:
                world[r * SIDE + c] = draw_count(state, counts)
    return free


@compiled_inner
def _fill(
    state: Chance, walls: int, markers: int, counts: int, world: World, order: NDArray[np.int64]
) -> int:
    """Put walls and markers on random cells of an empty grid; return how many cells are free."""
    height, width = int(world[HEIGHT]), int(world[WIDTH])
    _shuffle_first(state, height, width, walls + markers, order)
    for i in range(walls):
        world[order[i]] = WALL
    for i in range(walls, walls + markers):
        world[order[i]] = draw_count(state, counts)
    return height * width - walls


@compiled_inner
def narrow_numbers(cells: int, r_wall: float, r_marker: float) -> tuple[int, int]:
    """Return how many cells of a narrow world are walls, and how many hold markers."""
    walls = int(cells * r_wall + 0.5)
    return walls, min(int(cells * r_marker + 0.5), cells - walls)


@compiled_inner
def original_numbers(state: Chance, cells: int) -> tuple[int, int]:
    """Draw how many cells of a world like the original's are walls, and how many hold markers."""
    chance, walls, markers = uniform(state), 0, 0
    if chance >= NO_WALLS:
        chance = (chance - NO_WALLS) / (1 - NO_WALLS)
        walls = _rounded(state, cells * _share(WALL_SHARES, chance))
    chance = uniform(state)
    if chance >= NO_MARKERS:
        chance = (chance - NO_MARKERS) / (1 - NO_MARKERS)
        markers = _rounded(state, cells * _share(MARKED_SHARES, chance))
    walls = min(walls, cells - 1)
    return walls, min(markers, cells - walls)


@compiled_inner
def _share(shares: NDArray[np.float64], chance: float) -> float:
    """Return the share at a chance, interpolated between the steps of the table."""
    step = int(chance * _STEPS)
    rest = chance * _STEPS - step
    share: float = shares[step] + rest * (shares[step + 1] - shares[step])
    return share


@compiled_inner
def _rounded(state: Chance, number: float) -> int:
    """Round up or down at random, so that the mean is the number."""
    return int(number + uniform(state))


@compiled_inner
def original_size(state: Chance) -> tuple[int, int]:
    """Draw height and width of a world like the original's."""
    both = int(uniform(state) * 1024 * 1024)
    return ORIGINAL_SIZES[both // 1024], ORIGINAL_SIZES[both % 1024]


@compiled_inner
def _shuffle_first(
    state: Chance, height: int, width: int, first: int, order: NDArray[np.int64]
) -> None:
    """Put a random choice of ``first`` cells, in random order, at the front of ``order``."""
    cells = height * width
    for i in range(cells):
        order[i] = (i // width) * SIDE + i % width
    for i in range(first):
        j = i + int(uniform(state) * (cells - i))
        order[i], order[j] = order[j], order[i]


@compiled_inner
def _free_cell(state: Chance, world: World, free: int) -> int:
    """Choose one of the free cells; there are ``free`` of them."""
    left = int(uniform(state) * free)
    for cell in range(CELLS):
        if world[cell] != WALL:
            if left == 0:
                return cell
            left -= 1
    return 0


def draw_worlds(
    rng: np.random.Generator, n: int, kind: int, r_wall: float, r_marker: float, counts: int
) -> NDArray[np.uint8]:
    """Draw ``n`` worlds, (n, 260)."""
    worlds = np.empty((n, BYTES), dtype=np.uint8)
    _draw_rows(chance(rng), kind, r_wall, r_marker, counts, worlds)
    return worlds


@compiled
def _draw_rows(
    state: Chance,
    kind: int,
    r_wall: float,
    r_marker: float,
    counts: int,
    worlds: NDArray[np.uint8],
) -> None:
    order = np.empty(CELLS, dtype=np.int64)
    for row in range(len(worlds)):
        draw_world(state, kind, r_wall, r_marker, counts, worlds[row], order)
