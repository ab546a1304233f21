"""The two functions most people need: ``homogenize`` any sampler, ``audit`` anything."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import chain
from typing import Any

import numpy as np

from unskew.audits.audit import Audit
from unskew.audits.auditor import Auditor
from unskew.balance.homogenizer import Health, Homogenizer, KeptBatches
from unskew.core.batch import Batch
from unskew.core.errors import UnskewError, check_count
from unskew.core.recipe import Trust
from unskew.core.repeatable import warn_of_unrepeatable
from unskew.core.rng import generator
from unskew.core.source import Source, own_source
from unskew.core.tally import Tally
from unskew.core.variables.column import column_variable
from unskew.core.variables.combine import joint
from unskew.core.variables.variable import By
from unskew.datasets.target import Target, column_names, open_target
from unskew.io.lookup import (
    IF_TRUSTED,
    find_source,
    resolve,
    untrusted_code,
)

DEFAULT_N = 100_000  # examples of what is endless


class Homogenized(Iterator[Any]):
    """An endless iterator over kept examples. It knows what they cost."""

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
        """What was drawn, dropped and kept so far. It is a few examples ahead of the iterator."""
        return self._batches.tally

    def health(self) -> Health:
        """Return the cost next to its bound, the values never seen, and warnings."""
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

    Args:
        draw: a function ``draw(rng)`` that returns one example, a ``Source``, or the name of a
            source (``"calculator/dcfg"``). All its randomness must come from ``rng``. A function is
            first tried: called up to six times with two equal generators. Examples of this trial
            are not returned. If they differ, a ``HealthWarning`` says so.
        by: a variable, or several that are homogenized together.
        epsilon: a smaller value gets closer to uniform and costs more draws. The expected cost
            is at most 1 + 1/ε draws for each kept example.
        seed: the same seed gives the same examples.
        settings: parameters of the source, if it is given by its name.
        cost_limit: above this cost there is a ``HealthWarning``. There is also one if a declared
            value never came.
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

    Args:
        target: examples, a table or a dataset of any library, a sampler ``draw(rng)``, a source
            or its name, or files: Parquet, Arrow, JSONL, JSON, CSV, a folder or a pattern of them.
        by: the variables. Without it, they are those of the domain, or the columns of the file.
        n: the largest number of examples to read. Without it, 100,000 of a source or a sampler,
            and all of other data.
        seed: the seed of the draws, for a source or a sampler.
        settings: parameters of the source, if it is given by its name.
        trust: whether code that a dataset names may be imported.
        like: another audit. Numbers that hardly repeat are counted in about 20 bins of one width;
            with ``like``, in the bins of that audit, so that the two can be compared.
        advance: called with a number of examples each time that so many are done.
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
    # What a dataset's source dropped, it dropped for all of its examples.
    dropped = opened.dropped if dataset is None or auditor.n == len(dataset) else {}
    return auditor.result(opened.label, dropped, left_out, opened.domain, opened.recipe)


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
