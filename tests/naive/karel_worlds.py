"""Worlds drawn whole, cell by cell: the twin of worlds that are drawn when they are looked at."""

import numpy as np

from unskew.core.compiled import compiled
from unskew.domains.karel.running.chance import chance, uniform
from unskew.domains.karel.running.hidden import MIXED, counts_of_world, draw_count
from unskew.domains.karel.sampling.worlds import (
    CORNER,
    MARKED_SHARES,
    NARROW_SMALLEST,
    NARROW_WORLDS,
    NO_MARKERS,
    NO_WALLS,
    ORIGINAL_SIZES,
    ORIGINAL_WORLDS,
    UNIFORM_WORLDS,
    WALL_SHARES,
)
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

STEPS = len(WALL_SHARES) - 2


@compiled
def draw_world(state, kind, r_wall, r_marker, counts, world, order):
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


@compiled
def clear_grid(world, height, width):
    """Make an empty grid. The cells outside it are walls."""
    world[:CELLS] = WALL
    for r in range(height):
        for c in range(width):
            world[r * SIDE + c] = 0
    world[HEIGHT], world[WIDTH] = height, width


@compiled
def draw_size(state, smallest):
    """Draw a height or a width from ``smallest`` to 16."""
    return smallest + int(uniform(state) * (SIDE + 1 - smallest))


@compiled
def _uniform_cells(state, counts, world):
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


@compiled
def _fill(state, walls, markers, counts, world, order):
    """Put walls and markers on random cells of an empty grid; return how many cells are free."""
    height, width = int(world[HEIGHT]), int(world[WIDTH])
    _shuffle_first(state, height, width, walls + markers, order)
    for i in range(walls):
        world[order[i]] = WALL
    for i in range(walls, walls + markers):
        world[order[i]] = draw_count(state, counts)
    return height * width - walls


@compiled
def narrow_numbers(cells, r_wall, r_marker):
    """Return how many cells of a narrow world are walls, and how many hold markers."""
    walls = int(cells * r_wall + 0.5)
    return walls, min(int(cells * r_marker + 0.5), cells - walls)


@compiled
def original_numbers(state, cells):
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


@compiled
def _share(shares, chance):
    """Return the share at a chance, interpolated between the steps of the table."""
    step = int(chance * STEPS)
    rest = chance * STEPS - step
    return shares[step] + rest * (shares[step + 1] - shares[step])


@compiled
def _rounded(state, number):
    """Round up or down at random, so that the mean is the number."""
    return int(number + uniform(state))


@compiled
def original_size(state):
    """Draw height and width of a world like the original's."""
    both = int(uniform(state) * 1024 * 1024)
    return ORIGINAL_SIZES[both // 1024], ORIGINAL_SIZES[both % 1024]


@compiled
def _shuffle_first(state, height, width, first, order):
    """Put a random choice of ``first`` cells, in random order, at the front of ``order``."""
    cells = height * width
    for i in range(cells):
        order[i] = (i // width) * SIDE + i % width
    for i in range(first):
        j = i + int(uniform(state) * (cells - i))
        order[i], order[j] = order[j], order[i]


@compiled
def _free_cell(state, world, free):
    """Choose one of the free cells; there are ``free`` of them."""
    left = int(uniform(state) * free)
    for cell in range(CELLS):
        if world[cell] != WALL:
            if left == 0:
                return cell
            left -= 1
    return 0


def draw_worlds(rng, n, kind, r_wall, r_marker, counts):
    """Draw ``n`` worlds, (n, 260), by the parameters of ``tests.karel_kernels.draw_worlds``."""
    worlds = np.empty((n, BYTES), dtype=np.uint8)
    _draw_rows(chance(rng), kind, r_wall, r_marker, counts, worlds)
    return worlds


@compiled
def _draw_rows(state, kind, r_wall, r_marker, counts, worlds):
    order = np.empty(CELLS, dtype=np.int64)
    for row in range(len(worlds)):
        draw_world(state, kind, r_wall, r_marker, counts, worlds[row], order)
