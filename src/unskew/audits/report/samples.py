"""The part of a page that shows a few of the examples."""

from __future__ import annotations

from typing import Any

from unskew.audits.audit import Audit, Comparison
from unskew.audits.report import words
from unskew.core.domain import Domain, domain_code, example_text
from unskew.core.errors import UnskewError

LONGEST = 4_000  # characters of an example as text
_NAMESPACE = ' xmlns="http://www.w3.org/2000/svg"'  # which a page has already


def examples(result: Audit | Comparison) -> list[tuple[str, list[tuple[str | None, str]]]]:
    """Return the first few examples under a heading, of both sides of a comparison.

    Each example is a pair: its drawing (None where it has none) and, without a drawing, its text.
    """
    if isinstance(result, Audit):
        sides = {"": result}
    else:
        sides = {
            f"{side}: {words.shown(audit.label, 200)}": audit
            for side, audit in (("Before", result.before), ("After", result.after))
        }
    return [
        (heading, [_example(example, audit.domain) for example in audit.samples])
        for heading, audit in sides.items()
        if audit.samples
    ]


def _example(example: Any, domain: Domain | None) -> tuple[str | None, str]:
    """Draw an example, or write it where it cannot be drawn: data is not always what it says."""
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
