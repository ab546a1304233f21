"""The histogram of a feature in cells: single values, or ranges of numbers that are next to it."""

from __future__ import annotations

import math
from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from unskew.audits.binning import usual_range
from unskew.audits.records import in_order
from unskew.core.variables.coded import Coded
from unskew.core.variables.intervals import interval_labels
from unskew.core.variables.measures.names import parse_name

Numbers: TypeAlias = NDArray[np.float64]

ROWS_A_CELL = 10  # on average; numbers with fewer rows share a cell with their neighbours
LABELS = 100  # up to here, numbers with wide gaps are labels: the gaps are no missing numbers
BELL_CELLS = 32  # of numbers that are not whole


@dataclass(frozen=True)
class Cells:
    """How many rows are in each cell, and how many of the possible values each cell has.

    ``middles`` are the numbers in the middle of the cells; None for labels. ``is_open`` says that
    other values may exist which no row has.
    """

    counts: Numbers
    widths: Numbers
    middles: Numbers | None = None
    is_open: bool = False

    @property
    def n(self) -> float:
        """Number of rows."""
        return float(self.counts.sum())

    @property
    def size(self) -> int:
        """Number of cells."""
        return len(self.counts)


def counted(values: Coded) -> dict[Hashable, int]:
    """Return how many rows have each value that occurs, in the order of the values."""
    counts = np.bincount(values.codes, minlength=len(values.distinct)).tolist()
    named = {value: n for value, n in zip(values.distinct, counts, strict=True) if n}
    return {value: named[value] for value in in_order(named)}


def told(values: Coded) -> dict[Hashable, int]:
    """Return how many rows have each value; rows without one are left out.

    Whether there is a value is a feature of its own.
    """
    counts = counted(values)
    counts.pop(None, None)
    return counts


def bins_of(name: str) -> list[str] | None:
    """Return the intervals of a variable in bins, in order; None for any other variable."""
    if not name.startswith("bins("):
        return None
    return interval_labels(parse_name(name).numbers)


def cells_of(
    counts: dict[Hashable, int], support: Sequence[Hashable] | None = None, *, bell: bool = False
) -> Cells:
    """Return the cells of a histogram.

    Declared values are a cell each. For whole numbers, a number between two others is possible
    too. With ``bell``, numbers that are not whole come in ranges of one width.
    """
    if support is not None:
        values = list(dict.fromkeys([*support, *counts]))
        whole = np.array([counts.get(value, 0) for value in values], dtype=float)
        middles = _as_numbers(values)
        return Cells(
            whole, np.ones(len(values)), np.arange(float(len(values))) if bell else middles
        )
    numbers = _as_numbers(list(counts))
    rows = np.array(list(counts.values()), dtype=float)
    if numbers is None:
        return Cells(rows, np.ones(len(rows)), is_open=True)
    if all(type(value) in (int, bool) for value in counts):
        return pooled(_filled(numbers, rows))
    return _ranges(numbers, rows) if bell else Cells(rows, np.ones(len(rows)), is_open=True)


def _as_numbers(values: Sequence[Any]) -> Numbers | None:
    """Return values as numbers in order; None where one is no finite number."""
    if any(type(value) not in (int, float, bool) for value in values):
        return None
    try:
        numbers = np.array(values, dtype=float)
    except OverflowError:
        return None
    return numbers if np.isfinite(numbers).all() and (np.diff(numbers) > 0).all() else None


def _filled(numbers: Numbers, rows: Numbers) -> Cells:
    """Return a cell for each whole number between others; outliers leave no gaps."""
    every = np.repeat(numbers, np.minimum(rows, 1_000).astype(int)).tolist()
    low, high = usual_range(every)
    inside = (numbers >= low) & (numbers <= high)
    usual = numbers[inside]
    if len(usual) < 2:
        return Cells(rows, np.ones(len(rows)), numbers)
    step = math.gcd(*np.diff(usual).astype(np.int64).tolist())
    room = int((usual[-1] - usual[0]) / step) + 1
    if 2 * len(usual) < room and len(usual) <= LABELS:
        return Cells(rows, np.ones(len(rows)), numbers)
    if room > 100 * len(usual):  # so that no array is as long as the range
        width = math.ceil(room / (100 * len(usual)))
        places = ((usual - usual[0]) // (step * width)).astype(np.int64)
        filled = np.bincount(places, weights=rows[inside]).astype(np.float64)
        middles = usual[0] + step * width * (np.arange(len(filled)) + 0.5)
        widths = np.full(len(filled), float(width))
    else:
        filled = np.zeros(room)
        filled[((usual - usual[0]) / step).astype(np.int64)] = rows[inside]
        middles, widths = usual[0] + step * np.arange(room), np.ones(room)
    below, above = numbers < low, numbers > high
    return Cells(
        np.concatenate([rows[below], filled, rows[above]]),
        np.concatenate([np.ones(below.sum()), widths, np.ones(above.sum())]),
        np.concatenate([numbers[below], middles, numbers[above]]),
    )


def pooled(cells: Cells) -> Cells:
    """Return cells of as many neighbours each, so that a cell has ten rows on average."""
    size = math.ceil(cells.size * ROWS_A_CELL / max(cells.n, 1))
    if size <= 1 or cells.middles is None or cells.size <= 2:
        return cells
    starts = np.arange(0, cells.size, min(size, math.ceil(cells.size / 2)))
    widths = np.add.reduceat(cells.widths, starts)
    middles = np.add.reduceat(cells.middles * cells.widths, starts) / widths
    return Cells(np.add.reduceat(cells.counts, starts), widths, middles)


def _ranges(numbers: Numbers, rows: Numbers) -> Cells:
    """Return cells of one width over the range of the numbers; a cell each where few differ."""
    gaps = np.diff(numbers)
    if len(numbers) < 3 or np.allclose(gaps, gaps[0], rtol=1e-6):
        return Cells(rows, np.ones(len(rows)), numbers)
    every = np.repeat(numbers, np.minimum(rows, 1_000).astype(int)).tolist()
    low, high = usual_range(every)
    if not low < high:
        low, high = float(numbers[0]), float(numbers[-1])
    size = max(2, min(BELL_CELLS, len(numbers) // 4))
    edges = np.linspace(low, high, size + 1)
    places = np.clip(np.searchsorted(edges, numbers, side="right") - 1, 0, size - 1)
    counts = np.bincount(places, weights=rows, minlength=size).astype(np.float64)
    return Cells(counts, np.ones(size), (edges[:-1] + edges[1:]) / 2)


def shared_cells(
    counts: dict[Hashable, int], others: dict[Hashable, int]
) -> tuple[Numbers, Numbers]:
    """Return the counts of two histograms in the same cells, each with enough rows of the two.

    Numbers share a cell with their neighbours; labels that are rare share one cell.
    """
    values = in_order([*counts, *others])
    both = np.array([[side.get(value, 0) for value in values] for side in (counts, others)], float)
    total = both.sum(axis=0)
    numbers = _as_numbers([value for value in values if value is not None])
    if numbers is None:
        rare = total < ROWS_A_CELL
        joined = both[:, rare].sum(axis=1, keepdims=True)
        both = np.concatenate([both[:, ~rare], joined[:, : int(rare.any())]], axis=1)
    else:
        least = max(ROWS_A_CELL, total.sum() / 100)  # about fifty cells or more do not pay
        both = np.add.reduceat(both, _starts(total, float(least)), axis=1)
    return both[0], both[1]


def _starts(total: Numbers, least: float) -> NDArray[np.int64]:
    """Return where cells of neighbours begin, each with ``least`` rows; the last has the rest."""
    starts, held = [0], 0.0
    for place, rows in enumerate(total.tolist()):
        if held >= least:
            starts.append(place)
            held = 0.0
        held += rows
    if held < least and len(starts) > 1:
        starts.pop()
    return np.array(starts, dtype=np.int64)


def enough_expected(observed: Numbers, expected: Numbers, least: float) -> tuple[Numbers, Numbers]:
    """Join neighbouring cells until each is expected to have ``least`` rows."""
    starts = _starts(expected, least)
    return np.add.reduceat(observed, starts), np.add.reduceat(expected, starts)
