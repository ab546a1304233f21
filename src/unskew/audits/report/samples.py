"""The part of a page that shows a few of the examples."""

from __future__ import annotations

from typing import Any

from unskew.audits.records import Report
from unskew.audits.report import words
from unskew.core.domain import Domain, domain_code, example_text
from unskew.core.errors import UnskewError

LONGEST = 4_000  # characters of an example as text
_NAMESPACE = ' xmlns="http://www.w3.org/2000/svg"'  # a page has it already


def examples(report: Report) -> list[tuple[str, list[tuple[str | None, str]]]]:
    """Return the first few examples of each side, under a heading if there are two sides.

    Each example is a pair: its drawing (None if it has none) and, without a drawing, its text.
    """
    return [
        (
            words.titled(name).capitalize() + words.shown(side.label, 200) if name else "",
            [_example(example, side.domain) for example in side.samples],
        )
        for name, side in report.sides.items()
        if side.samples
    ]


def _example(example: Any, domain: Domain | None) -> tuple[str | None, str]:
    """Draw an example, or print it if it cannot be drawn: data may claim a wrong domain."""
    if domain is not None and domain.views.draw is not None:
        try:
            with domain_code(domain, "draw"):
                return domain.views.draw(example).replace(_NAMESPACE, "", 1), ""
        except UnskewError:
            domain = None
    try:
        text = example_text(example, domain)
    except UnskewError:
        text = example_text(example, None)
    return None, text if len(text) <= LONGEST else text[: LONGEST - 1] + "…"
