"""Auditing anything."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from unskew.audits.audit import Audit
from unskew.audits.auditor import Auditor
from unskew.audits.kinds import suggested
from unskew.core.batch import Batch
from unskew.core.domain import Domain
from unskew.core.errors import UnskewError, check_count
from unskew.core.recipe import Trust
from unskew.core.variables.variable import By, SalientVariable
from unskew.datasets.pace import as_sampler, examples_of
from unskew.datasets.target import Target, column_names, open_target
from unskew.io.lookup import (
    IF_TRUSTED,
    find_variables,
    resolve,
    untrusted_code,
)


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
        clock: measures in seconds how long a function takes.
    """
    target = as_sampler(target, batch, concurrency, cache)
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
