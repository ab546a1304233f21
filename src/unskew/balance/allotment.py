"""How many examples of each value to take from a finite pool, and which ones.

Homogenizing an endless source settles to r(x) ∝ p(x) / (p(x) + ε) (section 3). The p(x) of a pool
are known, so r is computed, and each value gets its share of the n examples. Without repeats, n is
possible if for each x at least n·r(x) examples have x. The largest such n is
(pool size)·Σ p(x)·g(x): as many as the paper's procedure would keep of the pool in expectation.
"""

from __future__ import annotations

import math
from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from unskew.balance.theory import acceptance

LARGEST_EPSILON = 1.0  # a larger one hardly changes the distribution of a variable
_SMALL = 1 << 16  # codes of 16 bits
_ROUNDING = 1e-6  # floating point may lack this much of a whole example


def target_shares(counts: NDArray[np.int64], epsilon: float) -> NDArray[np.float64]:
    """Return r(x) over the values in the pool: the paper's limit, or uniform at ε = 0."""
    p = counts / counts.sum()
    weights = p / (p + epsilon)
    shares: NDArray[np.float64] = weights / weights.sum()
    return shares


def most_possible(counts: NDArray[np.int64], epsilon: float) -> int:
    """Return how many examples the pool gives at this ε without repeats."""
    p = counts / counts.sum()
    kept = int(counts.sum()) * float(p @ acceptance(p, epsilon))
    return max(1, math.floor(kept + _ROUNDING))


def most_of_weights(weights: NDArray[np.float64]) -> int:
    """Return how many rows of these weights can be taken without repeats."""
    return max(1, math.floor(float(weights.sum() / weights.max()) + _ROUNDING))


def epsilon_for(counts: NDArray[np.int64], n: int) -> float | None:
    """Return an ε of two digits at which ``n`` examples are possible; None if it is above 1."""
    low, high = 0.0, LARGEST_EPSILON
    if most_possible(counts, high) < n:
        return None
    for _ in range(60):
        middle = (low + high) / 2
        low, high = (low, middle) if most_possible(counts, middle) >= n else (middle, high)
    unit = 10.0 ** (math.floor(math.log10(high)) - 1)
    return math.ceil(high / unit) * unit


def allot(shares: NDArray[np.float64], n: int, rng: np.random.Generator) -> NDArray[np.int64]:
    """Divide ``n`` among values by their shares r(x): n·r(x), rounded up or down.

    The rounding is systematic: the sum is n, and the mean of each value's number is exactly
    n·r(x). So values whose share is below one example get examples too.
    """
    expected = n * shares
    allotted = np.floor(expected + _ROUNDING).astype(np.int64)
    left = n - int(allotted.sum())
    if left:
        order = rng.permutation(len(shares))
        ends = np.cumsum(np.maximum(expected - allotted, 0)[order])
        marks = np.ceil(ends * (left / ends[-1]) - rng.random()).astype(np.int64)
        marks[-1] = left
        allotted[order] += np.diff(marks, prepend=0)
    return allotted


def within(allotted: NDArray[np.int64], counts: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return at most as many as there are; the excess goes to values with most examples left."""
    kept = np.minimum(allotted, counts)
    for _ in range(int(allotted.sum() - kept.sum())):
        kept[np.argmax(counts - kept)] += 1
    return kept


def choose(
    codes: NDArray[np.integer], allotted: NDArray[np.int64], rng: np.random.Generator
) -> NDArray[np.int64]:
    """Return how often each row is taken, at random among the rows of its value.

    If a value needs more rows than it has, some rows are taken once more often than the others.
    """
    counts = np.bincount(codes, minlength=len(allotted))
    rows = np.maximum(counts, 1)
    times: NDArray[np.int64] = (allotted // rows)[codes]
    chances = rng.random(len(codes))
    more = allotted % rows  # rows of each value that are taken once more
    for code, members in enumerate(_members(codes, counts)):
        if more[code]:
            lowest = np.argpartition(chances[members], more[code])[: more[code]]
            times[members[lowest]] += 1
    return times


def _members(codes: NDArray[np.integer], counts: NDArray[np.int64]) -> Iterator[NDArray[np.int64]]:
    """Yield the rows of each value, in order."""
    small = codes.astype(np.uint16) if len(counts) <= _SMALL else codes
    order = np.argsort(small, kind="stable")  # a radix sort, where the codes have 16 bits
    end = 0
    for count in counts.tolist():
        yield order[end : end + count]
        end += count
