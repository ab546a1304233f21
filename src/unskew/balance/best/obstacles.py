"""What stands in the way of the targets, in words: rare values, values never seen, conflicts."""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Sequence

import numpy as np

from unskew.balance.best.cells import Shares
from unskew.balance.best.population import Population
from unskew.balance.best.price import Cheapest, conflicts, shortfalls, total_variation
from unskew.balance.best.raking import Raked
from unskew.balance.histogram import nothing_to_balance
from unskew.core.errors import UnskewError
from unskew.core.variables.variable import describe

NAMED = 4  # values or pairs that a message names
FAR = 0.05  # a total variation from the target that a message speaks of
ALONE = 10.0  # a value that needs this many times the draws of every other value is named


def refuse_unseen(population: Population, targets: Sequence[Shares]) -> None:
    """Refuse a target that cannot be approached: no example has one of its values."""
    for name, values, p, target in _variables(population, targets):
        if not target[p > 0].any():
            wanted = describe([values[i] for i in np.flatnonzero(target).tolist()])
            larger = "" if population.are_rows else ", or give a larger pilot"
            raise UnskewError(
                f"target of {name!r} is {wanted}, which never came in {population.examples:,} "
                f"{population.unit}; name values that come{larger}"
            )


def cannot(
    population: Population, targets: Sequence[Shares], closeness: float, answer: Cheapest
) -> str:
    """Say why a closeness cannot be reached, and what the closest rule would cost."""
    apart = {
        name: total_variation(reached, target)
        for name, reached, target in zip(population.names, answer.fit.margins, targets, strict=True)
    }
    worst = max(apart, key=lambda name: apart[name])
    reasons = [
        *obstacles(population, targets, answer.fit),
        *_too_rare(population, targets, answer.fit),
    ]
    because = f": {reasons[0]}" if reasons else ""
    per_kept = f"{answer.fit.draws:,.0f} {population.unit} per kept {_one(population)}"
    return (
        f"closeness {closeness:g} cannot be reached at any cost ({worst!r} stays "
        f"{apart[worst]:.3f} away){because}; the closest is {apart[worst]:.3f}, at "
        f"{per_kept}: raise closeness, or give a budget"
    )


def obstacles(population: Population, targets: Sequence[Shares], fit: Raked) -> list[str]:
    """Name what stands in the way: values that hardly repeat, that never come, and conflicts."""
    notes = []
    for name, values, p, target in _variables(population, targets):
        counts = np.rint(p * population.examples).astype(np.int64)
        notes += nothing_to_balance(name, counts)
        never = [values[i] for i in np.flatnonzero((p == 0) & (target > 0)).tolist()]
        if never:
            notes.append(
                f"{name!r} never took {describe(never)} in {population.examples:,} "
                f"{population.unit}; leave out what cannot come, or give it the target 0"
            )
    apart = [total_variation(r, t) for r, t in zip(fit.margins, targets, strict=True)]
    if max(apart) <= FAR:
        return notes
    return [*notes, *_alone(population, targets, fit), *_fights(population, targets)]


def _fights(population: Population, targets: Sequence[Shares]) -> list[str]:
    """Name the pairs of variables that cannot both reach their targets."""
    if len(targets) < 2:
        return []
    fights = conflicts(population.cells, targets)[:NAMED]
    if not fights:
        return []
    pairs = ", ".join(
        f"{population.names[fight.first]} and {population.names[fight.second]} "
        f"({fight.distance:.2f} nats)"
        for fight in fights
    )
    return [f"these pairs cannot both reach their targets, at any cost: {pairs}"]


def _alone(population: Population, targets: Sequence[Shares], fit: Raked) -> list[str]:
    """Name a value that alone stays far from its share: the draws are enough for all others."""
    notes = []
    for (name, values, p, target), reached in zip(
        _variables(population, targets), fit.margins, strict=True
    ):
        need = np.zeros(len(p))
        need[p > 0] = target[p > 0] / p[p > 0]
        order = np.argsort(-need)
        rarest = int(order[0])
        lacking = target[rarest] - reached[rarest] > FAR / 2
        others = max(1.0, float(need[order[1]]) if len(order) > 1 else 0.0)
        if lacking and others <= fit.draws < need[rarest] and need[rarest] > ALONE * others:
            cost = f"{need[rarest]:,.3g} {population.unit} per kept {_one(population)}"
            notes.append(
                f"{name} = {values[rarest]!r} is too rare: it alone needs {cost}, and all others "
                f"{others:,.3g}; join it with others (unskew.clip), or give it a smaller target"
            )
    return notes


def _too_rare(population: Population, targets: Sequence[Shares], fit: Raked) -> list[str]:
    """Name the values that get much less than their targets."""
    rare = [
        f"{population.names[lack.variable]} = {population.values[lack.variable][lack.value]!r}"
        for lack in shortfalls(fit, targets)
        if lack.share > 0 and lack.target - lack.share > FAR / 2
    ]
    if not rare:
        return []
    return [f"too rare at {fit.draws:.3g} {population.unit}: {', '.join(rare[:NAMED])}"]


def _one(population: Population) -> str:
    return "row" if population.are_rows else "example"


def _variables(
    population: Population, targets: Sequence[Shares]
) -> Iterator[tuple[str, Sequence[Hashable], Shares, Shares]]:
    """Yield the name, the values, the shares and the target of each variable."""
    yield from zip(population.names, population.values, population.shares(), targets, strict=True)
