"""The two functions most people need: ``homogenize`` any sampler, ``audit`` anything."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import chain
from typing import Any

import numpy as np

from unskew.auditing import Audit, Auditor
from unskew.batch import Batch
from unskew.errors import UnskewError, check_count
from unskew.homogenizer import Health, Homogenizer, KeptBatches
from unskew.names import column_variable, domain_of, find_source, is_own, resolve
from unskew.repeating import warn_of_unrepeatable
from unskew.salient import By, SalientVariable, joint
from unskew.source import Source, own_source
from unskew.streams import stream
from unskew.tally import Tally
from unskew.targets import Target, column_names, open_target

DEFAULT_N = 100_000  # examples of what is endless
MANY_VALUES = 200  # a column with more values than this in its first batch is no histogram


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
    ``by`` is a function of an example, or a dict of such functions by name, which are homogenized
    jointly. Smaller ``epsilon`` is closer to uniform and dearer: at most 1 + 1/ε draws per kept
    example in expectation. A ``HealthWarning`` tells of values never seen and of a cost above
    ``cost_limit``.
    """
    source = _source(draw, settings or {})
    if is_own(source):
        warn_of_unrepeatable(source)
    variable = joint(resolve(by, domain_of(source.name)))
    rng = stream(seed, source.name, "accept", 0)
    homogenizer = Homogenizer(variable, epsilon, rng, cost_limit)
    return Homogenized(source, homogenizer, stream(seed, source.name, "draw", 0))


def audit(
    target: Any,
    by: By | str | Sequence[str] | None = None,
    n: int | None = None,
    *,
    seed: int = 0,
    settings: Mapping[str, Any] | None = None,
    advance: Callable[[int], None] = lambda _: None,
) -> Audit:
    """Measure how far the salient variables of ``target`` are from uniform.

    ``target`` is any iterable of examples, a sampler ``draw(rng)``, a source by name or as an
    object, a dataset, or a Parquet or JSONL file. ``by`` names or gives the variables; left
    out, it is the domain's own or the columns of the file. ``n`` limits how many examples are
    read (100,000 of what is endless).
    """
    opened = open_target(target, settings, seed)
    limit = DEFAULT_N if n is None and opened.endless else n
    if limit is not None:
        check_count("n", limit, "audit at least one example")
    auditor = None
    left_out: list[str] = []
    for batch in opened.read(limit):
        if auditor is None:
            variables, left_out = _audited(by, opened, batch)
            auditor = Auditor(variables)
        auditor.add(batch)
        advance(len(batch))
    if auditor is None:
        raise UnskewError(f"{opened.label} gave no examples; there is nothing to audit")
    return auditor.result(opened.label, opened.dropped, left_out, opened.domain)


def _source(
    draw: Callable[[np.random.Generator], Any] | Source | str, settings: Mapping[str, Any]
) -> Source:
    if isinstance(draw, str):
        return find_source(draw, settings)
    if settings:
        raise UnskewError(f"settings are {dict(settings)}; only a source that is named takes any")
    return own_source(draw)


def _audited(
    by: By | str | Sequence[str] | None, target: Target, first: Batch
) -> tuple[Sequence[SalientVariable], list[str]]:
    """Return the variables to measure, and the columns that no histogram can show."""
    columns = column_names(first)
    if by is not None:
        return resolve(by, target.domain, columns), []
    if target.domain is not None and target.domain.found is not None:
        return target.domain.found(first)
    if target.domain is not None and target.domain.variables:
        domain = target.domain
        return [domain.variable(name) for name in domain.main or domain.variables], []
    chosen = [name for name in columns if _is_histogram(name, first)]
    if not chosen:
        raise UnskewError(
            f"{target.label} has no column with at most {MANY_VALUES} values; name what to "
            "measure: by={'length': len} in Python, --by my_module:my_function in a shell"
        )
    rest = [name for name in columns if name not in chosen]
    return [column_variable(name) for name in chosen], rest


def _is_histogram(name: str, batch: Batch) -> bool:
    try:
        values = column_variable(name).measure(batch)
        return len(set(values.tolist())) <= MANY_VALUES
    except UnskewError:
        return False
