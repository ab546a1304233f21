"""What is measured of data: what a user names, what its domain has, or what its columns suggest."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING

from unskew.audits.auditor import Auditor
from unskew.audits.kinds import suggested
from unskew.core.errors import UnskewError
from unskew.datasets.target import Target, column_names
from unskew.io.lookup import IF_TRUSTED, find_variables, resolve, untrusted_code

if TYPE_CHECKING:
    from unskew.core.batch import Batch
    from unskew.core.domain import Domain
    from unskew.core.variables.variable import By, SalientVariable


def chosen_auditor(
    by: By | str | Sequence[str] | None,
    also: Sequence[str],
    target: Target,
    first: Batch,
    bins: Mapping[str, tuple[float, ...]],
) -> tuple[Auditor, dict[str, str]]:
    """Return what measures the chosen variables; and why other variables are left out."""
    columns, domain = column_names(first), target.domain
    with _trust_told(target):
        variables, left_out = _chosen(by, domain, columns, first)
        known = {variable.name for variable in variables}
        more = find_variables([name for name in also if name not in known], domain, columns)
    left_out = {name: why for name, why in left_out.items() if name not in also}
    return Auditor([*variables, *more], bins), left_out


def named_variables(
    by: By | str | Sequence[str], target: Target, first: Batch
) -> tuple[SalientVariable, ...]:
    """Return the variables that a user names; ``first`` holds examples of the target."""
    with _trust_told(target):
        return resolve(by, target.domain, column_names(first))


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


@contextmanager
def _trust_told(target: Target) -> Iterator[None]:
    """Say in an error that a variable may be one of a domain that is not trusted."""
    try:
        yield
    except UnskewError as error:
        recipe = target.dataset.recipe if target.dataset is not None else None
        if recipe is None or not untrusted_code(recipe, recipe.source):
            raise
        raise UnskewError(
            f"{error}; the domain of {recipe.source} is not imported, and with it its variables: "
            f"{IF_TRUSTED}"
        ) from error


def no_column(label: str, left_out: Mapping[str, str]) -> UnskewError:
    """Return the error for data in which no column makes a histogram."""
    reasons = "; ".join(f"{name}: {why}" for name, why in list(left_out.items())[:3])
    return UnskewError(
        f"{label} has no column to measure{f' ({reasons})' if reasons else ''}; name what to "
        "measure: by={'length': len} in Python, --by my_module:my_function in a shell"
    )
