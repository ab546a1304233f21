"""An audit or a comparison as one HTML file that loads nothing from anywhere."""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import cache
from typing import Any

from unskew.audits.audit import Audit, Comparison
from unskew.audits.report import sections, words
from unskew.audits.report.charts import Spec, charts, theme
from unskew.audits.report.samples import examples
from unskew.audits.report.templates import Data, render

THEMES = {"light": theme(dark=False), "dark": theme(dark=True)}


def page(result: Audit | Comparison) -> str:
    """Return the whole page."""
    return filled(
        "audits/report/page.html",
        [responsive(spec) for spec in charts(result)],
        head=_head(result),
        summary=sections.summary(result),
        variables=sections.variables(result),
        examples=examples(result),
    )


def filled(template: str, specs: Sequence[Spec], **data: Any) -> str:
    """Fill in a template of a page whose charts have the ids chart-0, chart-1 and so on."""
    return render(template, specs=specs, themes=THEMES, vega=vega(), **data)


@cache
def vega() -> str:
    """Return Vega as a script; to put it together takes seconds."""
    import vl_convert

    return script_in_script(vl_convert.javascript_bundle("window.vegaEmbed = vegaEmbed;"))


def script_in_script(source: str) -> str:
    """Break up what would end a script element; in a JavaScript string it means the same."""
    return re.sub(r"<(?=/script|script|!--)", r"\\x3c", source, flags=re.IGNORECASE)


def responsive(spec: Spec) -> Spec:
    """Fill the width there is; the title is a heading of the page instead."""
    return {key: value for key, value in spec.items() if key != "title"} | {"width": "container"}


def _head(result: Audit | Comparison) -> Data:
    """Return the title, what the data is, and what is to be said of it first."""
    if isinstance(result, Audit):
        never = words.never_there(result)
        lead = [
            f"In none of the examples: {never}." if never else "",
            *words.dropped_details(result.dropped),
            words.in_bins(result),
            *words.not_measured(result),
        ]
        title = f"Audit of {words.shown(result.label, 200)}"
        head: Data = {"title": title, "facts": words.facts(result), "sides": []}
    else:
        lead = [" ".join(words.changes(result)), words.left(result)]
        lead += [words.in_bins(result), words.one_sided(result)]
        sides = [
            (side, words.shown(audit.label, 200), words.facts(audit))
            for side, audit in (("Before", result.before), ("After", result.after))
        ]
        head = {"title": "Before and after", "sides": sides}
    return head | {"lead": [text for text in lead if text]}
