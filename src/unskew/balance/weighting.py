"""Weights that give a finite pool the distribution of homogenizing, without leaving out a row."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from unskew.balance.allotment import target_shares

_ROUNDING = 1e-12  # floating point may put a weight this much above the largest


def value_weights(
    counts: NDArray[np.int64], epsilon: float, most: float | None = None
) -> NDArray[np.float64]:
    """Return the weight r(x)/p(x) of each value, at most ``most``; the mean over the rows is 1."""
    p = counts / counts.sum()
    weights = target_shares(counts, epsilon) / p
    return weights if most is None else capped(weights, p, most)


def capped(
    weights: NDArray[np.float64], p: NDArray[np.float64], most: float
) -> NDArray[np.float64]:
    """Return ``min(most, c * weights)``, with the c at which the mean over ``p`` is 1.

    The excess of the values at the cap goes to all others in proportion to their weights. ``most``
    is at least 1.
    """
    order = np.argsort(-weights, kind="stable")
    heavy, mass = weights[order], p[order]
    below = np.cumsum((heavy * mass)[::-1])[::-1]  # the weight of this value and all lighter ones
    left = 1 - most * (np.cumsum(mass) - mass)  # for them, if all heavier ones are at the cap
    factors = left / below
    fits = factors * heavy <= most * (1 + _ROUNDING)
    if not fits.any():  # most is 1, and all weights are 1 except for rounding
        return np.ones_like(weights)
    result: NDArray[np.float64] = np.minimum(most, factors[np.argmax(fits)] * weights)
    return result


def effective_size(counts: NDArray[np.int64], weights: NDArray[np.float64]) -> float:
    """Return (Σw)²/Σw² over the rows: how many unweighted rows tell as much."""
    return float((counts @ weights) ** 2 / (counts @ weights**2))


def systematic(weights: NDArray[np.float64], n: int, rng: np.random.Generator) -> NDArray[np.int64]:
    """Return how often each row is taken: n·w/Σw, rounded up or down. The sum is ``n``."""
    order = rng.permutation(len(weights))
    ends = np.cumsum(weights[order])
    ends = np.minimum(ends * (n / ends[-1]), n)
    ends[-1] = n
    marks = np.floor(ends + rng.random()).astype(np.int64)
    times = np.empty(len(weights), dtype=np.int64)
    times[order] = np.diff(marks, prepend=0)
    return times
