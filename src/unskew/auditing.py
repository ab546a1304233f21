"""Audits: how skewed each salient variable is, against uniform and against another audit."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from unskew.codebook import Codebook
from unskew.errors import UnskewError
from unskew.rowhash import row_hashes
from unskew.tally import plain

if TYPE_CHECKING:
    from pathlib import Path

    from rich.console import Console, ConsoleOptions, RenderResult

    from unskew.batch import Batch
    from unskew.domain import Domain
    from unskew.salient import SalientVariable

COMMONEST = 3
SAMPLES = 3  # examples that a report shows
MOST_GAPS = 1000  # whole numbers from the smallest to the largest among which gaps are named
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
        """Values of X that no example has; of whole numbers seen, the gaps between them."""
        if self.declared:
            return tuple(value for value, count in self.counts.items() if count == 0)
        return _gaps([value for value, count in self.counts.items() if count])

    @property
    def commonest(self) -> tuple[tuple[Hashable, float], ...]:
        """The commonest values, each with its share of the examples."""
        top = Counter(self.counts).most_common(COMMONEST)
        return tuple((value, count / self.n) for value, count in top if count)

    def over(self, support: Sequence[Hashable]) -> VariableAudit:
        """Measure the same counts over a wider X."""
        counts = {value: self.counts.get(value, 0) for value in support}
        return VariableAudit(self.name, counts, self.declared, self.doc)

    def to_dict(self) -> dict[str, Any]:
        """Return plain data, ready for JSON."""
        return {
            "n": self.n,
            "support": "declared" if self.declared else "seen",
            "kl": self.kl,
            "total_variation": self.total_variation,
            "entropy": self.entropy,
            "missing": [plain(value) for value in self.missing],
            "commonest": [[plain(value), share] for value, share in self.commonest],
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
    left_out: tuple[str, ...] = ()  # columns that were not measured, having too many values
    samples: tuple[Any, ...] = field(default=(), compare=False)  # the first few examples, to show
    domain: Domain | None = field(default=None, compare=False)  # which knows how to show them

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
            "left_out": list(self.left_out),
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
        from unskew.report import write_picture

        return write_picture(self, path)

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        """Draw a table in a terminal."""
        from unskew.report.terminal import audit_tables

        yield from audit_tables(self)


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
            if after is not None:
                support = in_order([*before.counts, *after.counts])
                pairs[name] = (before.over(support), after.over(support))
        if not pairs:
            raise UnskewError(
                f"{self.before.label} and {self.after.label} have no variable in common; "
                "audit both by the same variables"
            )
        return pairs

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
        from unskew.report import write_picture

        return write_picture(self, path)

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        """Draw a table in a terminal."""
        from unskew.report.terminal import comparison_tables

        yield from comparison_tables(self)


class Auditor:
    """Measures batches one after another; memory is the supports and eight bytes an example."""

    def __init__(self, variables: Sequence[SalientVariable]) -> None:
        """Start with nothing measured."""
        self._variables = tuple(variables)
        self._codebooks = [Codebook(variable) for variable in variables]
        self._counts: list[NDArray[np.int64]] = [np.zeros(0, dtype=np.int64) for _ in variables]
        self._hashes: list[NDArray[np.uint64]] = []
        self._samples: list[Any] = []

    def add(self, batch: Batch) -> None:
        """Measure one more batch."""
        for i, (variable, codebook) in enumerate(
            zip(self._variables, self._codebooks, strict=True)
        ):
            codes = codebook.encode(variable.measure(batch))
            counts = np.bincount(codes, minlength=len(codebook.values))
            counts[: len(self._counts[i])] += self._counts[i]
            self._counts[i] = counts
        self._hashes.append(row_hashes(batch))
        if len(self._samples) < SAMPLES:
            self._samples += batch.head(SAMPLES - len(self._samples)).examples()

    def result(
        self,
        label: str,
        dropped: Mapping[str, int] | None = None,
        left_out: Sequence[str] = (),
        domain: Domain | None = None,
    ) -> Audit:
        """Return the audit of everything measured."""
        if not self._hashes:
            raise UnskewError(f"{label} gave no examples; there is nothing to audit")
        hashes = np.concatenate(self._hashes)
        found = {}
        for variable, codebook, counts in zip(
            self._variables, self._codebooks, self._counts, strict=True
        ):
            numbers = dict(zip(codebook.values, counts.tolist(), strict=True))
            support = codebook.values if codebook.declared else in_order(numbers)
            found[variable.name] = VariableAudit(
                variable.name, {v: numbers[v] for v in support}, codebook.declared, variable.doc
            )
        distinct = len(np.unique(hashes))
        return Audit(
            label,
            len(hashes),
            distinct,
            found,
            dict(dropped or {}),
            tuple(left_out),
            tuple(self._samples),
            domain,
        )


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
    except TypeError:
        ordered = sorted(there, key=lambda value: (type(value).__name__, str(value)))
    return [*ordered, None] if len(ordered) < len(distinct) else ordered


def _gaps(values: Sequence[Hashable]) -> tuple[Hashable, ...]:
    """Whole numbers skipped between those seen, in steps of their common divisor."""
    numbers = sorted({value for value in values if isinstance(value, int)})
    if len(numbers) != len(values) or len(numbers) < 3:
        return ()
    step = math.gcd(*(high - low for low, high in pairwise(numbers)))  # of any size
    if (numbers[-1] - numbers[0]) // step >= MOST_GAPS:
        return ()
    seen = set(numbers)
    full = range(numbers[0], numbers[-1] + 1, step)
    return tuple(value for value in full if value not in seen)
