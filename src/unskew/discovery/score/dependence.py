"""How much the values of two variables of the same rows say about each other."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from unskew.core.rng import generator
from unskew.core.variables.coded import Coded
from unskew.discovery.score.tails import chi2_tail, gamma_tail

_ENOUGH = 5.0  # rows expected in each cell of a table, above which the chi-square law holds
_FIRST, _MORE = 20, 80  # shuffles: the first ones decide whether more are worth their time
_DENSE = 8  # cells per row up to which counting beats sorting

Codes = NDArray[np.int64]


@dataclass(frozen=True)
class Dependence:
    """What two variables say about each other.

    Args:
        information: mutual information of the rows as they are, in nats.
        noise: the information that independent variables with the same values would show.
        entropies: the entropy of each variable, in nats.
        p: the probability that independent variables show as much information.
    """

    information: float
    noise: float
    entropies: tuple[float, float]
    p: float

    def share(self, of: int) -> float:
        """Return the share of one variable's entropy that the other takes away, noise off."""
        room = self.entropies[of] - self.noise
        return min(1.0, max(0.0, (self.information - self.noise) / room)) if room > 1e-12 else 0.0


def dependence(a: Coded, b: Coded, *, seed: int = 0) -> Dependence:
    """Return what two variables of the same rows say about each other.

    The p-value is that of a G-test. Where some combinations of values are expected in fewer than
    five rows, the law of G comes from shuffled rows: a gamma law of the same mean and spread.
    """
    a, b = a.in_order(), b.in_order()
    rows = len(a)
    if not rows or min(len(a.distinct), len(b.distinct)) < 2:
        return Dependence(0.0, 0.0, (_entropy(a), _entropy(b)), 1.0)
    logs = _n_log_n(rows)
    margins = [np.bincount(x.codes, minlength=len(x.distinct)) for x in (a, b)]
    constant = float(logs[rows]) - sum(float(logs[counts].sum()) for counts in margins)
    size = len(b.distinct)
    pairs, room = a.codes * size, len(a.distinct) * size

    def statistic(codes: Codes) -> float:
        return 2 * max(0.0, float(logs[cell_counts(pairs + codes, room)].sum()) + constant)

    observed = statistic(b.codes)
    freedom = (len(a.distinct) - 1) * (size - 1)
    if margins[0].min() * margins[1].min() >= _ENOUGH * rows:
        mean, p = float(freedom), chi2_tail(observed, freedom)
    else:
        rng = generator(seed, "dependence")
        shuffled = [statistic(rng.permutation(b.codes)) for _ in range(_FIRST)]
        if observed > max(shuffled):
            shuffled += [statistic(rng.permutation(b.codes)) for _ in range(_MORE)]
        mean, p = float(np.mean(shuffled)), _p_value(observed, shuffled)
    noise = mean / (2 * rows)
    return Dependence(observed / (2 * rows), noise, (_entropy(a), _entropy(b)), p)


def _p_value(observed: float, shuffled: list[float]) -> float:
    """Return the p-value of a statistic; far out, by a gamma law that is fitted to the shuffles."""
    as_large = sum(value >= observed * (1 - 1e-12) for value in shuffled)
    if as_large:
        return (1 + as_large) / (1 + len(shuffled))
    mean, spread = float(np.mean(shuffled)), float(np.var(shuffled, ddof=1))
    spread *= 1 + 2 * (2 / len(shuffled)) ** 0.5  # two standard errors of it
    if spread <= mean * 1e-9:  # all shuffles agree: each value has rows of its own
        return 1 / (1 + len(shuffled))
    return min(gamma_tail(observed * mean / spread, mean * mean / spread), 1 / len(shuffled))


def cell_counts(cells: Codes, room: int) -> Codes:
    """Return how many rows each cell has that any row has, in the order of the cells."""
    if room <= _DENSE * len(cells) + 1024:
        counts = np.bincount(cells)
        return counts[counts > 0]
    ordered = np.sort(cells)
    ends = np.flatnonzero(np.append(ordered[1:] != ordered[:-1], True))
    return np.diff(ends, prepend=-1)


def _entropy(values: Coded) -> float:
    counts = np.bincount(values.codes) if len(values) else np.zeros(1)
    shares = counts[counts > 0] / max(1, len(values))
    return max(0.0, -float((shares * np.log(shares)).sum()))


def _n_log_n(most: int) -> NDArray[np.float64]:
    numbers = np.arange(most + 1, dtype=np.float64)
    numbers[1:] *= np.log(numbers[1:])
    return numbers
