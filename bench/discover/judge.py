"""Whether a finding carries a planted variable.

A finding carries a truth if its mutual information with the truth is at least 0.9 of the truth's
entropy, both less what chance gives: the mutual information with the truth in random order, the
mean of five orders. If chance alone gives half of the entropy, the finding has too many values to
say anything, and carries nothing.

If the truth is a number with more than 12 values, and the finding has fewer values than the truth
but five or more, the truth is put into as many bins as the finding has values. The bins are made
of neighbouring values, and as large as the rows of each value of the finding, in the order of the
mean truth of these rows.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bench.discover.kinds import Row
from unskew.core.batch import Batch
from unskew.core.rng import generator

ENOUGH = 0.9  # of the entropy
ORDERS = 5
MANY, FEWEST = 12, 5  # values of a numeric truth that may be binned; bins of a finding
SKEW, SHORTCUT, FAILURE = "skew", "shortcut", "failure"
Codes = NDArray[np.int64]


@dataclass(frozen=True)
class Heard:
    """A finding: its name, its kind if it has one, and its value for each row."""

    name: str
    kind: str
    values: Codes | None  # None if it could not be measured


def heard(findings: Iterable[Any], rows: Sequence[Row]) -> list[Heard]:
    """Measure findings on the rows that they were made of."""
    batch = Batch.of(rows)
    results = []
    for finding in findings:
        try:
            values = codes(finding.variable.measure(batch).tolist())
        except Exception:  # a variable that does not measure its own rows carries nothing
            values = None
        if values is not None and len(values) != len(rows):
            values = None
        results.append(Heard(str(finding.name), str(getattr(finding, "kind", "")), values))
    return results


def codes(values: Sequence[Hashable]) -> Codes:
    """Return values as numbers from 0 on, equal numbers for equal values."""
    numbers: dict[Hashable, int] = {}
    keys = (("nan",) if value != value else value for value in values)  # noqa: PLR0124 - NaN
    return np.array([numbers.setdefault(key, len(numbers)) for key in keys], dtype=np.int64)


def entropy(found: Codes) -> float:
    """Return the entropy of codes in nats."""
    shares = np.bincount(found) / len(found)
    shares = shares[shares > 0]
    return float(-np.sum(shares * np.log(shares)))


def information(a: Codes, b: Codes) -> float:
    """Return the mutual information of two variables in nats, as it is in the rows."""
    joint = np.unique(a * (int(b.max()) + 1) + b, return_inverse=True)[1]
    return entropy(a) + entropy(b) - entropy(joint)


def carried(finding: Codes, truth: Sequence[Hashable]) -> float:
    """Return which share of the truth's entropy a finding carries, by the rule above."""
    if finding.max() == 0:
        return 0.0
    target = _binned(finding, truth)
    bits = entropy(target)
    rng = generator(0, "orders")
    chance = np.mean([information(finding, rng.permutation(target)) for _ in range(ORDERS)])
    if bits == 0 or chance >= bits / 2:
        return 0.0
    return float((information(finding, target) - chance) / (bits - chance))


def recalled(findings: Sequence[Heard], truth: Sequence[Hashable]) -> tuple[float, str, str]:
    """Return the largest share that a finding carries, its name and its kind."""
    shares = [(carried(f.values, truth), f.name, f.kind) for f in findings if f.values is not None]
    return max(shares, default=(0.0, "", ""))


def listed(result: Any, role: str, top: int) -> list[Any]:
    """Return the first findings of a result among which a planted variable must be.

    A failure must be in the list of failures: ``result.failures``, or the findings of the kind
    ``"failure"``. Others may be anywhere in the findings.
    """
    findings = list(result.findings)
    if role != FAILURE:
        return findings[:top]
    own = getattr(result, "failures", None)
    if own is not None:
        return list(own)[:top]
    kinds = [f for f in findings if getattr(f, "kind", FAILURE) == FAILURE]
    return kinds[:top]


def _binned(finding: Codes, truth: Sequence[Hashable]) -> Codes:
    """Return the codes of a truth, in bins like those of the finding if the rule allows it."""
    distinct = Counter(truth)
    found = np.flatnonzero(np.bincount(finding))
    numeric = all(isinstance(v, int | float) and not isinstance(v, bool) for v in distinct)
    if not (numeric and len(distinct) > MANY and FEWEST <= len(found) < len(distinct)):
        return codes(truth)
    values = np.array(truth, dtype=float)
    sizes = np.bincount(finding)[found]
    means = np.bincount(finding, weights=values)[found] / sizes
    ends = np.cumsum(sizes[np.argsort(means, kind="stable")])
    ordered, counts = np.unique(values, return_counts=True)
    middles = np.cumsum(counts) - counts / 2
    bins = np.searchsorted(ends, middles)
    return codes(bins[np.searchsorted(ordered, values)].tolist())
