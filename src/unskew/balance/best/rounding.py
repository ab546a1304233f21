"""Whole numbers of rows for combinations of values, with margins close to those wanted."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from unskew.balance.best.cells import Cells

MOST_ROUNDS = 3_000
MOST_CELLS = 1 << 15  # combinations that are looked at in each round


def evened(
    cells: Cells, allotted: NDArray[np.int64], wanted: NDArray[np.float64], rng: np.random.Generator
) -> NDArray[np.int64]:
    """Return an allotment whose margins are closer to those of ``wanted``; its sum is the same.

    Each combination keeps its wanted number, rounded up or down. Rounding each by chance adds up
    to errors in the margins. In each round, the combination that helps most gets one row more, and
    the one that hurts most gets one less. It ends when this brings the margins no closer.
    """
    low, high = np.floor(wanted), np.ceil(wanted)
    open_cells = np.flatnonzero(high > low)
    if len(open_cells) > MOST_CELLS:
        open_cells = np.sort(rng.permutation(open_cells)[:MOST_CELLS])
    codes = [column[open_cells] for column in cells.codes.T]
    margins = zip(cells.margins(wanted), cells.margins(allotted.astype(float)), strict=True)
    lacks = [ours - theirs for ours, theirs in margins]
    is_up = allotted[open_cells] > low[open_cells]
    for _ in range(MOST_ROUNDS):
        lack = np.zeros(len(open_cells))
        for column, values in zip(codes, lacks, strict=True):
            lack += values[column]
        more, less = np.where(is_up, -np.inf, lack), np.where(is_up, lack, np.inf)
        if is_up.all() or not is_up.any():
            break
        up, down = int(more.argmax()), int(less.argmin())
        different = sum(int(column[up] != column[down]) for column in codes)
        if lack[up] - lack[down] <= different + 1e-9:  # the squared error would not fall
            break
        is_up[up], is_up[down] = True, False
        for column, values in zip(codes, lacks, strict=True):
            values[column[up]] -= 1
            values[column[down]] += 1
    result = allotted.copy()
    result[open_cells] = np.where(is_up, high[open_cells], low[open_cells])
    return result
