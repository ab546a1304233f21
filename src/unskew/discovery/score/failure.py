"""Failures: in which values of a feature a model fails more often than elsewhere."""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass
from numbers import Real

import numpy as np
from numpy.typing import NDArray

from unskew.core.errors import UnskewError, brief
from unskew.core.interval import wilson
from unskew.core.variables.coded import Coded
from unskew.discovery.score.tails import hypergeometric_tail

_LEVELS = 200  # to which scores are rounded up, so that the law of their mean is soon known
_HALVINGS = 50  # of the interval in which a root lies
_STEEPEST = 1e4  # a tilt that leaves nothing but the greatest level

Floats = NDArray[np.float64]
Codes = NDArray[np.int64]


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
    """Where a model fails more often.

    Args:
        rate: the mean failure of all rows.
        values: the values with enough rows, the most significant one first.
        p: the p-value of the feature: the least p of its values, times their number.
    """

    rate: float
    values: tuple[Failing, ...]
    p: float


def as_failures(values: Coded) -> Floats:
    """Return failures as numbers from 0 to 1; refuse what is not yes or no or such a number."""
    numbers = np.zeros(len(values.distinct))
    for code, value in enumerate(values.distinct):
        is_number = isinstance(value, (Real, np.bool_)) and 0 <= value <= 1
        if not is_number:
            raise UnskewError(
                f"a failure is {brief(value)}; allowed is true or false, or a number from 0 "
                "(right) to 1 (wrong): name a column of such values"
            )
        numbers[code] = float(value)  # type: ignore[arg-type]
    return numbers[values.codes]


def failure(values: Coded, failed: Floats, *, least: int = 5) -> Failure:
    """Return in which values of a feature a model fails more often than elsewhere.

    Args:
        values: the feature.
        failed: how much the model fails in each row, from 0 to 1 (see ``as_failures``).
        least: values with fewer rows are not tested.
    """
    if len(values) != len(failed):
        raise UnskewError(f"there are {len(values):,} values and {len(failed):,} failures")
    if not len(failed):
        return Failure(0.0, (), 1.0)
    counts = np.bincount(values.codes, minlength=len(values.distinct))
    sums = np.bincount(values.codes, failed, len(values.distinct)).astype(np.float64)
    tested = np.flatnonzero((counts >= least) & (counts < len(failed)))
    p = failing_tail(sums[tested], counts[tested], failed)
    order = np.lexsort((-sums[tested] / counts[tested], p))
    total = float(failed.sum())
    records = tuple(
        _failing(values.distinct[value], int(counts[value]), float(sums[value]), total, failed, one)
        for value, one in zip(tested[order].tolist(), p[order].tolist(), strict=True)
    )
    worst = min(1.0, float(p.min()) * len(p)) if len(p) else 1.0
    return Failure(total / len(failed), records, worst)


def _failing(
    value: Hashable, rows: int, failures: float, total: float, failed: Floats, p: float
) -> Failing:
    rate, rest = failures / rows, max(0.0, total - failures) / (len(failed) - rows)
    return Failing(value, rows, rate, *wilson(rate, rows), rest, rate - rest, p)


def failing_tail(sums: Floats, rows: Codes, failed: Floats) -> Floats:
    """Return the p-value of each set of rows with this sum of failures, of all that failed.

    It is the probability that a random set of as many rows has this sum or more.
    """
    if ((failed == 0) | (failed == 1)).all():
        hits = np.rint(sums).astype(np.int64)
        return hypergeometric_tail(hits, rows, int(failed.sum()), len(failed))
    most = 2 * rows > len(failed)  # of these, the rows that are left over are fewer
    others = 1 - (failed.sum() - sums) / np.maximum(1, len(failed) - rows)
    return np.where(
        most,
        _bound_of_mean(others, len(failed) - rows, 1 - failed),
        _bound_of_mean(sums / rows, rows, failed),
    )


def _bound_of_mean(means: Floats, rows: Codes, failed: Floats) -> Floats:
    """Return an upper bound of the probability that the mean of random rows is this or more.

    It is Chernoff's bound with the law of the scores themselves. It is a bound for rows that are
    drawn with repeats, and all the more for rows without: their mean varies less.
    """
    counts = np.bincount(np.ceil(failed * _LEVELS).astype(np.int64))
    levels = np.flatnonzero(counts) / _LEVELS
    shares = counts[counts > 0] / len(failed)
    low, high = np.zeros(len(means)), np.full(len(means), _STEEPEST)
    for _ in range(_HALVINGS):  # the tilt at which the mean of the law is the mean of the rows
        tilt = (low + high) / 2
        less = _tilted(levels, shares, tilt)[0] < means
        low, high = np.where(less, tilt, low), np.where(less, high, tilt)
    exponent = np.maximum(0, low * means - _tilted(levels, shares, low)[1])
    bound: Floats = np.exp(-rows * exponent)
    return bound


def _tilted(levels: Floats, shares: Floats, tilt: Floats) -> tuple[Floats, Floats]:
    """Return the mean of a law that is tilted towards its greatest level, and log E exp(tilt x)."""
    exponents = np.log(shares) + tilt[:, None] * levels
    most = exponents.max(axis=1)
    weights = np.exp(exponents - most[:, None])
    total = weights.sum(axis=1)
    return weights @ levels / total, most + np.log(total)
