"""Distributions that a number of draws can buy, and the one of them that is closest to a target.

A draw of s is kept with some probability g(s) ≤ 1. At C draws for each kept example, the kept
examples have shares r(s) = C·g(s)·p(s). So C draws buy exactly the distributions with r ≤ C·p.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from unskew.balance.best.cells import Shares

_SLACK = 1e-12  # floating point may lack this much of the logarithm of a cap
_ROUNDING = 1e-15  # of shares that sum to one
_LEAST = 1e-290  # below this, sums of floating point lose digits


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
    """Return log(r/p) of r = p·min(draws, c·exp(score)), with the c that makes r sum to one."""
    ratios: NDArray[np.float64] = np.minimum(
        scores + level_of(shares, scores, draws), np.log(draws)
    )
    return ratios


def level_of(
    shares: Shares, scores: NDArray[np.float64], draws: float, guess: float | None = None
) -> float:
    """Return the log c with which p·min(draws, c·exp(score)) sums to one.

    If it is known which are capped, c follows from what is left for the others. More are capped
    from round to round, until those are capped that c says. A guess that caps too many is dropped.
    """
    top, log_cap = float(scores.max()), float(np.log(draws)) + _SLACK
    masses = shares * np.exp(scores - top)
    level = float(-np.log(masses.sum())) - top if guess is None else guess
    is_capped = scores > log_cap - level
    while True:
        left = 1 - draws * float(shares[is_capped].sum())
        free = ~is_capped
        mass = float(masses[free].sum())
        if guess is not None and (left <= 0 or not mass > _LEAST):
            return level_of(shares, scores, draws)
        if not free.any():
            return log_cap - float(scores.min())
        level = float(np.log(max(left, _ROUNDING)))
        level -= (
            float(np.log(mass)) + top if mass > _LEAST else _log_mass(shares[free], scores[free])
        )
        more = scores > log_cap - level
        if guess is not None and (is_capped & ~more).any():
            return level_of(shares, scores, draws)
        if not (more & free).any():
            return level
        is_capped |= more


def _log_mass(shares: Shares, scores: NDArray[np.float64]) -> float:
    """Return log Σ p·exp(score)."""
    top = float(scores.max())
    return float(np.log(shares @ np.exp(scores - top))) + top


def least_possible(shares: Shares, slope: NDArray[np.float64], draws: float) -> float:
    """Return the least Σ slope·r over all r ≤ draws·shares: the lowest slopes are filled first."""
    order = np.argsort(slope, kind="stable")
    room = draws * shares[order]
    filled = np.clip(1 - (np.cumsum(room) - room), 0, room)
    return float(slope[order] @ filled)
