"""Failures: in which values of a feature a model fails more often than elsewhere."""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from unskew.core.variables.coded import Coded


@dataclass(frozen=True)
class Failing:
    """The failures in the rows that have one value of a feature.

    Args:
        value: the value.
        rows: how many rows have it.
        rate: the mean failure of these rows.
        low: lower end of the 95 % interval of the rate.
        high: upper end of it.
        rest: the mean failure of all other rows.
        difference: ``rate - rest``.
        p: the probability that so many failures are among these rows by chance: exact where
            failures are yes or no, and an upper bound where they are scores.
    """

    value: Hashable
    rows: int
    rate: float
    low: float
    high: float
    rest: float
    difference: float
    p: float


@dataclass(frozen=True)
class Failure:
    """Where a model fails more often: the values of a feature, the most significant one first.

    Args:
        rate: the mean failure of all rows.
        values: the values with enough rows, the most significant one first.
        tested: how many values were tested.
        p: the p-value of the feature: the least p of its values, times their number.
    """

    rate: float
    values: tuple[Failing, ...]
    tested: int
    p: float


def as_failures(values: Coded) -> NDArray[np.float64]:
    """Return failures as numbers from 0 to 1; refuse what is not yes or no or such a number."""
    raise NotImplementedError


def failure(values: Coded, failed: NDArray[np.float64], *, least: int = 5) -> Failure:
    """Return in which values of a feature a model fails more often than elsewhere.

    Args:
        values: the feature.
        failed: how much the model fails in each row, from 0 to 1 (see ``as_failures``).
        least: values with fewer rows are not tested.
    """
    raise NotImplementedError
