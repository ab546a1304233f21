"""Scores the proposals of a sample for one question: skew, shortcut, failure or shift."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from unskew.core.variables.coded import Coded, as_coded
from unskew.discovery.proposal import Proposal
from unskew.discovery.score.dependence import dependence
from unskew.discovery.score.failure import Failure, failure
from unskew.discovery.score.shift import Shift, shift
from unskew.discovery.score.shortcut import Shortcut, shortcut
from unskew.discovery.score.skew import Skew, skew_of
from unskew.discovery.score.words import word_again, word_skews

Evidence: TypeAlias = Skew | Shortcut | Failure | Shift

LEAST = 0.02  # score; millions of rows would make any difference significant
LEAST_SKEW = 0.02  # share of the entropy; sums and lengths are never quite like a bell
LEAST_NATS = 0.08  # about 70 % of the rows with one value of two
FEWEST = 5  # rows of a value that are enough to say that a model fails in it


@dataclass(frozen=True)
class Scored:
    """A proposal with its score.

    Args:
        proposal: the proposal.
        score: from 0 to 1.
        nats: a skew in nats; other scores are not added and taken off.
        p: how probable such a score is if there is nothing to find; 1 if the score is too small.
        evidence: what was measured.
    """

    proposal: Proposal
    score: float
    nats: float
    p: float
    evidence: Evidence


@dataclass(frozen=True)
class AboutSkew:
    """How skewed is each feature? ``words`` has what a sample said of words."""

    words: tuple[Scored, ...] = ()
    about: Coded | None = None

    def scores(self, proposals: Sequence[Proposal]) -> list[Scored]:
        """Return the score of each proposal that has one."""
        found = [_skewed(p, skew_of(p)) for p in proposals if p.null != "zipf"]
        by_name = {scored.proposal.name: scored for scored in self.words}
        for paths in dict.fromkeys(p.paths for p in proposals if p.null == "zipf"):
            words = [p for p in proposals if p.null == "zipf" and p.paths == paths]
            skews = (
                [word_again(word, _skew(by_name[word.name])) for word in words]
                if by_name
                else word_skews(words)
            )
            found += [_skewed(word, skew) for word, skew in zip(words, skews, strict=True)]
        return [scored for scored in found if scored is not None]


def _skew(scored: Scored) -> Skew:
    if not isinstance(scored.evidence, Skew):
        raise TypeError("a word has a skew")
    return scored.evidence


def _skewed(proposal: Proposal, skew: Skew | None) -> Scored | None:
    """Return a skew as a score: the share of rows that would have to move.

    By it, a flag that is rarely set does not come before a length that is mostly short, although
    it has lost more of its little entropy. Two tests are made of each proposal, so p counts twice.
    """
    if skew is None:
        return None
    p = min(skew.p if skew.effect >= LEAST_SKEW and skew.kl >= LEAST_NATS else 1.0, skew.missing_p)
    return Scored(proposal, skew.total_variation, skew.kl, min(1.0, 2 * p), skew)


@dataclass(frozen=True)
class AboutAnswers:
    """How much of the answer does each feature give away?"""

    about: Coded
    first: NDArray[np.bool_]

    def scores(self, proposals: Sequence[Proposal]) -> list[Scored]:
        """Return the score of each proposal."""
        found = []
        for proposal in proposals:
            told = shortcut(proposal.values, self.about, first=self.first)
            p = told.p if told.information >= LEAST else 1.0
            found.append(Scored(proposal, told.information, 0.0, p, told))
        return found


@dataclass(frozen=True)
class AboutFailures:
    """In which values of each feature does a model fail more often?"""

    failed: NDArray[np.float64]

    @property
    def about(self) -> Coded:
        """The failures as values, to see what two features say of them."""
        return as_coded(np.round(self.failed * 10).astype(np.int64))

    def scores(self, proposals: Sequence[Proposal]) -> list[Scored]:
        """Return the score of each proposal: how much of the failures it explains."""
        found, about = [], self.about
        for proposal in proposals:
            told = failure(proposal.values, self.failed, least=FEWEST)
            if told.values:
                explained = dependence(proposal.values, about).share(1)
                p = told.p if told.values[0].difference >= LEAST else 1.0
                found.append(Scored(proposal, explained, 0.0, p, told))
        return found


@dataclass(frozen=True)
class AboutShift:
    """How does each feature differ between the first ``here`` rows and the others?"""

    here: int
    rows: int

    @property
    def about(self) -> Coded:
        """Which of two datasets a row is of."""
        return Coded([True, False], (np.arange(self.rows) >= self.here).astype(np.int64))

    def scores(self, proposals: Sequence[Proposal]) -> list[Scored]:
        """Return the score of each proposal."""
        found = []
        for proposal in proposals:
            ours, theirs = sides(proposal.values, self.here)
            told = shift(ours, theirs)
            p = told.p if told.divergence >= LEAST else 1.0
            found.append(Scored(proposal, told.divergence, 0.0, p, told))
        return found


Question: TypeAlias = AboutSkew | AboutAnswers | AboutFailures | AboutShift


def sides(values: Coded, here: int) -> tuple[Coded, Coded]:
    """Return the values of the first rows, and of the others."""
    return values.rows(slice(here)), values.rows(slice(here, None))


def measured_again(proposal: Proposal, values: Coded) -> Proposal:
    """Return a proposal with the values of other rows."""
    return replace(proposal, values=values)
