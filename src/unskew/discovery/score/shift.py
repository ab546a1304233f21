"""Shift: how the distribution of a feature differs between two datasets."""

from __future__ import annotations

import math
from collections.abc import Hashable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from unskew.core.errors import UnskewError
from unskew.core.rng import generator
from unskew.core.variables.coded import Coded, end_to_end
from unskew.discovery.score.dependence import dependence

_SHUFFLES = 10  # from which the noise of a sample is known
_SHOWN = 10  # values of each list
_ABSENT = 1e-4  # a value is missing if chance leaves it out no more often

Counts = NDArray[np.int64]


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
        divergence: Jensen-Shannon divergence in bits, from 0 to 1, with the noise of a sample off.
        variation: total variation, from 0 to 1, with the noise of a sample off.
        p: the probability that two samples of one distribution differ as much.
        values: the values whose shares differ most, the largest difference first.
        only_here: values that only this dataset has, though chance would leave them out of the
            other one in at most one case in 10,000; the most frequent one first.
        only_there: the same of the other dataset.
    """

    divergence: float
    variation: float
    p: float
    values: tuple[Shifted, ...]
    only_here: tuple[Shifted, ...]
    only_there: tuple[Shifted, ...]


def shift(here: Coded, there: Coded, *, seed: int = 0) -> Shift:
    """Return how a feature differs between two datasets."""
    if not len(here) or not len(there):
        raise UnskewError("one of the two datasets has no rows; compare datasets that have some")
    values = end_to_end([here, there])
    is_here = np.arange(len(values)) < len(here)
    origin = Coded([True, False], np.where(is_here, 0, 1))
    counts = _counts(values, is_here)
    rng = generator(seed, "shift")
    noise = [_distances(_counts(values, rng.permutation(is_here))) for _ in range(_SHUFFLES)]
    divergence, variation = _distances(counts)
    less, root = np.mean([pair[0] for pair in noise]), np.mean([pair[1] ** 2 for pair in noise])
    shares = counts / counts.sum(axis=1, keepdims=True)
    apart = np.argsort(-np.abs(shares[0] - shares[1]), kind="stable")

    def listed(codes: Counts) -> tuple[Shifted, ...]:
        chosen = codes[:_SHOWN].tolist()
        return tuple(Shifted(values.distinct[c], *shares[:, c].tolist()) for c in chosen)

    return Shift(
        max(0.0, float(divergence - less)),
        math.sqrt(max(0.0, float(variation**2 - root))),
        dependence(values, origin, seed=seed).p,
        listed(apart),
        listed(_only(counts[0], counts[1])),
        listed(_only(counts[1], counts[0])),
    )


def _counts(values: Coded, is_here: NDArray[np.bool_]) -> Counts:
    size = len(values.distinct)
    sides = (values.codes[is_here], values.codes[~is_here])
    return np.array([np.bincount(codes, minlength=size) for codes in sides])


def _distances(counts: Counts) -> tuple[float, float]:
    """Return the Jensen-Shannon divergence and the total variation of two histograms."""
    shares = counts / counts.sum(axis=1, keepdims=True)
    middle = shares.mean(axis=0)
    with np.errstate(divide="ignore", invalid="ignore"):
        terms = np.where(shares > 0, shares * np.log2(shares / middle), 0.0)
    return float(terms.sum()) / 2, float(np.abs(shares[0] - shares[1]).sum()) / 2


def _only(these: Counts, others: Counts) -> Counts:
    """Return the values that only these rows have, without those that are rare by chance."""
    share = these.sum() / (these.sum() + others.sum())
    lonely = np.flatnonzero((others == 0) & (these > 0))
    told = lonely[these[lonely] * math.log(share) <= math.log(_ABSENT)]
    return told[np.argsort(-these[told], kind="stable")]
