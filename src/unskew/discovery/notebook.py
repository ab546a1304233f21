"""What was found, as a piece of HTML for a notebook: tables and sentences, no script."""

from __future__ import annotations

from typing import TYPE_CHECKING

from unskew.audits.report.templates import render
from unskew.core.visible import visible
from unskew.discovery.sentences import blind_sentence
from unskew.discovery.terminal import COLUMNS, TITLES, ceiling_sentence, facts, notes

if TYPE_CHECKING:
    from unskew.discovery.finding import Discovery


def notebook(discovery: Discovery) -> str:
    """Return the tables as HTML that shows in light and dark notebooks."""
    tables = []
    for kind, title in TITLES.items():
        findings = discovery.of_kind(kind)
        rows = [([c.cell(f) for c in COLUMNS[kind]], f.sentence, f.command) for f in findings]
        headings = [(column.heading, column.right) for column in COLUMNS[kind]]
        if rows:
            tables.append((title, headings, rows))
    lead = [
        *([blind_sentence(discovery.blind)] if discovery.blind else []),
        *filter(None, [ceiling_sentence(discovery)]),
    ]
    html = render(
        "discovery/notebook.html",
        label=discovery.label,
        facts=facts(discovery),
        lead=lead,
        tables=tables,
        notes=notes(discovery),
    )
    return visible(html)  # what comes from data may hold control characters
