"""The paper's figures as Vega-Lite specifications, which ``unskew.audits.report`` draws."""

from __future__ import annotations

from typing import Any


def cost_figure(costs: list[dict[str, Any]]) -> dict[str, Any]:
    """Draws per kept example against ε beside the bound 1 + 1/ε, a panel a source (B.4)."""
    sources = list(dict.fromkeys(point["source"] for point in costs))
    return {
        "title": {"text": "Draws per kept example", "subtitle": "dashed: the bound 1 + 1/ε"},
        "hconcat": [_panel(source, costs) for source in sources],
        "resolve": {"scale": {"y": "shared", "color": "shared"}},
        "padding": 20,
    }


def _panel(source: str, costs: list[dict[str, Any]]) -> dict[str, Any]:
    points = [point for point in costs if point["source"] == source]
    x = {
        "field": "epsilon",
        "type": "quantitative",
        "scale": {"type": "log"},
        "title": "ε",
        "axis": {"values": sorted({point["epsilon"] for point in points}), "format": "~g"},
    }
    y = {"type": "quantitative", "scale": {"type": "log"}, "title": "draws per kept example"}
    variable = {"field": "variable", "type": "nominal", "scale": {"scheme": "category10"}}
    return {
        "title": source.upper(),
        "width": 320,
        "height": 260,
        "data": {"values": points},
        "layer": [
            {
                "mark": {"type": "line", "point": True},
                "encoding": {"x": x, "y": {"field": "draws_per_kept", **y}, "color": variable},
            },
            {
                "mark": {"type": "line", "strokeDash": [5, 4], "color": "#5b636e"},
                "encoding": {"x": x, "y": {"field": "bound", "aggregate": "max", **y}},
            },
        ],
    }
