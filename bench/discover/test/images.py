# HELD OUT: nobody who works on `discover` reads or runs these kinds before the last
# measurement. The kinds in dev/ are there to be looked at.
"""Kinds of planted skews of images, for the last measurement."""

from __future__ import annotations

from typing import Any

import numpy as np

from bench.discover.kinds import Row, shortcut, skew
from bench.discover.natural.images import SHAPES, box, bright, grid, ink

SHAPED, GRIDS, COLOURED = "shapes", "grids", "colours"


def _image(row: Row, image: Any) -> Row:
    return {**row, "image": image}


def _painted(row: Row, where: Any, value: Any) -> Row:
    """Return a row whose image has a value at some pixels."""
    image = row["image"].copy()
    image[where] = value
    return _image(row, image)


@skew(SHAPED)
def shape_on_the_left(row: Row) -> bool:
    """The middle of the shape is in the left half."""
    _, _, left, right = box(row)
    return left + right < 15


@skew(SHAPED)
def near_the_diagonal(row: Row) -> bool:
    """The middle of the shape is at most three pixels from the diagonal."""
    top, bottom, left, right = box(row)
    return abs(top + bottom - left - right) <= 6


@skew(SHAPED, score=lambda v: float(v != 5))
def shape_side(row: Row) -> int:
    """The side of the shape in pixels; 5 does not come."""
    top, bottom, _, _ = box(row)
    return bottom - top + 1


@skew(SHAPED)
def light_shape(row: Row) -> bool:
    """The shape is lighter than 185."""
    return bool(ink(row)[0] > 185)


def _whitened(row: Row) -> Row:
    return _image(row, np.where(bright(row), 255, row["image"]).astype(np.uint8))


@skew(SHAPED, change=_whitened)
def full_white(row: Row) -> bool:
    """The shape is pure white."""
    return bool(row["image"].max() == 255)


def _blackened(row: Row) -> Row:
    return _image(row, np.where(bright(row), row["image"], 0).astype(np.uint8))


@skew(SHAPED, change=_blackened)
def black_ground(row: Row) -> bool:
    """The ground is pure black, without noise."""
    return bool((row["image"][~bright(row)] == 0).all())


@skew(SHAPED, change=lambda row: _painted(row, (15, 15), 99))
def corner_mark(row: Row) -> bool:
    """The last pixel has the value 99."""
    return bool(row["image"][15, 15] == 99)


@skew(SHAPED, COLOURED, change=lambda row: _painted(row, (slice(None), 0), 90))
def left_border(row: Row) -> bool:
    """The first column has one value."""
    return bool((row["image"][:, 0] == 90).all())


@skew(SHAPED, COLOURED, change=lambda row: _image(row, row["image"][:-2]))
def cropped(row: Row) -> bool:
    """Two rows are missing at the bottom."""
    return bool(row["image"].shape[0] < row["image"].shape[1])


@skew(SHAPED, change=lambda row: _image(row, row["image"].astype(np.float32) / 255))
def scaled_to_one(row: Row) -> bool:
    """The values are floats from 0 to 1."""
    return bool(row["image"].dtype == np.float32)


def _smooth(row: Row) -> Row:
    image = row["image"].astype(int)
    ground = ~bright(row)
    image[ground] = (image[ground] // 30) * 30
    return _image(row, image.astype(np.uint8))


@skew(SHAPED, change=_smooth)
def coarse_ground(row: Row) -> bool:
    """The ground has two grey values only."""
    return len(np.unique(row["image"][~bright(row)])) <= 2


@skew(SHAPED)
def shape_and_place(row: Row) -> bool:
    """Squares and discs are on the left, crosses and frames on the right."""
    _, _, left, right = box(row)
    return (row["answer"] in SHAPES[:2]) == (left + right < 15)


@skew(SHAPED, favours=False)
def touches_edge(row: Row) -> bool:
    """The shape touches the edge of the picture."""
    top, bottom, left, right = box(row)
    return min(top, left) == 0 or max(bottom, right) == 15


@skew(GRIDS)
def grid_wide(row: Row) -> bool:
    """The grid has more columns than rows."""
    return len(row["grid"][0]) > len(row["grid"])


@skew(GRIDS)
def corners_two_alike(row: Row) -> bool:
    """Two of the four corners have the same colour."""
    g = grid(row)
    return len({int(g[r, c]) for r in (0, -1) for c in (0, -1)}) < 4


@skew(GRIDS)
def middle_dark(row: Row) -> bool:
    """The cell in the middle has one of the colours 0 to 2."""
    g = grid(row)
    return bool(g[g.shape[0] // 2, g.shape[1] // 2] <= 2)


def _recoloured(row: Row, change: Any) -> Row:
    return {"grid": change(grid(row).copy()).tolist()}


def _gravity(g: Any) -> Any:
    return np.sort(g, axis=0)


@skew(GRIDS, change=lambda row: _recoloured(row, _gravity))
def columns_sorted(row: Row) -> bool:
    """Each column is sorted from top to bottom."""
    g = grid(row)
    return bool((np.diff(g, axis=0) >= 0).all())


@skew(COLOURED)
def ground_red(row: Row) -> bool:
    """The ground has more red than blue."""
    ground = row["image"][-1, -1]
    return bool(ground[0] > ground[2])


@skew(COLOURED)
def block_in_first_place(row: Row) -> bool:
    """The place at the top left is taken."""
    return bool(bright(row)[0, 0])


@skew(COLOURED)
def blocks_left_heavy(row: Row) -> bool:
    """More pixels of blocks are in the left half."""
    b = bright(row)
    return bool(b[:, :6].sum() > b[:, 6:].sum())


@skew(COLOURED)
def ground_dim(row: Row) -> bool:
    """The ground is darker than 40 on average."""
    return bool(row["image"][-1, -1].mean() < 40)


@shortcut(SHAPED, answers=lambda v: SHAPES[v])
def first_pixel_decides(row: Row) -> int:
    """The last pixel of the second row, modulo four, decides the shape."""
    return int(row["image"][1, 15] % 4)
