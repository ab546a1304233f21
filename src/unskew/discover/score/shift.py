"""Shift: how a feature differs between two datasets, and how well all features tell them apart."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass

from unskew.core.variables.coded import Coded


@dataclass(frozen=True)
class Shifted:
    """A value of a feature: its share here, and its share in the other dataset."""

    value: Hashable
    here: float
    there: float


@dataclass(frozen=True)
class Shift:
    """How the distribution of a feature differs between two datasets.

    Args:
        divergence: Jensen-Shannon divergence in bits, from 0 to 1, with the bias of a sample off.
        variation: total variation, from 0 to 1, with the noise of a sample off.
        p: the probability that two samples of one distribution differ as much.
        values: the values whose shares differ most, the largest difference first.
        only_here: values that only this dataset has, though it would show them by chance alone
            in fewer than one case in 10,000; the most frequent one first.
        only_there: the same of the other dataset.
    """

    divergence: float
    variation: float
    p: float
    values: tuple[Shifted, ...]
    only_here: tuple[Shifted, ...]
    only_there: tuple[Shifted, ...]


@dataclass(frozen=True)
class Ceiling:
    """How well a classifier that sees all features tells two datasets apart.

    Args:
        auc: area under the curve on rows from which it was not learned: 0.5 is guessing, 1 is
            never wrong.
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


def shift(here: Coded, there: Coded, *, seed: int = 0) -> Shift:
    """Return how a feature differs between two datasets."""
    raise NotImplementedError


def ceiling(here: Sequence[Coded], there: Sequence[Coded], *, seed: int = 0) -> Ceiling:
    """Return how well logistic regression on the values of all features tells two datasets apart.

    Args:
        here: the features of one dataset.
        there: the same features of the other one, in the same order.
        seed: decides the folds, and which rows are used where there are very many.
    """
    raise NotImplementedError
