"""Audits and comparisons as tables in a terminal of any width."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from rich import box
from rich.console import Console, ConsoleOptions, Group, RenderableType, RenderResult
from rich.measure import Measurement
from rich.table import Table
from rich.text import Text

from unskew.audits.records import Report
from unskew.audits.report import words
from unskew.audits.report.pooling import sparks
from unskew.core.visible import Visible

LONGEST_NAME = 20  # a longer name is folded, so that it takes no room from other columns


def tables(report: Report) -> RenderableType:
    """Draw a heading for each side, a row for each variable, and what else is to be known."""
    return Visible(Group(*_parts(report)))


def _parts(report: Report) -> Iterator[RenderableType]:
    for name, side in report.sides.items():
        label = (words.shown(side.label, 200), "bold")
        yield Text.assemble(words.titled(name), label, ": ", words.facts(side))
    if len(report.sides) == 1:
        drafts = [
            _draft(report, (), most=3, bars=16),
            _draft(report, (), most=2, bars=12),
            _draft(report, ("entropy",), most=2, bars=12),
            _draft(report, ("entropy",), most=1, bars=12),
            _draft(report, ("entropy", "missing"), most=1, bars=12),
            _draft(report, ("entropy", "missing", "commonest"), most=1, bars=12),
            _draft(report, ("entropy", "missing", "commonest", "values"), most=1, bars=8),
            _draft(report, ("entropy", "missing", "commonest", "values", "histogram")),
        ]
        never = words.never_there(report)
        lead = [f"in none of the examples: {never}" if never else ""]
    else:
        drafts = [
            _draft(report, (), bars=16),
            _draft(report, (), bars=10),
            _draft(report, ("before", "after")),
            _draft(report, ("before", "after", "TV")),
        ]
        lead = [
            words.split(report.variables),
            words.left(report.sides["after"].recipe, report.variables),
        ]
    yield _Fitted(drafts)
    yield from map(Text, filter(None, lead))
    for note in words.notes(report):
        yield Text(note, style="dim")


@dataclass(frozen=True)
class _Draft:
    """A table that may be drawn, and the columns that are left out of it."""

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


def _draft(report: Report, without: Sequence[str], most: int = 3, bars: int = 16) -> _Draft:
    """Return a table with ``most`` frequent values and so many bars in a histogram."""
    columns = words.columns(report)

    def make() -> Table:
        rows = [
            {
                **words.row(*sides, most=most),
                **dict(zip(columns[-len(sides) :], sparks(sides, bars), strict=True)),
            }
            for sides in report.variables.values()
        ]
        return _table([column for column in columns if column not in without], rows)

    return _Draft(make, without)


def _table(columns: Sequence[str], rows: Sequence[dict[str, str]]) -> Table:
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
