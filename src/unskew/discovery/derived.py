"""Fields that follow from another field of the same row, such as the output of a program."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from itertools import permutations

import numpy as np

from unskew.core.variables.measures.lists import items_of
from unskew.core.variables.measures.names import MEASURES
from unskew.core.variables.path import json_inside
from unskew.discovery.proposal import Field, Proposal

ROWS = 500  # that are looked at
FEWER = 0.5  # times as many differences as between fields of different rows


def derived(fields: Sequence[Field]) -> dict[str, str]:
    """Return the paths that follow from another one before them, and from which.

    The values are lists or arrays. In the same row, they have far more in common than in others.
    """
    found: dict[str, str] = {}
    for (at, one), (after, other) in permutations(enumerate(fields), 2):
        if at < after and one.kind == other.kind and one.kind in ("list", "array"):
            apart = _lists_apart if one.kind == "list" else _arrays_apart
            order = np.arange(min(ROWS, len(one.values)))
            same, mixed = (
                apart(one, other, order, order),
                apart(one, other, order, np.roll(order, 1)),
            )
            if one.path not in found and same < FEWER * mixed:
                found.setdefault(other.path, one.path)
    return found


def unjudged(proposal: Proposal) -> Proposal:
    """Return a proposal that is no skew by itself: nobody chose what follows from other fields."""
    return replace(proposal, null="chance", chance=(proposal.values,), least=None)


def _lists_apart(one: Field, other: Field, rows: np.ndarray, mates: np.ndarray) -> float:
    """Return which share of the items of the second lists are not in the first ones."""
    shares = []
    for row, mate in zip(rows.tolist(), mates.tolist(), strict=True):
        a, b = (items_of(_opened(f.values[r])) for f, r in ((one, mate), (other, row)))
        if a is not None and b is not None and len(b.items):
            known = set(map(repr, a.items))
            shares.append(np.mean([repr(item) not in known for item in b.items]))
    return float(np.mean(shares)) if shares else 0.0


def _opened(value: object) -> object:
    return json_inside(value) if isinstance(value, str) else value


def _arrays_apart(one: Field, other: Field, rows: np.ndarray, mates: np.ndarray) -> float:
    """Return which share of the cells differs, among pictures of the same size."""
    firsts, seconds = (field.views(MEASURES["rows"]) for field in (one, other))
    shares = []
    for row, mate in zip(rows.tolist(), mates.tolist(), strict=True):
        a, b = firsts[one.codes[mate]], seconds[other.codes[row]]
        if a is not None and b is not None:
            same = a.cells.shape == b.cells.shape
            shares.append(float(np.mean(a.cells != b.cells)) if same else 1.0)
    return float(np.mean(shares)) if shares else 0.0
