"""Salient variables (the paper's ν: S → X): what is measured of an example, and over which X."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

from numpy.typing import NDArray

from unskew.core.batch import Batch
from unskew.core.errors import UnskewError
from unskew.core.variables.coded import Coded

# One value a row: an array of numbers or of Python objects, or each distinct value held once.
Values: TypeAlias = NDArray[Any] | Coded


@dataclass(frozen=True)
class SalientVariable:
    """A name, a function that measures a batch, and the finite set X of the values.

    ``support`` is X if X is declared. ``None`` means that X is the values seen so far.
    """

    name: str
    measure: Callable[[Batch], Values]
    support: tuple[Hashable, ...] | None = None
    doc: str = ""
    parts: tuple[SalientVariable, ...] = ()  # of several variables together; the values are tuples
    reads: str = ""  # the name of data that it measures; empty if it may read anything


Variable: TypeAlias = SalientVariable | Callable[[Any], Hashable] | str
By: TypeAlias = Variable | Mapping[str, Variable] | Sequence[Variable]


def check_support(variable: SalientVariable, values: Iterable[Hashable]) -> None:
    """Raise where a value lies outside a declared support."""
    if variable.support is None:
        return
    outside = set(values).difference(variable.support)
    if outside:
        raise UnskewError(
            f"variable {variable.name!r} gave {outside.pop()!r}, outside its declared support "
            f"{describe(variable.support)}; declare it, or clip or bin the variable"
        )


def describe(values: Sequence[Hashable], most: int = 8) -> str:
    """List values for a person, the middle of a long list left out."""
    texts = [str(value) for value in values]
    if len(texts) > most:
        texts = [*texts[: most - 1], f"… ({len(texts) - most} more)", texts[-1]]
    return ", ".join(texts)


def many_values(values: Sequence[Hashable]) -> str:
    """Say that a column has too many values for a histogram."""
    seen, rows = len(set(values)), len(values)
    return f"{seen:,} values in the first {rows:,} rows, too many for a histogram"
