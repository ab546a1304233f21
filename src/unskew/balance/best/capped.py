"""Distributions that a number of draws can buy, and the one of them that is closest to a target.

A draw of s is kept with some probability g(s) ≤ 1. At C draws for each kept example, the kept
examples have shares r(s) = C·g(s)·p(s). So C draws buy exactly the distributions with r ≤ C·p.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from unskew.balance.best.cells import Shares

_SLACK = 1e-12  # floating point may lack this much of the logarithm of a cap


def closest(shares: Shares, target: Shares, draws: float) -> Shares:
    """Return the r ≤ draws·shares with the least KL(r‖target), for the values of one variable.

    It is r = min(draws·p, λ·t): rare values get all that the draws give, and the others get
    shares proportional to the target. No other r is closer, at this cost.
    """
    possible = (shares > 0) & (target > 0)
    wanted = np.log(target[possible])
    r = np.zeros(len(shares))
    with_cap = shares[possible]
    r[possible] = np.exp(capped(with_cap, wanted - np.log(with_cap), draws)) * with_cap
    return r


def enough(shares: Shares) -> float:
    """Return the number of draws above which more draws change nothing."""
    return float(1 / shares[shares > 0].min())


def capped(shares: Shares, scores: NDArray[np.float64], draws: float) -> NDArray[np.float64]:
    """Return log(r/p) of r = p·min(draws, c·exp(score)), with the c that makes r sum to one.

    Those with the highest scores are capped. With the first i capped, c follows from what is
    left. The right i is the first at which the next one is below the cap.
    """
    order = np.argsort(-scores, kind="stable")
    ordered, score = shares[order], scores[order]
    left = 1 - draws * (np.cumsum(ordered) - ordered)  # when those before are capped
    rest = np.logaddexp.accumulate((np.log(ordered) + score)[::-1])[::-1]
    some = left > 0
    level = np.log(left[some]) - rest[some]
    log_cap = np.log(draws)
    fits = level + score[some] <= log_cap + _SLACK
    fits[-1] = True  # where all are capped, rounding may hide that the last one fits
    ratios: NDArray[np.float64] = np.minimum(scores + level[np.argmax(fits)], log_cap)
    return ratios


def least_possible(shares: Shares, slope: NDArray[np.float64], draws: float) -> float:
    """Return the least Σ slope·r over all r ≤ draws·shares: the lowest slopes are filled first."""
    order = np.argsort(slope, kind="stable")
    room = draws * shares[order]
    filled = np.clip(1 - (np.cumsum(room) - room), 0, room)
    return float(slope[order] @ filled)
