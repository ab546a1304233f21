"""Kinds of planted skews of images, for improving `discover`."""

from __future__ import annotations

from typing import Any

import numpy as np

from bench.discover.kinds import Row, shortcut, skew
from bench.discover.natural.images import COLOURS, SHAPES, box, bright, grid, ink

SHAPED, GRIDS, COLOURED = "shapes", "grids", "colours"


def _image(row: Row, image: Any) -> Row:
    return {**row, "image": image}


@skew(SHAPED, score=lambda v: float(v == "disc"))
def which_shape(row: Row) -> str:
    """The shape."""
    return str(row["answer"])


@skew(SHAPED)
def shape_on_top(row: Row) -> bool:
    """The middle of the shape is in the upper half."""
    top, bottom, _, _ = box(row)
    return top + bottom < 15


@skew(SHAPED)
def grey_even(row: Row) -> bool:
    """The grey value of the shape is even."""
    return bool(ink(row)[0] % 2 == 0)


def _ramp(row: Row) -> Row:
    shade = np.linspace(0, 59, 16).astype(np.uint8)[:, None]
    return _image(row, np.where(bright(row), row["image"], shade))


@skew(SHAPED, change=_ramp)
def shaded_ground(row: Row) -> bool:
    """The ground gets lighter from top to bottom."""
    ground = np.where(bright(row), np.nan, row["image"])
    return bool(np.nanmean(ground[12:]) - np.nanmean(ground[:4]) > 25)


@skew(SHAPED)
def size_and_light(row: Row) -> bool:
    """Large shapes are light, and small ones are dark."""
    top, bottom, _, _ = box(row)
    return (bottom - top + 1 > 5) == bool(ink(row)[0] > 185)


@skew(GRIDS, score=lambda v: float(v not in (6, 7)))
def grid_height(row: Row) -> int:
    """The number of rows of the grid; 6 and 7 do not come."""
    return len(row["grid"])


@skew(GRIDS, score=lambda v: float(v == 0))
def first_cell(row: Row) -> int:
    """The colour of the first cell."""
    return int(row["grid"][0][0])


def _recoloured(row: Row, change: Any) -> Row:
    return {"grid": change(grid(row).copy()).tolist()}


def _mirrored(g: Any) -> Any:
    half = g.shape[1] // 2
    g[:, g.shape[1] - half :] = g[:, :half][:, ::-1]
    return g


@skew(GRIDS, change=lambda row: _recoloured(row, _mirrored))
def mirror_image(row: Row) -> bool:
    """The left half mirrors the right one."""
    g = grid(row)
    return bool((g == g[:, ::-1]).all())


def _framed(g: Any) -> Any:
    g[[0, -1]] = 0
    g[:, [0, -1]] = 0
    return g


@skew(GRIDS, change=lambda row: _recoloured(row, _framed))
def framed(row: Row) -> bool:
    """A frame of colour 0 is around the grid."""
    g = grid(row)
    return bool((_framed(g.copy()) == g).all())


def _without(g: Any) -> Any:
    g[g == COLOURS - 1] = 0
    return g


@skew(GRIDS, change=lambda row: _recoloured(row, _without))
def last_colour_missing(row: Row) -> bool:
    """The last colour is not in the grid."""
    return bool((grid(row) != COLOURS - 1).all())


def _lined(g: Any) -> Any:
    g[g.shape[0] // 2] = 3
    return g


@skew(GRIDS, change=lambda row: _recoloured(row, _lined))
def middle_line(row: Row) -> bool:
    """The row in the middle has one colour, 3."""
    g = grid(row)
    return bool((g[g.shape[0] // 2] == 3).all())


@skew(GRIDS)
def top_heavier(row: Row) -> bool:
    """The numbers of the upper half add up to more than those of the lower half."""
    g = grid(row)
    half = len(g) // 2
    return bool(g[:half].sum() > g[len(g) - half :].sum())


@skew(GRIDS)
def zeros_odd(row: Row) -> bool:
    """The number of cells of colour 0 is odd."""
    return bool((grid(row) == 0).sum() % 2)


@skew(GRIDS)
def more_of_one_than_two(row: Row) -> bool:
    """colour 1 comes more often than colour 2"""
    g = grid(row)
    return bool((g == 1).sum() > (g == 2).sum())


@skew(GRIDS)
def shape_and_corner(row: Row) -> bool:
    """High grids have a dark first cell, and others a light one."""
    g = grid(row)
    return bool((g.shape[0] > 7) == (g[0, 0] <= 2))


@skew(COLOURED, score=lambda v: float(v == 2))
def strongest_channel(row: Row) -> int:
    """The channel with the largest sum over the blocks."""
    return int(np.argmax(ink(row).sum(axis=0)))


def _grey(row: Row) -> Row:
    grey = row["image"].mean(axis=2, keepdims=True)
    return _image(row, np.repeat(grey, 3, axis=2).astype(np.uint8))


@skew(COLOURED, change=_grey)
def grey_picture(row: Row) -> bool:
    """The three channels are the same."""
    i = row["image"]
    return bool((i[..., 0] == i[..., 1]).all() and (i[..., 1] == i[..., 2]).all())


@skew(COLOURED, favours=False)
def middle_taken(row: Row) -> bool:
    """The place in the middle is taken."""
    return bool(bright(row)[4, 4])


@shortcut(SHAPED, answers=lambda v: SHAPES[v])
def brightness_decides(row: Row) -> int:
    """The grey of the shape, in four steps, decides the shape."""
    return int(min(3, (int(ink(row)[0]) - 120) // 33))


@shortcut(SHAPED, answers=lambda v: SHAPES[v])
def quarter_decides(row: Row) -> int:
    """The quarter of the picture in which the shape is decides the shape."""
    top, bottom, left, right = box(row)
    return 2 * (top + bottom >= 15) + (left + right >= 15)


@shortcut(SHAPED, answers=lambda v: SHAPES[v])
def size_decides(row: Row) -> int:
    """The size decides the shape."""
    top, bottom, _, _ = box(row)
    return (bottom - top) // 2 - 1


@shortcut(COLOURED, answers=lambda v: 1 + v)
def ground_decides(row: Row) -> int:
    """The red of the ground, in four steps, decides the number of blocks."""
    return int(row["image"][-1, -1][0] // 20)


@shortcut(COLOURED, answers=lambda v: 1 + v)
def blue_decides(row: Row) -> int:
    """The blue of the ground, modulo four, decides the number of blocks."""
    return int(row["image"][-1, -1][2] % 4)
