"""An audit or a comparison as one HTML file that loads nothing from anywhere."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from functools import cache
from html import escape
from importlib.resources import files
from string import Template
from typing import Any

from unskew.auditing import Audit, Comparison
from unskew.report import sections, words
from unskew.report.charts import Spec, charts, theme
from unskew.report.samples import examples

GLOSSARY = {
    "Support, X": "the values a variable can have: those declared or, where none are declared, "
    "those seen (in a comparison, on either side). |X| is how many there are.",
    "KL": "Kullback-Leibler divergence from uniform in nats: log |X| minus the entropy. 0 means "
    "that every value of X is equally common; log |X| means that only one value occurs.",
    "TV": "total variation distance from uniform, from 0 to 1: the share of the examples that "
    "would have to change their value to make all values equally common.",
    "Entropy": "how spread out the values are, in nats; log |X| at most.",
    "Missing": "values of a declared X that no example has; where no X is declared, whole numbers "
    "that no example has though many examples have the next number below and the next one above.",
    "Homogenize": "keep examples with common values less often, so that a variable comes closer "
    "to uniform. With ε above 0 it does not become uniform: the distance that is left is shown.",
}


def page(result: Audit | Comparison) -> str:
    """Return the whole page."""
    return filled("unskew", _body(result), [responsive(spec) for spec in charts(result)])


def filled(title: str, body: str, specs: Sequence[Spec], style: str = "", script: str = "") -> str:
    """Return a page of a body whose charts have the ids chart-0, chart-1 and so on."""
    data = {"specs": specs, "themes": {"light": theme(dark=False), "dark": theme(dark=True)}}
    return Template(resource("page.html")).substitute(
        title=escape(title),
        style="\n".join([resource("page.css").strip(), style]).strip(),
        body=body,
        charts=json_in_script(data),
        bundle=vega(),
        script="\n".join([resource("page.js").strip(), script]).strip(),
    )


@cache
def vega() -> str:
    """Return Vega as a script; to put it together takes seconds."""
    import vl_convert

    return script_in_script(vl_convert.javascript_bundle("window.vegaEmbed = vegaEmbed;"))


def json_in_script(data: Any) -> str:
    """Write JSON that cannot end the script element it stands in."""
    text = json.dumps(data, separators=(",", ":"), allow_nan=False)
    for character in "<>&":
        text = text.replace(character, f"\\u{ord(character):04x}")
    return text


def script_in_script(source: str) -> str:
    """Break up what would end a script element; in a JavaScript string it means the same."""
    return re.sub(r"<(?=/script|script|!--)", r"\\x3c", source, flags=re.IGNORECASE)


def resource(name: str) -> str:
    """Read a file of this package."""
    return files("unskew.report").joinpath(name).read_text(encoding="utf-8")


def responsive(spec: Spec) -> Spec:
    """Fill the width there is; the title is a heading of the page instead."""
    return {key: value for key, value in spec.items() if key != "title"} | {"width": "container"}


def _body(result: Audit | Comparison) -> str:
    parts = [
        *_head(result),
        sections.summary(result),
        *sections.variables(result),
        *examples(result),
        _glossary(),
    ]
    return "\n".join(parts)


def _head(result: Audit | Comparison) -> list[str]:
    brand = '<p class="brand">unskew</p>'
    if isinstance(result, Audit):
        title = f"<h1>Audit of {escape(words.shown(result.label, 200))}</h1>"
        never = words.never_there(result)
        said = [
            f"In none of the examples: {never}." if never else "",
            *words.dropped_details(result.dropped),
            words.in_bins(result),
            *words.not_measured(result),
        ]
        more = "".join(f"<p>{escape(text)}</p>" for text in said if text)
        facts = f'<p class="sources">{escape(words.facts(result))}</p>'
        return [brand, title, facts, f'<div class="lead">{more}</div>' if more else ""]
    sides = "".join(
        f"<li>{side}: <strong>{escape(words.shown(audit.label, 200))}</strong>, "
        f"{escape(words.facts(audit))}</li>"
        for side, audit in (("Before", result.before), ("After", result.after))
    )
    said = [" ".join(words.changes(result)), words.left(result)]
    said += [words.in_bins(result), words.one_sided(result)]
    lead = "".join(f"<p>{escape(text)}</p>" for text in said if text)
    return [
        brand,
        "<h1>Before and after</h1>",
        f'<ul class="sources">{sides}</ul>',
        f'<div class="lead">{lead}</div>',
    ]


def _glossary() -> str:
    terms = "".join(
        f"<dt>{escape(term)}</dt><dd>{escape(GLOSSARY[term])}</dd>" for term in GLOSSARY
    )
    return (
        f'<section><details><summary>Glossary</summary><dl class="glossary">{terms}</dl></details>'
        "</section>"
    )
