"""Karel's worlds: 2 × 2 to 16 × 16 cells, walls, up to nine markers a cell, Karel (appendix A).

A packed world is 260 bytes: 256 cells of a 16 × 16 square, row 0 at the bottom, each the number
of its markers or WALL (cells outside a smaller grid are WALL too), then height, width, Karel's
cell and the direction it faces, 0 to 3 for north, east, south and west.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from unskew.core.arrays import Bytes, Flags
from unskew.core.compiled import compiled_inner
from unskew.core.errors import UnskewError

SIDE, SMALLEST, MAX_MARKERS = 16, 2, 9
CELLS = SIDE * SIDE
HEIGHT, WIDTH, POSITION, FACING, BYTES = CELLS, CELLS + 1, CELLS + 2, CELLS + 3, CELLS + 4
WALL = 255
DIRECTIONS = ("north", "east", "south", "west")
ARROWS = "^>v<"
CHANNELS = (  # of the tensor
    *(f"Karel facing {direction}" for direction in DIRECTIONS),
    *("wall", "outline", *(f"{count} markers" for count in range(1, MAX_MARKERS + 1)), "unused"),
)
WALL_CHANNEL, OUTLINE = CHANNELS.index("wall"), CHANNELS.index("outline")  # then the markers
TENSOR_SHAPE = (len(CHANNELS), SIDE + 2, SIDE + 2)

World = Bytes


def make_world(
    height: int,
    width: int,
    hero: tuple[int, int, int],
    walls: list[tuple[int, int]],
    markers: Mapping[tuple[int, int], int],
) -> World:
    """Return a packed world. Rows are counted from the bottom and columns from the left, from 0.

    Args:
        height: the number of rows, 2 to 16.
        width: the number of columns, 2 to 16.
        hero: Karel's row, column and direction (0 to 3 for north, east, south and west).
        walls: the row and column of each wall.
        markers: the number of markers, 1 to 9, at each row and column that has any.
    """
    for name, size in (("rows", height), ("columns", width)):
        if not SMALLEST <= size <= SIDE:
            raise UnskewError(f"the world has {size} {name}; allowed are {SMALLEST} to {SIDE}")
    world = np.full(BYTES, WALL, dtype=np.uint8)
    grid = world[:CELLS].reshape(SIDE, SIDE)
    grid[:height, :width] = 0
    for r, c in walls:
        _check_inside("a wall", r, c, height, width)
        grid[r, c] = WALL
    for (r, c), count in markers.items():
        _check_inside("a marker", r, c, height, width)
        if not 1 <= count <= MAX_MARKERS:
            raise UnskewError(
                f"cell {r}:{c} has {count} markers; allowed are 1 to {MAX_MARKERS}: leave it out "
                "where there are none"
            )
        if grid[r, c] == WALL:
            raise UnskewError(f"cell {r}:{c} has markers and a wall; keep one of them")
        grid[r, c] = count
    r, c, facing = hero
    if facing not in range(len(DIRECTIONS)):
        raise UnskewError(f"Karel faces {facing}; give 0 to 3 for {', '.join(DIRECTIONS)}")
    _check_inside("Karel", r, c, height, width)
    if grid[r, c] == WALL:
        raise UnskewError(f"Karel stands on a wall at {r}:{c}; put it on a free cell")
    world[HEIGHT:] = height, width, r * SIDE + c, facing
    return world


def from_bytes(packed: bytes) -> Bytes:
    """Return the n packed worlds that lie one after another in these bytes: (n, 260)."""
    if not packed or len(packed) % BYTES:
        raise UnskewError(
            f"the worlds have {len(packed)} bytes; give one world or more of {BYTES} bytes each"
        )
    worlds = np.frombuffer(packed, dtype=np.uint8).reshape(-1, BYTES)
    fine = are_worlds(worlds)
    if not fine.all():
        raise UnskewError(
            f"the bytes of world {int(np.argmin(fine)) + 1} are no packed world; "
            "pack it with from_picture, from_json or make_world"
        )
    return worlds


def are_worlds(rows: Bytes) -> Flags:
    """Return which rows of 260 bytes are packed worlds."""
    fine = np.empty(len(rows), dtype=np.bool_)
    _check_rows(rows, fine)
    return fine


@compiled_inner
def _check_rows(rows: Bytes, fine: Flags) -> None:
    for row in range(len(rows)):
        fine[row] = _is_world(rows[row])


@compiled_inner
def _is_world(world: Bytes) -> bool:
    height, width = int(world[HEIGHT]), int(world[WIDTH])
    if not (SMALLEST <= height <= SIDE and SMALLEST <= width <= SIDE):
        return False
    if world[FACING] > 3 or world[world[POSITION]] == WALL:  # the cells outside are also WALL
        return False
    wrong = False
    for r in range(SIDE):  # the loop never ends early, so that many cells are compared at once
        inside = width if r < height else 0
        for c in range(SIDE):
            value = world[r * SIDE + c]
            wrong |= (value != WALL) & ((value > MAX_MARKERS) | (c >= inside))
    return not wrong


def grid_of(world: World) -> Bytes:
    """Return the cells of a world, (height, width): 0 to 9 markers, or 255 for a wall.

    Row 0 is the bottom row.
    """
    return world[:CELLS].reshape(SIDE, SIDE)[: world[HEIGHT], : world[WIDTH]]


def hero_of(world: World) -> tuple[int, int, int]:
    """Return Karel's row, column and direction (0 to 3 for north, east, south and west)."""
    return int(world[POSITION]) // SIDE, int(world[POSITION]) % SIDE, int(world[FACING])


def cell_texts(world: World) -> list[list[str]]:
    """Return each cell's two characters, Karel's arrow and the cell's content; row 0 first."""
    r, c, facing = hero_of(world)
    texts = [
        [" #" if value == WALL else f" {value or '.'}" for value in row]
        for row in grid_of(world).tolist()
    ]
    texts[r][c] = ARROWS[facing] + texts[r][c][1]
    return texts


def to_picture(world: World) -> str:
    """Return a world as text, the top row first: . free, # wall, 1-9 markers, ^>v< Karel."""
    return "\n".join(" ".join(row) for row in reversed(cell_texts(world)))


def from_picture(picture: str) -> World:
    """Return the packed world of a picture, which has a line for each row.

    Spaces separate the cells. Karel's arrow stands directly before the cell where Karel is.
    """
    rows = [line.split() for line in picture.strip("\n").splitlines() if line.strip()]
    if not rows:
        raise UnskewError("the picture is empty; draw 2 to 16 rows of cells")
    walls, markers, heroes = [], {}, []
    for number, cells in enumerate(rows, start=1):
        if len(cells) != len(rows[0]):
            raise UnskewError(
                f"line {number} of the picture has {len(cells)} cells, line 1 has "
                f"{len(rows[0])}; make them equal"
            )
        r = len(rows) - number
        for c, cell in enumerate(cells):
            match = re.fullmatch(r"([\^>v<]?)([.#1-9])", cell)
            if match is None:
                raise UnskewError(
                    f"line {number}, cell {c + 1} of the picture is {cell!r}; allowed are . # 1-9, "
                    "with ^ > v or < before it for Karel"
                )
            arrow, content = match.groups()
            if arrow:
                heroes.append((r, c, ARROWS.index(arrow)))
            if content == "#":
                walls.append((r, c))
            elif content != ".":
                markers[r, c] = int(content)
    if len(heroes) != 1:
        raise UnskewError(f"the picture has {len(heroes)} Karels; draw one, with ^ > v or <")
    return make_world(len(rows), len(rows[0]), heroes[0], walls, markers)


def to_json(world: World) -> dict[str, Any]:
    """Return a world as the JSON of the original dataset."""
    r, c, facing = hero_of(world)
    cells = _filled_cells(world)
    return {
        "blocked": " ".join(f"{row}:{column}" for row, column, n in cells if n == WALL),
        "cols": int(world[WIDTH]),
        "crashed": False,
        "hero": f"{r}:{c}:{DIRECTIONS[facing]}",
        "markers": " ".join(f"{row}:{column}:{n}" for row, column, n in cells if n != WALL),
        "rows": int(world[HEIGHT]),
    }


def _filled_cells(world: World) -> list[tuple[int, int, int]]:
    """Return row, column and content of each cell with a wall or markers, the top row first."""
    rows = list(enumerate(grid_of(world).tolist()))
    return [(r, c, n) for r, row in reversed(rows) for c, n in enumerate(row) if n]


def from_json(data: Mapping[str, Any]) -> World:
    """Return the packed world of the JSON of the original dataset."""
    try:
        r, c, direction = data["hero"].split(":")
        if direction not in DIRECTIONS:
            raise ValueError(f"Karel faces {direction!r}, not {', '.join(DIRECTIONS)}")
        hero = (int(r), int(c), DIRECTIONS.index(direction))
        walls = [(row, column) for row, column in _numbers(data["blocked"])]
        markers = {}
        for row, column, count in _numbers(data["markers"]):
            if (row, column) in markers:
                raise ValueError(f"two counts of markers for cell {row}:{column}")
            markers[row, column] = count
        height, width = int(data["rows"]), int(data["cols"])
        if (height, width) != (data["rows"], data["cols"]):
            raise ValueError(f"{data['rows']!r} rows and {data['cols']!r} columns")
        crashed = data.get("crashed", False)
    except (KeyError, ValueError, AttributeError, TypeError, OverflowError) as error:
        raise UnskewError(
            f"the grid cannot be read ({type(error).__name__}: {error}); it needs rows, cols, "
            "hero r:c:direction, blocked r:c …, markers r:c:n …"
        ) from error
    if crashed is not False:
        raise UnskewError(f"the grid has crashed {crashed!r}; allowed is false: leave it out")
    return make_world(height, width, hero, walls, markers)


def to_tensor(world: World) -> Bytes:
    """Return a world as the 16 × 18 × 18 tensor of the original dataset, zeros and ones."""
    tensor = np.zeros(TENSOR_SHAPE, dtype=np.uint8)
    tensor.flat[tensor_ones(world)] = 1
    return tensor


def tensor_ones(world: World) -> list[int]:
    """Return where a world's tensor is one, in the order of the original dataset.

    Karel comes first, then markers and walls from the top row down, then the frame: bottom,
    top, left, right.
    """
    row, column, facing = hero_of(world)
    height, width = int(world[HEIGHT]), int(world[WIDTH])
    cells = _filled_cells(world)
    places = [
        (facing, row + 1, column + 1),
        *((OUTLINE + n, r + 1, c + 1) for r, c, n in cells if n != WALL),
        *((WALL_CHANNEL, r + 1, c + 1) for r, c, n in cells if n == WALL),
        *((OUTLINE, r, c) for r in (0, height + 1) for c in range(width + 2)),
        *((OUTLINE, r, c) for c in (0, width + 1) for r in range(1, height + 1)),
    ]
    _, rows, columns = TENSOR_SHAPE
    return [(channel * rows + r) * columns + c for channel, r, c in places]


def from_tensor(tensor: NDArray[Any]) -> World:
    """Return the packed world of a tensor. A tensor that is not exactly one is refused."""
    if not isinstance(tensor, np.ndarray) or tensor.dtype.kind not in "buif":
        kind = tensor.dtype if isinstance(tensor, np.ndarray) else type(tensor).__name__
        raise UnskewError(f"the tensor is of {kind}; give a NumPy array of zeros and ones")
    if tensor.shape != TENSOR_SHAPE:
        raise UnskewError(f"the tensor has the shape {tensor.shape}; allowed is {TENSOR_SHAPE}")
    _refuse_cells(tensor, (tensor != 0) & (tensor != 1), "allowed are 0 and 1")
    outline = np.argwhere(tensor[OUTLINE])
    heroes = np.argwhere(tensor[: len(DIRECTIONS)])
    if len(outline) == 0 or len(heroes) != 1:
        raise UnskewError(
            f"the tensor has {len(heroes)} Karels and {len(outline)} cells of outline; one Karel "
            "and a frame are needed"
        )
    height, width = (outline.max(axis=0) - 1).tolist()
    facing, r, c = heroes[0].tolist()
    walls = [(row - 1, column - 1) for row, column in np.argwhere(tensor[WALL_CHANNEL]).tolist()]
    markers = {
        (row - 1, column - 1): count + 1
        for count, row, column in np.argwhere(tensor[OUTLINE + 1 : -1]).tolist()
    }
    world = make_world(height, width, (r - 1, c - 1, facing), walls, markers)
    _refuse_cells(tensor, tensor != to_tensor(world), "which contradicts its other cells")
    return world


def _refuse_cells(tensor: NDArray[Any], wrong: Flags, why: str) -> None:
    """Refuse a tensor with wrong cells; name the first of them."""
    if wrong.any():
        channel, row, column = np.argwhere(wrong)[0].tolist()
        raise UnskewError(
            f"the tensor holds {float(tensor[channel, row, column]):g} in channel {channel} "
            f"({CHANNELS[channel]}), row {row}, column {column}, {why}; make it with to_tensor"
        )


def _numbers(text: str) -> list[list[int]]:
    """Read words of numbers with colons between them."""
    return [[int(number) for number in word.split(":")] for word in text.split()]


def _check_inside(what: str, r: int, c: int, height: int, width: int) -> None:
    if not (0 <= r < height and 0 <= c < width):
        raise UnskewError(
            f"{what} is at {r}:{c}, outside the {height} × {width} world; allowed are rows 0 to "
            f"{height - 1} and columns 0 to {width - 1}"
        )
