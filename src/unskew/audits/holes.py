"""Holes: whole numbers that no example has, though the numbers next to them are frequent."""

from __future__ import annotations

import math
from collections.abc import Hashable, Mapping
from itertools import pairwise

FALSE_ALARMS = 0.001  # the largest share of variables without a hole that may be said to have one


def holes(counts: Mapping[Hashable, int]) -> tuple[Hashable, ...]:
    """Return whole numbers that no example has, though the numbers next to them are frequent.

    The rule: a number is frequent if at least k of the n examples have it. The step between
    numbers is the largest that fits all frequent ones. A number that no example has is a hole if
    the next number below it and the next one above it are both frequent.

    k is the smallest with 6 n / k · 2⁻ᵏ ≤ 0.001 (19 for 1,000 examples, 25 for 100,000). Where no
    number is rarer than both of its neighbours, as in any distribution with one peak, a hole is
    then found by chance in at most one of 1,000 variables: a number that is as probable as the
    rarer neighbour is missing beside k examples of it with probability 2⁻ᵏ at most, and n
    examples have room for at most 6 n / k such triples, whatever their step.
    """
    if any(type(value) is not int for value, count in counts.items() if count):
        return ()
    least = _frequent(sum(counts.values()))
    frequent = sorted(v for v, count in counts.items() if isinstance(v, int) and count >= least)
    gaps = [high - low for low, high in pairwise(frequent)]
    if len(gaps) < 2:
        return ()
    step = math.gcd(*gaps)
    between = [low + step for low, gap in zip(frequent, gaps, strict=False) if gap == 2 * step]
    return tuple(value for value in between if not counts.get(value))


def _frequent(n: int) -> int:
    """Return k of ``holes``."""
    return next(k for k in range(1, 200) if 6 * n / k * 0.5**k <= FALSE_ALARMS)
