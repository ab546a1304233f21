"""What a search for variables is asked about: the right answers, or where a model fails."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from unskew.core.errors import UnskewError, brief
from unskew.core.rowhash import row_hashes
from unskew.core.variables.coded import Coded, as_coded
from unskew.core.variables.values import as_values
from unskew.core.variables.variable import SalientVariable, Variable
from unskew.datasets.drawn import DrawnRows
from unskew.datasets.target import Target, column_names
from unskew.discovery.finding import FindingKind
from unskew.discovery.inquiry import Inquiry
from unskew.discovery.score.failure import as_failures
from unskew.discovery.score.policies import halves
from unskew.discovery.score.shortcut import Blind, blind, prepared
from unskew.discovery.scored import AboutAnswers, AboutFailures, AboutSkew
from unskew.io.lookup import resolve

# A variable, by name or as a function, or a value for each row of the data.
Given: TypeAlias = Variable | Sequence[Any] | NDArray[Any]


@dataclass(frozen=True)
class Asked:
    """The answers and failures of the rows, and the columns they are in.

    Args:
        answers: the right answer of each row.
        failed: how much a model fails in each row.
        first: the rows in the first half.
        hidden: names of columns that are no features of the data.
        answer_names: names of columns that hold the answer.
        blind: the policy that always gives the same answer.
        notes: what to know about the answers.
    """

    answers: Coded | None
    failed: NDArray[np.float64] | None
    first: NDArray[np.bool_]
    hidden: tuple[str, ...] = ()
    answer_names: tuple[str, ...] = ()
    blind: Blind | None = None
    notes: tuple[str, ...] = ()

    def answers_of(self, kind: FindingKind) -> tuple[str, ...]:
        """Return the columns that are no features for one kind of finding."""
        return self.answer_names if kind in ("shortcut", "failure") else ()

    def beside(self, kind: FindingKind) -> tuple[str, ...]:
        """Return the variables that are balanced together with one that was found."""
        return self.answer_names if kind == "shortcut" else ()

    def inquiries(self, few: NDArray[np.int64]) -> list[Inquiry]:
        """Return the questions about a sample and about all rows."""
        asked: list[Inquiry] = []
        if self.failed is not None:
            some, every = AboutFailures(self.failed[few]), AboutFailures(self.failed)
            asked.append(Inquiry("failure", some, every))
        if self.answers is not None:
            answers = Coded(self.answers.distinct, self.answers.codes[few])
            asked.append(
                Inquiry(
                    "shortcut",
                    AboutAnswers(answers, self.first[few]),
                    AboutAnswers(self.answers, self.first),
                )
            )
        return [*asked, Inquiry("skew", AboutSkew(), AboutSkew())]


def asked_of(
    opened: Target, sample: DrawnRows, answer: Given | None, failures: Given | None
) -> Asked:
    """Return what is asked about the rows of a sample."""
    first = halves(row_hashes(sample.rows))
    failed: NDArray[np.float64] | None = None
    hidden: tuple[str, ...] = ()
    if failures is not None:
        values, hidden = _values(opened, sample, "failures", failures)
        failed = as_failures(values)
        if failed.min() == failed.max():
            raise UnskewError(
                f"failures are all {failed[0]:g} in {len(failed):,} rows; give rows in which the "
                "model fails, and rows in which it does not"
            )
    if answer is None:
        return Asked(None, failed, first, hidden)
    values, names = _values(opened, sample, "answer", answer)
    told = blind(values, first=first)
    if told.different < 2:
        raise UnskewError(
            f"answer is {brief(told.answer)} in all {told.rows:,} rows; name a column in which it "
            "differs, or leave answer out"
        )
    notes = (f"answer: {told.note}",) if told.note else ()
    answers, _ = prepared(values)
    return Asked(answers, failed, first, hidden, names, told, notes)


def _values(
    opened: Target, sample: DrawnRows, what: str, given: Given
) -> tuple[Coded, tuple[str, ...]]:
    """Return a value for each row of a sample, and the name of the column if there is one."""
    if isinstance(given, (str, SalientVariable)) or callable(given):
        [variable] = resolve(given, opened.domain, column_names(sample.rows))
        values = as_coded(variable.measure(sample.rows))
        return values, (given,) if isinstance(given, str) else ()
    listed: list[Any] = given.tolist() if hasattr(given, "tolist") else list(given)
    if len(listed) != sample.read:
        raise UnskewError(
            f"{what} has {len(listed):,} values, and {opened.label} has {sample.read:,} rows; give "
            "a value for each row, or the name of a column"
        )
    return as_coded(as_values([listed[number] for number in sample.numbers.tolist()])), ()
