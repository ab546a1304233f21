"""Shortcuts: how much of the answer one feature gives away, without the question being read."""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from unskew.audits.binning import about_bins, choose_edges
from unskew.balance.histogram import hardly_repeats
from unskew.core.errors import UnskewError
from unskew.core.values.missing import is_missing
from unskew.core.variables.coded import Coded
from unskew.core.variables.intervals import in_intervals
from unskew.discovery.score.dependence import dependence
from unskew.discovery.score.policies import Scorer, random_half, score_policy, usual_answers

_RULES = 10  # values of a feature whose usual answer is told


@dataclass(frozen=True)
class Blind:
    """The blind policy: it never reads the question and always gives the same answer.

    Args:
        answer: the most frequent answer.
        share: the share of the rows that have it.
        score: what the policy scores on rows from which it was not learned; the share that is
            right, unless there is a scorer.
        low: lower end of the 95 % interval of the score.
        high: upper end of it.
        rows: how many rows were scored.
        different: how many different answers there are.
        note: what to know about the answers ("" if there is nothing): that they hardly repeat,
            that they are numbers in bins, or that some rows have none.
    """

    answer: Hashable
    share: float
    score: float
    low: float
    high: float
    rows: int
    different: int
    note: str


@dataclass(frozen=True)
class Rule:
    """The usual answer of the rows with one value of a feature, and the share that has it."""

    value: Hashable
    answer: Hashable
    share: float
    rows: int


@dataclass(frozen=True)
class Shortcut:
    """What a policy scores that reads one feature alone: it gives the usual answer of its value.

    Args:
        score: what it scores on rows from which it was not learned; the share that is right,
            unless there is a scorer.
        low: lower end of the 95 % interval of the score.
        high: upper end of it.
        blind: what the blind policy scores on the same rows.
        gain: ``score - blind``.
        information: the share of the answers' entropy that the feature takes away, with the bias
            of a sample off: 0 if they are independent, 1 if the feature decides the answer.
        p: the probability that a feature which has nothing to do with the answer comes this close.
        halves: the score in each half of the rows.
        rules: the values with most rows, the usual answer of each, and how often it is right.
    """

    score: float
    low: float
    high: float
    blind: float
    gain: float
    information: float
    p: float
    halves: tuple[float, float]
    rules: tuple[Rule, ...]


def blind(
    answers: Coded,
    *,
    first: NDArray[np.bool_] | None = None,
    scorer: Scorer | None = None,
    seed: int = 0,
) -> Blind:
    """Return what a policy scores that always gives the same answer.

    Args:
        answers: the right answer of each row; rows without one are left out.
        first: which rows are in the first half (see ``policies.halves``); by default a random
            half. Each half is scored with what was learned from the other.
        scorer: the score of an answer to a row; by default 1 for the right answer and 0 for others.
        seed: the seed of the random half.
    """
    told, first, places = _told(answers, first, seed)
    told, note = prepared(told, in_bins_too=scorer is None)
    missing = len(answers) - len(told)
    if missing:
        note = "; ".join(filter(None, [note, f"{missing:,} rows have no answer"]))
    scores = score_policy(_one_value(len(told)), told, first, scorer, places)
    counts = np.bincount(told.codes, minlength=1)
    top = int(counts.argmax())
    low, high = scores.interval
    return Blind(
        told.distinct[top] if len(told) else None,
        float(counts[top]) / max(1, len(told)),
        scores.mean,
        low,
        high,
        sum(scores.rows),
        len(told.distinct),
        note,
    )


def shortcut(
    values: Coded,
    answers: Coded,
    *,
    first: NDArray[np.bool_] | None = None,
    scorer: Scorer | None = None,
    seed: int = 0,
) -> Shortcut:
    """Return how much of the answers a feature alone gives away; the arguments are ``blind``'s."""
    if len(values) != len(answers):
        raise UnskewError(f"there are {len(values):,} values and {len(answers):,} answers")
    told, first, places = _told(answers, first, seed)
    told, _ = prepared(told, in_bins_too=scorer is None)
    values = Coded(values.distinct, values.codes[places]).in_order()
    scores = score_policy(values, told, first, scorer, places)
    floor = score_policy(_one_value(len(told)), told, first, scorer, places)
    together = dependence(values, told, seed=seed)
    low, high = scores.interval
    return Shortcut(
        scores.mean,
        low,
        high,
        floor.mean,
        scores.mean - floor.mean,
        together.share(1),
        together.p,
        scores.means,
        _rules(values, told),
    )


def best_policy(shortcuts: Mapping[str, Shortcut]) -> tuple[str, float] | None:
    """Return the feature with the best policy, and its score without the luck of the choice.

    The feature that scores best in one half of the rows is scored in the other half, and the two
    scores are averaged. None if there are no features.
    """
    if not shortcuts:
        return None
    scores = [
        shortcuts[max(shortcuts, key=lambda name: shortcuts[name].halves[half])].halves[1 - half]
        for half in (0, 1)
    ]
    return max(shortcuts, key=lambda name: shortcuts[name].score), sum(scores) / 2


def prepared(answers: Coded, *, in_bins_too: bool = True) -> tuple[Coded, str]:
    """Return answers that repeat, and what to know about them.

    Numbers that hardly repeat come in bins; a scorer wants them as they are.
    """
    answers = answers.in_order()
    edges = choose_edges(answers) if in_bins_too else ()
    if edges:
        return in_intervals(answers, edges), f"the answers are numbers {about_bins(edges)}"
    counts = np.bincount(answers.codes).tolist()
    if not hardly_repeats(counts):
        return answers, ""
    return answers, f"the answers hardly repeat: {len(counts):,} are different"


def _told(
    answers: Coded, first: NDArray[np.bool_] | None, seed: int
) -> tuple[Coded, NDArray[np.bool_], NDArray[np.int64]]:
    """Return the answers of the rows that have one, which half these are in, and their places."""
    missing = np.array([is_missing(value) for value in answers.distinct], dtype=np.bool_)
    told = ~missing[answers.codes] if missing.any() else np.ones(len(answers), dtype=np.bool_)
    if first is None:
        first = random_half(len(answers), seed)
    return answers.rows(told).in_order(), first[told], np.flatnonzero(told)


def _one_value(rows: int) -> Coded:
    return Coded([None], np.zeros(rows, dtype=np.int64))


def _rules(values: Coded, answers: Coded) -> tuple[Rule, ...]:
    everywhere = np.ones(len(values), dtype=np.bool_)
    size, kinds = len(values.distinct), len(answers.distinct)
    if not size:
        return ()
    usual = usual_answers(values.codes, answers.codes, everywhere, size, kinds)
    counts = np.bincount(values.codes, minlength=size)
    right = np.bincount(values.codes, usual[values.codes] == answers.codes, minlength=size)
    return tuple(
        Rule(
            values.distinct[value],
            answers.distinct[int(usual[value])],
            float(right[value] / counts[value]),
            int(counts[value]),
        )
        for value in np.argsort(-counts, kind="stable")[:_RULES].tolist()
    )
