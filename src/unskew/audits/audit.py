"""Audits: how skewed each salient variable is, against uniform and against another audit."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from unskew.audits.binning import about_bins, choose_edges, in_bins
from unskew.balance.codebook import Codebook
from unskew.balance.histogram import Histogram
from unskew.core.errors import RowError, UnskewError
from unskew.core.rowhash import row_hashes
from unskew.core.tally import plain
from unskew.core.variable import interval_labels, many_values
from unskew.core.visible import Visible

if TYPE_CHECKING:
    from pathlib import Path

    from rich.console import Console, ConsoleOptions, RenderResult

    from unskew.core.batch import Batch
    from unskew.core.domain import Domain
    from unskew.core.recipe import Recipe
    from unskew.core.variable import SalientVariable, Values

MOST_FREQUENT = 3  # values that an audit names
MANY_VALUES = 200  # a column with more values in its first batch is not measured unasked
SAMPLES = 3  # examples that a report shows
CHANCE_HOLES = 0.001  # how often a variable without a hole may be said to have one
ROUNDING = 1e-12  # a divergence this small is what floating point leaves of zero


@dataclass(frozen=True)
class VariableAudit:
    """The histogram of one variable and its distances from uniform over X.

    X is the declared support or, where none is declared, the values seen.
    """

    name: str
    counts: Mapping[Hashable, int]  # over X, in order, zeros included
    declared: bool
    doc: str = ""
    edges: tuple[float, ...] = ()  # of the bins that the audit chose, where it chose any

    @cached_property
    def n(self) -> int:
        """Number of examples measured."""
        return sum(self.counts.values())

    @cached_property
    def _p(self) -> NDArray[np.float64]:
        return np.array(list(self.counts.values()), dtype=float) / self.n

    @cached_property
    def entropy(self) -> float:
        """Entropy in nats."""
        p = self._p[self._p > 0]
        return float(-(p * np.log(p)).sum()) + 0.0

    @property
    def kl(self) -> float:
        """Kullback-Leibler divergence from uniform over X, in nats: log |X| − entropy."""
        kl = math.log(len(self.counts)) - self.entropy
        return kl if kl > ROUNDING else 0.0

    @property
    def total_variation(self) -> float:
        """Half the sum of |p(x) − 1/|X||: the share of examples that would have to move."""
        return float(np.abs(self._p - 1 / len(self._p)).sum() / 2)

    @property
    def missing(self) -> tuple[Hashable, ...]:
        """Values of X that no example has; where no X is declared, see ``holes``."""
        if self.declared:
            return tuple(value for value, count in self.counts.items() if count == 0)
        return holes(self.counts)

    @property
    def most_frequent(self) -> tuple[tuple[Hashable, float], ...]:
        """The most frequent values, each with its share of the examples."""
        top = Counter(self.counts).most_common(MOST_FREQUENT)
        return tuple((value, count / self.n) for value, count in top if count)

    commonest = most_frequent  # the older name

    def over(self, support: Sequence[Hashable]) -> VariableAudit:
        """Measure the same counts over a wider X."""
        counts = {value: self.counts.get(value, 0) for value in support}
        return replace(self, counts=counts)

    def to_dict(self) -> dict[str, Any]:
        """Return plain data, ready for JSON."""
        return {
            "n": self.n,
            "support": "declared" if self.declared else "bins" if self.edges else "seen",
            "kl": self.kl,
            "total_variation": self.total_variation,
            "entropy": self.entropy,
            "missing": [plain(value) for value in self.missing],
            "commonest": [[plain(value), share] for value, share in self.most_frequent],
            "histogram": [[plain(value), count] for value, count in self.counts.items()],
        }


@dataclass(frozen=True, repr=False)
class Audit:
    """What was found in ``n`` examples of one source, file or dataset."""

    label: str
    n: int
    distinct: int
    variables: Mapping[str, VariableAudit]
    dropped: Mapping[str, int]
    left_out: Mapping[str, str] = field(default_factory=dict)  # columns not measured, and why
    samples: tuple[Any, ...] = field(default=(), compare=False)  # the first few examples, to show
    domain: Domain | None = field(default=None, compare=False)  # which knows how to show them
    recipe: Recipe | None = field(default=None, compare=False)  # that made the examples, if known

    @property
    def duplicates(self) -> int:
        """Examples that repeat an earlier one."""
        return self.n - self.distinct

    def to_dict(self) -> dict[str, Any]:
        """Return plain data, ready for JSON."""
        return {
            "label": self.label,
            "n": self.n,
            "distinct": self.distinct,
            "duplicates": self.duplicates,
            "dropped": dict(self.dropped),
            "left_out": dict(self.left_out),
            "variables": {name: v.to_dict() for name, v in self.variables.items()},
        }

    def compare(self, after: Audit) -> Comparison:
        """Set this audit beside one of the repaired data."""
        return Comparison(self, after)

    def __repr__(self) -> str:
        """Name it in a word; ``print`` draws the table."""
        return f"<Audit of {self.label}: {self.n} examples, by {', '.join(self.variables)}>"

    def __str__(self) -> str:
        """Draw the table as text."""
        return _drawn(self)

    def picture(self, path: str | Path) -> Path:
        """Write the histograms as a picture: .png, .svg or a self-contained .html page."""
        from unskew.audits.report import write_picture

        return write_picture(self, path)

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        """Draw a table in a terminal."""
        from unskew.audits.report.terminal import audit_tables

        yield from map(Visible, audit_tables(self))


@dataclass(frozen=True, repr=False)
class Comparison:
    """Before and after, each variable over the same X on both sides."""

    before: Audit
    after: Audit

    @cached_property
    def variables(self) -> Mapping[str, tuple[VariableAudit, VariableAudit]]:
        """The variables that both sides have, over the union of their supports."""
        pairs = {}
        for name, before in self.before.variables.items():
            after = self.after.variables.get(name)
            if after is not None and before.edges == after.edges:
                same = list(before.counts) == list(after.counts)
                both = [*before.counts, *after.counts]
                support = list(before.counts) if same else in_order(both)
                pairs[name] = (before.over(support), after.over(support))
        if not pairs:
            raise UnskewError(
                f"{self.before.label} and {self.after.label} have no variable in common; "
                "audit both by the same variables, and in the same bins: audit(…, like=before)"
            )
        return pairs

    @property
    def other_bins(self) -> tuple[str, ...]:
        """Names of the variables that both sides have, but in different bins."""
        before, after = self.before.variables, self.after.variables
        shared = [name for name in before if name in after]
        return tuple(name for name in shared if before[name].edges != after[name].edges)

    def kl_removed(self, name: str) -> float | None:
        """Percentage of the KL divergence from uniform that is gone; None where none was."""
        return kl_removed(*self.variables[name])

    def to_dict(self) -> dict[str, Any]:
        """Return plain data, ready for JSON; each variable over the union of the supports."""
        sides = {"before": self.before.to_dict(), "after": self.after.to_dict()}
        for side in sides.values():
            del side["variables"]
        variables = {
            name: {
                "before": before.to_dict(),
                "after": after.to_dict(),
                "kl_removed_percent": kl_removed(before, after),
            }
            for name, (before, after) in self.variables.items()
        }
        return {**sides, "variables": variables}

    def __repr__(self) -> str:
        """Name it in a word; ``print`` draws the table."""
        return f"<Comparison of {self.before!r} with {self.after!r}>"

    def __str__(self) -> str:
        """Draw the table as text."""
        return _drawn(self)

    def picture(self, path: str | Path) -> Path:
        """Write before and after as a picture: .png, .svg or a self-contained .html page."""
        from unskew.audits.report import write_picture

        return write_picture(self, path)

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        """Draw a table in a terminal."""
        from unskew.audits.report.terminal import comparison_tables

        yield from map(Visible, comparison_tables(self))


class _Column:
    """The histogram of one variable, of its values or of the bins that they are in."""

    def __init__(self, variable: SalientVariable, edges: tuple[float, ...]) -> None:
        self.variable, self._edges = variable, edges
        self._histogram = Histogram(Codebook(variable))
        self._histogram.codebook.learn(interval_labels(edges) if edges else ())

    def add(self, values: Values) -> None:
        binned = in_bins(values, self._edges) if self._edges else values
        self._histogram.add_codes(self._histogram.codebook.encode(binned))

    def result(self) -> VariableAudit:
        variable, edges, counts = self.variable, self._edges, self._histogram.by_value()
        declared = self._histogram.codebook.declared
        if not declared and not edges:
            counts = {value: counts[value] for value in in_order(counts)}
        doc = ", ".join(filter(None, [variable.doc, about_bins(edges) if edges else ""]))
        return VariableAudit(variable.name, counts, declared, doc, edges)


class Auditor:
    """Measures batches one after another.

    It remembers the counts, and eight bytes for each example to find duplicates. The first batch
    decides which variables are counted in bins.
    """

    def __init__(
        self,
        variables: Sequence[SalientVariable],
        like: Audit | None = None,
        *,
        optional: bool = False,
    ) -> None:
        """Start with nothing measured.

        ``like`` is an audit with the bins to use. If the variables are ``optional``, those that
        no histogram can show are left out.
        """
        self._variables, self._like, self._optional = tuple(variables), like, optional
        self._columns: list[_Column] = []
        self._hashes: list[NDArray[np.uint64]] = []
        self._samples: list[Any] = []
        self.left_out: dict[str, str] = {}  # variables that are not measured, and why

    @property
    def n(self) -> int:
        """Number of examples measured so far."""
        return sum(map(len, self._hashes))

    @property
    def names(self) -> list[str]:
        """Names of the variables that are measured."""
        return [column.variable.name for column in self._columns]

    def add(self, batch: Batch) -> None:
        """Measure one more batch."""
        if not self._hashes:
            self._begin(batch)
        else:
            for column in self._columns:
                column.add(self._measure(column.variable, batch))
        self._hashes.append(row_hashes(batch))
        if len(self._samples) < SAMPLES:
            self._samples += batch.head(SAMPLES - len(self._samples)).examples()

    def _begin(self, batch: Batch) -> None:
        """Measure the first batch, and choose bins by its values."""
        for variable in self._variables:
            try:
                values = self._measure(variable, batch)
            except UnskewError as error:
                if not self._optional:
                    raise
                reason = str(error).removeprefix(f"column {variable.name!r} ")
                self.left_out[variable.name] = reason
                continue
            edges = self._edges(variable, values)
            reason = _why_no_histogram(values) if self._optional and not edges else ""
            if reason:
                self.left_out[variable.name] = reason
                continue
            column = _Column(variable, edges)
            column.add(values)
            self._columns.append(column)

    def _edges(self, variable: SalientVariable, values: Values) -> tuple[float, ...]:
        """Return the edges of bins for a variable: those of the other audit, or new ones."""
        if variable.support is not None or variable.parts:
            return ()
        other = self._like.variables.get(variable.name) if self._like is not None else None
        return choose_edges(values) if other is None else other.edges

    def _measure(self, variable: SalientVariable, batch: Batch) -> Values:
        try:
            return variable.measure(batch)
        except RowError as error:  # its row is counted from the start of the batch
            raise RowError(self.n + error.row, error.said) from error

    def result(
        self,
        label: str,
        dropped: Mapping[str, int] | None = None,
        left_out: Mapping[str, str] | None = None,
        domain: Domain | None = None,
        recipe: Recipe | None = None,
    ) -> Audit:
        """Return the audit of everything measured."""
        if not self._hashes:
            raise UnskewError(f"{label} gave no examples; there is nothing to audit")
        hashes = np.concatenate(self._hashes)
        return Audit(
            label,
            len(hashes),
            len(np.unique(hashes)),
            {column.variable.name: column.result() for column in self._columns},
            dict(dropped or {}),
            {**(left_out or {}), **self.left_out},
            tuple(self._samples),
            domain,
            recipe,
        )


def _why_no_histogram(values: Values) -> str:
    """Return why values make no histogram; empty if they make one."""
    try:
        distinct = set(values.tolist())
    except TypeError as error:  # a tuple that holds a list
        return str(error)
    return many_values(values.tolist()) if len(distinct) > MANY_VALUES else ""


def _drawn(result: Audit | Comparison) -> str:
    from rich.console import Console

    console = Console(highlight=False)
    with console.capture() as captured:
        console.print(result)
    return captured.get().rstrip("\n")


def kl_removed(before: VariableAudit, after: VariableAudit) -> float | None:
    """Percentage of the KL from uniform that is gone (section B.5); None where there was none."""
    return 100 * (1 - after.kl / before.kl) if before.kl > 0 else None


def in_order(values: Iterable[Hashable]) -> list[Hashable]:
    """Return distinct values in their order, None last; what has no order, by how it prints."""
    distinct = list(dict.fromkeys(values))
    there: list[Any] = [value for value in distinct if value is not None]
    try:
        ordered = sorted(there)
    except Exception:  # values of several kinds, or of a user's own class
        ordered = sorted(there, key=lambda value: (type(value).__name__, str(value)))
    return [*ordered, None] if len(ordered) < len(distinct) else ordered


def holes(counts: Mapping[Hashable, int]) -> tuple[Hashable, ...]:
    """Return whole numbers that no example has, though the numbers next to them are frequent.

    The rule: a number is frequent if at least k of the n examples have it. The step between
    numbers is the largest that fits all frequent ones. A number that no example has is a hole if
    the next number below it and the next one above it are both frequent.

    k is the smallest with 6 n / k · 2⁻ᵏ ≤ 0.001 (19 for 1,000 examples, 25 for 100,000). Where no
    number is rarer than both of its neighbours, as in any distribution with one peak, a hole is
    then found by chance in at most one of 1,000 variables: a number that is as probable as the
    rarer neighbour is missing beside k examples of it with probability 2⁻ᵏ at most, and n
    examples have room for at most 6 n / k such triples, whatever their step.
    """
    if any(type(value) is not int for value, count in counts.items() if count):
        return ()
    least = _frequent(sum(counts.values()))
    often = sorted(v for v, count in counts.items() if isinstance(v, int) and count >= least)
    if len(often) < 3:
        return ()
    gaps = [high - low for low, high in pairwise(often)]
    step = math.gcd(*gaps)
    found = [low + step for low, gap in zip(often, gaps, strict=False) if gap == 2 * step]
    return tuple(value for value in found if not counts.get(value))


def _frequent(n: int) -> int:
    """Return k of ``holes``."""
    return next(k for k in range(1, 200) if 6 * n / k * 0.5**k <= CHANCE_HOLES)
