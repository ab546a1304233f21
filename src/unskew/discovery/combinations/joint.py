"""Joint skew: values of two or three features that come together more, or less, than they should.

Two features are compared with independent ones, three features with what their pairs say. A hole
is a combination that is expected and does not come.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np
from numpy.typing import NDArray

from unskew.core.variables.coded import Coded
from unskew.discovery.combinations.terms import Term, Terms, terms_of

_LEAST, _SHARE = 20, 0.01  # rows of a value: at least so many, and this share of all rows
_RATIO = 1.5  # times more or less than expected, from which on a combination is shown
_TRIPLES, _VALUES = 20, 6  # features whose triples are looked at, and values of each
_FITS, _CLOSE = 200, 0.01  # rounds of fitting pairs, and rows by which they may differ in the end
_LEVEL = 0.05

Floats = NDArray[np.float64]
Codes = NDArray[np.int64]


@dataclass(frozen=True)
class Joint:
    """Values of two or three features that come together more often, or less, than they should.

    Args:
        terms: the name and the value of each feature.
        rows: how many rows have all of them.
        expected: how many would if the features were independent; of three features, if nothing
            but the pairs mattered.
        p: an upper bound of the p-value, times the number of combinations that were looked at.
    """

    terms: tuple[Term, ...]
    rows: int
    expected: float
    p: float


def joint_skew(features: Mapping[str, Coded], *, top: int = 10) -> tuple[Joint, ...]:
    """Return the combinations that differ most from what their parts say, the largest one first.

    Of each two or three features, the largest excess and the largest lack count. Features of which
    one follows from the other are not compared. Over all combinations, a false one comes in at
    most one run of twenty.

    Args:
        features: their values by name; of more than 50 features, the first 50, and the first 20
            for triples. Of each one, the ten most frequent values count, six for triples.
        top: the most combinations that are returned.
    """
    rows = max((len(values) for values in features.values()), default=0)
    terms = terms_of(features, max(_LEAST, round(_SHARE * rows)), rows)
    if len(set(terms.owner.tolist())) < 2:
        return ()
    found = [*_of_pairs(terms), *_of_triples(terms)]
    found.sort(key=lambda pair: -pair[0])
    return tuple(joint for _, joint in found[:top])


def deviance(rows: Floats, expected: Floats) -> Floats:
    """Return how far counts are from what is expected: the exponent of a bound of their p-value."""
    with np.errstate(divide="ignore", invalid="ignore"):
        logs = np.where(rows > 0, rows * np.log(rows / expected), 0.0)
    far: Floats = np.where(expected > 0, np.maximum(0, logs - rows + expected), 0.0)
    return far


def _of_pairs(terms: Terms) -> Iterator[tuple[float, Joint]]:
    counts = terms.together()
    alone = np.diag(counts)
    expected = np.outer(alone, alone) / len(terms.table)
    members = [np.flatnonzero(terms.owner == number) for number in np.unique(terms.owner)]
    pairs = [(a, b) for a, b in combinations(members, 2) if not _follows(counts, a, b)]
    tested = sum(len(a) * len(b) for a, b in pairs)
    for a, b in pairs:
        cells = np.ix_(a, b)
        for far, place in _largest(counts[cells], expected[cells], tested):
            i, j = np.unravel_index(place, (len(a), len(b)))
            chosen = (int(a[i]), int(b[j]))
            yield far, _joint(terms, chosen, counts[chosen], expected[chosen], far, tested)


def _follows(counts: Floats, a: Codes, b: Codes) -> bool:
    """Return whether each value of a feature comes with one value of the other alone."""
    table = counts[np.ix_(a, b)]
    decided = table.max(axis=1) >= 0.99 * np.diag(counts)[a]
    deciding = table.max(axis=0) >= 0.99 * np.diag(counts)[b]
    return bool(decided.all() or deciding.all())


def _of_triples(terms: Terms) -> Iterator[tuple[float, Joint]]:
    members = [
        np.flatnonzero(terms.owner == number)[:_VALUES] for number in np.unique(terms.owner)
    ][:_TRIPLES]
    codes = [_codes(terms, places) for places in members]
    triples = list(combinations(range(len(members)), 3))
    tested = sum(math.prod(len(members[number]) for number in triple) for triple in triples)
    side = _VALUES + 1  # the last code is for all other values
    for first in sorted({triple[0] for triple in triples}):
        some = [triple for triple in triples if triple[0] == first]
        flat = [(codes[a] * side + codes[b]) * side + codes[c] for a, b, c in some]
        counts = np.array([np.bincount(cells, minlength=side**3) for cells in flat], np.float64)
        counts = counts.reshape(-1, side, side, side)
        for triple, table, expected in zip(some, counts, _fitted(counts), strict=True):
            sizes = [len(members[number]) for number in triple]
            inside = tuple(slice(size) for size in sizes)
            for far, place in _largest(table[inside], expected[inside], tested):
                at = [int(code) for code in np.unravel_index(place, sizes)]
                chosen = [int(members[n][code]) for n, code in zip(triple, at, strict=True)]
                rows, usual = float(table[tuple(at)]), float(expected[tuple(at)])
                yield far, _joint(terms, chosen, rows, usual, far, tested)


def _codes(terms: Terms, places: Codes) -> Codes:
    """Return which of some terms of a feature each row has; the last code is for none of them."""
    table = terms.table[:, places] > 0
    return np.where(table.any(axis=1), table.argmax(axis=1), _VALUES)


def _fitted(counts: Floats) -> Floats:
    """Return the tables that have the same pairs and nothing else in common (raking).

    A table that does not come close to its pairs is returned as it is counted.
    """
    axes = (1, 2, 3)
    wanted = [counts.sum(axis=axis, keepdims=True) for axis in axes]
    fitted = np.ones_like(counts)
    for _ in range(_FITS):
        for axis, margin in zip(axes, wanted, strict=True):
            total = fitted.sum(axis=axis, keepdims=True)
            fitted *= np.divide(margin, total, out=np.zeros_like(total), where=total > 0)
        apart = np.abs(fitted.sum(axis=1, keepdims=True) - wanted[0]).max(axis=(1, 2, 3))
        if (apart <= _CLOSE).all():
            return fitted
    return np.where((apart <= 50 * _CLOSE)[:, None, None, None], fitted, counts)


def _largest(rows: Floats, expected: Floats, tested: int) -> Iterator[tuple[float, int]]:
    """Yield the largest significant excess and the largest significant lack of a table."""
    far = deviance(rows, expected)
    for some in (rows >= _RATIO * expected, rows * _RATIO <= expected):
        left = np.where(some, far, 0.0)
        place = int(left.argmax())
        if _bounded(float(left.flat[place]), tested) <= _LEVEL:
            yield float(left.flat[place]), place


def _bounded(far: float, tested: int) -> float:
    """Return the p-value of a deviance, times all tests: of pairs or triples, of more or less."""
    return min(1.0, 4 * tested * math.exp(-far))


def _joint(
    terms: Terms, chosen: Sequence[int], rows: float, expected: float, far: float, tested: int
) -> Joint:
    named = tuple(terms.named[term] for term in chosen)
    return Joint(named, round(rows), float(expected), _bounded(far, tested))
