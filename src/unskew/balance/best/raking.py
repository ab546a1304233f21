"""Balances several variables at once, at a price: raking with a cap.

Of the distributions that C draws buy (``balance/best/capped``), ``rake`` looks for the one with the
least Σ KL(r_j‖t_j) over the variables j. Here r_j are the shares of the values of variable j, and
t_j is its target. It has the form r(s) = p(s)·min(C, c·Π a_j(x_j)): one table for each variable.

With a closeness δ, a margin may differ from its target by a total variation of δ. Then the
distance is measured to the nearest distribution that is within δ of the target.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from unskew.balance.best.capped import enough, least_possible, level_of
from unskew.balance.best.cells import Cells, Shares

Tables = tuple[NDArray[np.float64], ...]
TOLERANCE = 1e-3  # nats between the distance reached and the bound that no rule can pass
MOST_STEPS = 3_000
BOUND_EVERY = 4  # steps
_TINY = 1e-300  # a share of zero, in logarithms
_LEAST_STEP = 1e-6


@dataclass(frozen=True)
class Raked:
    """One table for each variable, what they cost, and how close they come.

    A draw is kept with probability min(1, exp(the sum of its entries in the tables)).
    ``distance`` is Σ KL(r_j‖t_j) in nats. ``bound`` is the distance that no rule can go below at
    ``draws`` draws for each kept example.
    """

    tables: Tables
    draws: float
    margins: tuple[Shares, ...]
    distance: float
    bound: float
    steps: int


@dataclass(frozen=True)
class _State:
    """The tables of one step, with the shares that follow from them."""

    tables: Tables
    level: float  # the logarithm of the c
    ratios: NDArray[np.float64]  # log(r/p) of each combination
    margins: list[Shares]
    slopes: Tables
    distance: float


def rake(
    cells: Cells,
    targets: Sequence[Shares],
    draws: float,
    *,
    closeness: float = 0.0,
    tolerance: float = TOLERANCE,
    most_steps: int = MOST_STEPS,
    only_whether: bool = False,
    start: Tables | None = None,
) -> Raked:
    """Fit the tables by which ``draws`` draws for each kept example come closest to the targets.

    Each step moves each table against the slope of the distance: a value that has too much loses.
    Steps in the same direction grow (Nesterov's momentum). Where a step would increase the
    distance, the momentum is lost, and then the step is halved. The distance is convex, so its
    slope gives a bound for all rules. The fit ends when the distance is within ``tolerance`` of
    that bound.

    Args:
        cells: the combinations of values in a sample.
        targets: the wanted shares of the values, for each variable.
        draws: the price: draws for each kept example. More than ``enough`` buys nothing else.
        closeness: the total variation by which each margin may differ from its target.
        tolerance: how close to the bound, in nats.
        most_steps: the fit ends after so many steps in any case.
        only_whether: end as soon as the bound says that the targets cannot be reached.
        start: tables to begin with.
    """
    draws = min(max(draws, 1.0), enough(cells.shares))
    problem = _Problem(cells, targets, draws, closeness)
    last = start or tuple(np.zeros(size) for size in cells.sizes)
    state = problem.state(last)
    bound, step, steps, momentum = 0.0, 1.0, 0, 1.0
    while steps < most_steps:
        if steps % BOUND_EVERY == 0:
            bound = max(bound, problem.bound(state))
            if state.distance - bound <= tolerance or (only_whether and bound > tolerance):
                break
        steps += 1
        moved = _against(state.tables, state.slopes, step)
        growing = (1 + np.sqrt(1 + 4 * momentum**2)) / 2
        further = _against(moved, _difference(last, moved), (momentum - 1) / growing)
        ahead = problem.state(further, state)
        if ahead.distance <= state.distance:
            state, last, momentum, step = ahead, moved, growing, 1.05 * step
        elif momentum > 1:
            last, momentum = state.tables, 1.0
        elif step > _LEAST_STEP:
            step /= 2
        else:
            break  # a shorter step would change nothing in floating point
    return _result(cells, state, bound, draws, steps)


@dataclass(frozen=True)
class _Problem:
    """The arguments of a fit."""

    cells: Cells
    targets: Sequence[Shares]
    draws: float
    closeness: float

    def state(self, tables: Tables, near_by: _State | None = None) -> _State:
        """Return the shares that follow from tables, and the slope of the distance there.

        ``near_by`` is a state whose tables differ little; with it, this is faster.
        """
        cells = self.cells
        scores = cells.total(tables)
        level = level_of(cells.shares, scores, self.draws, near_by.level if near_by else None)
        ratios = np.minimum(scores + level, np.log(self.draws))
        margins = cells.margins(np.exp(ratios) * cells.shares)
        slopes, distance = [], 0.0
        for shares, target in zip(margins, self.targets, strict=True):
            nearest = near(shares, target, self.closeness)
            slope = np.log(np.maximum(shares, _TINY) / np.maximum(nearest, _TINY))
            slope[shares == 0] = 0.0  # the sample does not have this value
            slopes.append(slope)
            distance += float(shares @ slope)
        return _State(tables, level, ratios, margins, tuple(slopes), max(distance, 0.0))

    def bound(self, state: _State) -> float:
        """Return a distance that no rule at this cost can go below: what the slope leaves."""
        cells = self.cells
        slope = cells.total(state.slopes)
        shares = np.exp(state.ratios) * cells.shares
        gap = float(slope @ shares) - least_possible(cells.shares, slope, self.draws)
        return state.distance - gap


def _against(tables: Tables, slopes: Tables, step: float) -> Tables:
    """Return the tables moved by a step against their slopes."""
    return tuple(table - step * slope for table, slope in zip(tables, slopes, strict=True))


def _difference(tables: Tables, others: Tables) -> Tables:
    return _against(tables, others, 1.0)


def _result(cells: Cells, state: _State, bound: float, draws: float, steps: int) -> Raked:
    """Return the fit, with tables that keep a draw of the rarest combinations for certain.

    Where the target needs fewer draws than are allowed, fewer are used.
    """
    log_draws = float(min(state.ratios.max(), np.log(draws)))
    free = state.ratios < log_draws - 1e-9
    scores = cells.total(state.tables)
    level = float((state.ratios - scores)[free].max()) if free.any() else -float(scores.min())
    shift = (level - log_draws) / len(state.tables)
    tables = [table + shift for table in state.tables]
    for table, shares in zip(tables, state.margins, strict=True):
        table[shares == 0] = table[shares > 0].max()  # rare if it ever comes, so it is kept
    return Raked(
        tuple(tables), float(np.exp(log_draws)), tuple(state.margins), state.distance, bound, steps
    )


def near(shares: Shares, target: Shares, closeness: float) -> Shares:
    """Return the q with the least KL(shares‖q) that is within ``closeness`` of the target.

    Where shares are far above the target, q is a fraction of the shares, and a multiple of them
    where they are far below. Elsewhere q is the target. The fraction and the multiple are such
    that q takes ``closeness`` from the values below, and gives it to those above.
    """
    if closeness <= 0:
        return target
    if np.abs(shares - target).sum() <= 2 * closeness:
        return shares
    least = _fraction(shares, target, closeness) * shares
    seen = shares > 0
    most = np.zeros(len(shares))
    most[seen] = _multiple(shares, target, closeness) * shares[seen]
    return np.clip(target, least, most)


def _fraction(shares: Shares, target: Shares, closeness: float) -> float:
    """Return the a with Σ (a·shares − target)⁺ = closeness."""
    some = shares > 0
    ratio = target[some] / shares[some]  # at a above its ratio, a value counts
    order = np.argsort(ratio)
    share, wanted = np.cumsum(shares[some][order]), np.cumsum(target[some][order])
    candidates = (closeness + wanted) / share
    index = int(np.argmax(np.append(ratio[order][1:], np.inf) >= candidates))
    return float(candidates[index])


def _multiple(shares: Shares, target: Shares, closeness: float) -> float:
    """Return the b with Σ (target − b·shares)⁺ = closeness; infinity if even that is too much."""
    never = float(target[shares <= 0].sum())
    if never >= closeness:
        return float("inf")
    some = shares > 0
    ratio = target[some] / shares[some]  # at b below its ratio, a value counts
    order = np.argsort(-ratio)
    share, wanted = np.cumsum(shares[some][order]), np.cumsum(target[some][order])
    candidates = (wanted + never - closeness) / share
    index = int(np.argmax(np.append(ratio[order][1:], -np.inf) <= candidates))
    return float(candidates[index])
