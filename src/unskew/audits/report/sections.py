"""The parts of a page: the summary table, and a section for each variable."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from unskew.audits.audit import Audit, Comparison, VariableAudit
from unskew.audits.report import words
from unskew.audits.report.charts import pooling_note
from unskew.audits.report.pooling import pooled
from unskew.audits.report.templates import Data

AUDIT_STATISTICS = ("values", "KL", "TV", "entropy", words.NEVER_SEEN, "commonest")
SPARK_BARS = 32
LONGEST_TABLE = 2_000  # rows; past this a browser becomes slow and nobody reads on


def summary(result: Audit | Comparison) -> Data:
    """Return the summary table: the same columns as in a terminal."""
    columns: Sequence[str]
    rows: list[Data]
    if isinstance(result, Audit):
        columns = words.AUDIT_COLUMNS
        rows = [
            {**words.audit_row(variable), **_sparks({"histogram": variable})}
            for variable in result.variables.values()
        ]
    else:
        columns = words.COMPARISON_COLUMNS
        rows = [
            {
                **words.comparison_row(result, name),
                **_sparks({"before": before, "after": after}),
            }
            for name, (before, after) in result.variables.items()
        ]
    return {"columns": columns, "numbers": words.NUMBERS, "rows": rows}


def variables(result: Audit | Comparison) -> list[Data]:
    """Return a section for each variable: its statistics and its exact histogram."""
    sections: list[Data] = []
    if isinstance(result, Audit):
        rows = {name: words.audit_row(variable) for name, variable in result.variables.items()}
        return [
            _section(
                variable, {term: rows[name][term] for term in AUDIT_STATISTICS}, {"": variable}
            )
            for name, variable in result.variables.items()
        ]
    sections = []
    for name, (before, after) in result.variables.items():
        statistics = words.comparison_row(result, name) | {
            "entropy": words.arrow(before.entropy, after.entropy),
            "values": f"{words.values(before)} → {words.values(after)}",
            words.NEVER_SEEN: f"{words.missing(before)} → {words.missing(after)}",
            "commonest before": words.commonest(before),
            "commonest after": words.commonest(after),
        }
        del statistics["variable"]
        sections.append(_section(before, statistics, {"before": before, "after": after}))
    return sections


def _section(
    variable: VariableAudit, statistics: Mapping[str, str], sides: Mapping[str, VariableAudit]
) -> Data:
    return {
        "name": words.shown(variable.name, 200),
        "doc": [text for text in (variable.doc, pooling_note(variable)) if text],
        "size": words.some(len(variable.counts), "value"),
        "facts": [(term, text, term.startswith("commonest")) for term, text in statistics.items()],
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


def _sparks(sides: Mapping[str, VariableAudit]) -> dict[str, list[tuple[str, str]]]:
    """Return small histograms to one scale: for each bar its upper end and its height, of 20."""
    drawn = {side: pooled(variable, SPARK_BARS) for side, variable in sides.items()}
    top = max(bar.height for bars in drawn.values() for bar in bars)
    heights = {
        side: [max(20 * bar.height / top, 0.4) if bar.count else 0 for bar in bars]
        for side, bars in drawn.items()
    }
    return {
        side: [(f"{20 - height:.2f}", f"{height:.2f}") for height in of_side]
        for side, of_side in heights.items()
    }
