"""The two functions most people need: ``homogenize`` any sampler, ``audit`` anything."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import chain
from typing import Any

import numpy as np

from unskew.audits.audit import Audit, Auditor
from unskew.balance.homogenizer import Health, Homogenizer, KeptBatches
from unskew.core.batch import Batch
from unskew.core.errors import UnskewError, check_count
from unskew.core.recipe import Trust
from unskew.core.repeatable import warn_of_unrepeatable
from unskew.core.rng import generator
from unskew.core.source import Source, own_source
from unskew.core.tally import Tally
from unskew.core.variable import By, joint
from unskew.io.lookup import (
    IF_TRUSTED,
    column_variable,
    find_source,
    resolve,
    untrusted_code,
)
from unskew.io.target import Target, column_names, open_target

DEFAULT_N = 100_000  # examples of what is endless


class Homogenized(Iterator[Any]):
    """An endless iterator over kept examples, which knows what it cost."""

    def __init__(self, source: Source, homogenizer: Homogenizer, rng: np.random.Generator) -> None:
        """Draw nothing yet."""
        self._homogenizer = homogenizer
        self._batches = KeptBatches(source, rng, homogenizer, first_chunk=1)
        self._examples = chain.from_iterable(batch.examples() for batch in self._batches.take())

    def __next__(self) -> Any:
        """Return the next kept example; there always is one."""
        return next(self._examples)

    @property
    def tally(self) -> Tally:
        """What was drawn, dropped and kept so far, a few examples ahead of what was returned."""
        return self._batches.tally

    def health(self) -> Health:
        """Say how it goes: the cost beside its bound, values never seen, warnings."""
        return self._homogenizer.health()


def homogenize(
    draw: Callable[[np.random.Generator], Any] | Source | str,
    by: By | str | Sequence[str],
    epsilon: float = 0.025,
    seed: int = 0,
    *,
    settings: Mapping[str, Any] | None = None,
    cost_limit: float = 100.0,
) -> Homogenized:
    """Return an endless iterator over examples of ``draw`` in which ``by`` is closer to uniform.

    ``draw(rng)`` returns one example, drawing only from the generator it is given; a built-in
    source may be named instead (``"calculator/dcfg"``), with ``settings`` of its parameters.
    First, ``draw`` is called up to six times with two equal generators. If it returns different
    examples, it has a state of its own, and a ``HealthWarning`` says so. The examples of this
    trial are not returned.
    ``by`` is a function of an example, or a dict of such functions by name, which are homogenized
    jointly. Smaller ``epsilon`` is closer to uniform and dearer: at most 1 + 1/ε draws per kept
    example in expectation. A ``HealthWarning`` tells of values never seen and of a cost above
    ``cost_limit``.
    """
    source = _source(draw, settings or {})
    if source.is_own:
        warn_of_unrepeatable(source)
    variable = joint(resolve(by, source.domain))
    rng = generator(seed, source.name, "accept", 0)
    homogenizer = Homogenizer(variable, epsilon, rng, cost_limit)
    return Homogenized(source, homogenizer, generator(seed, source.name, "draw", 0))


def audit(
    target: Any,
    by: By | str | Sequence[str] | None = None,
    n: int | None = None,
    *,
    seed: int = 0,
    settings: Mapping[str, Any] | None = None,
    trust: Trust = False,
    like: Audit | None = None,
    advance: Callable[[int], None] = lambda _: None,
) -> Audit:
    """Measure how far the salient variables of ``target`` are from uniform.

    ``target`` is any iterable of examples, a sampler ``draw(rng)``, a source by name or as an
    object, a dataset, or a Parquet or JSONL file. ``by`` names or gives the variables; left
    out, it is the domain's own or the columns of the file. ``n`` limits how many examples are
    read (100,000 of what is endless). Numbers that hardly repeat are counted in about 20 bins of
    one width; ``like`` is another audit whose bins to use, so that the two can be compared. Code
    that a dataset names is imported only with ``trust``.
    """
    opened = open_target(target, settings, seed, trust)
    limit = DEFAULT_N if n is None and opened.endless else n
    if limit is not None:
        check_count("n", limit, "audit at least one example")
    auditor = None
    left_out: dict[str, str] = {}
    for batch in opened.read(limit):
        if auditor is None:
            auditor, left_out = _auditor(by, opened, batch, like)
        auditor.add(batch)
        if not auditor.names:
            raise _no_column(opened.label, auditor.left_out)
        advance(len(batch))
    if auditor is None:
        raise UnskewError(f"{opened.label} gave no examples; there is nothing to audit")
    dataset = opened.dataset
    recipe = dataset.recipe if dataset is not None else None
    # What a dataset's source dropped, it dropped for all of its examples.
    dropped = opened.dropped if dataset is None or auditor.n == len(dataset) else {}
    return auditor.result(opened.label, dropped, left_out, opened.domain, recipe)


def _source(
    draw: Callable[[np.random.Generator], Any] | Source | str, settings: Mapping[str, Any]
) -> Source:
    if isinstance(draw, str):
        return find_source(draw, settings)
    if settings:
        raise UnskewError(f"settings are {dict(settings)}; only a source that is named takes any")
    return own_source(draw)


def _auditor(
    by: By | str | Sequence[str] | None, target: Target, first: Batch, like: Audit | None
) -> tuple[Auditor, dict[str, str]]:
    """Return what measures the chosen variables; and why other variables are left out."""
    columns, domain = column_names(first), target.domain
    if by is not None:
        try:
            return Auditor(resolve(by, domain, columns), like), {}
        except UnskewError as error:
            raise _with_trust(error, target) from error
    if domain is not None and domain.find_variables is not None:
        variables, left_out = domain.find_variables(first)
        return Auditor(variables, like), left_out
    if domain is not None and domain.variables:
        names = domain.main or domain.variables
        return Auditor([domain.variable(name) for name in names], like), {}
    return Auditor([column_variable(name) for name in columns], like, optional=True), {}


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
