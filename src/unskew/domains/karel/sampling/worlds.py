"""The distributions of input worlds, compiled: the original's, uniform and narrow (section 4.2)."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from unskew.core.compiled import compiled, compiled_inner
from unskew.domains.karel.running.chance import chance, uniform
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
)

ORIGINAL_WORLDS, UNIFORM_WORLDS, NARROW_WORLDS = range(3)
NARROW_SMALLEST = 10

# Worlds like the original's, before a program is run on them, chosen such that the valid ones
# have the figures that are known of 307 original ones (docs/karel.md, tests). How often Karel
# starts in the corner, how often there is no wall and no marker:
CORNER, NO_WALLS, NO_MARKERS = 0.28, 0.315, 0.172
SIZES_ORIGINAL = np.array(
    [
        1.289,
        1.139,
        1.087,
        1.071,
        1.035,
        0.991,
        0.963,
        0.979,
        0.959,
        0.926,
        0.931,
        0.923,
        0.914,
        0.894,
        0.899,
    ]
)
_CHANCES = np.array([0, 0.1, 0.25, 0.5, 0.75, 0.9, 0.97, 1])
_WALLS = np.array([0.03, 0.05, 0.071, 0.1, 0.139, 0.19, 0.3, 0.54])
_MARKED_CHANCES = np.array([0, 0.1, 0.25, 0.5, 0.8, 0.93, 0.97, 0.991, 1])
_MARKED = np.array([0.04, 0.06, 0.08, 0.1, 0.125, 0.16, 0.25, 0.6, 0.8])
_STEPS = 64


def _by_chance(chances: NDArray[np.float64], values: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the values at evenly spaced chances, one more at the end to read between."""
    return np.interp(np.arange(_STEPS + 2) / _STEPS, chances, values)


WALL_SHARES = _by_chance(_CHANCES, _WALLS)
MARKED_SHARES = _by_chance(_MARKED_CHANCES, _MARKED)
# A height or width for each of 1,024 chances.
ORIGINAL_SIZES = SMALLEST + np.searchsorted(
    np.cumsum(SIZES_ORIGINAL / SIZES_ORIGINAL.sum()), (np.arange(1024) + 0.5) / 1024
)


@compiled_inner
def draw_world(
    state: NDArray[np.uint64],
    kind: int,
    r_wall: float,
    r_marker: float,
    counts: int,
    world: NDArray[np.uint8],
    order: NDArray[np.int64],
) -> None:
    """Draw one world into ``world``; one without a free cell for Karel is drawn again.

    ``r_wall`` and ``r_marker`` are those of a narrow world, ``counts`` of a narrow or a uniform
    one; ``order`` is room for the numbers of the cells.
    """
    chosen = counts_of_world(state, counts)
    while True:
        if kind == NARROW_WORLDS:
            free = _narrow_cells(state, r_wall, r_marker, chosen, world, order)
        elif kind == UNIFORM_WORLDS:
            free = _uniform_cells(state, chosen, world)
        else:
            free = _original_cells(state, world, order)
        if free > 0:
            break
    corner = kind == ORIGINAL_WORLDS and world[0] != WALL and uniform(state) < CORNER
    world[POSITION] = 0 if corner else _free_cell(state, world, free)
    world[FACING] = int(uniform(state) * 4)


@compiled_inner
def clear_grid(world: NDArray[np.uint8], height: int, width: int) -> None:
    """Make an empty grid of that size; what lies outside it is wall."""
    world[:CELLS] = WALL
    for r in range(height):
        for c in range(width):
            world[r * SIDE + c] = 0
    world[HEIGHT], world[WIDTH] = height, width


@compiled_inner
def draw_size(state: NDArray[np.uint64], smallest: int) -> int:
    """Draw a height or a width."""
    return smallest + int(uniform(state) * (SIDE + 1 - smallest))


@compiled_inner
def _uniform_cells(state: NDArray[np.uint64], counts: int, world: NDArray[np.uint8]) -> int:
    """Steps 1 to 5 of the paper's uniform procedure; return how many cells are free."""
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
def _narrow_cells(
    state: NDArray[np.uint64],
    r_wall: float,
    r_marker: float,
    counts: int,
    world: NDArray[np.uint8],
    order: NDArray[np.int64],
) -> int:
    """Steps 1 to 3 of the paper's narrow procedure; walls and markers take different cells."""
    height, width = draw_size(state, NARROW_SMALLEST), draw_size(state, NARROW_SMALLEST)
    clear_grid(world, height, width)
    cells = height * width
    walls, markers = narrow_numbers(cells, r_wall, r_marker)
    _shuffle_first(state, height, width, walls + markers, order)
    for i in range(walls):
        world[order[i]] = WALL
    for i in range(walls, walls + markers):
        world[order[i]] = draw_count(state, counts)
    return cells - walls


@compiled_inner
def _original_cells(
    state: NDArray[np.uint64], world: NDArray[np.uint8], order: NDArray[np.int64]
) -> int:
    """Grids like the original dataset's: a third has no walls, a tenth no markers."""
    height, width = original_size(state)
    clear_grid(world, height, width)
    cells = height * width
    walls, markers = original_numbers(state, cells)
    _shuffle_first(state, height, width, walls + markers, order)
    for i in range(walls):
        world[order[i]] = WALL
    for i in range(walls, walls + markers):
        world[order[i]] = draw_count(state, MIXED)
    return cells - walls


@compiled_inner
def narrow_numbers(cells: int, r_wall: float, r_marker: float) -> tuple[int, int]:
    """Return how many cells of a narrow world are walls, and how many hold markers."""
    walls = int(cells * r_wall + 0.5)
    return walls, min(int(cells * r_marker + 0.5), cells - walls)


@compiled_inner
def original_numbers(state: NDArray[np.uint64], cells: int) -> tuple[int, int]:
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
    """Return the share of the cells at a chance, read between the steps of the table."""
    step = int(chance * _STEPS)
    rest = chance * _STEPS - step
    share: float = shares[step] + rest * (shares[step + 1] - shares[step])
    return share


@compiled_inner
def _rounded(state: NDArray[np.uint64], number: float) -> int:
    """Round up as often as the number is past a whole one."""
    return int(number + uniform(state))


@compiled_inner
def original_size(state: NDArray[np.uint64]) -> tuple[int, int]:
    """Draw height and width of a world like the original's."""
    both = int(uniform(state) * 1024 * 1024)
    return ORIGINAL_SIZES[both // 1024], ORIGINAL_SIZES[both % 1024]


@compiled_inner
def _shuffle_first(
    state: NDArray[np.uint64], height: int, width: int, first: int, order: NDArray[np.int64]
) -> None:
    """Put a random choice of ``first`` cells, in random order, at the front of ``order``."""
    cells = height * width
    for i in range(cells):
        order[i] = (i // width) * SIDE + i % width
    for i in range(first):
        j = i + int(uniform(state) * (cells - i))
        order[i], order[j] = order[j], order[i]


@compiled_inner
def _free_cell(state: NDArray[np.uint64], world: NDArray[np.uint8], free: int) -> int:
    """Choose one of the free cells."""
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
    state: NDArray[np.uint64],
    kind: int,
    r_wall: float,
    r_marker: float,
    counts: int,
    worlds: NDArray[np.uint8],
) -> None:
    order = np.empty(CELLS, dtype=np.int64)
    for row in range(len(worlds)):
        draw_world(state, kind, r_wall, r_marker, counts, worlds[row], order)
