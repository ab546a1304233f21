"""What homogenizing should reach: a budget or a closeness, and a target for each variable."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from unskew.balance.best.cells import Shares
from unskew.balance.best.obstacles import cannot, obstacles, refuse_unseen
from unskew.balance.best.population import Population
from unskew.balance.best.price import cheapest, closest_at, held_out, total_variation
from unskew.balance.best.raking import Raked
from unskew.balance.best.rule import Pilot, Rule
from unskew.balance.best.targets import Target
from unskew.core.errors import UnskewError
from unskew.core.recipe import check_price


@dataclass(frozen=True)
class Goal:
    """A price or a closeness, and the targets.

    Args:
        budget: draws for each kept example. None if a closeness is given.
        closeness: the total variation that each variable may be away from its target.
        targets: by the name of the variable; uniform where nothing is named.
    """

    budget: float | None = None
    closeness: float | None = None
    targets: Mapping[str, Target] = field(default_factory=dict)

    def __post_init__(self) -> None:
        """Refuse a goal without a price, or with two."""
        check_price(self.budget, self.closeness)
        if self.budget is None and self.closeness is None:
            raise UnskewError("there is no price; give budget or closeness")


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


@dataclass(frozen=True)
class Fit:
    """The fit that reaches a goal or comes nearest, the wanted shares, and what to know of it."""

    raked: Raked
    targets: tuple[Shares, ...]
    warnings: tuple[str, ...]


def fit_to(population: Population, goal: Goal) -> Fit:
    """Fit the tables that reach the goal; refuse a closeness that cannot be reached."""
    targets = population.targets(goal.targets)
    refuse_unseen(population, targets)
    cells = population.cells
    if goal.budget is not None:
        raked = closest_at(cells, targets, float(goal.budget))
    elif goal.closeness is not None:
        answer = cheapest(cells, targets, goal.closeness)
        if not answer.possible:
            raise UnskewError(cannot(population, targets, goal.closeness, answer))
        raked = answer.fit
    return Fit(raked, tuple(targets), tuple(obstacles(population, targets, raked)))


def balance(pilot: Pilot, goal: Goal) -> Balance:
    """Fit the rule that reaches the goal, or comes as close as possible."""
    fit = fit_to(pilot.population(), goal)
    raked = fit.raked
    return Balance(
        Rule.of(pilot, raked),
        raked.draws,
        tuple(pilot.shares()),
        fit.targets,
        tuple(held_out(pilot.codes, pilot.sizes, fit.targets, raked.draws)),
        raked.distance,
        raked.bound,
        len(pilot.codes),
        fit.warnings,
    )
