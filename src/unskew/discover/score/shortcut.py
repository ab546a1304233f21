"""Shortcuts: how much of the answer one feature gives away, without the question being read."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from unskew.core.variables.coded import Coded

# The score of giving an answer to the question of a row, from 0 to 1.
Scorer: TypeAlias = Callable[[Hashable, int], float]


@dataclass(frozen=True)
class Blind:
    """The blind policy: it never reads the question and always gives the same answer.

    Args:
        answer: the answer that it gives, learned from all rows.
        share: the share of the rows that have this answer.
        score: what it scores on rows from which it was not learned; the share that is right,
            unless there is a scorer.
        low: lower end of the 95 % interval of the score.
        high: upper end of it.
        rows: how many rows were scored.
        different: how many different answers there are.
        note: what to know about the answers ("" if there is nothing): that they hardly repeat, or
            that they are numbers which stand for bins.
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


@dataclass(frozen=True)
class Rule:
    """The usual answer of the rows with one value of a feature, and the share that has it."""

    value: Hashable
    answer: Hashable
    share: float
    rows: int


def prepared(answers: Coded) -> tuple[Coded, str]:
    """Return answers that repeat, and a note; numbers that hardly repeat come in bins."""
    raise NotImplementedError


def halves(hashes: NDArray[np.uint64]) -> NDArray[np.bool_]:
    """Return which rows are in the first half: rows with the same hash are in the same half."""
    raise NotImplementedError


def blind(
    answers: Coded,
    *,
    first: NDArray[np.bool_] | None = None,
    scorer: Scorer | None = None,
    seed: int = 0,
) -> Blind:
    """Return what a policy scores that always gives the same answer.

    Args:
        answers: the right answer of each row.
        first: which rows are in the first half (see ``halves``); by default a random half. Each
            half is scored with what was learned from the other.
        scorer: the score of an answer to a row; by default 1 for the right answer and 0 for others.
        seed: the seed of the random half.
    """
    raise NotImplementedError


def shortcut(
    values: Coded,
    answers: Coded,
    *,
    first: NDArray[np.bool_] | None = None,
    scorer: Scorer | None = None,
    seed: int = 0,
) -> Shortcut:
    """Return how much of the answers a feature alone gives away; the arguments are ``blind``'s."""
    raise NotImplementedError


def best_policy(shortcuts: Mapping[str, Shortcut]) -> tuple[str, float] | None:
    """Return the feature with the best policy, and its score, without the luck of the choice.

    The feature that scores best in one half of the rows is scored in the other half.
    """
    raise NotImplementedError
