"""What a search for variables is asked about: the right answers, or where a model fails."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
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
from unskew.discovery.proposal import Proposed
from unskew.discovery.score.failure import as_failures
from unskew.discovery.score.policies import Scorer, halves
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
        copies: paths that hold the answer once more.
        blind: the policy that always gives the same answer.
        notes: what to know about the answers.
    """

    answers: Coded | None
    failed: NDArray[np.float64] | None
    first: NDArray[np.bool_]
    hidden: tuple[str, ...] = ()
    answer_names: tuple[str, ...] = ()
    copies: tuple[str, ...] = ()
    blind: Blind | None = None
    notes: tuple[str, ...] = ()

    def answers_of(self, kind: FindingKind) -> tuple[str, ...]:
        """Return the columns that are no features for one kind of finding."""
        return (*self.answer_names, *self.copies) if kind in ("shortcut", "failure") else ()

    def knowing(self, proposed: Proposed) -> Asked:
        """Return what is asked with the fields that hold the answer once more, as a text or not."""
        fields = proposed.fields
        answers = next((field for field in fields if field.path in self.answer_names), None)
        if answers is None:
            return self
        same = _texts(answers.distinct, answers.codes)
        found = [
            *(field.path for field in fields if _are(field.distinct, field.codes, same)),
            *(
                p.name
                for p in proposed.proposals
                if not set(p.paths) & set(self.answer_names)
                and _are(p.values.distinct, p.values.codes, same)
            ),
        ]
        copies = [name for name in dict.fromkeys(found) if name not in self.answer_names]
        if not copies:
            return self
        note = f"{', '.join(copies)}: the answer once more, and no feature of the question"
        return replace(self, copies=tuple(copies), notes=(*self.notes, note))

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
    told = blind(values, first=first, scorer=_scorer(opened, sample, names))
    if told.different < 2:
        raise UnskewError(
            f"answer is {brief(told.answer)} in all {told.rows:,} rows; name a column in which it "
            "differs, or leave answer out"
        )
    notes = (f"answer: {told.note}",) if told.note else ()
    answers, _ = prepared(values)
    return Asked(answers, failed, first, hidden, names, blind=told, notes=notes)


def _texts(distinct: Sequence[Any], codes: NDArray[np.int64]) -> NDArray[np.object_]:
    texts: NDArray[np.object_] = np.array(list(map(str, distinct)), dtype=object)[codes]
    return texts


def _are(distinct: Sequence[Any], codes: NDArray[np.int64], texts: NDArray[np.object_]) -> bool:
    """Return whether values are the same as texts in all rows."""
    few = slice(100)  # most fields differ in the first rows
    return all((_texts(distinct, codes[some]) == texts[some]).all() for some in (few, slice(None)))


def _scorer(opened: Target, sample: DrawnRows, names: Sequence[str]) -> Scorer | None:
    """Return what an answer to a row scores, where the domain of the data knows it."""
    score = opened.domain.score if opened.domain is not None else None
    if score is None or not names:
        return None
    return lambda answer, row: score(next(sample.rows.slice(row, 1).examples()), str(answer))


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
