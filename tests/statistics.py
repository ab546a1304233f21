"""Statistical checks shared by the tests: each returns a p-value, small where the claim fails.

The p-value of a chi-square test is that of its limit law; cells expected fewer than ``RARE``
times are pooled, which keeps that law close far into its tail.
"""

from collections.abc import Hashable, Mapping, Sequence

import numpy as np
from scipy import stats

RARE = 10


def same_distribution(left: Mapping[Hashable, int], right: Mapping[Hashable, int]) -> float:
    """Chi-square test of homogeneity: were both histograms drawn from one distribution?"""
    cells = sorted(left.keys() | right.keys(), key=repr)
    table = np.array([[side.get(cell, 0) for cell in cells] for side in (left, right)], dtype=float)
    share = table.sum(axis=0) / table.sum()
    table = _pooled(table, share * table.sum(axis=1).min())
    expected = np.outer(table.sum(axis=1), table.sum(axis=0)) / table.sum()
    return _p_value(table, expected, table.shape[1] - 1)


def fits(counts: Sequence[int], probabilities: Sequence[float]) -> float:
    """Chi-square test of fit: were the counts drawn with these probabilities?"""
    observed = np.asarray(counts, dtype=float)
    expected = np.asarray(probabilities) * observed.sum()
    table = _pooled(np.array([observed, expected]), expected)
    return _p_value(table[0], table[1], table.shape[1] - 1)


def has_rate(hits: int, trials: int, rate: float) -> float:
    """Exact two-sided binomial test: were the hits made at this rate?"""
    return float(stats.binomtest(hits, trials, rate).pvalue)


def _pooled(table: np.ndarray, expected: np.ndarray) -> np.ndarray:
    """Join the columns expected fewer than RARE times, the most frequent last, into one or more."""
    joined, waiting, due = [], np.zeros(table.shape[0]), 0.0
    for column in np.argsort(expected, kind="stable"):
        waiting, due = waiting + table[:, column], due + expected[column]
        if due >= RARE:
            joined.append(waiting)
            waiting, due = np.zeros(table.shape[0]), 0.0
    if due > 0 or waiting.any():  # nothing was common enough
        joined.append(waiting)
    return np.stack(joined, axis=1)


def _p_value(observed: np.ndarray, expected: np.ndarray, freedom: int) -> float:
    if freedom == 0:
        return 1.0
    statistic = ((observed - expected) ** 2 / expected).sum()
    return float(stats.chi2.sf(statistic, freedom))
