"""How many examples of each value to take from a finite pool, and which ones.

Homogenizing an endless source settles to r(x) ∝ p(x) / (p(x) + ε) (section 3). Of a pool the
p(x) are known, so nothing has to be learned on the way: r is computed, and each value gets its
share of the examples asked for. Without repeating any, n examples are possible as long as
n·r(x) is at most the number that have x; the largest such n is (pool size)·Σ p(x)·g(x), what
the paper's procedure would keep of the pool in expectation.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from unskew.balance.theory import acceptance

LARGEST_EPSILON = 1.0  # beyond it a variable is all but left as it was
_HARDLY = 1e-6  # what floating point may lack of a whole example


def target_shares(counts: NDArray[np.int64], epsilon: float) -> NDArray[np.float64]:
    """Return r(x) over values that are there: the paper's limit, or uniform at ε = 0."""
    p = counts / counts.sum()
    weights = p / (p + epsilon)
    shares: NDArray[np.float64] = weights / weights.sum()
    return shares


def most_possible(counts: NDArray[np.int64], epsilon: float) -> int:
    """Return how many examples the pool gives at this ε without repeating any."""
    p = counts / counts.sum()
    kept = int(counts.sum()) * float(p @ acceptance(p, epsilon))
    return max(1, math.floor(kept + _HARDLY))


def epsilon_for(counts: NDArray[np.int64], n: int) -> float | None:
    """Return an ε at which ``n`` examples are possible, two digits; None where it leaves all."""
    low, high = 0.0, LARGEST_EPSILON
    if most_possible(counts, high) < n:
        return None
    for _ in range(60):
        middle = (low + high) / 2
        low, high = (low, middle) if most_possible(counts, middle) >= n else (middle, high)
    unit = 10.0 ** (math.floor(math.log10(high)) - 1)
    return math.ceil(high / unit) * unit


def allot(
    counts: NDArray[np.int64], n: int, epsilon: float, rng: np.random.Generator
) -> NDArray[np.int64]:
    """Divide ``n`` among the values by their target shares: n·r(x), rounded up or down.

    Systematic rounding: each value gets the whole number below or above, in the mean exactly
    n·r(x), and together they are n. So values too rare for one example each are not forgotten.
    """
    shares = n * target_shares(counts, epsilon)
    allotted = np.floor(shares + _HARDLY).astype(np.int64)
    left = n - int(allotted.sum())
    if left:
        order = rng.permutation(len(counts))
        ends = np.cumsum(np.maximum(shares - allotted, 0)[order])
        marks = np.ceil(ends * (left / ends[-1]) - rng.random()).astype(np.int64)
        marks[-1] = left
        allotted[order] += np.diff(marks, prepend=0)
    return allotted


def within(allotted: NDArray[np.int64], counts: NDArray[np.int64]) -> NDArray[np.int64]:
    """Keep to the examples there are; one that rounding gave too many goes where most are left."""
    kept = np.minimum(allotted, counts)
    for _ in range(int(allotted.sum() - kept.sum())):
        kept[np.argmax(counts - kept)] += 1
    return kept


def choose(
    codes: NDArray[np.integer], allotted: NDArray[np.int64], rng: np.random.Generator
) -> NDArray[np.int64]:
    """Return how often each row is taken, at random among those of its value.

    Where a value needs more than it has, its rows are repeated, none twice more than another.
    """
    counts = np.bincount(codes, minlength=len(allotted))
    order = np.lexsort((rng.random(len(codes)), codes))
    starts = np.cumsum(counts) - counts
    rank = np.empty(len(codes), dtype=np.int64)
    rank[order] = np.arange(len(codes)) - starts[codes[order]]
    there = np.maximum(counts, 1)
    times: NDArray[np.int64] = (allotted // there)[codes] + (rank < (allotted % there)[codes])
    return times
