"""The part of a page that shows a few of the examples."""

from __future__ import annotations

from collections.abc import Iterator
from html import escape
from typing import Any

from unskew.auditing import Audit, Comparison
from unskew.domain import Domain, domain_code, example_text
from unskew.errors import UnskewError
from unskew.report import words

LONGEST = 4_000  # characters of an example as text
_NAMESPACE = ' xmlns="http://www.w3.org/2000/svg"'  # which a page has already


def examples(result: Audit | Comparison) -> Iterator[str]:
    """Return a section with the first few examples, of both sides of a comparison."""
    sides = [result] if isinstance(result, Audit) else [result.before, result.after]
    names = [""] if isinstance(result, Audit) else ["Before: ", "After: "]
    shown = "".join(_side(name, audit) for name, audit in zip(names, sides, strict=True))
    if shown:
        heading = '<h2 id="examples">Examples</h2>'
        yield f'<section aria-labelledby="examples">{heading}\n{shown}</section>'


def _side(name: str, audit: Audit) -> str:
    if not audit.samples:
        return ""
    heading = f"<h3>{escape(name + words.shown(audit.label, 200))}</h3>\n" if name else ""
    return heading + "\n".join(_example(example, audit.domain) for example in audit.samples)


def _example(example: Any, domain: Domain | None) -> str:
    """Draw an example, or write it where it cannot be drawn: data is not always what it says."""
    if domain is not None and domain.draw is not None:
        try:
            with domain_code(domain, "draw"):
                drawing = domain.draw(example).replace(_NAMESPACE, "", 1)
            return f'<div class="example">{drawing}</div>'
        except UnskewError:
            domain = None
    try:
        text = example_text(example, domain)
    except UnskewError:
        text = example_text(example, None)
    cut = text if len(text) <= LONGEST else text[: LONGEST - 1] + "…"
    return f'<pre class="example">{escape(cut)}</pre>'
