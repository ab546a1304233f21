"""Makes variables of functions and of other variables.

A plain function ``example -> value`` is a variable, and so is the name of a column, a path or a
measure. ``over``, ``clip``, ``bins`` and ``round_to`` make a new variable from another one.
"""

from __future__ import annotations

import math
import sys
from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import replace
from itertools import islice
from numbers import Real
from typing import Any

import numpy as np
from numpy.typing import NDArray

from unskew.core.batch import Batch
from unskew.core.errors import RowError, UnskewError, brief, check_range
from unskew.core.processes.stop import RAISED, interrupt
from unskew.core.usercode import own_code, place_of, raised
from unskew.core.variables.changes import (
    clipped,
    coded_values,
    numbers_of,
    rounded,
)
from unskew.core.variables.coded import Coded, combine
from unskew.core.variables.column import column_variable
from unskew.core.variables.intervals import interval_labels
from unskew.core.variables.values import as_values, check_values
from unskew.core.variables.variable import By, SalientVariable, Values, Variable, check_support


def as_variable(variable: Variable, name: str | None = None) -> SalientVariable:
    """Take a variable as it is; wrap a plain function ``example -> value``, or read a name."""
    if isinstance(variable, SalientVariable):
        return replace(_own_errors(variable), name=name or variable.name)
    if isinstance(variable, str):
        return replace(column_variable(variable, known=False), name=name or variable)
    if not callable(variable):
        raise UnskewError(
            f"{f'variable {name!r}' if name else 'a variable'} is {brief(variable)}; "
            "pass a function example -> value, or a name"
        )
    label = name or str(getattr(variable, "__name__", type(variable).__name__))
    return SalientVariable(label, lambda batch: _measure_rows(label, variable, batch))


def _own_errors(variable: SalientVariable) -> SalientVariable:
    """Return a variable whose errors are one line, where its ``measure`` is a user's own."""
    if not place_of(variable.measure):
        return variable
    what, measure = f"variable {variable.name!r}", variable.measure

    def measured(batch: Batch) -> Values:
        with own_code(what, "mend its measure(batch)"):
            values = measure(batch)
        if isinstance(values, Coded):
            return _checked(values, len(batch), f"{what} ({place_of(measure)})")
        if not isinstance(values, np.ndarray) or values.shape != (len(batch),):
            raise UnskewError(
                f"{what} ({place_of(measure)}) returned {brief(values)}; measure(batch) returns "
                "an array with one value for each example"
            )
        if values.dtype == object:
            _check_objects(values.tolist(), f"{what} ({place_of(measure)})")
        return values

    return replace(variable, measure=measured)


def _checked(values: Coded, rows: int, what: str) -> Coded:
    """Refuse codes of a user's own variable that are not one for each example."""
    codes = values.codes
    if not isinstance(codes, np.ndarray) or codes.shape != (rows,) or codes.dtype.kind not in "iu":
        raise UnskewError(f"{what} returned codes {brief(codes)}; give one code for each example")
    if rows and not 0 <= codes.min() <= codes.max() < len(values.distinct):
        raise UnskewError(
            f"{what} returned codes from {codes.min()} to {codes.max()}; allowed is 0 to "
            f"{len(values.distinct) - 1}: give the place of each value in distinct"
        )
    distinct = list(values.distinct)
    _check_objects(distinct, what)
    return Coded(distinct, codes.astype(np.int64))


def _check_objects(values: list[Any], what: str) -> None:
    try:
        check_values(values)
    except RowError as error:
        raise UnskewError(f"{what} returned {error.problem}") from error


def as_variables(by: By) -> tuple[SalientVariable, ...]:
    """Read ``by=``: one variable, a mapping from names to variables, or a sequence of them."""
    if isinstance(by, (SalientVariable, str)) or callable(by):
        variables = [as_variable(by)]
    elif isinstance(by, Mapping):
        variables = [as_variable(variable, name) for name, variable in by.items()]
    elif isinstance(by, Sequence):
        variables = [as_variable(variable) for variable in by]
    else:
        raise UnskewError(f"by is {by!r}; pass a function, a variable, or a dict of them by name")
    names = [variable.name for variable in variables]
    if len(set(names)) != len(names):
        raise UnskewError(f"variables share a name: {names}; name each in a dict")
    if not variables:
        raise UnskewError("by is empty; name at least one variable")
    return tuple(variables)


def over(variable: Variable, support: Sequence[Hashable]) -> SalientVariable:
    """Return a variable whose X is declared: the values of ``support``.

    An audit says which of them never came. Any other value is an error.
    """
    made = as_variable(variable)
    try:
        values = tuple(dict.fromkeys(support))
    except TypeError as error:
        raise UnskewError(
            f"the support of {made.name!r} cannot be read ({error}); give numbers, texts or tuples"
        ) from error
    if not values:
        raise UnskewError(f"the support of {made.name!r} is empty; declare at least one value")
    return replace(made, support=values)


def clip(variable: Variable, low: float, high: float) -> SalientVariable:
    """Return a variable that counts values below ``low`` as ``low``, above ``high`` as ``high``."""
    numbers = isinstance(low, Real) and isinstance(high, Real)
    if not (numbers and low <= high):
        raise UnskewError(f"clip from {low!r} to {high!r} is empty; give low <= high")
    return clipped(as_variable(variable), low, high)


def round_to(variable: Variable, step: float) -> SalientVariable:
    """Return a variable that is rounded to the nearest multiple of ``step``. Halves go up."""
    check_range("step", step, math.ulp(0.0), sys.float_info.max, step="give a positive step")
    return rounded(as_variable(variable), step)


def bins(variable: Variable, edges: Sequence[float]) -> SalientVariable:
    """Return a variable that sorts numbers into the intervals between ``edges``.

    X is every interval: ``[0, 1, 5]`` makes "< 0", "[0, 1)", "[1, 5)" and "≥ 5".
    """
    try:
        cuts = np.asarray(edges, dtype=float)
    except (TypeError, ValueError, OverflowError):
        cuts = np.empty(())
    if cuts.ndim != 1:
        raise UnskewError(f"edges are {brief(edges)}; give a list of numbers, such as [0, 1, 5]")
    if len(cuts) == 0 or np.isnan(cuts).any() or not np.all(np.diff(cuts) > 0):
        raise UnskewError(f"edges are {list(edges)}; give at least one, each above the last")
    labels = interval_labels(cuts.tolist())
    made = as_variable(variable)

    def places(values: NDArray[Any]) -> NDArray[np.int64]:
        numbers = numbers_of(made.name, "bins", values)
        if numbers.dtype.kind == "f" and np.isnan(numbers).any():
            raise UnskewError(f"variable {made.name!r} gave nan, which is in no bin; give a number")
        return np.searchsorted(cuts, numbers, side="right")

    def binned(batch: Batch) -> Values:
        values = made.measure(batch)
        if not isinstance(values, Coded):
            return Coded(labels, places(values))
        ordered = values.in_order()
        return Coded(labels, places(as_values(ordered.distinct))[ordered.codes])

    return replace(made, measure=binned, support=tuple(labels))


def joint(variables: Sequence[SalientVariable]) -> SalientVariable:
    """Combine several variables into one whose values are tuples; X is the tuples seen.

    The product of the supports would hold combinations that cannot occur, and each of those makes
    homogenizing cost more and improves nothing.
    """
    if len(variables) == 1:
        return variables[0]

    def tuples(batch: Batch) -> Values:
        columns = [coded_values(variable, variable.measure(batch)) for variable in variables]
        for variable, column in zip(variables, columns, strict=True):
            check_support(variable, column.distinct)
        return combine(columns)

    name = " × ".join(variable.name for variable in variables)
    return SalientVariable(name, tuples, parts=tuple(variables))


def _measure_rows(name: str, function: Callable[[Any], Hashable], batch: Batch) -> Values:
    measured: list[Hashable] = []
    stops = interrupt()
    for example in batch.examples():
        try:
            measured.append(function(example))
        except RAISED as error:  # own_code for each example would take longer than most functions
            raise UnskewError(
                f"variable {name!r} raised {raised(error)}; "
                f"make it return a value (example {brief(example)})"
            ) from error
        if stops is not None:
            stops.raise_again()
    try:
        return as_values(measured)
    except RowError as error:
        example = next(islice(batch.examples(), error.row, None))
        raise UnskewError(
            f"variable {name!r} returned {error.problem} (example {brief(example)})"
        ) from error
