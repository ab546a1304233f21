"""How improbable a result of chance is: tails of distributions, and p-values of many tests."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

_STEPS = 10_000  # of a series or fraction; it needs about the root of its argument


def normal_tail(z: float) -> float:
    """Return the probability that a normal number is ``z`` or more."""
    return math.erfc(z / math.sqrt(2)) / 2


def chi2_tail(statistic: float, freedom: float) -> float:
    """Return the probability that a chi-square number is ``statistic`` or more."""
    return 1.0 if freedom <= 0 else gamma_tail(statistic / 2, freedom / 2)


def gamma_tail(x: float, shape: float) -> float:
    """Return the probability that a gamma number of this shape and of scale 1 is ``x`` or more."""
    if x <= 0:
        return 1.0
    power = math.exp(shape * math.log(x) - x - math.lgamma(shape))
    if x < shape + 1:
        return max(0.0, 1 - power * _series(x, shape))
    return power * _fraction(x, shape)


def _series(x: float, shape: float) -> float:
    term = total = 1 / shape
    for step in range(1, _STEPS):
        term *= x / (shape + step)
        total += term
        if term < total * 1e-16:
            break
    return total


def _fraction(x: float, shape: float) -> float:
    """Return the continued fraction of the upper tail, by Lentz's method."""
    b = x + 1 - shape
    c, d = math.inf, 1 / b
    total = d
    for step in range(1, _STEPS):
        a = step * (shape - step)
        b += 2
        d = 1 / (a * d + b)
        c = b + a / c
        total *= c * d
        if abs(c * d - 1) < 1e-15:
            break
    return total


def hypergeometric_tail(
    hits: NDArray[np.int64], rows: NDArray[np.int64], all_hits: int, all_rows: int
) -> NDArray[np.float64]:
    """Return, for each set of ``rows`` of ``all_rows`` rows, the probability of so many hits.

    It is the exact probability that a random set of this size has ``hits`` of the ``all_hits`` or
    more; 1 where there are no more hits than expected.
    """
    more = hits * all_rows > rows * all_hits
    terms = np.where(more, np.minimum(rows, all_hits) - hits + 1, 0)
    owner = np.repeat(np.arange(len(hits)), terms)
    begin = np.cumsum(terms) - terms
    k = hits[owner] + np.arange(len(owner)) - begin[owner]
    log = _log_factorials(all_rows)
    others, free = rows[owner] - k, all_rows - all_hits
    logs = _choose(log, all_hits, k) + _choose(log, free, others)
    logs -= _choose(log, all_rows, rows[owner])
    tail = np.bincount(owner, np.exp(logs), minlength=len(hits))
    return np.where(more, np.minimum(tail, 1.0), 1.0)


def _log_factorials(most: int) -> NDArray[np.float64]:
    logs = np.zeros(most + 1)
    np.cumsum(np.log(np.arange(1, most + 1)), out=logs[1:])
    return logs


def _choose(log: NDArray[np.float64], n: int, k: NDArray[np.int64]) -> NDArray[np.float64]:
    chosen: NDArray[np.float64] = log[n] - log[k] - log[n - k]
    return chosen


def holm(p: Sequence[float]) -> NDArray[np.float64]:
    """Return p-values adjusted so that any false finding is as improbable as its p-value says."""
    ordered, order = _ordered(p)
    times = np.arange(len(ordered), 0, -1)
    return _placed(np.maximum.accumulate(ordered * times), order)


def benjamini_hochberg(p: Sequence[float]) -> NDArray[np.float64]:
    """Return p-values adjusted so that they bound the expected share of false findings."""
    ordered, order = _ordered(p)
    times = len(ordered) / np.arange(1, len(ordered) + 1)
    return _placed(np.minimum.accumulate((ordered * times)[::-1])[::-1], order)


def _ordered(p: Sequence[float]) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
    array = np.asarray(p, dtype=np.float64)
    order = np.argsort(array, kind="stable")
    return array[order], order


def _placed(p: NDArray[np.float64], order: NDArray[np.int64]) -> NDArray[np.float64]:
    placed = np.empty(len(p))
    placed[order] = np.minimum(p, 1.0)
    return placed
