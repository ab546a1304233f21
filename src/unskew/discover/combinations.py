"""Combinations: values of two or three features that together fail, or come, more than alone."""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from unskew.core.variables.coded import Coded


@dataclass(frozen=True)
class Slice:
    """Rows that have certain values of two or three features, in which a model fails more often.

    Args:
        terms: the name and the value of each feature.
        rows: how many rows have all of them.
        rate: the mean failure of these rows.
        low: lower end of the 95 % interval of the rate.
        high: upper end of it.
        rest: the mean failure of all other rows.
        part: the greatest mean failure of rows that have all terms but one.
        p: the p-value, times the number of combinations that could have been found.
    """

    terms: tuple[tuple[str, Hashable], ...]
    rows: int
    rate: float
    low: float
    high: float
    rest: float
    part: float
    p: float


@dataclass(frozen=True)
class Joint:
    """Values of two or three features that come together more often, or less, than they should.

    Args:
        terms: the name and the value of each feature.
        rows: how many rows have all of them.
        expected: how many would if the features were independent; of three features, if nothing
            but the pairs mattered.
        p: the p-value, times the number of combinations that were looked at.
    """

    terms: tuple[tuple[str, Hashable], ...]
    rows: int
    expected: float
    p: float


def failing_slices(
    features: Mapping[str, Coded], failed: NDArray[np.float64], *, top: int = 10
) -> tuple[Slice, ...]:
    """Return the worst combinations of two or three features' values, the worst one first.

    A combination counts only if it fails more often than each of its parts: ``a`` and ``b``
    together more than ``a``, and more than ``b``. Combinations of mostly the same rows as a worse
    one are left out.
    """
    raise NotImplementedError


def joint_skew(features: Mapping[str, Coded], *, top: int = 10) -> tuple[Joint, ...]:
    """Return the combinations that differ most from what their parts say, the largest one first.

    Give features that do not follow from each other: a number and its last digit would be found.
    """
    raise NotImplementedError
