"""Slices: combinations of two or three features' values in which a model fails more often.

All pairs are counted, by products of matrices. The most suspicious pairs are extended by each other
value. What is found is tested exactly, and its p-value is multiplied by the number of combinations
that could have been found.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from unskew.core.errors import UnskewError
from unskew.core.interval import wilson
from unskew.core.variables.coded import Coded
from unskew.discovery.combinations.terms import Term, Terms, terms_of
from unskew.discovery.score.failure import failing_tail

_EXTENDED = 500  # pairs to which a third value is added
_TRIED = 300  # combinations of each size that are tested exactly
_LEAST, _SHARE = 10, 0.002  # rows of a slice: at least so many, and this share of all rows
_LEVEL = 0.05

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class Slice:
    """Rows that have certain values of two or three features, in which a model fails more often.

    Args:
        terms: the name and the value of each feature.
        rows: how many rows have all of them.
        rate: the mean failure of these rows.
        low: lower end of the 95 % interval of the rate.
        high: upper end of it.
        rest: the mean failure of all other rows.
        part: the greatest mean failure of the rows that have all of the terms but one.
        p: the p-value, times the number of combinations that could have been found.
    """

    terms: tuple[Term, ...]
    rows: int
    rate: float
    low: float
    high: float
    rest: float
    part: float
    p: float


def failing_slices(
    features: Mapping[str, Coded], failed: Floats, *, top: int = 10
) -> tuple[Slice, ...]:
    """Return the worst combinations of two or three features' values, the most significant first.

    A combination counts only if it fails more often than each of its parts: ``a`` and ``b``
    together more than ``a``, and more than ``b``. It also has to fail more often in the rows that
    no slice before it has. Over all of them, a false one comes in at most one run of twenty.

    Args:
        features: their values by name; of more than 50 features, the first 50. Of each one, the ten
            most frequent values count.
        failed: how much the model fails in each row, from 0 to 1.
        top: the most slices that are returned.
    """
    least = max(_LEAST, round(_SHARE * len(failed)))
    terms = terms_of(features, least, len(failed))
    if failed.size and (failed.min() < 0 or failed.max() > 1):
        raise UnskewError("a failure is outside the range from 0 to 1")
    if len(set(terms.owner.tolist())) < 2 or not 0 < failed.sum() < len(failed):
        return ()
    times = _times(terms)
    suspicious = _suspicious_pairs(terms, failed, least)
    tried = suspicious[:_TRIED] + _suspicious_triples(terms, failed, least, suspicious[:_EXTENDED])
    found = _significant(terms, tried, failed, times)
    return tuple(_apart(terms, failed, found, top, times))


def _significant(
    terms: Terms, tried: Sequence[tuple[int, ...]], failed: Floats, times: Mapping[int, int]
) -> dict[tuple[int, ...], float]:
    """Return the combinations that fail more often than all rows and than each of their parts.

    With each comes the greatest of these p-values.
    """
    rows = [terms.rows(combination) for combination in tried]
    sums = np.array([failed[inside].sum() for inside in rows])
    p = failing_tail(sums, np.array([inside.sum() for inside in rows], np.int64), failed)
    found = {}
    for combination, inside, among_all in zip(tried, rows, p.tolist(), strict=True):
        often = times[len(combination)]
        if often * among_all <= _LEVEL:
            parts = [_tail(inside[part], failed[part]) for part in _parts(terms, combination)]
            if often * max(parts) <= _LEVEL:
                found[combination] = often * max(among_all, *parts)
    return found


def _times(terms: Terms) -> dict[int, int]:
    """Return by how much the p-values of pairs and of triples are multiplied.

    It is twice the number of pairs, or of triples, of terms of different features.
    """
    sizes = np.unique(terms.owner, return_counts=True)[1]
    one, two, three = (int((sizes**power).sum()) for power in (1, 2, 3))
    return {2: one * one - two, 3: (one**3 - 3 * one * two + 2 * three) // 3}


def _suspicious_pairs(terms: Terms, failed: Floats, least: int) -> list[tuple[int, ...]]:
    """Return pairs that fail more often than their parts, the most significant ones first."""
    counts, sums = terms.together(), terms.together(failed)
    alone = np.diag(sums) / np.diag(counts)
    rates = sums / np.maximum(counts, 1)
    valid = (counts >= least) & (terms.owner[:, None] < terms.owner)
    valid &= rates > np.maximum(np.maximum(alone[:, None], alone), failed.mean())
    rows, columns = np.nonzero(valid)
    order = np.argsort(-_excess(sums[valid], counts[valid], failed), kind="stable")
    order = order[: max(_TRIED, _EXTENDED)]
    return list(zip(rows[order].tolist(), columns[order].tolist(), strict=True))


def _suspicious_triples(
    terms: Terms, failed: Floats, least: int, pairs: Iterable[tuple[int, ...]]
) -> list[tuple[int, ...]]:
    """Return triples that extend some pairs, the most significant ones first."""
    weights = failed.astype(np.float32)
    found: dict[tuple[int, ...], float] = {}
    for pair in pairs:
        rows = np.flatnonzero(terms.rows(pair))
        table, weight = terms.table[rows], weights[rows]
        counts, sums = table.sum(axis=0), weight @ table
        rate = max(float(weight.mean()), float(failed.mean()))
        valid = (counts >= least) & (sums > rate * counts)
        valid[np.isin(terms.owner, terms.owner[list(pair)])] = False
        third = np.flatnonzero(valid)
        excess = _excess(sums[third], counts[third], failed)
        for term, value in zip(third.tolist(), excess.tolist(), strict=True):
            found[tuple(sorted((*pair, term)))] = value
    return sorted(found, key=lambda combination: (-found[combination], combination))[:_TRIED]


def _excess(sums: NDArray[np.floating], counts: NDArray[np.floating], failed: Floats) -> Floats:
    """Return how improbable such failures are: the exponent of Chernoff's bound."""
    usual = float(failed.mean())
    rates = np.clip(sums / counts, usual, 1.0).astype(np.float64)
    right = np.where(rates < 1, (1 - rates) * np.log(np.maximum(1 - rates, 1e-300)), 0)
    divergence = rates * np.log(rates / usual) + right - (1 - rates) * np.log(1 - usual)
    excess: Floats = counts * divergence
    return excess


def _parts(terms: Terms, combination: tuple[int, ...]) -> list[NDArray[np.bool_]]:
    """Return the rows that have all of the terms but one."""
    return [
        terms.rows([term for term in combination if term != left_out]) for left_out in combination
    ]


def _tail(inside: NDArray[np.bool_], failed: Floats) -> float:
    rows = int(inside.sum())
    if not 0 < rows < len(failed):
        return 1.0
    return float(failing_tail(np.array([failed[inside].sum()]), np.array([rows]), failed)[0])


def _apart(
    terms: Terms,
    failed: Floats,
    found: Mapping[tuple[int, ...], float],
    top: int,
    times: Mapping[int, int],
) -> Iterable[Slice]:
    """Yield slices, the most significant one first, that fail without the rows of those before."""
    rows = {combination: terms.rows(combination) for combination in found}
    excess = {
        combination: float(
            _excess(failed[some].sum(keepdims=True), some.sum(keepdims=True), failed)[0]
        )
        for combination, some in rows.items()
    }
    left = np.ones(len(failed), dtype=np.bool_)
    for combination in sorted(found, key=lambda each: (-excess[each], each)):
        if not top:
            return
        inside = rows[combination]
        if times[len(combination)] * _tail(inside[left], failed[left]) > _LEVEL:
            continue
        left &= ~inside
        top -= 1
        rate, count = float(failed[inside].mean()), int(inside.sum())
        yield Slice(
            tuple(terms.named[term] for term in combination),
            count,
            rate,
            *wilson(rate, count),
            float(failed[~inside].mean()),
            max(float(failed[part].mean()) for part in _parts(terms, combination)),
            found[combination],
        )
