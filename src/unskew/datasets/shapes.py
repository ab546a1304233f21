"""The shares that the values of each variable should get: by name, or those of other data."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from unskew.balance.best.rule import pilot_of
from unskew.balance.best.targets import Target as Shape
from unskew.core.errors import UnskewError, brief
from unskew.core.variables.variable import SalientVariable, describe
from unskew.datasets.target import open_target

LIKE = 100_000  # draws of a source that others should be like; of data, all rows


def shapes_of(variables: Sequence[SalientVariable], target: Any, like: Any) -> dict[str, Shape]:
    """Return the target of each variable that has one; ``like`` is data that has the shares."""
    if like is None:
        return shapes_by_name(variables, target)
    if target is not None:
        raise UnskewError("there is a target and something to be like; give one of them")
    opened = open_target(like)
    sample = pilot_of(variables, opened.read(LIKE if opened.endless else None))
    pairs = zip(variables, sample.codebooks, sample.shares(), strict=True)
    return {
        variable.name: dict(zip(codebook.values, shares.tolist(), strict=True))
        for variable, codebook, shares in pairs
    }


def shapes_by_name(variables: Sequence[SalientVariable], target: Any) -> dict[str, Shape]:
    """Return the target of each variable that has one: a target for all, or one for each."""
    names = [variable.name for variable in variables]
    if target is None:
        return {}
    if isinstance(target, Mapping) and not set(target) <= set(names):
        if len(names) > 1:
            raise UnskewError(
                f"target is {brief(target)}; give one for each variable, by name: {describe(names)}"
            )
        return {names[0]: target}
    if isinstance(target, Mapping):
        return dict(target)
    return dict.fromkeys(names, target)
