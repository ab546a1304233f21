"""Policies that do not read the question: learned from one half of the rows, scored on the other.

A policy is an answer for each value of a feature. The blind policy has one answer for all rows: it
is the policy of a feature that has one value.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Hashable
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from unskew.core.hashing.mixing import mixed
from unskew.core.interval import wilson
from unskew.core.rng import generator
from unskew.core.variables.coded import Coded

# The score of giving an answer to the question of a row, from 0 to 1.
Scorer: TypeAlias = Callable[[Hashable, int], float]

Codes: TypeAlias = NDArray[np.int64]
Rows: TypeAlias = NDArray[np.bool_]

_TRIED = 5  # answers that a scorer is asked about, the most frequent ones first
_CHOOSING = 500  # rows of each half on which the best of them is chosen
_SCORED = 1_000  # rows of each half that a scorer scores
_VALUES, _EACH = 50, 10  # a feature's values whose answer is chosen, and rows of each of them


@dataclass(frozen=True)
class Scores:
    """What a policy scores in each half of the rows, and how many rows were scored."""

    means: tuple[float, float]
    rows: tuple[int, int]

    @property
    def mean(self) -> float:
        """The score in all rows."""
        total = sum(mean * rows for mean, rows in zip(self.means, self.rows, strict=True))
        return total / max(1, sum(self.rows))

    @property
    def interval(self) -> tuple[float, float]:
        """The 95 % interval of the score, as wide as that of one half.

        What was learned from one half is scored in the other, and the other way round. So the two
        scores depend on each other, and both together are not as certain as twice the rows.
        """
        return wilson(self.mean, min(self.rows))


def halves(hashes: NDArray[np.uint64]) -> Rows:
    """Return which rows are in the first half: rows with the same hash are in the same half."""
    first: Rows = mixed(hashes + np.uint64(0x9E3779B97F4A7C15)) >= np.uint64(1 << 63)
    return first


def random_half(rows: int, seed: int) -> Rows:
    """Return which rows are in a random first half."""
    first = np.zeros(rows, dtype=np.bool_)
    first[generator(seed, "half").permutation(rows)[: rows // 2]] = True
    return first


def usual_answers(values: Codes, answers: Codes, learned: Rows, size: int, kinds: int) -> Codes:
    """Return the most frequent answer of each value in some rows.

    Of answers that are equally frequent, the one is taken that is more frequent everywhere; it is
    also the answer of a value that does not come.
    """
    totals = np.bincount(answers[learned], minlength=max(1, kinds))
    cells, counts = np.unique(values[learned] * kinds + answers[learned], return_counts=True)
    owner, answer = np.divmod(cells, max(1, kinds))
    order = np.lexsort((-answer, totals[answer], counts, owner))
    usual = np.full(size, totals.argmax())
    usual[owner[order]] = answer[order]  # the last assignment of a value stays
    return usual


def score_policy(
    values: Coded, answers: Coded, first: Rows, scorer: Scorer | None, places: Codes
) -> Scores:
    """Return what the policy of a feature scores in each half.

    Args:
        values: the feature; with one value alone, this is the blind policy.
        answers: the right answers.
        first: which rows are in the first half.
        scorer: the score of an answer to a row; None: 1 if it is right, else 0.
        places: the number of each row, as the scorer counts them.
    """
    means, rows = [], []
    for scored in (first, ~first):
        codes = (values.codes, answers.codes, ~scored, len(values.distinct), len(answers.distinct))
        usual = usual_answers(*codes)
        if scorer is None:
            right = usual[values.codes[scored]] == answers.codes[scored]
            means.append(float(right.mean()) if len(right) else 0.0)
            rows.append(len(right))
            continue
        best = _best_scoring(values.codes, answers, ~scored, usual, scorer, places)
        chosen = _some(scored, _SCORED)
        means.append(_mean(scorer, answers, best[values.codes[chosen]], places[chosen]))
        rows.append(len(chosen))
    return Scores((means[0], means[1]), (rows[0], rows[1]))


def _best_scoring(
    values: Codes, answers: Coded, learned: Rows, usual: Codes, scorer: Scorer, places: Codes
) -> Codes:
    """Return the answer of each value that scores best: the usual one, or one for all rows."""
    totals = np.bincount(answers.codes[learned], minlength=len(answers.distinct))
    tried = np.argsort(-totals, kind="stable")[:_TRIED]
    blind = _best(tried, _some(learned, _CHOOSING), answers, scorer, places)
    best = np.full(len(usual), blind)
    if len(usual) == 1:
        return best
    frequent = np.argsort(-np.bincount(values[learned], minlength=len(usual)), kind="stable")
    for value in frequent[:_VALUES].tolist():
        rows = _some(learned & (values == value), _EACH)
        if len(rows):
            tried = np.array([blind, usual[value]])
            best[value] = _best(tried, rows, answers, scorer, places)
    return best


def _best(tried: Codes, rows: Codes, answers: Coded, scorer: Scorer, places: Codes) -> int:
    scores: dict[int, float] = {
        code: _mean(scorer, answers, np.full(len(rows), code), places[rows])
        for code in tried.tolist()
    }
    return max(scores, key=scores.__getitem__)


def _some(rows: Rows, most: int) -> Codes:
    """Return at most so many of the chosen rows, spread over all of them."""
    chosen = np.flatnonzero(rows)
    if len(chosen) <= most:
        return chosen
    return chosen[np.arange(most) * len(chosen) // most]


def _mean(scorer: Scorer, answers: Coded, given: Codes, places: Codes) -> float:
    """Return the mean score of the given answers; a score that is no number counts as 0."""
    pairs = zip(given.tolist(), places.tolist(), strict=True)
    scores = [float(scorer(answers.distinct[code], place)) for code, place in pairs]
    valid = [min(1.0, max(0.0, score)) if math.isfinite(score) else 0.0 for score in scores]
    return math.fsum(valid) / max(1, len(valid))
