"""Homogenizing any sampler, and planning what it will cost."""

from __future__ import annotations

import operator
import os
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import chain
from operator import length_hint
from typing import Any

import numpy as np

from unskew.audits.binning import in_usual_bins
from unskew.audits.plan import Plan, plan_of
from unskew.balance.best.balancer import Balancer
from unskew.balance.best.goal import Goal
from unskew.balance.best.price import PRICES
from unskew.balance.best.rule import pilot_of
from unskew.balance.best.targets import Target as Wanted
from unskew.balance.homogenizer import Homogenizer
from unskew.balance.kept import Chooser, Health, KeptBatches
from unskew.balance.saved import AGAIN, DrawState
from unskew.core.errors import UnskewError, brief, check_count, check_range, check_whole
from unskew.core.recipe import Trust
from unskew.core.repeatable import warn_of_unrepeatable
from unskew.core.rng import generator
from unskew.core.source import Source, own_source
from unskew.core.tally import Tally
from unskew.core.values.json_text import json_text, parse_json
from unskew.core.variables.combine import joint
from unskew.core.variables.variable import By
from unskew.datasets.chosen import named_variables
from unskew.datasets.open import open_target
from unskew.datasets.pace import as_sampler, examples_of
from unskew.datasets.parts.pilots import balanced_variables, fitted, warn
from unskew.datasets.shapes import shapes_of
from unskew.io.lookup import (
    find_source,
    resolve,
)
from unskew.io.object_store import is_address

MOST_AHEAD = 1 << 20  # examples that were drawn at once: a state that says more was altered
PLANNED = 1 << 16  # examples of the sample by which a plan is made


class Homogenized(Iterator[Any]):
    """An endless iterator over kept examples. It knows what they cost, and it can be saved.

    If the sampler raises an error, the next example is drawn again from where the last one ended.
    """

    def __init__(
        self, source: Source, chooser: Chooser, rng: np.random.Generator, seed: int = 0
    ) -> None:
        """Draw nothing yet; ``seed`` is that of the generators."""
        self._source, self._chooser, self._seed = source, chooser, int(seed)
        self._batches = KeptBatches(source, rng, chooser, first_chunk=1)
        self._before = self._batches.state()  # where drawing stood before the examples held here
        self._held = 0
        self._rest: Iterator[Any] = iter([])

    def __next__(self) -> Any:
        """Return the next kept example; there always is one."""
        for example in self._rest:
            return example
        self._draw()
        return next(self._rest)

    def _draw(self) -> None:
        """Draw until examples are kept."""
        self._held, self._rest = 0, iter([])
        while not self._held:
            self._before = self._batches.state()
            try:
                batch = self._batches.draw()
            except BaseException:
                self._batches.go_on_from(self._before)
                raise
            self._held, self._rest = len(batch), iter(list(batch.examples()))

    @property
    def tally(self) -> Tally:
        """What was drawn, dropped and kept so far.

        With a function, it is what the examples so far took. A named source is a few ahead.
        """
        return self._so_far()[0]

    def health(self) -> Health:
        """Return the cost next to its bound, the values never seen, and warnings."""
        return self._so_far()[1]

    def _so_far(self) -> tuple[Tally, Health]:
        if self._source.sampler is None or not self._held:
            return self._batches.tally, self._batches.health()
        return self._batches.earlier(self._before, self._held - length_hint(self._rest))

    def state_dict(self) -> dict[str, Any]:
        """Return where the iterator stands, ready for JSON.

        If examples were drawn ahead, it is the state before them and how many of them were given.
        """
        left = length_hint(self._rest)
        drawn = self._before if left else self._batches.state()
        given = self._held - left if left else 0
        return {**self._identity(), "given": given, "drawing": drawn.to_dict()}

    def load_state_dict(self, state: Mapping[str, Any]) -> None:
        """Go on where a state was saved. It must be that of the same call of ``homogenize``.

        Examples that had been drawn ahead are drawn again; with a cache they come from its file.
        """
        if not isinstance(state, Mapping):
            raise UnskewError(f"state is {brief(state)}; {AGAIN}")
        for name, value in self._identity().items():
            if state.get(name) != value:
                raise UnskewError(
                    f"state has {name} = {brief(state.get(name))}, but this iterator has "
                    f"{brief(value)}; give each iterator its own state"
                )
        given: Any = state.get("given")
        check_whole("given", given, 0, AGAIN)
        check_range("given", operator.index(given), 0, MOST_AHEAD, step=AGAIN)
        self._batches.go_on_from(DrawState.from_dict(state.get("drawing")))
        self._held, self._rest = 0, iter([])
        for _ in range(operator.index(given)):
            next(self)

    def _identity(self) -> dict[str, Any]:
        """Return what decides which examples come."""
        identity = {
            "sampler": self._source.name,
            "settings": self._source.parameters,
            **self._chooser.identity(),
            "seed": self._seed,
        }
        return dict(parse_json(json_text(identity)))


def homogenize(
    draw: Callable[[np.random.Generator], Any] | Source | str,
    by: By | str | Sequence[str],
    epsilon: float | None = None,
    seed: int = 0,
    *,
    budget: float | None = None,
    closeness: float | None = None,
    target: Wanted | Mapping[str, Wanted] | None = None,
    like: Any = None,
    jointly: bool = False,
    pilot: int = 0,
    settings: Mapping[str, Any] | None = None,
    cost_limit: float = 100.0,
    batch: bool | int = False,
    concurrency: int = 1,
    cache: str | os.PathLike[str] | None = None,
) -> Homogenized:
    """Return an endless iterator over examples of ``draw`` in which ``by`` is closer to uniform.

    A function that is slow is called no more often than the examples need.

    Args:
        draw: a function ``draw(rng)`` that returns one example, a ``Source``, or the name of a
            source (``"calculator/dcfg"``). All its randomness must come from ``rng``. A function is
            first tried: called up to six times with two equal generators. Examples of this trial
            are not returned. If they differ, a ``HealthWarning`` says so.
        by: a variable, or several. With ``epsilon`` several count jointly, as tuples.
        epsilon: the paper's rule. A smaller value gets closer to uniform and costs more draws. The
            expected cost is at most 1 + 1/ε draws for each kept example. Without it, and without a
            budget or a closeness, it is 0.025.
        budget: draws for each kept example. Each variable gets as close to its target as any rule
            can bring it at this cost.
        closeness: the total variation that each variable may be away from its target. The
            cheapest rule is taken. If there is none, an error names what stands in the way.
        target: what the shares of the values should be: "uniform", "log" (∝ 1/value), "sqrt",
            "natural", or a share for each value; or one of these for each variable, by name.
        like: data or a source whose shares are the target.
        jointly: with a budget or a closeness, balance the combinations of values.
        pilot: how many examples are drawn first, to fit the rule. 0 means that it is worked out:
            from 4,096 up to 524,288, and 16,384 of a function.
        seed: the same seed gives the same examples.
        settings: parameters of the source, if it is given by its name.
        cost_limit: with ``epsilon``, there is a ``HealthWarning`` above this cost. There is also
            one if a declared value never came.
        batch: see ``sampler``, for a function.
        concurrency: see ``sampler``, for a function.
        cache: see ``sampler``, for a function. With it, the function is not tried first.
    """
    source = _source(as_sampler(draw, batch, concurrency, cache), settings or {})
    if source.is_own:
        warn_of_unrepeatable(source)
    variables = resolve(by, source.domain)
    rng = generator(seed, source.name, "accept", 0)
    chooser: Chooser
    if budget is not None or closeness is not None:
        if epsilon is not None:
            raise UnskewError(
                f"epsilon is {brief(epsilon)}, and there is a budget or a closeness; give one"
            )
        chosen = balanced_variables(variables, jointly)
        goal = Goal(budget, closeness, shapes_of(chosen, target, like))
        pilot_rng = generator(seed, source.name, "pilot")
        check_range("cost_limit", cost_limit, 1)
        fit = fitted(source, chosen, goal, pilot_rng, pilot)
        warn([*fit.warnings, *_dear(fit.draws, goal, cost_limit)])
        chooser = Balancer(fit.rule, rng)
    else:
        _refuse_without_price(target=target, like=like, jointly=jointly, pilot=pilot)
        at = 0.025 if epsilon is None else epsilon
        chooser = Homogenizer(joint(variables), at, rng, cost_limit)
    return Homogenized(source, chooser, generator(seed, source.name, "draw", 0), seed)


def _dear(draws: float, goal: Goal, limit: float) -> list[str]:
    """Say that a closeness costs much. Whoever gives a budget knows what it costs."""
    if goal.closeness is None or draws <= limit:
        return []
    return [
        f"closeness {goal.closeness:g} costs {draws:,.0f} draws for each kept example, above the "
        f"limit of {limit:g}; raise closeness, give a budget, or raise cost_limit"
    ]


def _refuse_without_price(**options: Any) -> None:
    """Refuse options that mean something only with a budget or a closeness."""
    for name, value in options.items():
        if value:
            raise UnskewError(
                f"{name} is {brief(value)}, without a price; give budget or closeness"
            )


def plan(
    source: Any,
    by: By | str | Sequence[str],
    *,
    target: Wanted | Mapping[str, Wanted] | None = None,
    like: Any = None,
    jointly: bool = False,
    prices: Sequence[float] = PRICES,
    n: int | None = None,
    seed: int = 0,
    settings: Mapping[str, Any] | None = None,
    trust: Trust = False,
    clock: Callable[[], float] = time.monotonic,
) -> Plan:
    """Return what each closeness to the targets costs: the whole curve, from a sample.

    Args:
        source: a source, a sampler, or data: whatever ``audit`` takes.
        by: a variable, or several. Numbers that hardly repeat are in bins, as in an audit.
        target: see ``homogenize``.
        like: see ``homogenize``.
        jointly: see ``homogenize``.
        prices: the draws for each kept example at which the curve is worked out.
        n: the largest number of examples in the sample. Without it, 65,536; of a function that is
            slow, the first 512.
        seed: the seed of the draws.
        settings: parameters of the source, if it is given by its name.
        trust: whether code that a dataset names may be imported.
        clock: measures in seconds how long a function takes.
    """
    if n is not None:
        check_count("n", n, "sample at least one example")
    if not len(prices):
        raise UnskewError("prices are empty; give at least one number of draws per kept example")
    for price in prices:
        check_range("a price", price, 1, step="1 keeps every draw")
    opened = open_target(source, settings, seed, trust)
    most = PLANNED if n is None and not opened.endless else n
    batches = examples_of(opened, most, lambda _: None, clock, PLANNED, "this plan")
    first = next(batches, None)
    if first is None:
        raise UnskewError(f"{opened.label} gave no examples; there is nothing to plan")
    named = [in_usual_bins(variable, first) for variable in named_variables(by, opened, first)]
    variables = balanced_variables(named, jointly)
    sample = pilot_of(variables, chain([first], batches))
    targets = shapes_of(variables, target, like)
    population = replace(sample.population(), are_rows=not opened.endless)
    return plan_of(population, opened.label, targets, prices)


def _source(
    draw: Callable[[np.random.Generator], Any] | Source | str, settings: Mapping[str, Any]
) -> Source:
    if isinstance(draw, str):
        if is_address(draw) or (":" not in draw and os.path.exists(draw)):
            raise UnskewError(
                f"{draw} is data, and homogenize draws new examples; choose from the data with "
                "unskew.resample"
            )
        return find_source(draw, settings)
    if settings:
        raise UnskewError(f"settings are {dict(settings)}; only a source that is named takes any")
    return own_source(draw)
