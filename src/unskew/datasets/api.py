"""Auditing anything."""

from __future__ import annotations

import os
import shlex
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, TypeAlias

from unskew.audits.audit import Audit
from unskew.audits.auditor import SAMPLES, Auditor
from unskew.audits.remedy import Audited
from unskew.audits.tallies import Tallies
from unskew.core.errors import UnskewError, check_count
from unskew.core.recipe import Trust
from unskew.core.variables.variable import By
from unskew.datasets.chosen import chosen_auditor, no_column
from unskew.datasets.engines.shared import shared
from unskew.datasets.engines.work import Engine
from unskew.datasets.open import open_target
from unskew.datasets.pace import as_sampler, examples_of
from unskew.datasets.target import Target
from unskew.io.dataset import Dataset
from unskew.io.lookup import find_source

Variables: TypeAlias = By | str | Sequence[str] | None
# Seconds that this process counts alone before an engine starts its processes. They take about as
# long to start, so small data is not slower than without them, and large data by this much.
ALONE_SECONDS = 0.5
AUDITING = "unskew.datasets.workers.audits"  # the module of processes that audit files


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
    engine: Engine | None = None,
    clock: Callable[[], float] = time.monotonic,
) -> Audit:
    """Measure how far the salient variables of ``target`` are from uniform.

    Args:
        target: examples, a table or a dataset of any library, a sampler ``draw(rng)``, a source
            or its name, or files: Parquet, Arrow, JSONL, JSON, CSV, a folder or a pattern of them.
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
        engine: who counts the files of ``target`` (``unskew.datasets.engines``). The audit is the
            same whoever counts them. Without it, this process; it also counts what it can count
            in half a second.
        clock: measures in seconds how long a function takes.
    """
    target = as_sampler(target, batch, concurrency, cache)
    opened = open_target(target, settings, seed, trust)
    if n is not None:
        check_count("n", n, "audit at least one example")
    also = [also] if isinstance(also, str) else list(dict.fromkeys(also))
    bins = {name: variable.edges for name, variable in like.variables.items()} if like else {}
    with opened.rows_by_name():
        if engine is None:
            auditor, left_out = _audited(opened, by, also, bins, n, advance, clock)
        else:
            auditor, left_out = _audited_by(engine, opened, by, also, bins, n, advance, clock)
    dataset = opened.dataset
    # What a dataset's source dropped, it dropped for all of its examples.
    dropped = opened.dropped if dataset is None or auditor.n == len(dataset) else {}
    called = audited(target, opened, by)
    return auditor.result(opened.label, dropped, left_out, opened.domain, opened.recipe, called)


def audited(target: Any, opened: Target, by: Variables) -> Audited:
    """Return how a user names what was audited, for the command that balances it."""
    listed = [by] if isinstance(by, str) else by
    names = by is None or (
        isinstance(listed, Sequence) and all(isinstance(name, str) for name in listed)
    )
    makes = opened.endless or (opened.recipe is not None and opened.dataset is None)
    named = opened.label if isinstance(target, (Target, Dataset)) else target
    is_named = isinstance(named, (str, os.PathLike))
    verb, call = ("generate", "homogenize") if makes else ("resample", "resample")
    given = repr(str(named)) if is_named else "draw" if makes else "data"
    words = ["unskew", verb, str(named), *(_settings(opened) if is_named else ())]
    return Audited(
        shlex.join(words) if is_named else "", f"unskew.{call}({given}", names, not makes
    )


def _settings(opened: Target) -> Iterator[str]:
    """Yield the options that set what a source does not have by itself."""
    if opened.source is not None:
        usual = find_source(opened.source.name).parameters
        for name, value in opened.source.parameters.items():
            if usual.get(name) != value:
                yield from ("--set", f"{name}={value}")


def _audited(
    opened: Target,
    by: Variables,
    also: Sequence[str],
    bins: Mapping[str, tuple[float, ...]],
    n: int | None,
    advance: Callable[[int], None],
    clock: Callable[[], float],
) -> tuple[Auditor, Mapping[str, str]]:
    """Return what measured the examples; and why variables are left out."""
    auditor = None
    left_out: Mapping[str, str] = {}
    for rows in examples_of(opened, n, advance, clock):
        if auditor is None:
            auditor, left_out = chosen_auditor(by, also, opened, rows, bins)
        auditor.add(rows)
        if not auditor.names:
            raise no_column(opened.label, left_out)
    if auditor is None:
        raise _nothing(opened)
    return auditor, left_out


def _audited_by(
    engine: Engine,
    opened: Target,
    by: Variables,
    also: Sequence[str],
    bins: Mapping[str, tuple[float, ...]],
    n: int | None,
    advance: Callable[[int], None],
    clock: Callable[[], float],
) -> tuple[Auditor, Mapping[str, str]]:
    """Return what several processes measured; and why variables are left out."""
    if n is not None:
        raise UnskewError(
            f"n is {n}, but an engine reads all files at the same time; leave out n or the engine"
        )
    batches = opened.read(None)
    begin, first = clock(), next(batches, None)
    if first is None:
        raise _nothing(opened)
    auditor, left_out = chosen_auditor(by, also, opened, first, bins)
    auditor.add(first)
    if not auditor.names:
        raise no_column(opened.label, left_out)
    while opened.pieces and _are_names(by) and clock() - begin < ALONE_SECONDS:
        rows = next(batches, None)
        if rows is None:
            return auditor, left_out
        auditor.add(rows)
    auditor = auditor.apart()
    task = {"by": by, "also": also, "bins": bins}
    for data, arrays in shared(opened, engine, AUDITING, task):
        auditor.merge(Tallies.read(data, arrays))
        advance(data["n"])
    for rows in opened.read(SAMPLES):
        auditor.show(rows)
    return auditor, left_out


def _are_names(by: Variables) -> bool:
    """Whether any engine can be told these variables, so that none refuses only large data."""
    if by is None or isinstance(by, str):
        return True
    return isinstance(by, Sequence) and all(isinstance(name, str) for name in by)


def _nothing(opened: Target) -> UnskewError:
    return UnskewError(f"{opened.label} gave no examples; there is nothing to audit")
