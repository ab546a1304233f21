"""The parts of a page: the summary table, and a section for each variable."""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Mapping, Sequence
from html import escape

from unskew.audits.audit import Audit, Comparison, VariableAudit
from unskew.audits.report import words
from unskew.audits.report.charts import pooling_note
from unskew.audits.report.pooling import pooled

AUDIT_STATISTICS = ("values", "KL", "TV", "entropy", "missing", "commonest")
SPARK_BARS = 32
LONGEST_TABLE = 2_000  # rows; past this a browser becomes slow and nobody reads on


def summary(result: Audit | Comparison) -> str:
    """Return the summary table: the same columns as in a terminal."""
    columns: Sequence[str]
    rows: list[dict[str, str]] = []
    if isinstance(result, Audit):
        columns = words.AUDIT_COLUMNS
        for variable in result.variables.values():
            drawn = _sparks({"histogram": variable})
            rows.append(_escaped(words.audit_row(variable)) | drawn)
    else:
        columns = words.COMPARISON_COLUMNS
        for name, (before, after) in result.variables.items():
            drawn = _sparks({"before": before, "after": after})
            rows.append(_escaped(words.comparison_row(result, name)) | drawn)
    head = "".join(f'<th scope="col"{_align(column)}>{column}</th>' for column in columns)
    body = "\n".join(_summary_row(i, columns, row) for i, row in enumerate(rows))
    return (
        '<section aria-labelledby="summary"><h2 id="summary">Summary</h2>\n'
        f'<table class="cards"><thead><tr>{head}</tr></thead>\n'
        f"<tbody>{body}</tbody></table></section>"
    )


def variables(result: Audit | Comparison) -> Iterator[str]:
    """Return a section for each variable: its chart, its statistics, its exact histogram."""
    if isinstance(result, Audit):
        for i, variable in enumerate(result.variables.values()):
            row = words.audit_row(variable)
            statistics = {term: row[term] for term in AUDIT_STATISTICS}
            yield _section(i, variable, statistics, {"": variable})
        return
    for i, (name, (before, after)) in enumerate(result.variables.items()):
        statistics = words.comparison_row(result, name) | {
            "entropy": words.arrow(before.entropy, after.entropy),
            "values": f"{words.values(before)} → {words.values(after)}",
            "missing": f"{words.missing(before)} → {words.missing(after)}",
            "commonest before": words.commonest(before),
            "commonest after": words.commonest(after),
        }
        del statistics["variable"]
        yield _section(i, before, statistics, {"before": before, "after": after})


def _section(
    i: int, variable: VariableAudit, statistics: dict[str, str], sides: dict[str, VariableAudit]
) -> str:
    terms = "".join(
        f"<div{_wide(term)}><dt>{escape(term)}</dt><dd>{escape(text)}</dd></div>"
        for term, text in statistics.items()
    )
    doc = "".join(
        f'<p class="doc">{escape(text)}</p>'
        for text in (variable.doc, pooling_note(variable))
        if text
    )
    size = words.some(len(variable.counts), "value")
    return (
        f'<section id="variable-{i}" aria-labelledby="name-{i}">'
        f'<h2 id="name-{i}">{escape(words.shown(variable.name, 200))}</h2>{doc}\n'
        f'<div class="chart" id="chart-{i}"></div>\n<dl class="facts">{terms}</dl>\n'
        f"<details><summary>Exact histogram, {size}</summary>\n"
        f"{exact(sides)}</details></section>"
    )


def exact(sides: Mapping[str, VariableAudit]) -> str:
    """Return counts and shares of each value as a table, one pair of columns for each side."""
    support: Sequence[Hashable] = list(next(iter(sides.values())).counts)
    titles = [f"{side} {what}".strip() for side in sides for what in ("count", "share")]
    head = "".join(f'<th scope="col" class="number">{title}</th>' for title in titles)
    rows = []
    for value in support[:LONGEST_TABLE]:
        cells = "".join(
            f'<td class="number">{side.counts[value]:,}</td>'
            f'<td class="number">{words.percent(side.counts[value] / side.n)}</td>'
            for side in sides.values()
        )
        rows.append(f'<tr><th scope="row">{escape(words.shown(value, 200))}</th>{cells}</tr>')
    more = len(support) - LONGEST_TABLE
    note = f"<p>{more:,} more values are in the data that to_dict() gives.</p>" if more > 0 else ""
    return (
        f'<table class="exact"><thead><tr><th scope="col">value</th>{head}</tr></thead>\n'
        f"<tbody>{''.join(rows)}</tbody></table>{note}"
    )


def _summary_row(i: int, columns: Sequence[str], row: Mapping[str, str]) -> str:
    name, *others = columns
    cells = "".join(
        f'<td data-column="{column}"{_align(column)}>{row[column]}</td>' for column in others
    )
    return f'<tr><th scope="row"><a href="#variable-{i}">{row[name]}</a></th>{cells}</tr>'


def _sparks(sides: Mapping[str, VariableAudit]) -> dict[str, str]:
    """Draw small histograms to one scale."""
    drawn = {side: pooled(variable, SPARK_BARS) for side, variable in sides.items()}
    top = max(bar.height for bars in drawn.values() for bar in bars)
    return {
        side: f'<svg class="spark {side}" viewBox="0 0 {len(bars)} 20" '
        'preserveAspectRatio="none" aria-hidden="true">'
        + "".join(
            f'<rect x="{x}.1" y="{20 - height:.2f}" width=".8" height="{height:.2f}"/>'
            for x, bar in enumerate(bars)
            for height in [max(20 * bar.height / top, 0.4) if bar.count else 0]
        )
        + "</svg>"
        for side, bars in drawn.items()
    }


def _escaped(row: Mapping[str, str]) -> dict[str, str]:
    return {column: escape(text) for column, text in row.items()}


def _align(column: str) -> str:
    return ' class="number"' if column in words.NUMBERS else ""


def _wide(term: str) -> str:
    return ' class="wide"' if term.startswith("commonest") else ""
