"""Histograms as Vega-Lite specifications, which are plain dicts.

Colours are not in the specifications but in ``theme``, so that a page can change them.
"""

from __future__ import annotations

import textwrap
from collections.abc import Mapping, Sequence
from typing import Any, TypeAlias

from unskew.auditing import Audit, Comparison, VariableAudit
from unskew.report import words
from unskew.report.pooling import Bar, pooled

Spec: TypeAlias = dict[str, Any]

MOST_BARS = 60
WIDTH, HEIGHT = 400, 200
SUBTITLE = 78  # characters a line
SIDES = ("before", "after")
FONT = "system-ui, -apple-system, 'Segoe UI', Roboto, 'Helvetica Neue', Arial, sans-serif"


def histogram_chart(variable: VariableAudit) -> Spec:
    """Draw the share of each value in order, with a dashed line where uniform would be."""
    numbers = (
        f"KL {words.number(variable.kl)} nats, "
        f"total variation {words.number(variable.total_variation)}"
    )
    bars = _rows(pooled(variable, MOST_BARS))
    return _chart(variable, numbers, bars, {})


def comparison_chart(
    before: VariableAudit, after: VariableAudit, labels: tuple[str, str] = SIDES
) -> Spec:
    """Draw the shares of both sides next to each other; both must be over the same X."""
    if labels[0] == labels[1]:
        labels = (f"{labels[0]} (before)", f"{labels[1]} (after)")
    removed = words.removed(before, after)
    numbers = (
        f"KL {words.arrow(before.kl, after.kl)} nats"
        f"{'' if removed == words.NONE else f' ({removed} removed)'}, "
        f"total variation {words.arrow(before.total_variation, after.total_variation)}"
    )
    bars = [
        row
        for label, variable in zip(labels, (before, after), strict=True)
        for row in _rows(pooled(variable, MOST_BARS), side=label)
    ]
    sides = {
        "xOffset": {"field": "side", "type": "nominal", "sort": None},
        "color": {
            "field": "side",
            "type": "nominal",
            "sort": None,
            "scale": {"domain": list(labels)},
            "legend": {"title": None, "orient": "top", "labelLimit": 160},
        },
    }
    return _chart(before, numbers, bars, sides)


def charts(result: Audit | Comparison) -> list[Spec]:
    """Draw each variable of a result."""
    if isinstance(result, Audit):
        return [histogram_chart(variable) for variable in result.variables.values()]
    return [comparison_chart(before, after) for before, after in result.variables.values()]


def page_of_charts(specs: Sequence[Spec], columns: int = 2, title: Sequence[str] = ()) -> Spec:
    """Set charts side by side in one specification, for a picture."""
    independent = dict.fromkeys(("color", "xOffset"), "independent")
    page: Spec = {
        "concat": list(specs),
        "columns": columns,
        "spacing": 40,
        "padding": 20,
        "resolve": {"scale": independent, "legend": {"color": "independent"}},
    }
    if title:
        page["title"] = {"text": title[0], "subtitle": list(title[1:]), "offset": 24}
    return page


def heatmap(cells: Sequence[tuple[str, str, float]], x: str, y: str, what: str) -> Spec:
    """Draw shares in a grid, (column, row, share) each, the percentage written in every cell."""
    rows = [{x: column, y: row, "percent": round(100 * share, 1)} for column, row, share in cells]
    names = [{"field": name, "type": "nominal", "sort": None, "title": None} for name in (x, y)]
    places = {"x": {**names[0], "axis": {"labelAngle": -40, "orient": "top"}}, "y": names[1]}
    shade = {
        "field": "percent",
        "type": "quantitative",
        "scale": {"scheme": "blues", "domain": [0, 100]},
        "legend": {"title": f"{what}, %"},
    }
    dark = {"test": "datum.percent > 55", "value": "white"}
    text = {"field": "percent", "type": "quantitative", "format": ".1f"}
    return {
        "data": {"values": rows},
        "width": {"step": 54},
        "height": {"step": 26},
        "encoding": places,
        "layer": [
            {"mark": "rect", "encoding": {"color": shade}},
            {
                "mark": {"type": "text", "fontSize": 11},
                "encoding": {"text": text, "color": {"condition": dark, "value": "#222"}},
            },
        ],
    }


def theme(*, dark: bool) -> Spec:
    """Return the colours: blue and orange, which the colour-blind can tell apart."""
    text, quiet, line = (
        ("#e6e8eb", "#a3a9b3", "#3a3f47") if dark else ("#1b1f24", "#5b636e", "#dde1e6")
    )
    blue, orange = ("#56b4e9", "#e69f00") if dark else ("#0072b2", "#e69f00")
    return {
        "background": "transparent",
        "font": FONT,
        "view": {"stroke": None},
        "axis": {
            "labelColor": quiet,
            "titleColor": quiet,
            "titleFontWeight": "normal",
            "domainColor": line,
            "tickColor": line,
            "gridColor": line,
        },
        "title": {
            "anchor": "start",
            "color": text,
            "fontSize": 15,
            "subtitleColor": quiet,
            "subtitleFontSize": 11,
        },
        "legend": {"labelColor": text},
        "range": {"category": [orange, blue]},
        "bar": {"color": blue},
        "rule": {"color": text, "strokeDash": [5, 4]},
        "text": {"color": text, "fontSize": 11, "align": "left", "baseline": "middle"},
    }


def pooling_note(variable: VariableAudit) -> str:
    """Say that a chart pools values, where it does."""
    size = len(variable.counts)
    return f"{size:,} values, neighbours pooled into {MOST_BARS} bars" if size > MOST_BARS else ""


def _chart(
    variable: VariableAudit, numbers: str, rows: Sequence[Mapping[str, Any]], sides: Spec
) -> Spec:
    size = len(variable.counts)
    pooling = pooling_note(variable)
    about = (variable.doc, numbers, pooling)
    lines = [line for text in about for line in textwrap.wrap(text, SUBTITLE)]
    name = words.shown(variable.name, 60)
    y_title = "mean share of a value" if pooling else "share of examples"
    uniform = {"datum": 1 / size, "type": "quantitative"}
    label = {"type": "text", "text": ["uniform", f"1/{size:,}"], "dx": 5, "dy": -4}
    once: Spec = {"values": [{}]}  # with the data of the bars there would be a line for each bar
    return {
        "title": {"text": name, "subtitle": lines},
        "description": f"Histogram of {name}: {numbers}. The numbers are in a table as well.",
        "width": WIDTH,
        "height": HEIGHT,
        "data": {"values": list(rows)},
        "layer": [
            {
                "mark": {"type": "bar"},
                "encoding": {
                    "x": _x_axis([row["value"] for row in rows]),
                    "y": {
                        "field": "height",
                        "type": "quantitative",
                        "title": y_title,
                        "axis": {"format": "~%", "tickCount": 5},
                    },
                    "tooltip": _tooltip(bool(sides), bool(pooling)),
                    **sides,
                },
            },
            {"data": once, "mark": "rule", "encoding": {"y": uniform}},
            {"data": once, "mark": label, "encoding": {"y": uniform, "x": {"value": "width"}}},
        ],
    }


def _x_axis(labels: Sequence[str]) -> Spec:
    short = max(map(len, labels)) <= 5
    few = len(set(labels)) <= 12
    # Vega takes a slanted label for as wide as its box: it would hide labels that have room.
    slanted = few and not short
    return {
        "field": "value",
        "type": "ordinal",
        "sort": None,
        "title": None,
        "axis": {
            "labelAngle": 0 if short else -45 if slanted else -90,
            "labelLimit": 110,
            "labelOverlap": not slanted,
            "labelSeparation": 5,
        },
    }


def _tooltip(has_sides: bool, is_pooled: bool) -> list[Spec]:
    tips: list[Spec] = [{"field": "value", "type": "nominal"}]
    if has_sides:
        tips.append({"field": "side", "type": "nominal", "title": "data"})
    tips.append({"field": "share", "type": "quantitative", "format": ".3~%"})
    tips.append({"field": "count", "type": "quantitative", "format": ","})
    if is_pooled:
        tips.append({"field": "values", "type": "quantitative", "title": "values pooled"})
    return tips


def _rows(bars: Sequence[Bar], **more: str) -> list[Mapping[str, Any]]:
    return [
        {
            "value": bar.label,
            "share": bar.share,
            "count": bar.count,
            "values": bar.values,
            "height": bar.height,
            **more,
        }
        for bar in bars
    ]
