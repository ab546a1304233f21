"""What closeness costs: the curve of cost against distance, and the cheapest way to a closeness.

It also says what stands in the way of a target: values that are too rare, and pairs of variables
that no choice of examples brings to both targets.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import combinations

import numpy as np

from unskew.balance.best.capped import enough
from unskew.balance.best.cells import Cells, Codes, Shares, cells_of
from unskew.balance.best.population import MOST_CELLS
from unskew.balance.best.raking import Raked, Tables, rake

PRICES = (1, 1.5, 2, 3, 5, 7, 10, 15, 20, 30, 50, 100)  # draws for each kept example
SMALL = 0.05  # nats: a conflict below this is not worth a word
ROUGHLY = 0.003  # nats: the tolerance of a curve that people look at
WITHIN = 0.99  # of the closeness that is asked for, so that the last steps may be left out
MOST_WORK = 20_000_000  # combinations times steps, in the last steps of a fit of very many
FEWEST_STEPS = 12
_SAME = 1 + 1e-6  # costs that differ by less than this factor are the same
COST_STEP = 1.02  # the cheapest cost is known up to this factor


@dataclass(frozen=True)
class Cheapest:
    """The cheapest fit within a closeness, or the nearest one if there is none.

    ``least`` is a number of draws that is certainly too small. It is infinite if no number of
    draws is enough; then ``fit`` is the closest fit there is.
    """

    fit: Raked
    least: float

    @property
    def possible(self) -> bool:
        """Whether the closeness can be reached."""
        return bool(np.isfinite(self.least))


@dataclass(frozen=True)
class Shortfall:
    """A value that gets less than its target even in the best fit."""

    variable: int
    value: int
    share: float
    target: float


@dataclass(frozen=True)
class Conflict:
    """Two variables whose targets no choice of examples reaches together."""

    first: int
    second: int
    distance: float  # nats: no rule brings the two together closer than this, at any cost


def total_variation(shares: Shares, target: Shares) -> float:
    """Return half the sum of |shares − target|."""
    return float(np.abs(shares - target).sum() / 2)


def curve(cells: Cells, targets: Sequence[Shares], prices: Sequence[float] = PRICES) -> list[Raked]:
    """Return the closest fit at each price, from the lowest on.

    The curve ends where the targets are reached: more draws than that buy nothing.
    """
    fits: list[Raked] = []
    for price in sorted(prices):
        fit = rake(cells, targets, price, tolerance=ROUGHLY)
        costs_more = not fits or fit.draws > fits[-1].draws * _SAME
        if not costs_more or (fits and fit.distance >= fits[-1].distance):
            break
        fits.append(fit)
    return fits


def closest_at(
    cells: Cells, targets: Sequence[Shares], draws: float, closeness: float = 0.0
) -> Raked:
    """Return the closest fit at a price, of any number of combinations.

    A fit of very many combinations begins with one of fewer. Its last steps are those of all.
    """
    if len(cells.shares) <= MOST_CELLS:
        return rake(cells, targets, draws, closeness=closeness)
    some = cells.thinned(MOST_CELLS)
    start = rake(some, targets, draws, closeness=closeness, tolerance=ROUGHLY).tables
    return _ended(cells, targets, draws, closeness, start)


def cheapest(cells: Cells, targets: Sequence[Shares], closeness: float) -> Cheapest:
    """Return the cheapest fit in which each margin is within ``closeness`` of its target."""
    if len(cells.shares) <= MOST_CELLS:
        return _cheapest(cells, targets, closeness)
    answer = _cheapest(cells.thinned(MOST_CELLS), targets, closeness)
    draws, fit, factor = answer.fit.draws, answer.fit, 1.0
    while draws < enough(cells.shares):
        fit = _ended(cells, targets, draws, WITHIN * closeness, fit.tables)
        if not answer.possible or farthest(fit, targets) <= closeness:
            return replace(answer, fit=fit)
        factor *= COST_STEP
        draws *= factor
    return Cheapest(fit, float("inf"))


def _ended(
    cells: Cells, targets: Sequence[Shares], draws: float, closeness: float, start: Tables
) -> Raked:
    """Return a fit of very many combinations that begins with good tables: its last steps."""
    steps = max(FEWEST_STEPS, MOST_WORK // len(cells.shares))
    return rake(cells, targets, draws, closeness=closeness, start=start, most_steps=steps)


def farthest(fit: Raked, targets: Sequence[Shares]) -> float:
    """Return the largest total variation of a margin from its target."""
    return max(map(total_variation, fit.margins, targets))


def _cheapest(cells: Cells, targets: Sequence[Shares], closeness: float) -> Cheapest:
    low, high = 1.0, enough(cells.shares)
    best = _within(cells, targets, closeness, high)
    if best is None:
        whether = _whether(cells, targets, closeness, high)
        nearest = rake(cells, targets, high)
        return Cheapest(nearest, float("inf") if whether else 1.0)
    high = best.draws
    while high > COST_STEP * low:
        middle = float(np.sqrt(low * high))
        fit = _within(cells, targets, closeness, middle)
        if fit is None:
            low = middle
        else:
            best, high = fit, min(middle, fit.draws)
    return Cheapest(best, _certified(cells, targets, closeness, low))


def _within(
    cells: Cells, targets: Sequence[Shares], closeness: float, draws: float
) -> Raked | None:
    """Return a fit within a closeness at this cost; None if there is none, or none was found."""
    inside, exactly = WITHIN * closeness, _exactly(closeness)
    fit = rake(cells, targets, draws, closeness=inside, tolerance=exactly, only_whether=True)
    return fit if farthest(fit, targets) <= closeness else None


def _whether(cells: Cells, targets: Sequence[Shares], closeness: float, draws: float) -> bool:
    """Return whether this number of draws is certainly too small."""
    exactly = _exactly(closeness)
    fit = rake(cells, targets, draws, closeness=closeness, tolerance=exactly, only_whether=True)
    return fit.bound > exactly


def _exactly(closeness: float) -> float:
    """Return the nats that a total variation of what ``WITHIN`` leaves can make (Pinsker)."""
    return 2 * ((1 - WITHIN) * closeness) ** 2


def _certified(cells: Cells, targets: Sequence[Shares], closeness: float, draws: float) -> float:
    """Return a number of draws that is certainly too small, near the one that is given."""
    while draws > 1 and not _whether(cells, targets, closeness, draws):
        draws /= COST_STEP
    return max(draws, 1.0)


def shortfalls(fit: Raked, targets: Sequence[Shares]) -> list[Shortfall]:
    """Return the values that get less than their target, those that lack most first."""
    lacking = [
        Shortfall(variable, int(value), float(shares[value]), float(target[value]))
        for variable, (shares, target) in enumerate(zip(fit.margins, targets, strict=True))
        for value in np.flatnonzero(shares < target)
    ]
    return sorted(lacking, key=lambda item: item.share - item.target)


def conflicts(cells: Cells, targets: Sequence[Shares], least: float = SMALL) -> list[Conflict]:
    """Return the pairs of variables that stand in each other's way, the worst first.

    Each pair is fitted alone, at any cost. What each of its variables lacks alone does not count.
    """
    alone = [_unreachable(target, cells, j) for j, target in enumerate(targets)]
    pairs = []
    for first, second in combinations(range(len(targets)), 2):
        pair = cells.only([first, second])
        fit = rake(pair, [targets[first], targets[second]], enough(pair.shares))
        distance = fit.bound - alone[first] - alone[second]
        if distance > least:
            pairs.append(Conflict(first, second, distance))
    return sorted(pairs, key=lambda conflict: -conflict.distance)


def _unreachable(target: Shares, cells: Cells, variable: int) -> float:
    """Return the distance that remains at any cost, because some values were never seen."""
    seen = np.unique(cells.codes[:, variable])
    reachable = float(target[seen].sum())
    return float(-np.log(reachable)) if reachable > 0 else float("inf")


def held_out(
    codes: Codes, sizes: Sequence[int], targets: Sequence[Shares], draws: float
) -> list[Shares]:
    """Return margins that the fit reaches on examples that it has not seen.

    The even examples judge what the odd ones fitted, and the other way round.
    """
    halves = [cells_of(codes[start::2], sizes) for start in (0, 1)]
    reached: list[list[Shares]] = []
    for fitted, judged in (halves, halves[::-1]):
        tables = rake(fitted, targets, draws).tables
        kept = np.exp(np.minimum(judged.total(tables), 0)) * judged.shares
        reached.append(judged.margins(kept / kept.sum()))
    return [(one + other) / 2 for one, other in zip(*reached, strict=True)]
