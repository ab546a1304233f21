"""Numbers sorted into intervals."""

from __future__ import annotations

import math
from bisect import bisect_right
from collections.abc import Hashable, Sequence
from itertools import pairwise
from typing import Any, TypeGuard

import numpy as np
from numpy.typing import NDArray

from unskew.core.variables.coded import Coded, as_coded
from unskew.core.variables.values import EXACT
from unskew.core.variables.variable import Values


def interval_labels(edges: Sequence[float]) -> list[str]:
    """Name the intervals below, between and above ``edges``."""
    names = [repr(edge).removesuffix(".0") for edge in edges]
    inner = [f"[{low}, {high})" for low, high in pairwise(names)]
    return [f"< {names[0]}", *inner, f"≥ {names[-1]}"]


def in_intervals(values: Values, edges: Sequence[float]) -> Coded:
    """Return the interval of each number; a value that is no number stays as it is."""
    labels = interval_labels(edges)
    if isinstance(values, Coded):
        return values.change(lambda distinct: _labelled(distinct, edges, labels))
    if values.dtype.kind in "iuf" and _exact(values):
        places = np.searchsorted(edges, values, side="right")
        if values.dtype.kind != "f" or not np.isnan(values).any():
            return Coded(labels, places)
        return Coded([*labels, math.nan], np.where(np.isnan(values), len(labels), places))
    listed = values.tolist()
    numbered = np.fromiter(map(_has_bin, listed), np.bool_, len(listed))
    others = as_coded(values[~numbered])
    codes = np.empty(len(listed), dtype=np.int64)
    codes[numbered] = [bisect_right(edges, value) for value in listed if _has_bin(value)]
    codes[~numbered] = len(labels) + others.codes
    return Coded([*labels, *others.distinct], codes)


def _labelled(
    values: Sequence[Hashable], edges: Sequence[float], labels: Sequence[str]
) -> list[Any]:
    return [labels[bisect_right(edges, v)] if _has_bin(v) else v for v in values]


def _exact(values: NDArray[Any]) -> bool:
    """Return whether numbers stay the same as floats."""
    if values.dtype.kind == "f" or not len(values):
        return True
    return int(values.min()) >= -EXACT and int(values.max()) <= EXACT


def is_number(value: object) -> TypeGuard[float]:
    """Return whether a value is a whole number or a float."""
    return type(value) in (int, float)


def _has_bin(value: object) -> TypeGuard[float]:
    """Return whether a value is a number other than nan."""
    return is_number(value) and not math.isnan(value)
