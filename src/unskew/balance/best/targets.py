"""Targets: the shares that the values of a variable should get."""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from unskew.balance.best.cells import Shares
from unskew.core.errors import UnskewError, brief, unknown

UNIFORM = "uniform"
NATURAL = "natural"  # as it is drawn
ROOT = "sqrt"  # ∝ the root of the shares drawn: half the way from natural to uniform
LOG = "log"  # ∝ 1/value: then the logarithms of the values are uniform
SHAPES = (UNIFORM, NATURAL, ROOT, LOG)
Target: TypeAlias = str | Mapping[Hashable, float]


def target_shares(target: Target, values: Sequence[Hashable], shares: Shares, name: str) -> Shares:
    """Return the share that each value should get; they sum to one.

    Args:
        target: the name of a shape, or a share for each value. Values that are not named get 0.
        values: the values of the variable.
        shares: the share of each value as it is drawn.
        name: the name of the variable, for errors.
    """
    if isinstance(target, Mapping):
        weights = _given(target, values, name)
    elif target == UNIFORM:
        weights = np.ones(len(values))
    elif target == NATURAL:
        weights = shares
    elif target == ROOT:
        weights = np.sqrt(shares)
    elif target == LOG:
        weights = _inverse(values, name)
    elif isinstance(target, str):
        raise unknown(f"target of {name!r}", target, SHAPES)
    else:
        raise UnskewError(
            f"target of {name!r} is {brief(target)}; give {', '.join(SHAPES)}, or a dict of shares"
        )
    total = weights.sum()
    if not total > 0:
        raise UnskewError(f"target of {name!r} gives no value a share; give at least one above 0")
    wanted: Shares = weights / total
    return wanted


def _given(
    target: Mapping[Hashable, float], values: Sequence[Hashable], name: str
) -> NDArray[np.float64]:
    """Return the shares of a mapping in the order of the values."""
    for value, share in target.items():
        number = isinstance(share, (int, float)) and not isinstance(share, bool)
        if not (number and 0 <= share < float("inf")):
            raise UnskewError(
                f"target of {name!r} gives {value!r} the share {brief(share)}; give numbers from 0"
            )
    foreign = [value for value in target if value not in set(values) and target[value] > 0]
    if foreign:
        raise unknown(f"value of {name!r}", str(foreign[0]), [str(value) for value in values])
    return np.array([float(target.get(value, 0)) for value in values])


def _inverse(values: Sequence[Hashable], name: str) -> NDArray[np.float64]:
    """Return 1/value for each value; refuse what is no number above 0."""
    for value in values:
        if isinstance(value, bool) or not isinstance(value, (int, float)) or not value > 0:
            raise UnskewError(
                f"target 'log' of {name!r} needs numbers above 0, but a value is {value!r}; "
                "give a dict of shares"
            )
    return np.array([1 / float(value) for value in values])  # type: ignore[arg-type]
