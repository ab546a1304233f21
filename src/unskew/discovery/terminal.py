"""What was found, as tables and sentences in a terminal of any width."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from rich import box
from rich.console import Console, ConsoleOptions, Group, RenderableType, RenderResult
from rich.measure import Measurement
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from unskew.audits.records import VariableAudit
from unskew.audits.report.pooling import sparks
from unskew.audits.report.words import number, percent, shown, some
from unskew.core.visible import Visible
from unskew.discovery.sentences import blind_sentence, value
from unskew.discovery.short import short_name

if TYPE_CHECKING:
    from unskew.discovery.finding import Discovery, Finding, FindingKind

TOLD = 3  # findings of each kind that a sentence is about
LONGEST_NAME = 30  # a longer name is folded
BARS = 16
TITLES: Mapping[FindingKind, str] = {
    "shortcut": "what gives the answer away",
    "failure": "where the model fails",
    "shift": "what differs between the two",
    "skew": "what is skewed",
    "slice": "combinations in which the model fails",
    "joint": "combinations that come too often, or too seldom",
}


@dataclass(frozen=True)
class Column:
    """A column of a table; ``rank`` says how long it stays when the terminal is narrow."""

    heading: str
    cell: Callable[[Finding], str]
    rank: int
    right: bool = True


def most_frequent(finding: Finding) -> str:
    """Return the most frequent value and its share."""
    rows = sum(finding.counts.values())
    most = max(finding.counts, key=lambda value: finding.counts[value])
    return f"{shown(most, 18)} {percent(finding.counts[most] / rows)}"


def histogram(finding: Finding) -> str:
    """Return the histogram as one character a bar."""
    [bars] = sparks([VariableAudit(finding.name, finding.counts, declared=False)], BARS)
    return bars


def values(finding: Finding) -> str:
    """Return the values of a combination."""
    return ", ".join(map(value, finding.measures["values"].values()))


def shown_name(finding: Finding) -> str:
    """Return the name of a finding, of many edges of bins the first and the last one."""
    return " × ".join(map(short_name, finding.names))


def _share(name: str) -> Callable[[Finding], str]:
    return lambda finding: percent(finding.measures[name])


NAME = Column("variable", shown_name, 9, right=False)
HISTOGRAM = Column("histogram", histogram, 4, right=False)
COLUMNS: Mapping[FindingKind, Sequence[Column]] = {
    "skew": (
        NAME,
        Column("skew", lambda finding: percent(finding.score), 8),
        Column("KL", lambda finding: number(finding.measures["kl"]), 3),
        Column("against", lambda finding: finding.measures["null"], 1, right=False),
        Column("most frequent", most_frequent, 5, right=False),
        HISTOGRAM,
    ),
    "shortcut": (
        NAME,
        Column("gives away", lambda finding: percent(finding.score), 8),
        Column("it alone", lambda finding: f"{finding.measures['accuracy']:.2f}", 7),
        Column("blind", lambda finding: f"{finding.measures['blind']:.2f}", 6),
        Column("most frequent", most_frequent, 3, right=False),
        HISTOGRAM,
    ),
    "failure": (
        NAME,
        Column("value", lambda finding: value(finding.measures["value"]), 7, right=False),
        Column("fails", _share("rate"), 8),
        Column("elsewhere", _share("rest"), 6),
        Column("rows", lambda finding: f"{finding.measures['rows']:,}", 5),
        HISTOGRAM,
    ),
    "shift": (
        NAME,
        Column("shift", lambda finding: percent(finding.score), 8),
        Column("TV", lambda finding: number(finding.measures["total_variation"]), 4),
        Column("value", lambda finding: value(finding.measures["value"]), 5, right=False),
        Column("here", _share("here"), 6),
        Column("there", _share("there"), 6),
    ),
    "slice": (
        NAME,
        Column("values", values, 7, right=False),
        Column("fails", _share("rate"), 8),
        Column("elsewhere", _share("rest"), 6),
        Column("rows", lambda finding: f"{finding.measures['rows']:,}", 5),
    ),
    "joint": (
        NAME,
        Column("values", values, 7, right=False),
        Column("rows", lambda finding: f"{finding.measures['rows']:,}", 8),
        Column("expected", lambda finding: f"{finding.measures['expected']:,.0f}", 6),
    ),
}


def drawing(discovery: Discovery) -> RenderableType:
    """Draw a table for each kind of finding, worst first, and say more about the worst ones."""
    return Visible(Group(*_parts(discovery)))


def _parts(discovery: Discovery) -> Iterator[RenderableType]:
    yield Text.assemble((shown(discovery.label, 200), "bold"), f": {facts(discovery)}")
    if discovery.blind is not None:
        yield Text(blind_sentence(discovery.blind))
    if discovery.ceiling is not None:
        yield Text(ceiling_sentence(discovery))
    for kind, title in TITLES.items():
        findings = discovery.of_kind(kind)
        if not findings:
            continue
        yield Text(f"\n{title}", style="bold")
        yield _Fitted(kind, findings)
        for finding in findings[:TOLD]:
            yield Text(finding.sentence)
            yield Padding(Text(finding.command, style="dim"), (0, 0, 0, 2))
    if not discovery.findings:
        yield Text("nothing found: no feature is more skewed than chance would make it")
    for note in notes(discovery):
        yield Text(note, style="dim")


def facts(discovery: Discovery) -> str:
    """Return how many rows were measured, and how many features were proposed and found."""
    rows = some(discovery.rows, "row")
    if discovery.read > discovery.rows:
        rows += f" of {discovery.read:,}, at random"
    return f"{rows}, {some(discovery.proposed, 'feature')} proposed, {len(discovery)} found"


def ceiling_sentence(discovery: Discovery) -> str:
    """Return how well all features together tell two datasets apart."""
    if discovery.ceiling is None:
        return ""
    auc = discovery.ceiling.auc
    return (
        f"All features together tell the two apart with an AUC of {auc:.2f} (0.5 is guessing, 1 "
        "is never wrong)."
    )


def notes(discovery: Discovery) -> list[str]:
    """Return what else to know: notes, and how many features are not listed, and why."""
    left = sorted(discovery.left_out.items(), key=lambda pair: -pair[1])
    listed = "; ".join(f"{shown(reason, 200)} ({count:,})" for reason, count in left if count)
    return [*discovery.notes, *([f"not listed: {listed}"] if listed else [])]


@dataclass(frozen=True)
class _Fitted:
    """A table with as many columns as fit without folding."""

    kind: FindingKind
    findings: Sequence[Finding]

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        unlimited = options.update(max_width=100_000)
        columns, without = list(COLUMNS[self.kind]), list[str]()
        while True:
            table = _table(columns, self.findings)
            fits = Measurement.get(console, unlimited, table).maximum <= options.max_width
            if fits or len(columns) <= 2:
                break
            least = min(columns, key=lambda column: column.rank)
            columns.remove(least)
            without.append(least.heading)
        yield table
        if without:
            yield Text(f"a wider terminal adds: {', '.join(without)}", style="dim")


def _table(columns: Sequence[Column], findings: Sequence[Finding]) -> Table:
    table = Table(
        box=box.SIMPLE_HEAD,
        show_edge=False,
        pad_edge=False,
        padding=(0, 1, 0, 0),
        header_style="bold",
    )
    for column in columns:
        is_name = column.heading == NAME.heading
        table.add_column(
            column.heading,
            justify="right" if column.right else "left",
            no_wrap=not is_name,
            overflow="fold" if is_name else "ellipsis",
            max_width=LONGEST_NAME if is_name else None,
        )
    for finding in findings:
        # Text, not str: what comes from data must not be read as markup
        table.add_row(*(Text(column.cell(finding)) for column in columns))
    return table
