"""Changes the numbers of a variable: into intervals, between two limits, to multiples of a step."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from unskew.core.batch import Batch
from unskew.core.errors import UnskewError
from unskew.core.usercode import raised
from unskew.core.variables.coded import Coded, as_coded
from unskew.core.variables.intervals import in_intervals
from unskew.core.variables.values import as_values
from unskew.core.variables.variable import SalientVariable, Values


def changed(variable: SalientVariable, change: str, numbers: Sequence[float]) -> SalientVariable:
    """Return a variable with the change that a name writes: bins, clip or round_to.

    Unlike ``unskew.bins``, intervals leave a missing value as it is, and no interval is declared
    that no example has.
    """
    if change == "clip":
        return clipped(variable, *numbers)
    if change == "round_to":
        return rounded(variable, *numbers)
    return replace(
        variable, measure=lambda batch: in_intervals(variable.measure(batch), numbers), support=None
    )


def clipped(variable: SalientVariable, low: float, high: float) -> SalientVariable:
    """Return a variable that counts values below ``low`` as ``low``, above ``high`` as ``high``."""
    return _changed(variable, "clip", lambda values: np.clip(values, low, high))


def rounded(variable: SalientVariable, step: float) -> SalientVariable:
    """Return a variable that is rounded to the nearest multiple of ``step``. Halves go up."""

    def nearest(values: NDArray[Any]) -> NDArray[Any]:
        if isinstance(step, int) and step < 2**62 and values.dtype.kind in "iu":
            rest = values % step
            whole: NDArray[Any] = values - rest + np.where(2 * rest >= step, step, 0)
            return whole
        return np.floor(values / float(step) + 0.5) * float(step)

    return _changed(variable, "round_to", nearest)


def _changed(
    variable: SalientVariable, name: str, change: Callable[[NDArray[Any]], NDArray[Any]]
) -> SalientVariable:
    """Return a variable whose numbers are changed, each distinct one once where they are coded.

    A value that is missing stays missing.
    """

    def of_distinct(values: Sequence[Hashable]) -> list[Any]:
        given = [value for value in values if value is not None]
        numbers = iter(change(numbers_of(variable.name, name, as_values(given))).tolist())
        return [None if value is None else next(numbers) for value in values]

    def measure(batch: Batch) -> Values:
        values = variable.measure(batch)
        if not isinstance(values, Coded) and values.dtype == object:
            values = coded_values(variable, values)
        if isinstance(values, Coded):
            return values.change(of_distinct)
        return change(numbers_of(variable.name, name, values))

    support = variable.support
    if support is not None:
        support = tuple(dict.fromkeys(of_distinct(support)))
    return replace(variable, measure=measure, support=support)


def coded_values(variable: SalientVariable, values: Values) -> Coded:
    """Return values with each different one held once, or say why they cannot be compared."""
    try:
        return as_coded(values)
    except Exception as error:  # a value may be of a user's own class
        raise UnskewError(
            f"variable {variable.name!r} gave values that cannot be compared ({raised(error)}); "
            "measure a number, a text or a tuple"
        ) from error


def numbers_of(variable: str, combinator: str, values: NDArray[Any]) -> NDArray[Any]:
    """Return values as numbers; refuse what is none."""
    if values.dtype.kind == "f":
        return values
    small = values.dtype.kind in "ib" or (values.dtype.kind == "u" and _fit(values))
    if small:
        return values.astype(np.int64, copy=False)
    odd = [value for value in values.tolist() if not _is_number(value)]
    if odd and all(value is None for value in odd):
        raise UnskewError(
            f"{combinator} needs numbers, but some rows have no {variable!r}; fill them in with a "
            f"function: {combinator}(lambda row: …, …), or leave these rows out"
        )
    kinds = " and ".join(sorted({type(value).__name__ for value in values.tolist()}))
    gave = repr(odd[0]) if odd else f"values of {kinds}"
    raise UnskewError(
        f"{combinator} needs numbers, but variable {variable!r} gave {gave}; "
        "measure numbers of one kind, or leave it out"
    )


def _fit(values: NDArray[Any]) -> bool:
    return len(values) == 0 or int(values.max()) < 2**63


def _is_number(value: object) -> bool:
    return isinstance(value, float) or (isinstance(value, int) and -(2**63) <= value < 2**63)
