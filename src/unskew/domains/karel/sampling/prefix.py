"""Rule out worlds in which a program crashes before its first test, without a run.

Before its first test a program does the same in every world. Relative to its start, it goes
through the same cells and picks and puts the same numbers of markers there. It crashes if the
world has no room for that, a wall in the way, or too few or too many markers on a cell. Most
worlds that are thrown away are thrown away here.
"""

from __future__ import annotations

from unskew.core.arrays import Ints
from unskew.core.compiled import compiled_inner
from unskew.domains.karel import world as w
from unskew.domains.karel.language import compiler as c
from unskew.domains.karel.language.compiler import decoded
from unskew.domains.karel.running.hidden import FREE, UNKNOWN, Hidden, reveal_cell, reveal_markers
from unskew.domains.karel.world import World

MOST_CELLS, MOST_TICKS = 32, 100  # the run itself checks the rest of a longer prefix
# A prefix: how far it goes from the start, forward and to the right, and its number of cells.
FORWARD_LOW, FORWARD_HIGH, RIGHT_LOW, RIGHT_HIGH, GOES_THROUGH, FIRST = range(6)
# Of each cell: its place relative to the start, the fewest and the most markers that may lie there
# at first, and how the program has changed their number.
FORWARD, RIGHT, FEWEST, MOST, CHANGE, FIELDS = range(6)
SIZE = FIRST + FIELDS * MOST_CELLS


@compiled_inner
def read_prefix(code: Ints, prefix: Ints, counters: Ints) -> bool:
    """Read what a program does before its first test; return whether some world allows it."""
    prefix[:] = 0
    forward, right, turned = 0, 0, 0
    cell = _cell_at(prefix, 0, 0)
    at, ticks = 0, 0
    while ticks < MOST_TICKS:
        instruction = code[at]
        operation, number, at, other = decoded(instruction)
        if operation in (c.TEST, c.END):
            break
        if operation == c.SET:
            counters[number] = (instruction >> c.COUNT) & 255
            continue
        if operation == c.LOOP:
            if counters[number] == 0:
                at = other
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
def _cell_at(prefix: Ints, forward: int, right: int) -> int:
    """Return the place of a cell in ``prefix``, and add a new cell; −1 if there is no room."""
    for i in range(prefix[GOES_THROUGH]):
        at = FIRST + FIELDS * i
        if prefix[at + FORWARD] == forward and prefix[at + RIGHT] == right:
            return at
    if prefix[GOES_THROUGH] == MOST_CELLS:
        return -1
    at = FIRST + FIELDS * int(prefix[GOES_THROUGH])
    prefix[GOES_THROUGH] += 1
    prefix[at + FORWARD], prefix[at + RIGHT], prefix[at + MOST] = forward, right, w.MAX_MARKERS
    prefix[FORWARD_LOW] = min(prefix[FORWARD_LOW], forward)
    prefix[FORWARD_HIGH] = max(prefix[FORWARD_HIGH], forward)
    prefix[RIGHT_LOW] = min(prefix[RIGHT_LOW], right)
    prefix[RIGHT_HIGH] = max(prefix[RIGHT_HIGH], right)
    return at


@compiled_inner
def _change(cell: Ints, change: int) -> None:
    """Note that the program picks a marker from a cell (−1) or puts one there (1)."""
    cell[CHANGE] += change
    cell[FEWEST] = max(cell[FEWEST], -cell[CHANGE])
    cell[MOST] = min(cell[MOST], w.MAX_MARKERS - cell[CHANGE])


@compiled_inner
def _is_possible(prefix: Ints) -> bool:
    """Return whether the cells fit into the largest world, and can hold the needed markers."""
    ahead = prefix[FORWARD_HIGH] - prefix[FORWARD_LOW]
    aside = prefix[RIGHT_HIGH] - prefix[RIGHT_LOW]
    if max(ahead, aside) >= w.SIDE:
        return False
    for i in range(prefix[GOES_THROUGH]):
        at = FIRST + FIELDS * i
        if prefix[at + FEWEST] > prefix[at + MOST]:
            return False
    return True


@compiled_inner
def lets_begin(prefix: Ints, world: World, hidden: Hidden) -> bool:
    """Return whether the program gets to its first test; decide the cells on its way."""
    height, width = int(world[w.HEIGHT]), int(world[w.WIDTH])
    place, facing = int(world[w.POSITION]), int(world[w.FACING])
    row, column = place >> 4, place & 15
    # A step forward and a step to the right, in rows and columns.
    ahead_row = int(facing == 0) - int(facing == 2)
    ahead_column = int(facing == 1) - int(facing == 3)
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
        cell = r * w.SIDE + column + forward * ahead_column + right * right_column
        if world[cell] == UNKNOWN:
            reveal_cell(world, cell, hidden, False)
        if world[cell] == w.WALL:
            return False
        if prefix[at + FEWEST] > 0 or prefix[at + MOST] < w.MAX_MARKERS:
            if world[cell] == FREE:
                reveal_markers(world, cell, hidden, False)
            if not prefix[at + FEWEST] <= world[cell] <= prefix[at + MOST]:
                return False
    return True
