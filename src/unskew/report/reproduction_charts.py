"""Tables of results as charts: heatmaps, lines, and all numbers against the paper's."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from unskew.report.charts import WIDTH, Spec, grid_chart, label_axis
from unskew.report.reproduction_words import (
    Cell,
    Result,
    Table,
    decimals,
    difference,
    interval,
    missing,
    number,
    seeds,
    signed,
)

FONT_SIZE = 12
OURS, PAPER = "ours", "the paper's"
NONE = "–"
GREY = "#808790"  # of what has no colour of its own, on a light page and on a dark one


def table_heatmap(table: Table) -> Spec:
    """Draw a table as a grid, its shorter side across as in the table below it."""
    rows = [row | {"value": row["ours"]} for row in _rows(table)]
    sides = [("column", table["columns"]), ("row", table["rows"])]
    across, down = sorted(sides, key=lambda side: len(side[1]))
    places = {
        axis: {"field": name, "type": "nominal", "title": None, "scale": {"domain": names}}
        for axis, (name, names) in (("x", across), ("y", down))
    }
    unit = table["unit"]
    most = 100.0 if unit == "%" else max((row["value"] or 0.0 for row in rows), default=0.0)
    spec = grid_chart(rows, places, unit, most or 1.0)
    spec["description"] = f"Heatmap of {table['title']}. The numbers are in the table below it."
    spec["encoding"]["tooltip"] = _tooltip(rows)  # of the cell, and of what is written on it
    # A wide grid is scrolled: what its colours mean stands where it begins.
    legend = spec["layer"][0]["encoding"]["color"]["legend"]
    legend |= {"orient": "top", "direction": "horizontal", "gradientLength": 160}
    absent = spec["layer"][-1]
    absent["mark"] = {"type": "text", "style": "not-run"}
    absent["encoding"] = {"text": {"field": "said ours", "type": "nominal"}}
    return spec


def lines_chart(table: Table) -> Spec:
    """Draw a table as lines, its columns along x; the paper's numbers are dashed."""
    rows = _rows(table)
    points = [
        row | {"whose": whose, "value": row[key]}
        for whose, key in ((OURS, "ours"), (PAPER, "paper"))
        for row in rows
        if row[key] is not None
    ]
    scale = {"type": "log"} if table.get("log") else {"zero": True}
    y: Spec = {"type": "quantitative", "scale": scale, "title": table["unit"]}
    y["axis"] = {"labelFontSize": FONT_SIZE, "titleFontSize": FONT_SIZE, "tickCount": 5}
    dash: Spec = {"field": "whose", "type": "nominal", "legend": None}
    dash["scale"] = {"domain": [OURS, PAPER], "range": [[1, 0], [5, 4]]}
    line = {
        "mark": {"type": "line", "point": True},
        "encoding": {"y": {"field": "value", **y}, "strokeDash": dash, "tooltip": _tooltip(rows)},
    }
    spread = {
        "transform": [{"filter": "datum.whose == 'ours' && isValid(datum.low)"}],
        "mark": {"type": "rule", "strokeDash": [1, 0], "strokeWidth": 1.5},
        "encoding": {"y": {"field": "low", **y}, "y2": {"field": "high"}},
    }
    spreads = any(row["low"] is not None for row in rows)
    return {
        "description": f"Lines of {table['title']}. The numbers are in the table below it.",
        "width": WIDTH,
        "height": 280,
        "data": {"values": points},
        "encoding": {
            "x": {
                "field": "column",
                "type": "ordinal",
                "sort": None,
                "title": None,
                "scale": {"domain": table["columns"]},
                "axis": label_axis(table["columns"]) | {"labelFontSize": FONT_SIZE},
            },
            "color": {
                "field": "row",
                "type": "nominal",
                "scale": {"domain": table["rows"]},
                "legend": _legend(columns=_columns(table["rows"])),
            },
        },
        "layer": [line, spread] if spreads else [line],
    }


def beside_chart(results: Sequence[Result]) -> Spec | None:
    """Draw every percentage against the paper's: on the dashed line they are equal."""
    points = [
        row | {"experiment": result["title"], "table": table["title"]}
        for result in results
        for table in result["tables"]
        if table["unit"] == "%"
        for row in _rows(table)
        if row["difference"] is not None
    ]
    if not points:
        return None
    names = list(dict.fromkeys(point["experiment"] for point in points))

    def axis(whose: str, field: str) -> Spec:
        return {
            "field": field,
            "type": "quantitative",
            "title": f"{whose}, %",
            "scale": {"domain": [0, 100]},
            "axis": {"labelFontSize": FONT_SIZE, "titleFontSize": FONT_SIZE, "tickCount": 5},
        }

    ends = [{"paper": at, "ours": at} for at in (0, 100)]
    tips = [{"field": name, "type": "nominal"} for name in ("experiment", "table")]
    return {
        "description": f"{len(points)} of our numbers against the paper's. "
        "They are in the tables below.",
        "width": WIDTH,
        "height": 360,
        "encoding": {"x": axis(PAPER, "paper"), "y": axis(OURS, "ours")},
        "layer": [
            {
                "data": {"values": ends},
                "mark": {"type": "line", "strokeDash": [5, 4], "color": GREY, "strokeWidth": 1.5},
            },
            {
                "data": {"values": points},
                "mark": {"type": "point", "filled": True, "size": 70, "opacity": 0.85},
                "encoding": {
                    "color": {
                        "field": "experiment",
                        "type": "nominal",
                        "scale": {"domain": names},
                        "legend": _legend(columns=_columns(names)),
                    },
                    "shape": {
                        "field": "experiment",
                        "type": "nominal",
                        "scale": {"domain": names},
                        "legend": _legend(columns=_columns(names)),
                    },
                    "tooltip": [*tips, *_tooltip(points)],
                },
            },
        ],
    }


def _columns(names: Sequence[str]) -> int:
    """Return in how many columns a legend fits on a phone."""
    return 2 if max(map(len, names), default=0) <= 20 else 1


def _legend(**more: Any) -> Spec:
    return {"title": None, "orient": "top", "labelFontSize": FONT_SIZE, "labelLimit": 300} | more


def _rows(table: Table) -> list[Spec]:
    """Return what charts draw of each cell; None where there is no number."""
    rows = []
    for cell in table["cells"]:
        ours: Mapping[str, Any] = cell["ours"] or {}
        numbers = {key: ours.get(key) for key in ("low", "high")}
        places = {"row": cell["row"], "column": cell["column"]}
        gap = difference(cell, table)
        both = {"ours": ours.get("mean"), "paper": cell["paper"], "difference": gap}
        said = {f"said {key}": text for key, text in _said(cell, table).items()}
        rows.append({**places, **numbers, **both, **said})
    return rows


def _said(cell: Cell, table: Table) -> dict[str, str]:
    """Write the numbers of a cell as its tooltip has them; a dash where there is none."""
    places, gap = decimals(table), difference(cell, table)
    ours, paper = cell["ours"], cell["paper"]
    return {
        "ours": missing(cell, table) if ours is None else number(ours["mean"], table),
        "interval": interval(cell, table),
        "seeds": seeds(cell, table) or NONE,
        "paper": NONE if paper is None else number(paper, table),
        "difference": NONE if gap is None else signed(gap, places),
    }


def _tooltip(rows: Sequence[Spec]) -> list[Spec]:
    tips: list[Spec] = [{"field": name, "type": "nominal"} for name in ("row", "column")]
    titles = {"ours": OURS, "interval": "95 % interval", "seeds": "seeds", "paper": PAPER}
    for key, title in (titles | {"difference": "difference"}).items():
        if any(row[f"said {key}"] != NONE for row in rows):
            tips.append({"field": f"said {key}", "type": "nominal", "title": title})
    return tips
