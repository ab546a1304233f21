"""Targets: the shares that the values of a variable should get."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping, Sequence
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from unskew.balance.cells import Shares
from unskew.core.errors import UnskewError, brief, unknown

UNIFORM = "uniform"
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
    elif isinstance(target, str):
        if target not in SHAPES:
            raise unknown(f"target of {name!r}", target, SHAPES)
        weights = SHAPES[target](values, shares, name)
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
        raise unknown(f"value of {name!r}", foreign[0], list(map(str, values)))
    return np.array([float(target.get(value, 0)) for value in values])


def _uniform(values: Sequence[Hashable], shares: Shares, name: str) -> NDArray[np.float64]:
    return np.ones(len(values))


def _natural(values: Sequence[Hashable], shares: Shares, name: str) -> NDArray[np.float64]:
    return shares


def _root(values: Sequence[Hashable], shares: Shares, name: str) -> NDArray[np.float64]:
    roots: NDArray[np.float64] = np.sqrt(shares)
    return roots


def _log(values: Sequence[Hashable], shares: Shares, name: str) -> NDArray[np.float64]:
    """Return 1/value: the logarithm of the values is then uniform."""
    for value in values:
        if isinstance(value, bool) or not isinstance(value, (int, float)) or not value > 0:
            raise UnskewError(
                f"target 'log' of {name!r} needs numbers above 0, but a value is {value!r}; "
                "give a dict of shares"
            )
    return np.array([1 / float(value) for value in values])  # type: ignore[arg-type]


# The shapes that have names. "natural" leaves a variable as it is drawn; "sqrt" goes half the way
# from there to uniform.
SHAPES: dict[str, Callable[[Sequence[Hashable], Shares, str], NDArray[np.float64]]] = {
    UNIFORM: _uniform,
    "natural": _natural,
    "sqrt": _root,
    "log": _log,
}
