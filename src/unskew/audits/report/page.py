"""An audit or a comparison as one HTML file that loads nothing from anywhere."""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import cache
from typing import TYPE_CHECKING, Any

from unskew.audits.records import Report
from unskew.audits.report import sections, words
from unskew.audits.report.charts import Spec, charts, plan_chart, theme
from unskew.audits.report.samples import examples
from unskew.audits.report.templates import Data, render

if TYPE_CHECKING:
    from unskew.audits.plan import Plan

THEMES = {"light": theme(dark=False), "dark": theme(dark=True)}


def page(report: Report) -> str:
    """Return the whole page."""
    specs = charts(report)
    plan = _plan(report)
    if plan is not None:
        specs = [*specs, plan_chart(plan)]
    return filled(
        "audits/report/page.html",
        [responsive(spec) for spec in specs],
        head=_head(report),
        summary=sections.summary(report),
        variables=[sections.variable(*sides) for sides in report.variables.values()],
        examples=examples(report),
        plan=sections.plan(plan) if plan is not None else None,
    )


def _plan(report: Report) -> Plan | None:
    """Return the plan of a single audit."""
    [side, *others] = report.sides.values()
    return side.plan if not others else None


def filled(template: str, specs: Sequence[Spec], **data: Any) -> str:
    """Fill in a template of a page whose charts have the ids chart-0, chart-1 and so on."""
    return render(template, specs=specs, themes=THEMES, vega=vega(), **data)


@cache
def vega() -> str:
    """Return Vega as a script; making it takes seconds."""
    import vl_convert

    return script_in_script(vl_convert.javascript_bundle("window.vegaEmbed = vegaEmbed;"))


def script_in_script(source: str) -> str:
    """Escape what would end a script element; in a JavaScript string the meaning is the same."""
    return re.sub(r"<(?=/script|script|!--)", r"\\x3c", source, flags=re.IGNORECASE)


def responsive(spec: Spec) -> Spec:
    """Return a chart that fills the width there is; its title is a heading of the page instead."""
    return {key: value for key, value in spec.items() if key != "title"} | {"width": "container"}


def _head(report: Report) -> Data:
    """Return the title, what the data is, and what a reader should know first."""
    sides = [
        (name.capitalize(), words.shown(side.label, 200), words.facts(side))
        for name, side in report.sides.items()
    ]
    if len(sides) == 1:
        [(_, label, facts)] = sides
        never = words.never_there(report)
        lead = [f"In none of the examples: {never}."] if never else []
        head: Data = {"title": f"Audit of {label}", "facts": facts, "sides": []}
    else:
        lead = [
            " ".join(words.changes(report.variables)),
            words.left(report.sides["after"].recipe, report.variables),
        ]
        head = {"title": "Before and after", "sides": sides}
    return head | {"lead": [*lead, *words.notes(report)]}
