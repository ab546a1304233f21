"""The distributions of input worlds, compiled: the original's, uniform and narrow (section 4.2)."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from unskew.compiled import compiled
from unskew.domains.karel.hidden import EVEN, ORIGINAL, draw_count
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


@compiled
def draw_world(
    rng: np.random.Generator,
    kind: int,
    r_wall: float,
    r_marker: float,
    counts: int,
    world: NDArray[np.uint8],
    order: NDArray[np.int64],
) -> None:
    """Draw one world into ``world``; one without a free cell for Karel is drawn again.

    ``r_wall``, ``r_marker`` and ``counts`` are those of a narrow world; ``order`` is room for
    the numbers of the cells.
    """
    while True:
        if kind == NARROW_WORLDS:
            free = _narrow_cells(rng, r_wall, r_marker, counts, world, order)
        elif kind == UNIFORM_WORLDS:
            free = _uniform_cells(rng, world)
        else:
            free = _original_cells(rng, world, order)
        if free > 0:
            break
    corner = kind == ORIGINAL_WORLDS and world[0] != WALL and rng.random() < 0.2
    world[POSITION] = 0 if corner else _free_cell(rng, world, free)
    world[FACING] = int(rng.random() * 4)


@compiled
def clear_grid(world: NDArray[np.uint8], height: int, width: int) -> None:
    """Make an empty grid of that size; what lies outside it is wall."""
    world[:CELLS] = WALL
    for r in range(height):
        for c in range(width):
            world[r * SIDE + c] = 0
    world[HEIGHT], world[WIDTH] = height, width


@compiled
def draw_size(rng: np.random.Generator, smallest: int) -> int:
    """Draw a height or a width."""
    return smallest + int(rng.random() * (SIDE + 1 - smallest))


@compiled
def _uniform_cells(rng: np.random.Generator, world: NDArray[np.uint8]) -> int:
    """Steps 1 to 5 of the paper's uniform procedure; return how many cells are free."""
    height, width = draw_size(rng, SMALLEST), draw_size(rng, SMALLEST)
    clear_grid(world, height, width)
    r_marker, r_wall = rng.random(), rng.random()
    free = 0
    for r in range(height):
        for c in range(width):
            marker, wall = rng.random() < r_marker, rng.random() < r_wall
            if wall:
                world[r * SIDE + c] = WALL
                continue
            free += 1
            if marker:
                world[r * SIDE + c] = draw_count(rng, EVEN)
    return free


@compiled
def _narrow_cells(
    rng: np.random.Generator,
    r_wall: float,
    r_marker: float,
    counts: int,
    world: NDArray[np.uint8],
    order: NDArray[np.int64],
) -> int:
    """Steps 1 to 3 of the paper's narrow procedure; walls and markers take different cells."""
    height, width = draw_size(rng, NARROW_SMALLEST), draw_size(rng, NARROW_SMALLEST)
    clear_grid(world, height, width)
    cells = height * width
    walls, markers = narrow_numbers(cells, r_wall, r_marker)
    _shuffle_first(rng, height, width, walls + markers, order)
    for i in range(walls):
        world[order[i]] = WALL
    for i in range(walls, walls + markers):
        world[order[i]] = draw_count(rng, counts)
    return cells - walls


@compiled
def _original_cells(
    rng: np.random.Generator, world: NDArray[np.uint8], order: NDArray[np.int64]
) -> int:
    """Grids like the original dataset's: a third has no walls, a tenth no markers."""
    height, width = draw_size(rng, SMALLEST), draw_size(rng, SMALLEST)
    clear_grid(world, height, width)
    cells = height * width
    walls, markers = original_numbers(rng, cells)
    _shuffle_first(rng, height, width, walls + markers, order)
    for i in range(walls):
        world[order[i]] = WALL
    for i in range(walls, walls + markers):
        world[order[i]] = draw_count(rng, ORIGINAL)
    return cells - walls


@compiled
def narrow_numbers(cells: int, r_wall: float, r_marker: float) -> tuple[int, int]:
    """Return how many cells of a narrow world are walls, and how many hold markers."""
    walls = int(cells * r_wall + 0.5)
    return walls, min(int(cells * r_marker + 0.5), cells - walls)


@compiled
def original_numbers(rng: np.random.Generator, cells: int) -> tuple[int, int]:
    """Draw how many cells of a world like the original's are walls, and how many hold markers."""
    walls = 0
    if rng.random() < 2 / 3:
        walls = int(cells * 0.10 * np.exp(0.52 * rng.standard_normal()) + rng.random())
    markers = 0
    if rng.random() < 0.9:
        share = 0.10 * np.exp(0.25 * rng.standard_normal())
        if rng.random() < 0.1:
            share = 0.25 + 0.55 * rng.random()
        markers = int(cells * share + rng.random())
    walls = min(walls, cells - 1)
    return walls, min(markers, cells - walls)


@compiled
def _shuffle_first(
    rng: np.random.Generator, height: int, width: int, first: int, order: NDArray[np.int64]
) -> None:
    """Put a random choice of ``first`` cells, in random order, at the front of ``order``."""
    cells = height * width
    for i in range(cells):
        order[i] = (i // width) * SIDE + i % width
    for i in range(first):
        j = i + int(rng.random() * (cells - i))
        order[i], order[j] = order[j], order[i]


@compiled
def _free_cell(rng: np.random.Generator, world: NDArray[np.uint8], free: int) -> int:
    """Choose one of the free cells."""
    left = int(rng.random() * free)
    for cell in range(CELLS):
        if world[cell] != WALL:
            if left == 0:
                return cell
            left -= 1
    return 0


@compiled
def draw_worlds(
    rng: np.random.Generator, n: int, kind: int, r_wall: float, r_marker: float, counts: int
) -> NDArray[np.uint8]:
    """Draw ``n`` worlds, (n, 260)."""
    worlds = np.empty((n, BYTES), dtype=np.uint8)
    order = np.empty(CELLS, dtype=np.int64)
    for row in range(n):
        draw_world(rng, kind, r_wall, r_marker, counts, worlds[row], order)
    return worlds
