"""The two functions most people need: ``homogenize`` any sampler, ``audit`` anything."""

from __future__ import annotations

import operator
import os
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from operator import length_hint
from typing import Any

import numpy as np

from unskew.audits.audit import Audit
from unskew.audits.auditor import Auditor
from unskew.audits.kinds import suggested
from unskew.audits.plan import Plan, plan_of
from unskew.balance.best.balancer import Balancer
from unskew.balance.best.goal import Goal
from unskew.balance.best.price import PRICES
from unskew.balance.best.rule import pilot_of
from unskew.balance.best.targets import Target as Wanted
from unskew.balance.homogenizer import Homogenizer
from unskew.balance.kept import Chooser, Health, KeptBatches
from unskew.balance.saved import AGAIN, DrawState
from unskew.core.batch import Batch
from unskew.core.domain import Domain
from unskew.core.errors import UnskewError, brief, check_count, check_whole
from unskew.core.recipe import Trust
from unskew.core.repeatable import warn_of_unrepeatable
from unskew.core.rng import generator
from unskew.core.source import Source, own_source, sampler
from unskew.core.tally import Tally
from unskew.core.values.json_text import json_text, parse_json
from unskew.core.variables.combine import joint
from unskew.core.variables.variable import By, SalientVariable
from unskew.datasets.pace import examples_of
from unskew.datasets.target import Target, column_names, open_target
from unskew.io.lookup import (
    IF_TRUSTED,
    find_source,
    find_variables,
    resolve,
    untrusted_code,
)


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
    budget: float = 0.0,
    closeness: float = 0.0,
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
        cost_limit: above this cost there is a ``HealthWarning``. There is also one if a declared
            value never came.
        batch: see ``sampler``, for a function.
        concurrency: see ``sampler``, for a function.
        cache: see ``sampler``, for a function. With it, the function is not tried first.
    """
    source = _source(_sampler(draw, batch, concurrency, cache), settings or {})
    if source.is_own:
        warn_of_unrepeatable(source)
    variables = resolve(by, source.domain)
    rng = generator(seed, source.name, "accept", 0)
    chooser: Chooser
    if budget or closeness:
        if epsilon is not None:
            raise UnskewError(
                f"epsilon is {epsilon:g}, and there is a budget or a closeness; give one"
            )
        chosen = balanced_variables(variables, jointly)
        goal = Goal(budget, closeness, targets_by_name(chosen, target, like))
        pilot_rng = generator(seed, source.name, "pilot")
        fit = fitted(source, chosen, goal, pilot_rng, pilot)
        warn(fit.warnings)
        chooser = Balancer(fit.rule, rng)
    else:
        _refuse_without_price(target=target, like=like, jointly=jointly, pilot=pilot)
        at = 0.025 if epsilon is None else epsilon
        chooser = Homogenizer(joint(variables), at, rng, cost_limit)
    return Homogenized(source, chooser, generator(seed, source.name, "draw", 0), seed)


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
    n: int = PLANNED,
    seed: int = 0,
    settings: Mapping[str, Any] | None = None,
    trust: Trust = False,
) -> Plan:
    """Return what each closeness to the targets costs: the whole curve, from a sample.

    Args:
        source: a source, a sampler, or data: whatever ``audit`` takes.
        by: a variable, or several.
        target: see ``homogenize``.
        like: see ``homogenize``.
        jointly: see ``homogenize``.
        prices: the draws for each kept example at which the curve is worked out.
        n: the largest number of examples in the sample.
        seed: the seed of the draws.
        settings: parameters of the source, if it is given by its name.
        trust: whether code that a dataset names may be imported.
    """
    check_count("n", n, "sample at least one example")
    opened = open_target(source, settings, seed, trust)
    batches = opened.read(n)
    first = next(batches, None)
    if first is None:
        raise UnskewError(f"{opened.label} gave no examples; there is nothing to plan")
    variables = balanced_variables(resolve(by, opened.domain, column_names(first)), jointly)
    sample = pilot_of(variables, chain([first], batches))
    targets = targets_by_name(variables, target, like)
    return plan_of(sample, opened.label, targets, prices)


def audit(
    target: Any,
    by: By | str | Sequence[str] | None = None,
    n: int | None = None,
    *,
    also: str | Sequence[str] = (),
    seed: int = 0,
    settings: Mapping[str, Any] | None = None,
    trust: Trust = False,
    like: Audit | None = None,
    advance: Callable[[int], None] = lambda _: None,
    batch: bool | int = False,
    concurrency: int = 1,
    cache: str | os.PathLike[str] | None = None,
    clock: Callable[[], float] = time.monotonic,
) -> Audit:
    """Measure how far the salient variables of ``target`` are from uniform.

    Args:
        target: any iterable of examples, a sampler ``draw(rng)``, a source or its name, a dataset,
            or a Parquet or JSONL file.
        by: the variables. Without it, they are those of the domain, or the columns of the file.
        n: the largest number of examples to read. Without it, 100,000 of a source or a sampler,
            and all of other data. If 100,000 of a function would take more than two minutes, it is
            the first 512, and a ``HealthWarning`` says how long more would take.
        also: names of variables to measure besides.
        seed: the seed of the draws, for a source or a sampler.
        settings: parameters of the source, if it is given by its name.
        trust: whether code that a dataset names may be imported.
        like: another audit. Numbers that hardly repeat are counted in about 20 bins of one width;
            with ``like``, in the bins of that audit, so that the two can be compared.
        advance: called with a number of examples each time that so many are done.
        batch: see ``sampler``, for a function.
        concurrency: see ``sampler``, for a function.
        cache: see ``sampler``, for a function.
        clock: measures in seconds how long a function takes.
    """
    target = _sampler(target, batch, concurrency, cache)
    opened = open_target(target, settings, seed, trust)
    if n is not None:
        check_count("n", n, "audit at least one example")
    auditor = None
    left_out: dict[str, str] = {}
    for rows in examples_of(opened, n, advance, clock):
        if auditor is None:
            names = [also] if isinstance(also, str) else list(dict.fromkeys(also))
            auditor, left_out = _auditor(by, names, opened, rows, like)
        auditor.add(rows)
        if not auditor.names:
            raise _no_column(opened.label, left_out)
    if auditor is None:
        raise UnskewError(f"{opened.label} gave no examples; there is nothing to audit")
    dataset = opened.dataset
    # What a dataset's source dropped, it dropped for all of its examples.
    dropped = opened.dropped if dataset is None or auditor.n == len(dataset) else {}
    return auditor.result(opened.label, dropped, left_out, opened.domain, opened.recipe)


def _sampler(
    target: Any, batch: bool | int, concurrency: int, cache: str | os.PathLike[str] | None
) -> Any:
    """Return a source for a function that is called in a special way; else what is given."""
    if batch is False and concurrency == 1 and cache is None:
        return target
    if isinstance(target, Source) or not callable(target):
        raise UnskewError(
            f"batch, concurrency and cache are for functions, not for {brief(target)}; give the "
            "function, or unskew.sampler(function, …)"
        )
    return sampler(target, batch=batch, concurrency=concurrency, cache=cache)


def _source(
    draw: Callable[[np.random.Generator], Any] | Source | str, settings: Mapping[str, Any]
) -> Source:
    if isinstance(draw, str):
        return find_source(draw, settings)
    if settings:
        raise UnskewError(f"settings are {dict(settings)}; only a source that is named takes any")
    return own_source(draw)


def _auditor(
    by: By | str | Sequence[str] | None,
    also: Sequence[str],
    target: Target,
    first: Batch,
    like: Audit | None,
) -> tuple[Auditor, dict[str, str]]:
    """Return what measures the chosen variables; and why other variables are left out."""
    columns, domain = column_names(first), target.domain
    try:
        variables, left_out = _chosen(by, domain, columns, first)
        known = {variable.name for variable in variables}
        more = find_variables([name for name in also if name not in known], domain, columns)
    except UnskewError as error:
        raise _with_trust(error, target) from error
    left_out = {name: why for name, why in left_out.items() if name not in also}
    return Auditor([*variables, *more], like), left_out


def _chosen(
    by: By | str | Sequence[str] | None,
    domain: Domain | None,
    columns: Sequence[str],
    first: Batch,
) -> tuple[Sequence[SalientVariable], dict[str, str]]:
    """Return the variables to measure; and why other variables are left out."""
    if by is not None:
        return resolve(by, domain, columns), {}
    if domain is not None and domain.find_variables is not None:
        return domain.find_variables(first)
    if domain is not None and domain.variables:
        return [domain.variable(name) for name in domain.main or domain.variables], {}
    return suggested(first)


def _with_trust(error: UnskewError, target: Target) -> UnskewError:
    """Say that a variable may be one of the domain of a dataset, if that is not trusted."""
    recipe = target.dataset.recipe if target.dataset is not None else None
    if recipe is None or not untrusted_code(recipe, recipe.source):
        return error
    return UnskewError(
        f"{error}; the domain of {recipe.source} is not imported, and with it its variables: "
        f"{IF_TRUSTED}"
    )


def _no_column(label: str, left_out: Mapping[str, str]) -> UnskewError:
    """Return the error for data in which no column makes a histogram."""
    reasons = "; ".join(f"{name}: {why}" for name, why in list(left_out.items())[:3])
    return UnskewError(
        f"{label} has no column to measure{f' ({reasons})' if reasons else ''}; name what to "
        "measure: by={'length': len} in Python, --by my_module:my_function in a shell"
    )
