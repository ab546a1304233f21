"""The shares that the values of each variable should get: by name, or those of other data."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import chain
from typing import Any

from unskew.balance.best.rule import pilot_of
from unskew.balance.best.targets import Target as Shape
from unskew.core.batch import Batch
from unskew.core.errors import UnskewError, brief
from unskew.core.variables.variable import SalientVariable, describe
from unskew.datasets.open import open_target
from unskew.datasets.target import Target

LIKE = 100_000  # draws of a source that others should be like; of data, all rows


def shapes_of(variables: Sequence[SalientVariable], target: Any, like: Any) -> dict[str, Shape]:
    """Return the target of each variable that has one; ``like`` is data that has the shares."""
    if like is None:
        return shapes_by_name(variables, target)
    if target is not None:
        raise UnskewError("there is a target and something to be like; give one of them")
    opened = open_target(like)
    batches = _some(opened)
    try:
        sample = pilot_of(variables, batches)
    except UnskewError as error:
        raise UnskewError(f"{opened.label}, which others should be like: {error}") from error
    shapes: dict[str, Shape] = {}
    for codebook, shares in zip(sample.codebooks, sample.shares(), strict=True):
        name = codebook.variable.name
        if codebook.values == [None]:
            raise UnskewError(
                f"{opened.label}, which others should be like, has no {name!r}; name others"
            )
        shapes[name] = dict(zip(codebook.values, shares.tolist(), strict=True))
    return shapes


def _some(opened: Target) -> Iterator[Batch]:
    """Yield what a source or data has; refuse data without rows."""
    batches = opened.read(LIKE if opened.endless else None)
    first = next(batches, None)
    if first is None:
        raise UnskewError(
            f"{opened.label}, which others should be like, has no rows; give other data"
        )
    return chain([first], batches)


def shapes_by_name(variables: Sequence[SalientVariable], target: Any) -> dict[str, Shape]:
    """Return the target of each variable that has one: a target for all, or one for each."""
    names = [variable.name for variable in variables]
    if target is None:
        return {}
    if isinstance(target, Mapping) and not set(target) <= set(names):
        if len(names) > 1 or any(isinstance(of, (str, Mapping)) for of in target.values()):
            raise UnskewError(
                f"target is {brief(target)}; give one for each variable, by name: {describe(names)}"
            )
        return {names[0]: target}
    if isinstance(target, Mapping):
        return dict(target)
    return dict.fromkeys(names, target)
