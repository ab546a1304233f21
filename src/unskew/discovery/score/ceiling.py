"""The ceiling: how well a classifier that sees all features tells two datasets apart.

The classifier is logistic regression on the values of the features, one weight for each value. It
is learned from two thirds of the rows and tried on the others, three times. These three results
depend on each other. So the p-value is the least of the three, times three, and the interval is as
wide as that of one of them.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from unskew.core.errors import UnskewError
from unskew.core.rng import generator
from unskew.core.variables.coded import Coded, end_to_end
from unskew.discovery.score.tails import normal_tail

_ROWS = 4_000  # of each dataset
_FOLDS = 3
_STEPS = 60  # of gradient descent
_PENALTY = 3.0  # of squared weights: a value of few rows has a small weight
_RARE, _FREQUENT = 5, 50  # rows of a value that has a weight of its own, and such values

Floats = NDArray[np.float64]
Codes = NDArray[np.int64]


@dataclass(frozen=True)
class Ceiling:
    """How well a classifier that sees all features tells two datasets apart.

    Args:
        auc: the probability that it finds the right one of two rows, one of each dataset, on rows
            from which it was not learned: 0.5 is guessing, 1 is never wrong.
        low: lower end of the 95 % interval.
        high: upper end of it.
        p: the probability of such an area if the datasets do not differ.
        rows: how many rows were used.
        features: how many features were used.
    """

    auc: float
    low: float
    high: float
    p: float
    rows: int
    features: int


def ceiling(here: Sequence[Coded], there: Sequence[Coded], *, seed: int = 0) -> Ceiling:
    """Return how well logistic regression on the values of all features tells two datasets apart.

    Args:
        here: the features of one dataset.
        there: the same features of the other one, in the same order.
        seed: decides the folds, and which rows are used: at most 4,000 of each dataset.
    """
    if len(here) != len(there) or not here:
        raise UnskewError(f"there are {len(here)} and {len(there)} features; give the same ones")
    rng = generator(seed, "ceiling")
    sides = [_some(len(features[0]), rng) for features in (here, there)]
    if min(map(len, sides)) < 2 * _FOLDS:
        raise UnskewError(
            f"the datasets have {len(here[0]):,} and {len(there[0]):,} rows; a classifier needs at "
            f"least {2 * _FOLDS} of each"
        )
    label = np.repeat([1.0, 0.0], [len(rows) for rows in sides])
    columns, size = _columns(
        [
            end_to_end([Coded(a.distinct, a.codes[sides[0]]), Coded(b.distinct, b.codes[sides[1]])])
            for a, b in zip(here, there, strict=True)
        ]
    )
    fold = np.concatenate([rng.permutation(len(rows)) % _FOLDS for rows in sides])
    areas = []
    for number in range(_FOLDS):
        train, test = fold != number, fold == number
        weights = _fitted(columns[train], label[train], size)
        areas.append(_area(weights[columns[test]].sum(axis=1), label[test] == 1))
    auc, each = float(np.mean(areas)), [len(rows) / _FOLDS for rows in sides]
    half = 1.96 * _error(auc, *each)
    p = _FOLDS * normal_tail((max(areas) - 0.5) / _error(0.5, *each))
    low, high = max(0.0, auc - half), min(1.0, auc + half)
    return Ceiling(auc, low, high, min(1.0, p), len(label), len(here))


def _some(rows: int, rng: np.random.Generator) -> Codes:
    return np.sort(rng.permutation(rows)[:_ROWS])


def _columns(features: Sequence[Coded]) -> tuple[Codes, int]:
    """Return the place of the weight of each row's value of each feature, and how many there are.

    Rare values of a feature share a weight.
    """
    places, size = [], 0
    for feature in features:
        counts = np.bincount(feature.codes, minlength=len(feature.distinct))
        order = np.argsort(-counts, kind="stable")
        own = order[:_FREQUENT][counts[order[:_FREQUENT]] >= _RARE]
        numbers = np.full(len(counts), len(own))
        numbers[own] = np.arange(len(own))
        places.append(numbers[feature.codes] + size)
        size += len(own) + 1
    return np.stack(places, axis=1), size


def _fitted(columns: Codes, label: Floats, size: int) -> Floats:
    """Return the weights of a logistic regression, by accelerated gradient descent.

    The step of each weight is a quarter of the rows that have its value, times the number of
    features: no weight steps too far.
    """
    flat, features = columns.ravel(), columns.shape[1]
    steepest = np.bincount(flat, minlength=size) * features / 4 + _PENALTY
    weights, ahead, speed = np.zeros(size), np.zeros(size), 1.0
    for _ in range(_STEPS):
        errors = 1 / (1 + np.exp(-ahead[columns].sum(axis=1))) - label
        slope = np.bincount(flat, np.repeat(errors, features), minlength=size) + _PENALTY * ahead
        moved = ahead - slope / steepest
        faster = (1 + math.sqrt(1 + 4 * speed * speed)) / 2
        ahead = moved + (speed - 1) / faster * (moved - weights)
        weights, speed = moved, faster
    return weights


def _area(scores: Floats, positive: NDArray[np.bool_]) -> float:
    """Return the area under the curve: the share of pairs in the right order; a tie is half."""
    _, codes, counts = np.unique(scores, return_inverse=True, return_counts=True)
    middle = np.cumsum(counts) - (counts - 1) / 2
    ups = int(positive.sum())
    ranks = float(middle[codes[positive]].sum()) - ups * (ups + 1) / 2
    return ranks / (ups * (len(scores) - ups))


def _error(auc: float, ups: float, downs: float) -> float:
    """Return the standard error of an area (Hanley and McNeil)."""
    one, two = auc / (2 - auc), 2 * auc * auc / (1 + auc)
    spread = auc * (1 - auc) + (ups - 1) * (one - auc * auc) + (downs - 1) * (two - auc * auc)
    return math.sqrt(max(0.0, spread) / (ups * downs))
