"""Audits and comparisons as tables in a terminal of any width."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from rich import box
from rich.console import Console, ConsoleOptions, RenderableType, RenderResult
from rich.measure import Measurement
from rich.table import Table
from rich.text import Text

from unskew.audits.audit import Audit, Comparison, VariableAudit
from unskew.audits.report import words
from unskew.audits.report.pooling import sparks

LONGEST_NAME = 20  # a longer one takes more lines, not the place of other columns


def audit_tables(audit: Audit) -> Iterator[RenderableType]:
    """Draw one audit: a heading, then a row for each variable."""
    yield _heading(audit)
    yield _Fitted(
        [
            _audit_table(audit, (), most=3, bars=16),
            _audit_table(audit, (), most=2, bars=12),
            _audit_table(audit, ("entropy",), most=2, bars=12),
            _audit_table(audit, ("entropy",), most=1, bars=12),
            _audit_table(audit, ("entropy", words.NEVER_SEEN), most=1, bars=12),
            _audit_table(audit, ("entropy", words.NEVER_SEEN, "commonest"), most=1, bars=12),
            _audit_table(
                audit, ("entropy", words.NEVER_SEEN, "commonest", "values"), most=1, bars=8
            ),
            _audit_table(audit, ("entropy", words.NEVER_SEEN, "commonest", "values", "histogram")),
        ]
    )
    if never := words.never_there(audit):
        yield Text(f"in none of the examples: {never}")
    for line in words.dropped_details(audit.dropped):
        yield Text(line, style="dim")
    if told := words.in_bins(audit):
        yield Text(told, style="dim")
    for line in words.not_measured(audit):
        yield Text(line, style="dim")


def comparison_tables(comparison: Comparison) -> Iterator[RenderableType]:
    """Draw before and after: a heading each, a row for each variable, and what is left."""
    yield _heading(comparison.before, "before: ")
    yield _heading(comparison.after, "after: ")
    yield _Fitted(
        [
            _comparison_table(comparison, (), bars=16),
            _comparison_table(comparison, (), bars=10),
            _comparison_table(comparison, ("before", "after")),
            _comparison_table(comparison, ("before", "after", "TV")),
        ]
    )
    if told := words.split(comparison):
        yield Text(told)
    yield Text(words.left(comparison))
    if told := words.supports(comparison):
        yield Text(told, style="dim")
    if told := words.in_bins(comparison):
        yield Text(told, style="dim")
    if note := words.one_sided(comparison):
        yield Text(note, style="dim")


@dataclass(frozen=True)
class _Draft:
    """A table that may be drawn, and the columns it does without."""

    make: Callable[[], Table]
    without: Sequence[str]


@dataclass(frozen=True)
class _Fitted:
    """The first of several drafts that fits without folding, else the last."""

    drafts: Sequence[_Draft]

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        unlimited = options.update(max_width=100_000)
        for draft in self.drafts:
            table = draft.make()
            if Measurement.get(console, unlimited, table).maximum <= options.max_width:
                break
        yield table
        if draft.without:
            yield Text(f"a wider terminal adds: {', '.join(draft.without)}", style="dim")


def _audit_table(audit: Audit, without: Sequence[str], most: int = 3, bars: int = 16) -> _Draft:
    def cells(variable: VariableAudit) -> dict[str, str]:
        histogram = sparks([variable], bars)[0]
        return {**words.audit_row(variable, most), "histogram": histogram}

    columns = [column for column in words.AUDIT_COLUMNS if column not in without]
    return _Draft(lambda: _table(columns, map(cells, audit.variables.values())), without)


def _comparison_table(comparison: Comparison, without: Sequence[str], bars: int = 16) -> _Draft:
    def cells(name: str) -> dict[str, str]:
        before, after = sparks(comparison.variables[name], bars)
        return {**words.comparison_row(comparison, name), "before": before, "after": after}

    columns = [column for column in words.COMPARISON_COLUMNS if column not in without]
    return _Draft(lambda: _table(columns, map(cells, comparison.variables)), without)


def _table(columns: Sequence[str], rows: Iterator[dict[str, str]]) -> Table:
    # Text, not str: what comes from data must not be read as markup
    table = Table(
        box=box.SIMPLE_HEAD,
        show_edge=False,
        pad_edge=False,
        padding=(0, 1, 0, 0),
        header_style="bold",
    )
    for column in columns:
        table.add_column(
            column,
            justify="right" if column in words.NUMBERS else "left",
            no_wrap=column != "variable",
            overflow="fold" if column == "variable" else "ellipsis",
            max_width=LONGEST_NAME if column == "variable" else None,
        )
    for row in rows:
        table.add_row(*(Text(row[column]) for column in columns))
    return table


def _heading(audit: Audit, side: str = "") -> Text:
    label = (words.shown(audit.label, 200), "bold")
    return Text.assemble(side, label, ": ", words.facts(audit))
