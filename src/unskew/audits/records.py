"""The results of an audit as plain data: the histogram of a variable, and the data of a report."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from unskew.audits.holes import holes
from unskew.core.tally import plain

if TYPE_CHECKING:
    from unskew.audits.audit import Audit

MOST_FREQUENT = 3  # values that an audit names
ROUNDING = 1e-12  # floating point leaves up to this much of a divergence that is zero


@dataclass(frozen=True)
class Tail:
    """The values of a variable that are counted without their names: there are too many."""

    times: Mapping[int, int]  # how many of the values occur once, twice, …

    @property
    def values(self) -> int:
        """Number of different values."""
        return sum(self.times.values())

    @cached_property
    def rows(self) -> int:
        """Number of examples that have one of the values."""
        return sum(count * values for count, values in self.times.items())

    def about(self) -> str:
        """Return how many values have no name here, and how often they occur."""
        most = max(self.times)
        return (
            f"only the first values are listed: {self.rows:,} examples have one of "
            f"{self.values:,} other values, and no such value has more than {most:,} of them. KL "
            "and TV count these too; in a comparison they are lower bounds"
        )

    def to_dict(self) -> dict[str, Any]:
        """Return plain data, ready for JSON."""
        times = [[count, values] for count, values in self.times.items()]
        return {"values": self.values, "n": self.rows, "times": times}


@dataclass(frozen=True)
class VariableAudit:
    """The histogram of one variable and its distances from uniform over X.

    X is the declared support or, where none is declared, the values seen.
    """

    name: str
    counts: Mapping[Hashable, int]  # over X, in order, zeros included
    declared: bool
    doc: str = ""
    edges: tuple[float, ...] = ()  # of the bins that the audit chose, if it chose any
    tail: Tail | None = None  # values that are not in ``counts``, if there were too many

    @cached_property
    def n(self) -> int:
        """Number of examples measured."""
        return sum(self.counts.values()) + (self.tail.rows if self.tail else 0)

    @cached_property
    def seen(self) -> int:
        """Number of different values that examples have."""
        named = sum(count > 0 for count in self.counts.values())
        return named + (self.tail.values if self.tail else 0)

    @property
    def size(self) -> int:
        """The size of X. With a tail it may be larger: values of the tail may be in ``counts``."""
        return max(len(self.counts), self.seen)

    @cached_property
    def hardly_repeats(self) -> bool:
        """Whether more than half of the examples have a value that no other example has."""
        alone = sum(count == 1 for count in self.counts.values())
        return 2 * (alone + (self.tail.times.get(1, 0) if self.tail else 0)) > self.n

    @cached_property
    def _p(self) -> NDArray[np.float64]:
        """The shares of the named values."""
        return np.array(list(self.counts.values()), dtype=float) / self.n

    @cached_property
    def _tail_p(self) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Shares of values in the tail, and how many values have each share."""
        times = self.tail.times if self.tail else {}
        return np.array(list(times), dtype=float) / self.n, np.array(list(times.values()), float)

    @cached_property
    def entropy(self) -> float:
        """Entropy in nats."""
        p = self._p[self._p > 0]
        tail, values = self._tail_p
        entropy = -(p * np.log(p)).sum() - (values * tail * np.log(tail)).sum()
        return float(entropy) + 0.0

    @property
    def kl(self) -> float:
        """Kullback-Leibler divergence from uniform over X, in nats: log |X| − entropy."""
        kl = math.log(self.size) - self.entropy
        return kl if kl > ROUNDING else 0.0

    @property
    def total_variation(self) -> float:
        """Half the sum of |p(x) − 1/|X||: the share of examples that would have to move."""
        tail, values = self._tail_p
        if not len(tail):
            return float(np.abs(self._p - 1 / len(self._p)).sum() / 2)
        above = np.maximum(self._p - 1 / self.size, 0).sum()
        return float(above + (values * np.maximum(tail - 1 / self.size, 0)).sum())

    @property
    def missing(self) -> tuple[Hashable, ...]:
        """Values of X that no example has; if no X is declared, see ``holes``."""
        if self.declared:
            return tuple(value for value, count in self.counts.items() if count == 0)
        return holes(self.counts) if self.tail is None else ()

    @property
    def most_frequent(self) -> tuple[tuple[Hashable, float], ...]:
        """The most frequent values in ``counts``, each with its share of the examples."""
        top = Counter(self.counts).most_common(MOST_FREQUENT)
        return tuple((value, count / self.n) for value, count in top if count)

    def over(self, support: Sequence[Hashable]) -> VariableAudit:
        """Measure the same counts over a wider X."""
        return replace(self, counts={value: self.counts.get(value, 0) for value in support})

    def to_dict(self) -> dict[str, Any]:
        """Return plain data, ready for JSON."""
        return {
            "n": self.n,
            "support": "declared" if self.declared else "bins" if self.edges else "seen",
            "kl": self.kl,
            "total_variation": self.total_variation,
            "entropy": self.entropy,
            "missing": [plain(value) for value in self.missing],
            "most_frequent": [[plain(value), share] for value, share in self.most_frequent],
            "histogram": [[plain(value), count] for value, count in self.counts.items()],
            **({"tail": self.tail.to_dict()} if self.tail else {}),
        }


@dataclass(frozen=True)
class Report:
    """What every report reads: one audit, or two that are compared."""

    sides: Mapping[str, Audit]  # by "before" and "after"; a single side has the name ""
    variables: Mapping[str, tuple[VariableAudit, ...]]  # one for each side, over the same X
    on_one_side: Sequence[str] = ()  # variables that only one side has
    other_bins: Sequence[str] = ()  # variables that both sides have, but in different bins


def kl_removed(before: VariableAudit, after: VariableAudit) -> float | None:
    """Return the percentage of the KL from uniform that is gone (section B.5); None if it was 0."""
    return 100 * (1 - after.kl / before.kl) if before.kl > 0 else None


def in_order(values: Iterable[Hashable]) -> list[Hashable]:
    """Return distinct values in their order, None last; values without an order as they print."""
    distinct = list(dict.fromkeys(values))
    sortable: list[Any] = [value for value in distinct if value is not None]
    try:
        ordered = sorted(sortable)
    except Exception:  # values of several kinds, or of a user's own class
        ordered = sorted(sortable, key=lambda value: (type(value).__name__, str(value)))
    return [*ordered, None] if len(ordered) < len(distinct) else ordered
