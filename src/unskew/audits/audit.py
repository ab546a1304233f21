"""Audits: how skewed each salient variable is, against uniform and against another audit."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any

from unskew.audits.records import Report, Side, VariableAudit, in_order, kl_removed
from unskew.core.errors import UnskewError

if TYPE_CHECKING:
    from pathlib import Path

    from rich.console import RenderableType

    from unskew.core.domain import Domain
    from unskew.core.recipe import Recipe


@dataclass(frozen=True, repr=False)
class Audit:
    """What ``audit`` found in ``n`` examples. ``print`` draws it as a table."""

    label: str
    n: int
    distinct: int
    variables: Mapping[str, VariableAudit]
    dropped: Mapping[str, int]
    left_out: Mapping[str, str] = field(default_factory=dict)  # columns not measured, and why
    samples: tuple[Any, ...] = field(default=(), compare=False)  # the first few examples, to show
    domain: Domain | None = field(default=None, compare=False)  # it shows the examples
    recipe: Recipe | None = field(default=None, compare=False)  # of the examples, if it is known

    @property
    def duplicates(self) -> int:
        """Number of examples that repeat an earlier one."""
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
        """Return the comparison of this audit with one of repaired data."""
        return Comparison(self, after)

    def __repr__(self) -> str:
        """Return one line; ``print`` draws the table."""
        return f"<Audit of {self.label}: {self.n} examples, by {', '.join(self.variables)}>"

    def __str__(self) -> str:
        """Return the table as text."""
        return _text(self)

    def picture(self, path: str | Path) -> Path:
        """Write the histograms as a picture: .png, .svg or a self-contained .html page."""
        return _picture(self, path)

    def __rich__(self) -> RenderableType:
        """Return the table for a terminal."""
        return _table(self)


@dataclass(frozen=True, repr=False)
class Comparison:
    """Two audits, before and after. Each variable has the same X in both."""

    before: Audit
    after: Audit

    @cached_property
    def variables(self) -> Mapping[str, tuple[VariableAudit, VariableAudit]]:
        """The variables of both audits, each over all values that came in one of them."""
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
        """Names of the variables that the two audits count in different bins."""
        before, after = self.before.variables, self.after.variables
        shared = [name for name in before if name in after]
        return tuple(name for name in shared if before[name].edges != after[name].edges)

    def kl_removed(self, name: str) -> float | None:
        """Return how much of the KL divergence is gone, in percent; None if there was none."""
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
        """Return one line; ``print`` draws the table."""
        return f"<Comparison of {self.before!r} with {self.after!r}>"

    def __str__(self) -> str:
        """Return the table as text."""
        return _text(self)

    def picture(self, path: str | Path) -> Path:
        """Write before and after as a picture: .png, .svg or a self-contained .html page."""
        return _picture(self, path)

    def __rich__(self) -> RenderableType:
        """Return the table for a terminal."""
        return _table(self)


def _text(result: Audit | Comparison) -> str:
    from rich.console import Console

    console = Console(highlight=False)
    with console.capture() as captured:
        console.print(result)
    return captured.get().rstrip("\n")


def _picture(result: Audit | Comparison, path: str | Path) -> Path:
    from unskew.audits.report import write_picture

    return write_picture(_report(result), path)


def _table(result: Audit | Comparison) -> RenderableType:
    from unskew.audits.report.terminal import tables

    return tables(_report(result))


def _report(result: Audit | Comparison) -> Report:
    """Return what a report shows of a result."""
    if isinstance(result, Audit):
        return Report({"": _side(result)}, {name: (v,) for name, v in result.variables.items()})
    before, after = result.before, result.after
    return Report(
        {"before": _side(before), "after": _side(after)},
        result.variables,
        sorted(set(before.variables) ^ set(after.variables)),
        result.other_bins,
    )


def _side(audit: Audit) -> Side:
    return Side(
        audit.label,
        audit.n,
        audit.duplicates,
        audit.dropped,
        audit.left_out,
        audit.samples,
        audit.domain,
        audit.recipe,
    )
