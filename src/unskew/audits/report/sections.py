"""The parts of a page: the summary table, and a section for each variable."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from unskew.audits.records import Report, VariableAudit
from unskew.audits.report import words
from unskew.audits.report.charts import pooling_note
from unskew.audits.report.pooling import pooled
from unskew.audits.report.templates import Data

if TYPE_CHECKING:
    from unskew.audits.plan import Plan

AUDIT_STATISTICS = ("values", "KL", "TV", "entropy", words.NEVER_SEEN, words.MOST_FREQUENT)
PLAN_COLUMNS = ("largest TV", "variable", "mean TV", "KL left", "KL that must remain")
SPARK_BARS = 32
LONGEST_TABLE = 2_000  # rows; past this a browser becomes slow and nobody reads on


def summary(report: Report) -> Data:
    """Return the summary table: the same columns as in a terminal."""
    rows = [
        {
            **words.row(*sides),
            **words.by_side(report, _sparks(sides)),
            "measured": words.measured(*sides),
        }
        for sides in report.variables.values()
    ]
    return {"columns": words.columns(report), "numbers": words.NUMBERS, "rows": rows}


def plan(plan: Plan) -> Data:
    """Return the section of a plan: what each price buys, and the command."""
    line, command = plan.lines
    rows = [
        (
            f"{point.draws:.3g}",
            words.number(point.farthest[1]),
            words.shown(point.farthest[0], 60),
            words.number(sum(point.apart.values()) / len(point.apart)),
            words.number(point.distance),
            words.number(max(point.bound, 0.0)),
        )
        for point in plan.points
    ]
    about = (
        f"Of {plan.examples:,} examples, {line}. The variables are those that are most skewed and "
        "can be balanced. TV is the total variation from uniform."
    )
    return {
        "about": about,
        "columns": (plan.price, *PLAN_COLUMNS),
        "rows": rows,
        "command": command,
    }


def variable(before: VariableAudit, after: VariableAudit | None = None) -> Data:
    """Return the section of a variable: its statistics and its exact histogram."""
    statistics = words.row(before, after)
    if after is None:
        statistics = {term: statistics[term] for term in AUDIT_STATISTICS}
        sides = {"": before}
    else:
        statistics |= {
            "entropy": words.arrow(before.entropy, after.entropy),
            "values": f"{words.values(before)} → {words.values(after)}",
            words.NEVER_SEEN: f"{words.missing(before)} → {words.missing(after)}",
            f"{words.MOST_FREQUENT} before": words.most_frequent(before),
            f"{words.MOST_FREQUENT} after": words.most_frequent(after),
        }
        del statistics["variable"]
        sides = {"before": before, "after": after}
    return {
        "name": words.shown(before.name, 200),
        "doc": [text for text in (words.measured(before, after), pooling_note(before)) if text],
        "size": words.some(len(before.counts), "value"),
        "facts": [
            (term, text, term.startswith(words.MOST_FREQUENT)) for term, text in statistics.items()
        ],
        "table": exact(sides),
    }


def exact(sides: Mapping[str, VariableAudit]) -> Data:
    """Return counts and shares of each value as a table, one pair of columns for each side."""
    support = list(next(iter(sides.values())).counts)
    more = len(support) - LONGEST_TABLE
    return {
        "titles": [f"{side} {what}".strip() for side in sides for what in ("count", "share")],
        "rows": [
            (
                words.shown(value, 200),
                [
                    text
                    for side in sides.values()
                    for count in [side.counts[value]]
                    for text in (f"{count:,}", words.percent(count / side.n))
                ],
            )
            for value in support[:LONGEST_TABLE]
        ],
        "more": f"{more:,}" if more > 0 else "",
    }


def _sparks(sides: Sequence[VariableAudit]) -> list[list[tuple[str, str]]]:
    """Return small histograms to one scale: for each bar its upper end and its height, of 20."""
    histograms = [pooled(variable, SPARK_BARS) for variable in sides]
    top = max(bar.height for bars in histograms for bar in bars)
    heights = [
        [max(20 * bar.height / top, 0.4) if bar.count else 0 for bar in bars] for bars in histograms
    ]
    return [[(f"{20 - height:.2f}", f"{height:.2f}") for height in bars] for bars in heights]
