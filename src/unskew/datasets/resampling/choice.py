"""Which rows of a pool are taken, and how often: the same for a file, an object and an epoch."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from unskew.balance import allotment
from unskew.balance.best.goal import Fit
from unskew.balance.best.price import total_variation
from unskew.balance.best.rounding import evened
from unskew.core.errors import UnskewError
from unskew.datasets.resampling.pool import Pool

NAMED = 5  # values that an error names
REPEATS = "allow repeats: --replacement (in Python: replacement=True)"
_ROUNDING = 1e-6  # floating point may lack this much of a whole row


@dataclass(frozen=True)
class RowChoice:
    """How many rows to take of a pool, with which shares, and how often a row may be taken."""

    pool: Pool
    n: int
    shares: NDArray[np.float64]  # of each combination, in what is taken
    limit: int | None  # how often a row may be taken; None is any number of times
    possible: int  # rows that these shares allow without repeats
    fit: Fit | None = None  # None for ε

    def times(self, rng: np.random.Generator) -> NDArray[np.int64]:
        """Return how often each row is taken; another generator chooses other rows."""
        pool = self.pool
        allotted = allotment.allot(self.shares, self.n, rng)
        if len(pool.variables) > 1:
            allotted = evened(pool.cells, allotted, self.n * self.shares, rng)
        if self.limit is not None:
            allotted = allotment.within(allotted, self.limit * pool.counts)
        return allotment.choose(pool.codes, allotted, rng)


def fitted_choice(
    pool: Pool, n: int | None, fit: Fit, limit: int | None, default: int | None
) -> RowChoice:
    """Return the choice of ``n`` rows by a fit; else of ``default``, else of all that can be."""
    ratios = ratios_of(pool, fit)
    exact = len(pool) / float(ratios.max())
    possible = max(1, math.floor(exact + _ROUNDING))
    most = None if limit is None else max(1, math.floor(limit * exact + _ROUNDING))
    if n is None:
        n = default if default is not None else most if most is not None else len(pool)
    if most is not None and n > most:
        times = "without repeats" if limit == 1 else f"if each is taken at most {limit} times"
        price = len(pool) * (limit or 1) / n
        lower = f"a budget of {price:.3g}, " if price >= 1 else ""
        raise UnskewError(
            f"n is {n:,}, but {pool.label} gives {most:,} {times}, at {fit.raked.draws:.3g} rows "
            f"for each one; ask for at most {most:,}, or for {lower}more repeats or a larger "
            "closeness"
        )
    return RowChoice(pool, int(n), ratios * pool.cells.shares, limit, possible, fit)


def ratios_of(pool: Pool, fit: Fit) -> NDArray[np.float64]:
    """Return for each combination its share in the fit, over its share of the pool."""
    chances = np.exp(np.minimum(pool.cells.total(fit.raked.tables), 0.0))
    ratios: NDArray[np.float64] = chances / float(chances @ pool.cells.shares)
    return ratios


def choice(pool: Pool, n: int | None, epsilon: float, replacement: bool) -> RowChoice:
    """Return the choice of ``n`` rows by ε, without ``n`` of as many as there can be."""
    possible = allotment.most_possible(pool.counts, epsilon)
    if n is None:
        n = len(pool) if replacement else possible
    if n > possible and not replacement:
        raise UnskewError(_too_few(pool, n, possible, epsilon))
    shares = allotment.target_shares(pool.counts, epsilon)
    return RowChoice(pool, int(n), shares, None if replacement else 1, possible)


def about(choice: RowChoice, times: NDArray[np.int64]) -> Mapping[str, Any]:
    """Return what a fit costs and reaches, as plain data; nothing for ε."""
    if choice.fit is None:
        return {}
    raked, pool = choice.fit.raked, choice.pool
    taken = np.bincount(pool.codes, times, len(pool.cells.shares)) / times.sum()
    return {
        "rows_per_kept": raked.draws,
        "distance": raked.distance,
        "bound": raked.bound,
        "total_variation": {
            name: list(pair) for name, pair in apart_of(pool, choice.fit, taken).items()
        },
    }


def apart_of(pool: Pool, fit: Fit, shares: NDArray[np.float64]) -> dict[str, tuple[float, float]]:
    """Return the total variation from the target, before and after, by variable.

    ``shares`` are those of the combinations afterwards.
    """
    cells = pool.cells
    margins = zip(cells.margins(cells.shares), cells.margins(shares), fit.targets, strict=True)
    apart = [
        (total_variation(_padded(p, target), target), total_variation(_padded(r, target), target))
        for p, r, target in margins
    ]
    return {variable.name: pair for variable, pair in zip(pool.variables, apart, strict=True)}


def _padded(shares: NDArray[np.float64], like: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return shares with zeros for the values that no row has."""
    return np.pad(shares, (0, len(like) - len(shares)))


def _too_few(pool: Pool, n: int, possible: int, epsilon: float) -> str:
    """Return an error's text: what is possible, which values are too rare, and what to do."""
    label, size = pool.label, len(pool)
    if n > size:
        return (
            f"n is {n}, but {label} has {size} examples, {possible} of them at epsilon "
            f"{epsilon:g}; ask for at most {possible}, or {REPEATS}"
        )
    needed = n * allotment.target_shares(pool.counts, epsilon)
    short = np.flatnonzero(needed > pool.counts + 0.5).tolist()
    short.sort(key=lambda x: pool.counts[x])
    named = [f"{pool.values[x]} ({pool.counts[x]} of {needed[x]:.0f})" for x in short[:NAMED]]
    more = f", … ({len(short) - NAMED} more values)" if len(short) > NAMED else ""
    enough = allotment.epsilon_for(pool.counts, n)
    raised = f"raise epsilon to {enough:g}, " if enough is not None else ""
    return (
        f"n is {n}, but {label} gives {possible} at epsilon {epsilon:g} without repeats: too few "
        f"have {pool.name} = {', '.join(named)}{more}; ask for at most {possible}, {raised}"
        f"or {REPEATS}"
    )
