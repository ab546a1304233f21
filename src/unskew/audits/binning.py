"""Bins for numbers that hardly repeat: counted one by one, such numbers would look uniform."""

from __future__ import annotations

import math
from bisect import bisect_left, bisect_right
from collections import Counter
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from unskew.balance.histogram import hardly_repeats
from unskew.core.variables.coded import Coded
from unskew.core.variables.intervals import in_intervals, is_number
from unskew.core.variables.variable import SalientVariable, Values

if TYPE_CHECKING:
    from unskew.core.batch import Batch

BINS = 20  # the number of bins is near this
FIRST_ROWS = 4096  # that decide
FENCE = 3.0  # interquartile ranges from the quartiles; numbers farther away are outliers
MOST_OUTLIERS = 0.05  # share of the numbers at each end that may be outliers
STEPS = (1.0, 2.0, 2.5, 5.0)  # times a power of ten: widths of bins that people can read


def choose_edges(values: Values) -> tuple[float, ...]:
    """Return the edges of bins for numbers that hardly repeat; () for all other values.

    Only the first 4,096 values decide, so that the size of a batch does not matter.

    The rule: they are numbers (or missing), at least 100 of them are numbers, and more than half
    of these numbers differ from all others. The bins then have one width and cover the range of
    the numbers without outliers, with open ends. The width is 1, 2, 2.5 or 5 times a power of
    ten, whichever makes the number of bins closest to 20. Bins that hold equally many values would
    hide the skew.
    """
    head = slice(FIRST_ROWS)
    first = (values.rows(head) if isinstance(values, Coded) else values[head]).tolist()
    try:
        if not numbers_hardly_repeat(Counter(first)):
            return ()
        numbers = [float(value) for value in first if is_number(value)]
    except (OverflowError, TypeError):
        return ()  # a value cannot be hashed, or is too large for a float
    finite = sorted(filter(math.isfinite, numbers))
    return readable_edges(*usual_range(finite)) if finite else ()


def numbers_hardly_repeat(counts: Mapping[Hashable, int]) -> bool:
    """Return whether all values are numbers (or missing), and the numbers hardly repeat."""
    numbers = {value: count for value, count in counts.items() if value is not None}
    return all(type(v) in (int, float) for v in numbers) and hardly_repeats(numbers.values())


def usual_range(numbers: Sequence[float]) -> tuple[float, float]:
    """Return the least and the greatest of sorted numbers that are not outliers.

    An outlier is among the 5 % at its end, and farther from the quartiles than three times the
    distance between them.
    """
    last = len(numbers) - 1
    lower, upper = numbers[round(last / 4)], numbers[round(3 * last / 4)]
    reach = FENCE * (upper - lower)
    some = math.floor(MOST_OUTLIERS * len(numbers))
    first = min(some, bisect_left(numbers, lower - reach))
    end = max(last - some, bisect_right(numbers, upper + reach) - 1)
    return numbers[first], numbers[end]


def readable_edges(low: float, high: float) -> tuple[float, ...]:
    """Return the edges of about 20 bins from ``low`` to ``high``; () if there is no room.

    Both ends are open: ``low`` is below the first edge, and ``high`` is not below the last one.
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


def in_usual_bins(variable: SalientVariable, first: Batch) -> SalientVariable:
    """Return a variable that counts numbers in bins, if those of the first batch hardly repeat."""
    if variable.support is not None or variable.parts:
        return variable
    edges = choose_edges(variable.measure(first))
    if not edges:
        return variable
    return replace(variable, measure=lambda batch: in_intervals(variable.measure(batch), edges))


def about_bins(edges: Sequence[float]) -> str:
    """Return how many bins there are, and how wide they are."""
    width = f" of {edges[1] - edges[0]:g}" if len(edges) > 1 else ""
    return f"in {len(edges) + 1} bins{width}"
