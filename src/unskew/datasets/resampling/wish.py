"""What a user asks of existing data: by ε, or by a price and a target for each variable."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from unskew.balance.best.capped import enough
from unskew.balance.best.goal import Fit, Goal, fit_to
from unskew.balance.best.targets import Target as Shape
from unskew.core.errors import UnskewError, brief, check_count, check_range
from unskew.core.recipe import EPSILONS, check_price
from unskew.core.variables.variable import By
from unskew.datasets.engines.work import Engine
from unskew.datasets.parts.pilots import warn
from unskew.datasets.resampling.choice import RowChoice, choice, fitted_choice
from unskew.datasets.resampling.pool import Advance, Pool, read_pool, warn_of_pool
from unskew.datasets.shapes import shapes_of
from unskew.datasets.target import Target

EPSILON = 0.025  # the paper's choice


@dataclass(frozen=True)
class Wish:
    """The arguments that ``resample``, ``weights`` and ``Sampler`` share."""

    epsilon: float | None = None
    budget: float | None = None
    closeness: float | None = None
    target: Shape | Mapping[str, Shape] | None = None
    like: Any = None
    jointly: bool = False
    repeats: int | None = None

    def __post_init__(self) -> None:
        """Refuse what means nothing or two things."""
        check_price(self.budget, self.closeness, "row")
        if self.repeats is not None:
            check_count("repeats", self.repeats, "1 takes each row at most once")
        if self.epsilon is not None:
            check_range("epsilon", self.epsilon, 0, step=EPSILONS)
            if self.has_goal:
                raise UnskewError(
                    f"epsilon is {brief(self.epsilon)}, and there is a budget, a closeness or a "
                    "target; give one"
                )

    @property
    def has_goal(self) -> bool:
        """Whether rows are chosen for a price or a target, and not by ε."""
        asked = (self.repeats, self.target, self.like)
        return self.has_price or bool(self.jointly) or any(x is not None for x in asked)

    @property
    def has_price(self) -> bool:
        """Whether there is a budget or a closeness."""
        return self.budget is not None or self.closeness is not None

    @property
    def at(self) -> float:
        """The ε of the paper's rule."""
        return EPSILON if self.epsilon is None else self.epsilon

    def pool(
        self,
        opened: Target,
        by: By | str | Sequence[str],
        advance: Advance,
        engine: Engine | None = None,
    ) -> Pool:
        """Read the variables of all rows, in the way that fits the rule."""
        pool = read_pool(
            opened, by, advance, engine, apart=self.has_goal, jointly=bool(self.jointly)
        )
        if not self.has_goal or self.jointly:
            warn_of_pool(pool)
        return pool

    def choice(self, pool: Pool, n: int | None, replacement: bool) -> RowChoice:
        """Return which rows to take, and how often."""
        if not self.has_goal:
            return choice(pool, n, self.at, replacement)
        if replacement and self.repeats is not None:
            raise UnskewError(
                f"repeats is {self.repeats}, and replacement allows any number; give one of them"
            )
        limit = None if replacement else self.repeats or 1
        default = None
        if not self.has_price and limit is not None:
            if n is None and self.repeats is None:
                raise UnskewError(
                    f"there is {self._asked} without a price; give budget, closeness, or n"
                )
            default = len(pool)
            wanted = default if n is None else n
            if wanted > limit * len(pool):
                raise UnskewError(
                    f"n is {wanted:,}, but {pool.label} has {len(pool):,} rows, and each may be "
                    f"taken at most {limit} times; ask for fewer, or allow more: repeats"
                )
            fit = self.fit(pool, limit * len(pool) / wanted)
        else:
            fit = self.fit(pool, self.budget)
        return fitted_choice(pool, n, fit, limit, default)

    def fit(self, pool: Pool, budget: float | None) -> Fit:
        """Fit the tables; without a price, to what can be had at any price."""
        shapes = shapes_of(pool.variables, self.target, self.like)
        population = pool.population(shapes)
        if budget is None and self.closeness is None:
            budget = enough(pool.cells.shares)
        fit = fit_to(population, Goal(budget, self.closeness, shapes))
        warn(fit.warnings)
        return fit

    @property
    def _asked(self) -> str:
        """What was asked for, in words."""
        if self.like is not None:
            return "data to be like"
        return f"a target, {brief(self.target)}," if self.target is not None else "jointly"
