"""Audits and comparisons as tables in a terminal of any width."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from rich import box
from rich.console import Console, ConsoleOptions, Group, RenderableType, RenderResult
from rich.measure import Measurement
from rich.table import Table
from rich.text import Text

from unskew.audits.records import Report
from unskew.audits.report import words
from unskew.audits.report.pooling import sparks
from unskew.core.visible import Visible

if TYPE_CHECKING:
    from unskew.audits.plan import Plan

LONGEST_NAME = 20  # a longer name is folded, so that it takes no room from other columns
# Ever narrower tables for one side and for two: columns left out, frequent values, bars.
DRAFTS: dict[int, list[tuple[list[str], int, int]]] = {
    1: [
        ([], 3, 16),
        ([], 2, 12),
        (["entropy"], 2, 12),
        (["entropy"], 1, 12),
        (["entropy", words.NEVER_SEEN], 1, 12),
        (["entropy", words.NEVER_SEEN, words.MOST_FREQUENT], 1, 12),
        (["entropy", words.NEVER_SEEN, words.MOST_FREQUENT, "values"], 1, 8),
        (["entropy", words.NEVER_SEEN, words.MOST_FREQUENT, "values", "histogram"], 1, 8),
    ],
    2: [([], 3, 16), ([], 3, 10), (["before", "after"], 3, 8), (["before", "after", "TV"], 3, 8)],
}


def tables(report: Report) -> RenderableType:
    """Draw a heading for each side, a row for each variable, and what else a reader should know."""
    return Visible(Group(*_parts(report)))


def as_text(drawing: RenderableType) -> str:
    """Return what a terminal shows of a drawing, as plain text."""
    console = Console(highlight=False)
    with console.capture() as captured:
        console.print(drawing)
    return captured.get().rstrip("\n")


def _parts(report: Report) -> Iterator[RenderableType]:
    for name, side in report.sides.items():
        label = (words.shown(side.label, 200), "bold")
        yield Text.assemble(words.titled(name), label, ": ", words.facts(side))
    yield _Fitted(report)
    if len(report.sides) == 1:
        never = words.never_there(report)
        lead = [f"in none of the examples: {never}" if never else ""]
    else:
        lead = [
            words.split(report.variables),
            words.left(report.sides["after"].recipe, report.variables),
        ]
    yield from map(Text, filter(None, lead))
    for note in filter(None, [*words.notes(report), words.how_measured(report)]):
        yield Text(note, style="dim")
    plan = words.plan(report)
    if plan:
        yield Text(plan[0])
        yield _Command(plan[1])


def plan_table(plan: Plan) -> RenderableType:
    """Draw a row for each price: what it buys, and how far the variables stay from the targets."""
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False)
    for heading in (plan.price, "farthest from its target", "mean", "KL left"):
        table.add_column(heading, justify="left" if heading.startswith("far") else "right")
    for point in plan.points:
        name, apart = point.farthest
        mean = sum(point.apart.values()) / len(point.apart)
        table.add_row(
            f"{point.draws:.3g}",
            Text(f"{apart:.3f}  {words.shown(name, 40)}"),
            f"{mean:.3f}",
            f"{point.distance:.3f}",
        )
    lines: list[RenderableType] = [
        Text.assemble((words.shown(plan.label, 200), "bold"), f": by {', '.join(plan.names)}"),
        table,
        Text(
            f"total variation from the target, in a sample of {plan.examples:,} examples; no rule "
            "does better at its cost",
            style="dim",
        ),
    ]
    for first, second, nats in plan.conflicts[:3]:
        lines.append(Text(f"{first} and {second} cannot both get there: {nats:.2f} nats remain"))
    if plan.command:
        lines.append(Text(f"choose a row: {plan.command.replace('{draws}', '…')}"))
    return Visible(Group(*lines))


@dataclass(frozen=True)
class _Command:
    """A command in lines that can be copied: a backslash ends each but the last."""

    text: str

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        lines = [""]
        for part in re.split(r" (?=-)", self.text):  # before each option
            if lines[-1] and len(lines[-1]) + len(part) + 3 > options.max_width:
                lines[-1] += " \\"
                lines.append(f"   {part}")
            else:
                lines[-1] += f" {part}"
        yield from (Text(line[1:]) for line in lines)


@dataclass(frozen=True)
class _Fitted:
    """The first of several tables that fits without folding, else the last."""

    report: Report

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        unlimited = options.update(max_width=100_000)
        for without, most, bars in DRAFTS[len(self.report.sides)]:
            table = _table(self.report, without, most, bars)
            if Measurement.get(console, unlimited, table).maximum <= options.max_width:
                break
        yield table
        if without:
            yield Text(f"a wider terminal adds: {', '.join(without)}", style="dim")


def _table(report: Report, without: Sequence[str], most: int, bars: int) -> Table:
    """Return a table with the ``most`` most frequent values, and histograms of ``bars`` bars."""
    table = Table(
        box=box.SIMPLE_HEAD,
        show_edge=False,
        pad_edge=False,
        padding=(0, 1, 0, 0),
        header_style="bold",
    )
    columns = [column for column in words.columns(report) if column not in without]
    for column in columns:
        table.add_column(
            column,
            justify="right" if column in words.NUMBERS else "left",
            no_wrap=column != "variable",
            overflow="fold" if column == "variable" else "ellipsis",
            max_width=LONGEST_NAME if column == "variable" else None,
        )
    for sides in report.variables.values():
        cells = words.row(*sides, most=most) | words.by_side(report, sparks(sides, bars))
        # Text, not str: what comes from data must not be read as markup
        table.add_row(*(Text(cells[column]) for column in columns))
    return table
