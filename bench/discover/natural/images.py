"""Images: a shape of some colour at some place of a small picture, and grids of few colours."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from bench.discover.kinds import Row

SIDE = 16
SHAPES = ("square", "disc", "cross", "frame")
COLOURS = 6  # of a grid, 0 to 5


def shape(name: str, size: int) -> NDArray[Any]:
    """Return the pixels of a shape of 2·size + 1 pixels a side."""
    r, c = np.indices((2 * size + 1, 2 * size + 1)) - size
    pixels: dict[str, NDArray[Any]] = {
        "square": np.ones(r.shape, dtype=bool),
        "disc": r * r + c * c <= size * size + 1,
        "cross": (r == 0) | (c == 0),
        "frame": np.maximum(abs(r), abs(c)) == size,
    }
    return pixels[name]


def shapes(rng: np.random.Generator, n: int) -> list[Row]:
    """Return grey pictures with a shape on a darker ground, and the name of the shape."""
    rows = []
    for _ in range(n):
        name, size = SHAPES[rng.integers(4)], int(rng.integers(1, 5))
        picture = rng.integers(0, 60, (SIDE, SIDE)).astype(np.uint8)
        r, c = rng.integers(0, SIDE - 2 * size, 2).tolist()
        inside = picture[r : r + 2 * size + 1, c : c + 2 * size + 1]
        inside[shape(name, size)] = rng.integers(120, 250)
        rows.append({"image": picture, "answer": name})
    return rows


def grids(rng: np.random.Generator, n: int) -> list[Row]:
    """Return grids of 4 to 10 rows and columns; each colour comes equally often."""
    rows = []
    for _ in range(n):
        height, width = rng.integers(4, 11, 2).tolist()
        rows.append({"grid": rng.integers(0, COLOURS, (height, width)).tolist()})
    return rows


def colours(rng: np.random.Generator, n: int) -> list[Row]:
    """Return coloured pictures of 12 by 12 pixels with one to four blocks, and their number."""
    rows = []
    for _ in range(n):
        picture = np.zeros((12, 12, 3), dtype=np.uint8)
        picture[:] = rng.integers(0, 80, 3)
        blocks = int(rng.integers(1, 5))
        for place in rng.permutation(9)[:blocks].tolist():
            r, c = 4 * (place // 3), 4 * (place % 3)
            height, width = rng.integers(1, 4, 2).tolist()
            picture[r : r + height, c : c + width] = rng.integers(100, 256, 3)
        rows.append({"image": picture, "answer": blocks})
    return rows


def bright(row: Row) -> NDArray[np.bool_]:
    """Return which pixels belong to the shape or to a block."""
    image: NDArray[Any] = row["image"]
    least = 100 / 255 if image.dtype.kind == "f" else 100
    return (image.max(axis=2) if image.ndim == 3 else image) >= least


def box(row: Row) -> tuple[int, int, int, int]:
    """Return the first and last row and the first and last column of what is bright."""
    r, c = np.nonzero(bright(row))
    return int(r.min()), int(r.max()), int(c.min()), int(c.max())


def ink(row: Row) -> NDArray[Any]:
    """Return the values of the bright pixels."""
    image: NDArray[Any] = row["image"]
    return image[bright(row)]


def grid(row: Row) -> NDArray[np.int64]:
    """Return a grid as an array."""
    return np.array(row["grid"])


VARIANTS = {"shapes": shapes, "grids": grids, "colours": colours}
