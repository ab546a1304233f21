"""What homogenizing should reach: a budget or a closeness, and a target for each variable."""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from unskew.balance.best.cells import Cells, Shares
from unskew.balance.best.price import (
    Cheapest,
    cheapest,
    conflicts,
    held_out,
    shortfalls,
    total_variation,
)
from unskew.balance.best.raking import Raked, rake
from unskew.balance.best.rule import Pilot, Rule
from unskew.balance.best.targets import UNIFORM, Target, target_shares
from unskew.balance.histogram import nothing_to_balance
from unskew.core.errors import UnskewError, brief, check_range, unknown
from unskew.core.variables.variable import SalientVariable, describe

NAMED = 4  # values or pairs that a message names
FAR = 0.05  # a total variation from the target that a message speaks of


@dataclass(frozen=True)
class Goal:
    """A price or a closeness, and the targets.

    Args:
        budget: draws for each kept example. 0 if a closeness is given.
        closeness: the total variation that each variable may be away from its target.
        targets: by the name of the variable; uniform where nothing is named.
    """

    budget: float = 0.0
    closeness: float = 0.0
    targets: Mapping[str, Target] = field(default_factory=dict)

    def __post_init__(self) -> None:
        """Refuse a goal without a price, or with two."""
        if bool(self.budget) == bool(self.closeness):
            raise UnskewError(
                f"budget is {brief(self.budget)} and closeness is {brief(self.closeness)}; give "
                "one of them"
            )
        if self.budget:
            check_range("budget", self.budget, 1, step="1 keeps every draw")
        else:
            check_range("closeness", self.closeness, 0.001, 1, step="0.05 is a common choice")


@dataclass(frozen=True)
class Balance:
    """A frozen rule, and what it is expected to give.

    ``shares`` are those of the source and ``reached`` those of what is kept, both by variable. The
    reached shares were judged on examples that the rule had not seen. ``bound`` is the least sum
    of KL divergences that any rule has at this cost, and ``distance`` that of this rule.
    """

    rule: Rule
    draws: float
    shares: tuple[Shares, ...]
    targets: tuple[Shares, ...]
    reached: tuple[Shares, ...]
    distance: float
    bound: float
    pilot: int  # examples
    warnings: tuple[str, ...]

    @property
    def names(self) -> tuple[str, ...]:
        """The names of the variables."""
        return tuple(variable.name for variable in self.rule.variables)

    def far(self) -> dict[str, tuple[float, float]]:
        """Return the total variation from the target, before and after, by variable."""
        return {
            name: (total_variation(before, target), total_variation(after, target))
            for name, before, after, target in zip(
                self.names, self.shares, self.reached, self.targets, strict=True
            )
        }

    def to_dict(self) -> dict[str, Any]:
        """Return plain data, ready for JSON."""
        return {
            "distance": self.distance,
            "bound": self.bound,
            "pilot": self.pilot,
            "total_variation": {name: list(pair) for name, pair in self.far().items()},
            **self.rule.to_dict(),
        }


def balance(pilot: Pilot, goal: Goal) -> Balance:
    """Fit the rule that reaches the goal, or comes as close as possible."""
    cells, shares = pilot.cells(), pilot.shares()
    variables = [codebook.variable for codebook in pilot.codebooks]
    targets = targets_of(variables, [codebook.values for codebook in pilot.codebooks], shares, goal)
    _refuse_unseen(pilot, shares, targets)
    notes: list[str] = []
    if goal.budget:
        fit = rake(cells, targets, goal.budget)
    else:
        answer = cheapest(cells, targets, goal.closeness)
        fit = answer.fit
        if not answer.possible:
            raise UnskewError(_cannot(pilot, cells, targets, goal.closeness, answer))
    notes += _obstacles(pilot, cells, targets, fit)
    reached = held_out(pilot.codes, pilot.sizes, targets, fit.draws)
    return Balance(
        Rule.of(pilot, fit),
        fit.draws,
        tuple(shares),
        tuple(targets),
        tuple(reached),
        fit.distance,
        fit.bound,
        len(pilot.codes),
        tuple(notes),
    )


def targets_of(
    variables: Sequence[SalientVariable],
    values: Sequence[Sequence[Hashable]],
    shares: Sequence[Shares],
    goal: Goal,
) -> list[Shares]:
    """Return the wanted shares of each variable's values."""
    names = [variable.name for variable in variables]
    for name in goal.targets:
        if name not in names:
            raise unknown("target for variable", name, names)
    return [
        target_shares(goal.targets.get(name, UNIFORM), known, p, name)
        for name, known, p in zip(names, values, shares, strict=True)
    ]


def _refuse_unseen(pilot: Pilot, shares: Sequence[Shares], targets: Sequence[Shares]) -> None:
    """Refuse a target that cannot be approached: none of its values was drawn."""
    for codebook, p, target in zip(pilot.codebooks, shares, targets, strict=True):
        if not target[p > 0].any():
            wanted = [codebook.values[i] for i in np.flatnonzero(target)]
            raise UnskewError(
                f"target of {codebook.variable.name!r} is {describe(wanted)}, which never came in "
                f"{len(pilot.codes):,} draws; name values that come, or give a larger pilot"
            )


def _cannot(
    pilot: Pilot, cells: Cells, targets: Sequence[Shares], closeness: float, answer: Cheapest
) -> str:
    """Say why a closeness cannot be reached, and what the closest rule would cost."""
    names = [codebook.variable.name for codebook in pilot.codebooks]
    apart = {
        name: total_variation(reached, target)
        for name, reached, target in zip(names, answer.fit.margins, targets, strict=True)
    }
    worst = max(apart, key=lambda name: apart[name])
    reasons = [
        *_obstacles(pilot, cells, targets, answer.fit),
        *_too_rare(pilot, targets, answer.fit),
    ]
    because = f": {reasons[0]}" if reasons else ""
    nearest = max(apart.values())
    return (
        f"closeness {closeness:g} cannot be reached at any cost ({worst!r} stays "
        f"{apart[worst]:.3f} away){because}; the closest is {nearest:.3f}, at "
        f"{answer.fit.draws:,.0f} draws per kept example: raise closeness, or give a budget"
    )


def _obstacles(pilot: Pilot, cells: Cells, targets: Sequence[Shares], fit: Raked) -> list[str]:
    """Name what stands in the way: values that hardly repeat, that never come, and conflicts."""
    notes = []
    for codebook, p, target in zip(pilot.codebooks, pilot.shares(), targets, strict=True):
        counts = np.rint(p * len(pilot.codes)).astype(np.int64)
        notes += nothing_to_balance(codebook.variable.name, counts)
        never = [codebook.values[i] for i in np.flatnonzero((p == 0) & (target > 0))]
        if never:
            notes.append(
                f"{codebook.variable.name!r} never took {describe(never)} in {len(pilot.codes):,} "
                "draws; leave out what cannot come, or give it the target 0"
            )
    apart = [total_variation(r, t) for r, t in zip(fit.margins, targets, strict=True)]
    if max(apart) > FAR and len(targets) > 1:
        fights = conflicts(cells, targets)[:NAMED]
        if fights:
            names = [codebook.variable.name for codebook in pilot.codebooks]
            pairs = ", ".join(
                f"{names[fight.first]} and {names[fight.second]} ({fight.distance:.2f} nats)"
                for fight in fights
            )
            notes.append(f"these pairs cannot both reach their targets, at any cost: {pairs}")
    return notes


def _too_rare(pilot: Pilot, targets: Sequence[Shares], fit: Raked) -> list[str]:
    """Name the values that get much less than their targets."""
    books = pilot.codebooks
    rare = [
        f"{books[lack.variable].variable.name} = {books[lack.variable].values[lack.value]!r}"
        for lack in shortfalls(fit, targets)
        if lack.share > 0 and lack.target - lack.share > FAR / 2
    ]
    return [f"too rare at {fit.draws:.3g} draws: {', '.join(rare[:NAMED])}"] if rare else []
