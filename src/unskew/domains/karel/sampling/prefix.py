"""What a program does before its first test, whatever the world: which worlds that rules out.

Until its first test a program does the same on every world: it goes through certain cells, seen
from where it starts, picks and puts so many markers there. A world that has no room for that,
a wall in the way or too few or too many markers ends in a crash, so it need not be run. Most
worlds that are thrown away are thrown away here.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from unskew.core.compiled import compiled_inner
from unskew.domains.karel.language import compiler as c
from unskew.domains.karel.running.hidden import FREE, UNKNOWN, reveal_cell, reveal_markers
from unskew.domains.karel.world import FACING, HEIGHT, MAX_MARKERS, POSITION, SIDE, WALL, WIDTH

MOST_CELLS, MOST_TICKS = 32, 100  # the rest of a longer one is left to the run
# How far it goes from where it starts, forward and to the right, and the cells it goes through.
FORWARD_LOW, FORWARD_HIGH, RIGHT_LOW, RIGHT_HIGH, GOES_THROUGH, FIRST = range(6)
# Of each cell: where it is, the fewest and the most markers it may hold at first, and how many
# more or fewer the program leaves there.
FORWARD, RIGHT, FEWEST, MOST, CHANGE, FIELDS = range(6)
SIZE = FIRST + FIELDS * MOST_CELLS


@compiled_inner
def read_prefix(
    code: NDArray[np.int64], prefix: NDArray[np.int64], counters: NDArray[np.int64]
) -> bool:
    """Read what a program does before its first test; say whether a world can let it."""
    prefix[:] = 0
    forward, right, turned = 0, 0, 0
    cell = _cell_at(prefix, 0, 0)
    at, ticks = 0, 0
    while ticks < MOST_TICKS:
        instruction = code[at]
        operation = instruction & 15
        number = (instruction >> c.NUMBER) & 255
        at = (instruction >> c.NEXT) & 0xFFFF
        if operation in (c.TEST, c.END):
            break
        if operation == c.SET:
            counters[number] = (instruction >> c.COUNT) & 255
            continue
        if operation == c.LOOP:
            if counters[number] == 0:
                at = instruction >> c.ELSE
                continue
            counters[number] -= 1
        elif operation == c.MOVE:
            forward += (turned == 0) - (turned == 2)
            right += (turned == 1) - (turned == 3)
            cell = _cell_at(prefix, forward, right)
            if cell < 0:
                break
        elif operation == c.LEFT:
            turned = (turned + 3) & 3
        elif operation == c.RIGHT:
            turned = (turned + 1) & 3
        else:
            _change(prefix[cell : cell + FIELDS], 1 if operation == c.PUT else -1)
        ticks += 1
    return _is_possible(prefix)


@compiled_inner
def _cell_at(prefix: NDArray[np.int64], forward: int, right: int) -> int:
    """Return where in ``prefix`` a cell stands, a new one at the end; −1 where it is full."""
    for i in range(prefix[GOES_THROUGH]):
        at = FIRST + FIELDS * i
        if prefix[at + FORWARD] == forward and prefix[at + RIGHT] == right:
            return at
    if prefix[GOES_THROUGH] == MOST_CELLS:
        return -1
    at = FIRST + FIELDS * int(prefix[GOES_THROUGH])
    prefix[GOES_THROUGH] += 1
    prefix[at + FORWARD], prefix[at + RIGHT], prefix[at + MOST] = forward, right, MAX_MARKERS
    prefix[FORWARD_LOW] = min(prefix[FORWARD_LOW], forward)
    prefix[FORWARD_HIGH] = max(prefix[FORWARD_HIGH], forward)
    prefix[RIGHT_LOW] = min(prefix[RIGHT_LOW], right)
    prefix[RIGHT_HIGH] = max(prefix[RIGHT_HIGH], right)
    return at


@compiled_inner
def _change(cell: NDArray[np.int64], change: int) -> None:
    """Pick a marker from a cell, or put one there."""
    cell[CHANGE] += change
    cell[FEWEST] = max(cell[FEWEST], -cell[CHANGE])
    cell[MOST] = min(cell[MOST], MAX_MARKERS - cell[CHANGE])


@compiled_inner
def _is_possible(prefix: NDArray[np.int64]) -> bool:
    """Whether it fits into the largest world, and every cell can hold what is needed."""
    if prefix[FORWARD_HIGH] - prefix[FORWARD_LOW] >= SIDE:
        return False
    if prefix[RIGHT_HIGH] - prefix[RIGHT_LOW] >= SIDE:
        return False
    for i in range(prefix[GOES_THROUGH]):
        at = FIRST + FIELDS * i
        if prefix[at + FEWEST] > prefix[at + MOST]:
            return False
    return True


@compiled_inner
def lets_begin(
    prefix: NDArray[np.int64],
    world: NDArray[np.uint8],
    hidden: tuple[NDArray[np.uint64], NDArray[np.int64], NDArray[np.uint8]],
) -> bool:
    """Whether a world lets the program get to its first test; decide what that looks at."""
    height, width = int(world[HEIGHT]), int(world[WIDTH])
    place, facing = int(world[POSITION]), int(world[FACING])
    row, column = place >> 4, place & 15
    # A step forward and a step to the right, in rows and columns.
    ahead_row, ahead_column = (
        int(facing == 0) - int(facing == 2),
        int(facing == 1) - int(facing == 3),
    )
    right_row, right_column = -ahead_column, ahead_row
    near_row = row + prefix[FORWARD_LOW] * ahead_row + prefix[RIGHT_LOW] * right_row
    far_row = row + prefix[FORWARD_HIGH] * ahead_row + prefix[RIGHT_HIGH] * right_row
    near = column + prefix[FORWARD_LOW] * ahead_column + prefix[RIGHT_LOW] * right_column
    far = column + prefix[FORWARD_HIGH] * ahead_column + prefix[RIGHT_HIGH] * right_column
    inside = (min(near_row, far_row) >= 0) & (max(near_row, far_row) < height)
    if not inside & (min(near, far) >= 0) & (max(near, far) < width):
        return False
    for i in range(prefix[GOES_THROUGH]):
        at = FIRST + FIELDS * i
        forward, right = prefix[at + FORWARD], prefix[at + RIGHT]
        r = row + forward * ahead_row + right * right_row
        cell = r * SIDE + column + forward * ahead_column + right * right_column
        if world[cell] == UNKNOWN:
            reveal_cell(world, cell, hidden, False)
        if world[cell] == WALL:
            return False
        if prefix[at + FEWEST] > 0 or prefix[at + MOST] < MAX_MARKERS:
            if world[cell] == FREE:
                reveal_markers(world, cell, hidden, False)
            if not prefix[at + FEWEST] <= world[cell] <= prefix[at + MOST]:
                return False
    return True
