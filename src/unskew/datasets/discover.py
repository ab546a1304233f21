"""Discovering: finds the variables in which data is skewed, without being told which to look at."""

from __future__ import annotations

import os
import time
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import zip_longest
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from unskew.core.batch import Batch, concatenate
from unskew.core.errors import UnskewError, check_count
from unskew.core.recipe import Trust
from unskew.core.rng import generator
from unskew.core.rowhash import row_hashes
from unskew.core.variables.coded import end_to_end
from unskew.core.variables.variable import Variable
from unskew.datasets.asked import Asked, asked_of
from unskew.datasets.drawn import DrawnRows, drawn_rows
from unskew.datasets.open import open_target
from unskew.datasets.pace import as_sampler, examples_of
from unskew.datasets.repairs import repair_of, repair_of_both
from unskew.datasets.target import Target
from unskew.discovery.combinations.failing import Slice
from unskew.discovery.combinations.joint import Joint
from unskew.discovery.finding import Discovery, Finding
from unskew.discovery.inquiry import (
    Inquiry,
    Rows,
    as_finding,
    inquire,
    measured_in,
    repairing,
)
from unskew.discovery.proposal import Proposal, Proposed
from unskew.discovery.proposals import propose
from unskew.discovery.repair import Repair
from unskew.discovery.score.ceiling import Ceiling, ceiling
from unskew.discovery.scored import AboutFailures, AboutShift, AboutSkew, sides
from unskew.discovery.together import as_joint_finding, joints, slices

ROWS = 100_000  # that are measured, at most
SAMPLE = 10_000  # rows in which all features are measured
OF_THE_ANSWER = "features of the answer or of the failures themselves"
ON_ONE_SIDE = "features that cannot be measured on both sides"

Given: TypeAlias = Variable | Sequence[Any] | NDArray[Any]


@dataclass(frozen=True)
class _Side:
    """One dataset: what was opened, its rows, and which of them are the sample."""

    opened: Target
    sample: DrawnRows
    few: NDArray[np.int64]

    @property
    def few_rows(self) -> Batch:
        """The rows of the sample."""
        is_all = len(self.few) == len(self.sample.rows)
        return self.sample.rows if is_all else self.sample.rows.take(self.few)


def discover(
    target: Any,
    answer: Given | None = None,
    failures: Given | None = None,
    against: Any = None,
    top: int = 10,
    *,
    n: int = ROWS,
    seed: int = 0,
    settings: Mapping[str, Any] | None = None,
    trust: Trust = False,
    own: Sequence[Callable[[Any], Any]] = (),
    domain: bool = True,
    batch: bool | int = False,
    concurrency: int = 1,
    cache: str | os.PathLike[str] | None = None,
    advance: Callable[[int], None] = lambda _: None,
    tell: Callable[[str], None] = lambda _: None,
    clock: Callable[[], float] = time.monotonic,
) -> Discovery:
    """Find the variables that matter in ``target``: nobody needs to name them.

    Hundreds of features are proposed by the types of the data and scored in a sample of 10,000
    rows. The best ones are scored again in all rows. In at most one of twenty datasets without
    skew, anything at all is found (Holm's rule).

    Args:
        target: anything that ``audit`` takes.
        answer: the column with the right answers, or an answer for each row. Then features that
            give the answer away are found, and what a model scores that never reads the question.
        failures: the column that says where a model fails, or a value for each row: true or false,
            or a number from 0 (right) to 1 (wrong). Then features are found in which it fails more
            often.
        against: other data. Then features are found in which the two differ.
        top: the largest number of findings of each kind.
        n: the largest number of rows to measure; of more rows, as many at random.
        seed: the seed of the draws and of the sample.
        settings: parameters of the source, if it is given by its name.
        trust: whether code that a dataset names may be imported.
        own: functions of a value. Each is proposed for the fields whose values it takes.
        domain: whether the variables of the data's domain are proposed too.
        batch: see ``sampler``, for a function.
        concurrency: see ``sampler``, for a function.
        cache: see ``sampler``, for a function.
        advance: called with a number of rows each time that so many were read.
        tell: called with what is done next.
        clock: measures in seconds how long a function takes.
    """
    check_count("n", n, "measure at least one row")
    check_count("top", top, "ask for at least one finding")
    if failures is not None and against is not None:
        raise UnskewError("failures and against are two questions; leave out one of them")
    opened = open_target(as_sampler(target, batch, concurrency, cache), settings, seed, trust)
    here = _side(opened, n, seed, advance, clock)
    asked = asked_of(opened, here.sample, answer, failures)
    tell("proposing features")
    proposed = _proposed(here, own, seed, domain)
    asked = asked.knowing(proposed)
    fixing, other_fixing, there = repair_of(opened, target, trust), None, None
    proposals, left_out = list(proposed.proposals), Counter(proposed.left_out)
    proposals = _without(proposals, asked.hidden, left_out, here)
    auc = None
    if against is not None:
        other = open_target(against, None, seed, trust)
        there = _side(other, n, seed, advance, clock)
        other_fixing = repair_of_both(other, against, trust)
        more = _proposed(there, own, seed, domain).proposals
        proposals = _on_both(proposals, more, here, there, left_out)
        auc = _ceiling(proposals, len(here.few))
    rows = Rows((here.sample.rows, *([there.sample.rows] if there else [])))
    inquiries = _inquiries(asked, here, there)
    listed: list[list[Finding]] = []
    for inquiry in inquiries:
        tell(f"looking for {inquiry.kind}")
        within = _without(proposals, asked.answers_of(inquiry.kind), left_out, here)
        found = inquire(inquiry, within, rows, top, inquiries=len(inquiries))
        listed.append([])
        for one in found.chosen:
            names = [one.scored.proposal.name, *asked.beside(inquiry.kind)]
            command = repairing(fixing, other_fixing, names)
            values = one.scored.proposal.values.rows(slice(len(here.sample.rows)))
            listed[-1].append(as_finding(one, inquiry.kind, values, here.sample.numbers, command))
        suffix = f" ({inquiry.kind})" if len(inquiries) > 1 else ""
        left_out.update({f"{why}{suffix}": count for why, count in found.left_out.items()})
    findings = [finding for rank in zip_longest(*listed) for finding in rank if finding is not None]
    for inquiry in inquiries:
        within = _without(proposals, asked.answers_of(inquiry.kind), Counter(), here)
        findings += _together(inquiry, within, rows, top, here, fixing)
    return Discovery(
        opened.label,
        tuple(findings),
        len(here.sample.rows),
        here.sample.read,
        len(proposed.proposals),
        {why: count for why, count in left_out.items() if count},
        asked.blind,
        auc,
        asked.notes,
        _shown(
            here.sample, [row for f in findings for rows in f.examples.values() for row in rows]
        ),
    )


def _side(
    opened: Target,
    n: int,
    seed: int,
    advance: Callable[[int], None],
    clock: Callable[[], float],
) -> _Side:
    """Read a target: the first rows of what never ends, random ones of other data."""
    if opened.endless:
        what = "this search"
        batches = list(examples_of(opened, None if n == ROWS else n, advance, clock, what=what))
        rows = concatenate(batches) if batches else None
        sample = rows and DrawnRows(rows, len(rows), np.arange(len(rows)))
    else:
        rng = generator(seed, "discover", "rows")
        sample = drawn_rows(examples_of(opened, None, advance, clock), n, rng)
    if not sample or not len(sample.rows):
        raise UnskewError(f"{opened.label} gave no examples; there is nothing to discover")
    size = len(sample.rows)
    if size == 1:
        raise UnskewError(
            f"{opened.label} has one row, and a skew shows in many; give at least a few hundred"
        )
    if size > 1 and len(np.unique(row_hashes(sample.rows))) == 1:
        raise UnskewError(
            f"all {size:,} rows of {opened.label} are alike; there is nothing to discover"
        )
    rng = generator(seed, "discover", "sample")
    few = np.sort(rng.choice(size, SAMPLE, replace=False)) if size > SAMPLE else np.arange(size)
    return _Side(opened, sample, few)


def _proposed(
    side: _Side, own: Sequence[Callable[[Any], Any]], seed: int, with_domain: bool
) -> Proposed:
    known = side.opened.domain if with_domain else None
    return propose(side.few_rows, seed=seed, domain=known, own=own)


def _without(
    proposals: Sequence[Proposal], paths: Sequence[str], left_out: Counter[str], side: _Side
) -> list[Proposal]:
    """Return the proposals that measure none of these paths, nor anything inside them."""
    columns = side.few_rows.columns
    alone = [Batch({name: columns[name]}) for name in paths if name in columns]
    kept = [
        proposal
        for proposal in proposals
        if not any(_is_within(path, name) for path in proposal.paths for name in paths)
        and proposal.name not in paths
        and not any(_needs_no_more(proposal, column) for column in alone)
    ]
    if len(kept) < len(proposals):
        left_out[OF_THE_ANSWER] += len(proposals) - len(kept)
    return kept


def _needs_no_more(proposal: Proposal, column: Batch) -> bool:
    """Return whether a variable of a domain, which names no paths, is worked out of a column."""
    if proposal.paths:
        return False
    try:
        proposal.variable.measure(column.slice(0, 1))
    except UnskewError:
        return False
    return True


def _is_within(path: str, name: str) -> bool:
    return path == name or path.startswith((f"{name}.", f"{name}["))


def _on_both(
    ours: Sequence[Proposal],
    theirs: Sequence[Proposal],
    here: _Side,
    there: _Side,
    left_out: Counter[str],
) -> list[Proposal]:
    """Return the features of either side with their values in the samples of both."""
    names = {proposal.name for proposal in ours}
    more = [proposal for proposal in theirs if proposal.name not in names]
    on_ours, ours_failed = measured_in(more, Rows((here.few_rows,)))
    on_theirs, theirs_failed = measured_in(ours, Rows((there.few_rows,)))
    left_out[ON_ONE_SIDE] += ours_failed + theirs_failed
    own = {proposal.name: proposal.values for proposal in [*ours, *on_ours]}
    other = {proposal.name: proposal.values for proposal in [*more, *on_theirs]}
    return [
        replace(proposal, values=end_to_end([own[proposal.name], other[proposal.name]]))
        for proposal in [*ours, *more]
        if proposal.name in own and proposal.name in other
    ]


def _ceiling(proposals: Sequence[Proposal], here: int) -> Ceiling | None:
    if not proposals:
        return None
    pairs = [sides(proposal.values, here) for proposal in proposals]
    try:
        return ceiling([ours for ours, _ in pairs], [theirs for _, theirs in pairs])
    except UnskewError:  # too few rows
        return None


def _inquiries(asked: Asked, here: _Side, there: _Side | None) -> list[Inquiry]:
    """Return the questions: what was asked for, and how skewed the data is if nothing else was."""
    if there is not None:
        few, some = len(here.few), len(here.sample.rows)
        return [
            Inquiry(
                "shift",
                AboutShift(few, few + len(there.few)),
                AboutShift(some, some + len(there.sample.rows)),
            )
        ]
    return asked.inquiries(here.few)


def _together(
    inquiry: Inquiry,
    proposals: Sequence[Proposal],
    rows: Rows,
    top: int,
    here: _Side,
    fixing: Repair,
) -> list[Finding]:
    """Return the combinations of variables that answer a question."""
    found: Sequence[tuple[Slice | Joint, Sequence[Proposal]]] = ()
    if isinstance(inquiry.few, AboutFailures) and isinstance(inquiry.all, AboutFailures):
        found = slices(proposals, inquiry.few, inquiry.all, rows, top)
    elif isinstance(inquiry.few, AboutSkew):
        found = joints(proposals, rows, top)
    numbers = here.sample.numbers
    if found and len(found[0][1][0].values) < len(numbers):
        numbers = numbers[here.few]
    return [as_joint_finding(one, parts, numbers, fixing.line) for one, parts in found]


def _shown(sample: DrawnRows, numbers: Sequence[int]) -> dict[int, Any]:
    """Return the rows with these numbers, as examples."""
    places = np.flatnonzero(np.isin(sample.numbers, list(set(numbers))))
    examples = sample.rows.take(places).examples() if len(places) else []
    return dict(zip(sample.numbers[places].tolist(), examples, strict=True))
