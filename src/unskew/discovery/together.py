"""Searches for combinations: slices in which a model fails, and values that come together.

The features are combined in the sample. Those of what is found are measured again in all rows.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import combinations, zip_longest
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from unskew.core.variables.changes import changed
from unskew.core.variables.coded import Coded
from unskew.core.variables.combine import joint
from unskew.core.variables.intervals import in_intervals, is_number
from unskew.core.variables.measures.names import changed_name
from unskew.discovery.combinations.failing import Slice, failing_slices
from unskew.discovery.combinations.joint import Joint, joint_skew
from unskew.discovery.combinations.terms import FEATURES, VALUES
from unskew.discovery.finding import Finding
from unskew.discovery.inquiry import EXAMPLES, Rows, measured_in
from unskew.discovery.proposal import Proposal
from unskew.discovery.score.cells import told
from unskew.discovery.scored import AboutFailures
from unskew.discovery.sentences import joint_sentence, label_of, slice_sentence

LEVEL = 0.005  # share of datasets in which a slice, or a joint skew, may be found by chance
FIELDS = 20  # whole fields whose values are looked at together, the first ones
EDGES = 5  # bins of numbers with many values, about
RATHER = 0.98  # share of the entropy of a field above which others decide it
ALL_OTHERS = "all other rows"

Found: TypeAlias = Slice | Joint
Features: TypeAlias = Mapping[str, Coded]


@dataclass(frozen=True)
class Combined:
    """Features that may be combined, and of how many they were chosen."""

    proposals: Sequence[Proposal]
    of: int


def slices(
    proposals: Sequence[Proposal],
    few: AboutFailures,
    every: AboutFailures,
    rows: Rows,
    top: int,
) -> list[tuple[Slice, Sequence[Proposal]]]:
    """Return combinations of values in which a model fails more often than each of their parts."""
    chosen = _likeliest(proposals, few)

    def find(features: Features, about: AboutFailures) -> list[Slice]:
        found = failing_slices(features, about.failed, top=top)
        corrected = [_corrected(one, chosen.of, len(features)) for one in found]
        return [one for one in corrected if one.p <= LEVEL]

    found = find(_features(chosen.proposals), few)
    again = _in_all(found, chosen.proposals, rows)
    if again is not None and found:
        found = find(_features(again), every)
    return [(one, _parts(one, again or chosen.proposals)) for one in found]


def joints(
    proposals: Sequence[Proposal], rows: Rows, top: int
) -> list[tuple[Joint, Sequence[Proposal]]]:
    """Return values of whole fields that come together far more, or less, often than they should.

    Features of one text depend on each other in any data. So whole fields alone are looked at, of
    few values, and not those that others decide.
    """
    fields = _independent([p for p in proposals if _is_field(p)][:FIELDS])
    found = [one for one in joint_skew(_features(fields), top=top) if one.p <= LEVEL]
    again = _in_all(found, fields, rows)
    if again is not None and found:
        found = [one for one in joint_skew(_features(again), top=top) if one.p <= LEVEL]
    return [(one, _parts(one, again or fields)) for one in found]


def as_joint_finding(
    one: Found,
    parts: Sequence[Proposal],
    numbers: NDArray[np.int64],
    command: Callable[[Sequence[str]], str],
) -> Finding:
    """Return a combination as a finding; ``numbers`` are those of the rows of ``parts``."""
    inside = np.ones(len(numbers), dtype=np.bool_)
    for (_, value), part in zip(one.terms, parts, strict=True):
        values = part.values.rows(slice(len(numbers)))
        inside &= np.array([v == value for v in values.distinct], dtype=np.bool_)[values.codes]
    names = [part.name for part in parts]
    label, rows = label_of(one.terms), int(inside.sum())
    if isinstance(one, Slice):
        score, sentence = max(0.0, one.rate - one.rest), slice_sentence(one)
        measures = {
            "values": dict(one.terms),
            "rows": one.rows,
            "rate": one.rate,
            "interval": (one.low, one.high),
            "rest": one.rest,
            "part": one.part,
        }
    else:
        score, sentence = abs(one.rows - one.expected) / len(numbers), joint_sentence(one)
        measures = {"values": dict(one.terms), "rows": one.rows, "expected": one.expected}
    return Finding(
        " × ".join(names),
        "slice" if isinstance(one, Slice) else "joint",
        "; ".join(part.doc for part in parts),
        score,
        one.p,
        sentence,
        command(names),
        measures,
        {label: rows, ALL_OTHERS: len(numbers) - rows},
        {label: tuple(numbers[np.flatnonzero(inside)[:EXAMPLES]].tolist())} if rows else {},
        (),
        (),
        joint([part.variable for part in parts]),
    )


def _likeliest(proposals: Sequence[Proposal], about: AboutFailures) -> Combined:
    """Return features that failures seem to depend on; the fields take turns."""
    binned = [_in_bins(proposal) for proposal in proposals if len(proposal.paths) <= 1]
    scored = sorted(about.scores(binned), key=lambda one: (one.p, -one.score))
    by_field: dict[tuple[str, ...], list[Proposal]] = {}
    for one in scored:
        by_field.setdefault(one.proposal.paths, []).append(one.proposal)
    turns = [p for rank in zip_longest(*by_field.values()) for p in rank if p is not None]
    return Combined(turns[:FEATURES], len(turns))


def _corrected(one: Slice, of: int, combined: int) -> Slice:
    """Return a slice with a p-value for all features, not just those that were combined."""
    return replace(one, p=min(1.0, one.p * max(1.0, of / combined) ** len(one.terms)))


def _in_bins(proposal: Proposal) -> Proposal:
    """Return a feature with many numbers in a few bins, of which the name tells the edges."""
    counts = told(proposal.values)
    if len(counts) <= VALUES or not all(map(is_number, counts)):
        return proposal
    numbers = np.array(list(counts), dtype=np.float64)
    shares = np.cumsum(list(counts.values())) / sum(counts.values())
    places = np.searchsorted(shares, np.arange(1, EDGES) / EDGES) + 1
    edges = sorted({float(f"{edge:.6g}") for edge in numbers[places[places < len(numbers)]]})
    if not edges or "bins(" in proposal.name:
        return proposal
    name = changed_name("bins", proposal.name, edges)
    own = proposal.own and replace(changed(proposal.own, "bins", edges), name=name)
    values = in_intervals(proposal.values, edges)
    return replace(proposal, name=name, doc=f"{proposal.doc}, in bins", values=values, own=own)


def _is_field(proposal: Proposal) -> bool:
    """Return whether a proposal is a whole field with a few values that every row has.

    What is inside a list is no field: its items depend on each other, and on their number.
    """
    is_whole = proposal.own is None and proposal.paths == (proposal.name,)
    counts = told(proposal.values)
    few = 2 <= len(counts) <= VALUES and sum(counts.values()) == len(proposal.values)
    return is_whole and few and "[" not in proposal.name


def _independent(fields: Sequence[Proposal]) -> list[Proposal]:
    """Return fields without those that one or two others decide, as a sum follows from its parts.

    Where each decides the others, the one with the most values goes.
    """
    left = list(fields)
    while True:
        decided = [field for field in left if _is_decided(field, [f for f in left if f != field])]
        if not decided:
            return left
        left.remove(max(decided, key=lambda field: (len(told(field.values)), left.index(field))))


def _is_decided(field: Proposal, others: Sequence[Proposal]) -> bool:
    whole = _entropy([field])
    several = [*((other,) for other in others), *combinations(others, 2)]
    left = (_entropy([field, *some]) - _entropy(some) for some in several)
    return any(nats <= (1 - RATHER) * whole for nats in left)


def _entropy(proposals: Sequence[Proposal]) -> float:
    codes = np.zeros(len(proposals[0].values), dtype=np.int64)
    for proposal in proposals:
        codes = codes * len(proposal.values.distinct) + proposal.values.codes
    counts = np.unique(codes, return_counts=True)[1]
    return float(np.log(len(codes)) - (counts * np.log(counts)).sum() / len(codes))


def _features(proposals: Sequence[Proposal]) -> dict[str, Coded]:
    return {proposal.name: proposal.values for proposal in proposals}


def _parts(one: Found, proposals: Sequence[Proposal]) -> list[Proposal]:
    by_name = {proposal.name: proposal for proposal in proposals}
    return [by_name[name] for name, _ in one.terms]


def _in_all(
    found: Sequence[Found], proposals: Sequence[Proposal], rows: Rows
) -> list[Proposal] | None:
    """Return the features of what was found in all rows; None if the sample is all rows."""
    if not proposals or len(proposals[0].values) == len(rows):
        return None
    names = {name for one in found for name, _ in one.terms}
    return measured_in([proposal for proposal in proposals if proposal.name in names], rows)[0]
