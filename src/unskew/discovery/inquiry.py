"""One question about some data: asked of a sample first, and of all rows about what is left."""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from unskew.core.batch import Batch
from unskew.core.errors import UnskewError
from unskew.core.variables.coded import Coded, as_coded, end_to_end
from unskew.discovery.choose import Chosen
from unskew.discovery.finding import Finding, FindingKind
from unskew.discovery.proposal import Proposal
from unskew.discovery.repair import Repair
from unskew.discovery.score.cells import bins_of, counted
from unskew.discovery.scored import Question, measured_again
from unskew.discovery.search import FINALISTS, ShortList, search, search_again
from unskew.discovery.sentences import measures, sentence

EXAMPLES, VALUES = 3, 20  # rows that a finding names of a value, and values that it names them of
CHUNK = 4_000  # rows that are measured at once
NOT_AGAIN = "features that could not be measured in all rows"


@dataclass(frozen=True)
class Rows:
    """The rows of one dataset, or of two that are compared, one after the other."""

    batches: tuple[Batch, ...]

    def __len__(self) -> int:
        """Return the number of rows."""
        return sum(map(len, self.batches))

    def chunks(self) -> Iterator[Batch]:
        """Yield the rows in small batches: what one measure worked out is there for the next."""
        for batch in self.batches:
            for start in range(0, len(batch), CHUNK):
                yield batch.slice(start, CHUNK)


@dataclass(frozen=True)
class Inquiry:
    """A question about the rows of a sample, and the same question about all rows."""

    kind: FindingKind
    few: Question
    all: Question


def inquire(
    inquiry: Inquiry, proposals: Sequence[Proposal], rows: Rows, top: int, *, inquiries: int = 1
) -> ShortList:
    """Return the features that answer a question best.

    Args:
        inquiry: the question.
        proposals: the features, with their values in the sample.
        rows: all rows.
        top: how many features at most.
        inquiries: how many questions are asked, each of which tests every feature.
    """
    if proposals and len(proposals[0].values) == len(rows):
        return search(proposals, inquiry.few, top, inquiries)
    before = search(proposals, inquiry.few, FINALISTS, inquiries)
    again, failed = measured_in([one.scored.proposal for one in before.chosen], rows)
    found = search_again(again, before, inquiry.all, top)
    found.left_out[NOT_AGAIN] += failed
    return found


def measured_in(proposals: Sequence[Proposal], rows: Rows) -> tuple[list[Proposal], int]:
    """Return proposals with their values in other rows, and how many cannot be measured there."""
    variables = {proposal.name: proposal.variable for proposal in proposals}
    values: dict[str, list[Coded]] = {name: [] for name in sorted(variables, key=_path_first)}
    for chunk in rows.chunks():
        for name in list(values):
            try:
                values[name].append(as_coded(variables[name].measure(chunk)))
            except UnskewError:  # a value of another kind, or a user's function that fails
                del values[name]
    again = [
        measured_again(proposal, end_to_end(values[proposal.name]))
        for proposal in proposals
        if proposal.name in values
    ]
    return again, len(proposals) - len(again)


def _path_first(name: str) -> str:
    """Return what sorts measures of one path together."""
    return name.rpartition("(")[2]


def as_finding(
    one: Chosen, kind: FindingKind, here: Coded, numbers: NDArray[np.int64], command: str
) -> Finding:
    """Return a chosen feature as a finding; ``here`` are its values in the rows ``numbers``."""
    scored = one.scored
    counts = counted(here)
    order = [*(bins_of(scored.proposal.name) or ()), *counts]
    counts = {value: counts[value] for value in dict.fromkeys(order) if value in counts}
    return Finding(
        scored.proposal.name,
        kind,
        scored.proposal.doc,
        scored.score,
        scored.p,
        sentence(scored),
        command,
        measures(scored),
        counts,
        _examples(here, counts, numbers),
        one.synonyms,
        one.implied,
        scored.proposal.variable,
    )


def _examples(
    values: Coded, counts: Mapping[Hashable, int], numbers: NDArray[np.int64]
) -> dict[Hashable, tuple[int, ...]]:
    """Return the first few rows of each of the most frequent values."""
    often = Counter(counts).most_common(VALUES)
    codes = {value: code for code, value in enumerate(values.distinct)}
    return {
        value: tuple(numbers[np.flatnonzero(values.codes == codes[value])[:EXAMPLES]].tolist())
        for value, _ in often
    }


def repairing(repair: Repair, other: Repair | None, names: Sequence[str]) -> str:
    """Return what balances the data, or both of two datasets that are compared."""
    lines = [repair.line(names), *([other.line(names)] if other is not None else [])]
    joint = " && " if repair.form in ("data", "source") else "; "
    return joint.join(lines)
