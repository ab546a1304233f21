"""Bins for numbers that hardly repeat: counted by value, all of them would look uniform."""

from __future__ import annotations

import math
from bisect import bisect_right
from collections import Counter
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from unskew.batch import Batch
from unskew.errors import UnskewError
from unskew.salient import SalientVariable, Values, interval_labels

BINS = 20  # about so many
FEWEST = 100  # numbers; fewer are counted by value
LOOK = 4096  # rows in which repeats are looked for
STEPS = (1.0, 2.0, 2.5, 5.0)  # times a power of ten: widths of bins that people can read


def with_bins(variable: SalientVariable, first: Batch) -> SalientVariable:
    """Return the variable in bins where its values hardly repeat; else the variable as it is.

    The rule: all values in the first 4,096 rows are numbers (or missing), at least 100 of them
    are numbers, and more than half of these numbers differ from all others. The bins then have
    one width and cover the range of the first batch, with open ends; the width is 1, 2, 2.5 or 5
    times a power of ten, whichever makes the number of bins closest to 20. Bins that hold equally
    many values would hide the skew. A variable with a declared support stays as it is.
    """
    if variable.support is not None or variable.parts:
        return variable
    try:
        if not hardly_repeats(Counter(variable.measure(first.head(LOOK)).tolist())):
            return variable
        numbers = _numbers(variable.measure(first).tolist())
    except (UnskewError, OverflowError, TypeError):
        return variable  # the audit will measure it and say why it cannot
    finite = [number for number in numbers if math.isfinite(number)]
    edges = readable_edges(min(finite), max(finite)) if finite else ()
    return in_bins(variable, edges) if edges else variable


def in_bins(variable: SalientVariable, edges: tuple[float, ...]) -> SalientVariable:
    """Return the variable with its numbers sorted into the intervals between ``edges``."""
    labels = interval_labels(edges)

    def measure(batch: Batch) -> Values:
        values = variable.measure(batch).tolist()
        found = np.empty(len(values), dtype=object)
        for row, value in enumerate(values):
            found[row] = labels[bisect_right(edges, value)] if _has_bin(value) else value
        return found

    width = edges[1] - edges[0] if len(edges) > 1 else 0.0
    about = f"in {len(labels)} bins" + (f" of {width:g}" if width else "")
    doc = f"{variable.doc}, {about}" if variable.doc else about
    return replace(variable, measure=measure, doc=doc, edges=edges)


def readable_edges(low: float, high: float) -> tuple[float, ...]:
    """Return the edges of about 20 bins from ``low`` to ``high``; none where there is no room.

    Both ends are open: ``low`` lies below the first edge, ``high`` not below the last one.
    """
    width = high - low
    if not 1e-300 < width < math.inf:
        return ()
    power = math.floor(math.log10(width / BINS))
    steps = [step * 10.0**p for p in (power, power + 1) for step in STEPS]
    step = min(steps, key=lambda step: abs(math.log(width / step / BINS)))
    numbers = range(math.floor(low / step), math.floor(high / step) + 2)
    rounded = (float(f"{number * step:.15g}") for number in numbers)
    edges = tuple(edge for edge in rounded if low < edge <= high)
    return edges if len(set(edges)) == len(edges) else ()


def hardly_repeats(counts: Mapping[Hashable, int]) -> bool:
    """Whether values are at least 100 numbers, missing ones aside, and more than half come once."""
    numbers = {value: count for value, count in counts.items() if value is not None}
    n, once = sum(numbers.values()), sum(count == 1 for count in numbers.values())
    return n >= FEWEST and all(type(v) in (int, float) for v in numbers) and 2 * once > n


def _has_bin(value: object) -> bool:
    """Whether a value is a number that lies somewhere; nan lies nowhere."""
    return type(value) is int or (type(value) is float and not math.isnan(value))


def _numbers(values: Sequence[Any]) -> list[float]:
    """Return the numbers among values."""
    return [float(value) for value in values if type(value) in (int, float)]
