"""What was found, as one HTML file that loads nothing and runs no script.

Each bar of a histogram opens, and shows rows that have its value.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from unskew.audits.report import check_page
from unskew.audits.report.templates import Data, render
from unskew.audits.report.words import number, percent, shown, some
from unskew.core.domain import example_text
from unskew.core.visible import visible
from unskew.discovery.sentences import blind_sentence
from unskew.discovery.terminal import COLUMNS, NAME, TITLES, ceiling_sentence, facts, shown_name
from unskew.io.files import write_text

if TYPE_CHECKING:
    from unskew.discovery.finding import Discovery, Finding, FindingKind

BARS = 30  # of more values, the most frequent ones are shown
EXAMPLES = 3  # of each value
LONGEST = 800  # characters of an example
LABEL = 60  # characters of a value
HISTOGRAM = "histogram"


def page(discovery: Discovery) -> str:
    """Return the whole page."""
    findings = [finding for kind in TITLES for finding in discovery.of_kind(kind)]
    numbered = list(enumerate(findings))
    groups = [
        _group(title, kind, [pair for pair in numbered if pair[1].kind == kind])
        for kind, title in TITLES.items()
        if discovery.of_kind(kind)
    ]
    left_out = sorted(discovery.left_out.items(), key=lambda pair: -pair[1])
    html = render(
        "discovery/report/page.html",
        label=shown(discovery.label, 200),
        facts=facts(discovery),
        lead=list(_lead(discovery)),
        groups=groups,
        findings=[_section(finding, discovery) for finding in findings],
        left_out=[(shown(reason, 200), f"{count:,}") for reason, count in left_out if count],
    )
    return visible(html)  # what comes from data may hold control characters


def save_page(discovery: Discovery, path: str | Path) -> Path:
    """Write the page to an .html file; return its path."""
    path = Path(path)
    check_page(path)
    write_text(path, page(discovery))
    return path


def _lead(discovery: Discovery) -> Iterator[str]:
    """Yield what a reader should know first."""
    if discovery.blind is not None:
        yield blind_sentence(discovery.blind)
    if discovery.ceiling is not None:
        yield ceiling_sentence(discovery)
    if not discovery.findings:
        yield "Nothing found: no feature is more skewed than chance would make it."
    yield from discovery.notes


def _group(title: str, kind: FindingKind, numbered: Sequence[tuple[int, Finding]]) -> Data:
    """Return the table of the findings of one kind: the columns of the terminal."""
    columns = [c for c in COLUMNS[kind] if c.heading not in (NAME.heading, HISTOGRAM)]
    return {
        "title": title.capitalize(),
        "columns": [(column.heading, column.right) for column in columns],
        "rows": [
            (place, shown_name(finding), [column.cell(finding) for column in columns])
            for place, finding in numbered
        ],
    }


def _section(finding: Finding, discovery: Discovery) -> Data:
    """Return what the page says of one finding."""
    bars, more = _bars(finding, discovery)
    return {
        "name": shown_name(finding),
        "doc": finding.doc,
        "sentence": finding.sentence,
        "command": finding.command,
        "p": number(finding.p) if finding.p >= 1e-12 else "below 1e-12",
        "bars": bars,
        "more": f"{some(more, 'more value')} with fewer rows" if more else "",
        "synonyms": [shown(name, 90) for name in finding.synonyms],
        "implied": [shown(name, 90) for name in finding.implied],
    }


def _bars(finding: Finding, discovery: Discovery) -> tuple[list[Data], int]:
    """Return the bars of a histogram, in the order of the values, and how many are left out."""
    counts = finding.counts
    rows, top = max(1, sum(counts.values())), max(counts.values(), default=1)
    most = set(sorted(counts, key=lambda value: -counts[value])[:BARS])
    bars: list[Data] = [
        {
            "label": shown(value, LABEL),
            "width": f"{100 * count / max(1, top):.2f}",
            "rows": some(count, "row"),
            "share": percent(count / rows),
            "examples": _examples(finding, value, discovery),
        }
        for value, count in counts.items()
        if value in most
    ]
    return bars, len(counts) - len(bars)


def _examples(finding: Finding, value: Hashable, discovery: Discovery) -> list[tuple[str, str]]:
    """Return some rows that have a value: their numbers, counted from 1, and their texts."""
    rows = [row for row in finding.examples.get(value, ()) if row in discovery.samples]
    return [(f"{row + 1:,}", _text(discovery.samples[row])) for row in rows[:EXAMPLES]]


def _text(example: Any) -> str:
    text = example_text(example, None)
    return text if len(text) <= LONGEST else text[: LONGEST - 1] + "…"
