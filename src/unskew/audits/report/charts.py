"""Histograms as Vega-Lite specifications, which are plain dicts.

Colours are not in the specifications but in ``theme``, so that a page can change them.
"""

from __future__ import annotations

import textwrap
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, TypeAlias

from unskew.audits.records import Report, VariableAudit
from unskew.audits.report import words
from unskew.audits.report.pooling import Bar, pooled

if TYPE_CHECKING:
    from unskew.audits.plan import Plan

Spec: TypeAlias = dict[str, Any]

MOST_BARS = 60
WIDTH, HEIGHT = 400, 200
SUBTITLE = 78  # characters a line
SIDES = ("before", "after")
LIGHT_UNTIL = 0.74  # of a heatmap's scale: there black and white can be read equally well
FONT = "system-ui, -apple-system, 'Segoe UI', Roboto, 'Helvetica Neue', Arial, sans-serif"


def histogram_chart(variable: VariableAudit) -> Spec:
    """Draw the share of each value in order, with a dashed line at the share of uniform data."""
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


def charts(report: Report) -> list[Spec]:
    """Return a chart of each variable."""
    return [
        histogram_chart(sides[0]) if len(sides) == 1 else comparison_chart(sides[0], sides[1])
        for sides in report.variables.values()
    ]


def plan_chart(plan: Plan) -> Spec:
    """Draw how far each variable stays from its target, by the cost."""
    rows = [
        {"draws": point.draws, "apart": apart, "variable": words.shown(name, 40)}
        for point in plan.points
        for name, apart in point.apart.items()
    ]
    return {
        "title": {"text": f"What closeness costs: {words.shown(plan.label, 60)}"},
        "data": {"values": rows},
        "width": WIDTH,
        "height": HEIGHT,
        "mark": {"type": "line", "point": True},
        "encoding": {
            "x": {
                "field": "draws",
                "type": "quantitative",
                "scale": {"type": "log"},
                "title": plan.price,
            },
            "y": {
                "field": "apart",
                "type": "quantitative",
                "title": "total variation from the target",
            },
            "color": {"field": "variable", "type": "nominal", "title": None, "sort": None},
        },
    }


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
    """Draw a grid of cells (column, row, share), with the percentage written in each cell."""
    rows = [{x: column, y: row, "value": round(100 * share, 1)} for column, row, share in cells]
    places = {
        axis: {"field": name, "type": "nominal", "sort": None, "title": None}
        for axis, name in (("x", x), ("y", y))
    }
    return grid_chart(rows, places, f"{what}, %", 100.0)


def grid_chart(rows: Sequence[Spec], places: Spec, legend: str, most: float) -> Spec:
    """Draw a cell for each row, shaded by its value; a row without a value was not run."""
    shade = {
        "field": "value",
        "type": "quantitative",
        "scale": {"range": "heatmap", "domain": [0, most]},
        "legend": {"title": legend},
    }
    text = {"field": "value", "type": "quantitative", "format": ".1f"}
    places = places | {"x": places["x"] | {"axis": {"labelAngle": -40, "orient": "top"}}}
    dark = f"datum.value > {LIGHT_UNTIL * most:g}"
    there = "isValid(datum.value)"
    # The theme has the colours of the text in a cell, and of the cell.
    written = [(f"{there} && !({dark})", "on-low"), (f"{there} && {dark}", "on-high")]
    return {
        "data": {"values": list(rows)},
        "width": {"step": 54},
        "height": {"step": 26},
        "encoding": places,
        "layer": [
            {
                "transform": [{"filter": there}],
                "mark": "rect",
                "encoding": {"color": shade},
            },
            *(
                {
                    "transform": [{"filter": which}],
                    "mark": {"type": "text", "style": style},
                    "encoding": {"text": text},
                }
                for which, style in written
            ),
            {
                "transform": [{"filter": f"!{there}"}],
                "mark": {"type": "text", "text": "not run", "style": "not-run"},
            },
        ],
    }


def theme(*, dark: bool) -> Spec:
    """Return the colours: blue and orange, which colour-blind people can tell apart."""
    text, quiet, line = (
        ("#e6e8eb", "#a3a9b3", "#3a3f47") if dark else ("#1b1f24", "#5b636e", "#dde1e6")
    )
    blue, orange = ("#56b4e9", "#e69f00") if dark else ("#0072b2", "#e69f00")
    others = (
        ("#3fc99b", "#f08a5d", "#e3a3cb", "#b9c2cc", "#f0e442", "#9aa7ff")
        if dark
        else ("#009e73", "#d55e00", "#b0558b", "#5b636e", "#8a7500", "#4b4fc4")
    )
    heat = ("#16202b", "#4a9fd8") if dark else ("#f2f6fa", "#0b4f85")
    on_low, on_high = ("white", "black") if dark else ("black", "white")
    written = {"fontSize": 11, "align": "center"}
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
        "legend": {"labelColor": text, "titleColor": quiet, "titleFontWeight": "normal"},
        "range": {"category": [orange, blue, *others], "heatmap": list(heat)},
        "style": {
            "on-low": written | {"color": on_low},
            "on-high": written | {"color": on_high},
            "own": {"color": orange, "strokeWidth": 2},
            "not-run": written | {"color": quiet, "fontSize": 10, "fontStyle": "italic"},
        },
        "bar": {"color": blue},
        "rule": {"color": text, "strokeDash": [5, 4]},
        "text": {"color": text, "fontSize": 11, "align": "left", "baseline": "middle"},
    }


def pooling_note(variable: VariableAudit) -> str:
    """Say that a chart pools values; empty if it does not."""
    size = len(variable.counts)
    return f"{size:,} values, neighbours pooled into {MOST_BARS} bars" if size > MOST_BARS else ""


def _chart(
    variable: VariableAudit, numbers: str, rows: Sequence[Mapping[str, Any]], sides: Spec
) -> Spec:
    size = variable.size
    pooling = pooling_note(variable)
    about = (variable.doc, numbers, pooling)
    lines = [line for text in about for line in textwrap.wrap(text, SUBTITLE)]
    name = words.shown(variable.name, 60)
    y_title = "mean share of a value" if pooling else "share of examples"
    uniform = {"datum": 1 / size, "type": "quantitative"}
    label = {"type": "text", "text": ["uniform", f"1/{size:,}"], "dx": 5, "dy": -4}
    once: Spec = {"values": [{}]}  # with the data of the bars, each bar would have a line
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
                    "x": {
                        "field": "value",
                        "type": "ordinal",
                        "sort": None,
                        "title": None,
                        "axis": label_axis([row["value"] for row in rows]),
                    },
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


def label_axis(labels: Sequence[str]) -> Spec:
    """Return an axis whose labels are turned so that they have room."""
    short = max(map(len, labels), default=0) <= 5
    few = len(set(labels)) <= 12
    # Vega counts a slanted label as wide as its box, and would hide labels that have room.
    slanted = few and not short
    return {
        "labelAngle": 0 if short else -45 if slanted else -90,
        "labelLimit": 110,
        "labelOverlap": not slanted,
        "labelSeparation": 5,
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
