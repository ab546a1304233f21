"""Audits: how skewed each salient variable is, against uniform and against another audit."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from unskew.audits.records import Report, VariableAudit, in_order, kl_removed
from unskew.core.errors import UnskewError

if TYPE_CHECKING:
    from rich.console import RenderableType

    from unskew.audits.plan import Plan
    from unskew.audits.remedy import Audited, Joint
    from unskew.core.domain import Domain
    from unskew.core.recipe import Recipe


@dataclass(frozen=True, repr=False)
class Audit:
    """What ``audit`` found in ``n`` examples. ``print`` and notebooks draw it as a table."""

    label: str
    n: int
    distinct: int
    variables: Mapping[str, VariableAudit]
    dropped: Mapping[str, int]
    left_out: Mapping[str, str] = field(default_factory=dict)  # columns not measured, and why
    samples: tuple[Any, ...] = field(default=(), compare=False)  # the first few examples, to show
    domain: Domain | None = field(default=None, compare=False)  # it shows the examples
    recipe: Recipe | None = field(default=None, compare=False)  # of the examples, if it is known
    joint: Joint | None = field(default=None, compare=False)  # some rows, for the plan
    audited: Audited | None = field(default=None, compare=False)  # what a command calls it
    saved_plan: Plan | None = field(default=None, compare=False)  # that of the audit that was saved

    @cached_property
    def plan(self) -> Plan | None:
        """What balancing the most skewed variables costs; None if there are none."""
        from unskew.audits.remedy import plan_for

        if self.joint is None or self.audited is None:
            return self.saved_plan
        return plan_for(self.label, self.variables, self.joint, self.audited)

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
            "plan": self.plan.to_dict() if self.plan is not None else None,
        }

    def compare(self, after: Audit) -> Comparison:
        """Return the comparison of this audit with one of repaired data."""
        return Comparison(self, after)

    def breaches(self, *conditions: str) -> list[str]:
        """Return a line for each condition that is met: what was measured, what is allowed.

        A condition says what must not be: ``"answer.top > 0.3"``.
        """
        from unskew.audits.conditions import breaches

        return breaches(self, conditions)

    def fail_if(self, *conditions: str) -> None:
        """Raise an ``UnskewError`` with all ``breaches`` if a condition is met."""
        lines = self.breaches(*conditions)
        if lines:
            raise UnskewError("; ".join(lines))

    def save(self, path: str | Path) -> Path:
        """Write a JSON file from which ``Audit.load`` makes an equal audit; return its path.

        Its domain and its recipe are not kept, nor examples that JSON cannot hold.
        """
        from unskew.audits.saved import audit_text
        from unskew.io.files import write_text

        path = Path(path)
        write_text(path, audit_text(self))
        return path

    @classmethod
    def load(cls, path: str | Path) -> Audit:
        """Return the audit in a file that ``save`` wrote. Nothing in the file is run."""
        from unskew.audits.saved import audit_fields
        from unskew.io.location import plain_errors

        with plain_errors(path, reading=True):
            data = Path(path).read_bytes()
        try:
            return cls(**audit_fields(data))
        except UnskewError as error:
            raise UnskewError(
                f"{path} cannot be read as an audit ({error}); save the audit again"
            ) from error

    def __repr__(self) -> str:
        """Return one line; ``print`` draws the table."""
        return f"<Audit of {self.label}: {self.n} examples, by {', '.join(self.variables)}>"

    def __str__(self) -> str:
        """Return the table as text."""
        return _text(self)

    def picture(self, path: str | Path) -> Path:
        """Write the histograms as a picture: .png, .svg or a self-contained .html page."""
        return _picture(self, path)

    def open(self) -> Path:
        """Open the page in the browser; return the path of the page, a temporary file."""
        return _open(self)

    def to_pandas(self) -> Any:
        """Return a pandas DataFrame with a row for each value of each variable.

        Its columns are variable, value, count and share.
        """
        from unskew.audits.frames import pandas_frame

        return pandas_frame(_report(self))

    def to_polars(self) -> Any:
        """Return a Polars DataFrame with the rows of ``to_pandas``.

        The values are texts if they are of several kinds.
        """
        from unskew.audits.frames import polars_frame

        return polars_frame(_report(self))

    def _repr_html_(self) -> str:
        """Return the table for a notebook."""
        return _notebook(self)

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
            del side["variables"], side["plan"]
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

    def open(self) -> Path:
        """Open the page in the browser; return the path of the page, a temporary file."""
        return _open(self)

    def to_pandas(self) -> Any:
        """Return a pandas DataFrame with a row for each value of each variable on each side.

        Its columns are side, variable, value, count and share.
        """
        from unskew.audits.frames import pandas_frame

        return pandas_frame(_report(self))

    def to_polars(self) -> Any:
        """Return a Polars DataFrame with the rows of ``to_pandas``.

        The values are texts if they are of several kinds.
        """
        from unskew.audits.frames import polars_frame

        return polars_frame(_report(self))

    def _repr_html_(self) -> str:
        """Return the table for a notebook."""
        return _notebook(self)

    def __rich__(self) -> RenderableType:
        """Return the table for a terminal."""
        return _table(self)


def _text(result: Audit | Comparison) -> str:
    from unskew.audits.report.terminal import as_text

    return as_text(result)


def _picture(result: Audit | Comparison, path: str | Path) -> Path:
    from unskew.audits.report import write_picture

    return write_picture(_report(result), path)


def _open(result: Audit | Comparison) -> Path:
    from unskew.audits.report import open_page
    from unskew.audits.report.page import page

    return open_page(page(_report(result)))


def _notebook(result: Audit | Comparison) -> str:
    from unskew.audits.report.notebook import notebook

    return notebook(_report(result))


def _table(result: Audit | Comparison) -> RenderableType:
    from unskew.audits.report.terminal import tables

    return tables(_report(result))


def _report(result: Audit | Comparison) -> Report:
    """Return what a report shows of a result."""
    if isinstance(result, Audit):
        return Report({"": result}, {name: (v,) for name, v in result.variables.items()})
    before, after = result.before, result.after
    return Report(
        {"before": before, "after": after},
        result.variables,
        sorted(set(before.variables) ^ set(after.variables)),
        result.other_bins,
    )
