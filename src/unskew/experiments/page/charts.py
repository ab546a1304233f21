"""Tables of results as charts: heatmaps, lines, and all numbers against the paper's."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from unskew.audits.report.charts import WIDTH, Spec, grid_chart, label_axis
from unskew.experiments.page.words import (
    Cell,
    Result,
    Table,
    decimals,
    difference,
    interval,
    is_karel,
    label,
    missing,
    number,
    seeds,
    signed,
)

FONT_SIZE = 12
PANEL = 180  # pixels, the height of a small chart
OURS, PAPER = "ours", "the paper's"
NONE = "–"
TRAINED_AND_TESTED = ("trained on", "tested on")  # sides of a table whose diagonal is a model's own
SAID = ("ours", "interval", "seeds", "paper", "difference")  # of a cell, in a tooltip
# The names of the paper's rows.
SLANTED = {
    "condition": {"test": f'indexof(datum.label, "{PAPER} ") == 0', "value": "italic"},
    "value": "normal",
}
GREY = "#808790"  # of what has no colour of its own, on a light page and on a dark one
DASHES = ([5, 4], [2, 3], [10, 3], [10, 3, 2, 3])  # which tell the paper's lines apart
PASSES, STREAM, WHOLE, OTHER = REGIMES = (  # how a training set is gone through
    "passes over a small set",
    "a stream",
    "passes over the whole set",
    "another domain",
)
# Two legends side by side are wider than a phone.
BELOW = {"legend": {"layout": {"top": {"direction": "vertical", "anchor": "start"}}}}


def table_heatmap(table: Table) -> Spec:
    """Draw a table as a grid, its shorter side across, the paper's numbers in front of ours.

    Models of which nothing was run are left to the table.
    """
    found = [row | {"value": row["ours"]} for row in _rows(table)]
    was_run = {row["row"] for row in found if row["ours"] is not None}
    models = [name for name in table["rows"] if name in was_run]
    papers = list(_papers(models, found))
    rows = [row for row in found if row["row"] in was_run]
    rows += [row for series in papers for row in _of_paper(series, table)]
    names = _in_front(models, papers)
    of_row, of_column = table.get("sides") or (None, None)
    sides = [("column", table["columns"], of_column), ("row", names, of_row)]
    across, down = sorted(sides, key=lambda side: len(side[1]))
    places = {
        axis: {"field": name, "type": "nominal", "title": title, "scale": {"domain": names}}
        for axis, (name, names, title) in (("x", across), ("y", down))
    }
    unit = table["unit"]
    most = 100.0 if unit == "%" else max((row["value"] or 0.0 for row in rows), default=0.0)
    spec = grid_chart(rows, places, unit, most or 1.0)
    spec["description"] = f"Heatmap of {table['title']}. The numbers are in the table below it."
    spec["encoding"]["tooltip"] = _tooltip(rows)  # of the cell, and of what is written on it
    for axis in "xy":
        look = spec["encoding"][axis].get("axis") or {}
        spec["encoding"][axis]["axis"] = look | {"labelFontStyle": SLANTED}
    # A wide grid is scrolled: what its colours mean stands where it begins.
    legend = spec["layer"][0]["encoding"]["color"]["legend"]
    legend |= {"orient": "top", "direction": "horizontal", "gradientLength": 160}
    *written, absent = spec["layer"][1:]
    for layer in written:
        layer["encoding"]["text"] |= {"format": ".1f" if unit == "%" else f".{decimals(table)}f"}
    absent["mark"] = {"type": "text", "style": "not-run"}
    absent["encoding"] = {"text": {"field": "said ours", "type": "nominal"}}
    if has_own(table):
        own = {"type": "rect", "style": "own", "filled": False}
        which = "datum.row == datum.column && isValid(datum.value)"
        spec["layer"].append({"transform": [{"filter": which}], "mark": own})
    return spec


def _of_paper(series: _Series, table: Table) -> Iterator[Spec]:
    """Return a series of the paper as a row of a grid; a dash where it has no number."""
    there = {row["column"]: row for row in series.rows}
    none = {f"said {key}": NONE for key in SAID}
    for column in table["columns"]:
        paper = there[column]["paper"] if column in there else None
        said = NONE if paper is None else number(paper, table)
        place = {"row": f"{PAPER} {series.name}", "column": column}
        yield place | {"value": paper} | none | {"said paper": said}


def _in_front(models: Sequence[str], papers: Sequence[_Series]) -> list[str]:
    """Put each series of the paper in front of the first of our models that it belongs to."""
    names = []
    for model in models:
        names += [f"{PAPER} {series.name}" for series in papers if series.first == model]
        names.append(model)
    return names


def has_own(table: Table) -> bool:
    """Whether models were tested on what they were trained on; such cells are framed."""
    if tuple(table.get("sides") or ()) != TRAINED_AND_TESTED:
        return False
    own = [cell for cell in table["cells"] if cell["row"] == cell["column"]]
    return any(cell["ours"] is not None for cell in own)


def panels(tables: Sequence[Table]) -> dict[str, Spec]:
    """Draw tables together: a small chart for each row that was run, with a line for each table."""
    labels = [label(table) for table in tables]
    drawn = {}
    for row in dict.fromkeys(row for table in tables for row in table["rows"]):
        cells = [
            cell | {"row": label(table)}
            for table in tables
            for cell in table["cells"]
            if cell["row"] == row
        ]
        if any(cell["ours"] is not None for cell in cells):
            whole = {**tables[0], "title": row, "rows": labels, "cells": cells}
            drawn[row] = lines_chart(whole, has_legend=False) | {"height": PANEL}
    return drawn


def lines_chart(table: Table, *, has_legend: bool = True) -> Spec:
    """Draw a table as lines, its columns along x; the paper's are grey and dashed, each once.

    Without a legend every row has its colour, also one that was not run.
    """
    rows = _rows(table)
    ours = [row | {"whose": OURS, "value": row["ours"]} for row in rows if row["ours"] is not None]
    names = [name for name in table["rows"] if any(row["row"] == name for row in ours)]
    paper = list(_paper_points(table, rows))
    scale = _scale(table)
    y: Spec = {"type": "quantitative", "scale": scale, "title": table["unit"]}
    y["axis"] = {"labelFontSize": FONT_SIZE, "titleFontSize": FONT_SIZE, "tickCount": 5}
    color: Spec = {"field": "row", "type": "nominal"}
    color["scale"] = {"domain": names if has_legend else list(table["rows"])}
    color["legend"] = _legend(columns=_columns(names)) if has_legend else None
    layers: list[Spec] = [
        {
            "transform": [{"filter": "datum.whose == 'ours'"}],
            "mark": {"type": "line", "point": True},
            "encoding": {"y": {"field": "value", **y}, "color": color, "tooltip": _tooltip(rows)},
        }
    ]
    if any(row["low"] is not None for row in rows):
        layers.append(
            {
                "transform": [{"filter": "datum.whose == 'ours' && isValid(datum.low)"}],
                "mark": {"type": "rule", "strokeDash": [1, 0], "strokeWidth": 1.5},
                "encoding": {
                    "y": {"field": "low", **y},
                    "y2": {"field": "high"},
                    "color": color,
                },
            }
        )
    return {
        "description": f"Lines of {table['title']}. The numbers are in the table below it.",
        "width": WIDTH,
        "height": 280,
        "data": {"values": [*ours, *paper]},
        "encoding": {
            "x": {
                "field": "column",
                "type": "ordinal",
                "sort": None,
                "title": _of_columns(table),
                "scale": {"domain": table["columns"]},
                "axis": _column_axis(table["columns"]),
            },
        },
        "layer": [*layers, *(_paper_layers(paper, y) if paper else [])],
        "config": BELOW,
    }


def _of_columns(table: Table) -> str | None:
    """Return what the columns of a table are, where it says so."""
    return str(table["sides"][1]) if table.get("sides") else None


def _column_axis(columns: Sequence[str]) -> Spec:
    """Set what is in brackets below the rest, which takes less room than to slant both."""
    axis = label_axis(columns) | {"labelFontSize": FONT_SIZE, "titleFontSize": FONT_SIZE}
    if not any(column.endswith(")") for column in columns):
        return axis
    lines = "split(replace(datum.label, /[)]$/, ''), ' (')"
    return axis | {"labelExpr": lines, "labelAngle": 0, "labelOverlap": False, "labelFontSize": 10}


def _scale(table: Table) -> Spec:
    """Return how far up lines may go; shares all alike, so that charts can be compared."""
    if table.get("log"):
        return {"type": "log"}
    return {"domain": [0, 100]} if table["unit"] == "%" else {"zero": True}


@dataclass(frozen=True)
class _Series:
    """Numbers of the paper that belong to one or more of our models, the first of them named."""

    name: str
    first: str
    rows: tuple[Spec, ...]


def _papers(names: Sequence[str], rows: Sequence[Spec]) -> Iterator[_Series]:
    """Return the paper's numbers, each series once: rows that differ in ours may share it."""
    found: dict[str, list[tuple[str, float]]] = {}
    for name in names:
        own = tuple(row for row in rows if row["row"] == name and row["paper"] is not None)
        series = [(row["column"], row["paper"]) for row in own]
        short = name.partition(",")[0]
        if not own or found.get(short) == series:
            continue
        told = short if short not in found else name
        found[told] = series
        yield _Series(told, name, own)


def _paper_points(table: Table, rows: Sequence[Spec]) -> Iterator[Spec]:
    """Return the points of the paper's lines."""
    for series in _papers(table["rows"], rows):
        for row in series.rows:
            point = {"whose": PAPER, "value": row["paper"]}
            yield row | point | {"series": f"paper: {series.name}"}


def _paper_layers(points: Sequence[Spec], y: Spec) -> list[Spec]:
    """Draw the paper's lines; with points of its own a legend would not list dashes."""
    names = list(dict.fromkeys(point["series"] for point in points))
    dashes = [DASHES[i % len(DASHES)] for i in range(len(names))]
    legend = _legend(columns=1, symbolType="stroke", symbolSize=400)
    dash = {"field": "series", "type": "nominal", "legend": legend}
    dash["scale"] = {"domain": names, "range": dashes}
    series = {"field": "series", "type": "nominal", "title": "row"}
    said = {"field": "said paper", "type": "nominal", "title": PAPER}
    tips = [series, {"field": "column", "type": "nominal"}, said]
    placed = {"y": {"field": "value", **y}, "tooltip": tips}
    line = {"mark": {"type": "line", "color": GREY}, "encoding": placed | {"strokeDash": dash}}
    detail = {"detail": {"field": "series", "type": "nominal"}}
    dots: Spec = {"mark": {"type": "point", "filled": True, "color": GREY, "opacity": 1}}
    dots["encoding"] = placed | detail
    return [{"transform": [{"filter": "datum.whose != 'ours'"}]} | layer for layer in (line, dots)]


def beside_chart(results: Sequence[Result]) -> Spec | None:
    """Draw every percentage against the paper's: on the dashed line they are equal."""
    points = [
        row
        | {
            "experiment": result["title"],
            "table": table["title"],
            "trained on": _regime(row, result),
        }
        for result in results
        for table in result["tables"]
        if table["unit"] == "%"
        for row in _rows(table)
        if row["difference"] is not None
    ]
    if not points:
        return None

    def axis(whose: str, field: str) -> Spec:
        return {
            "field": field,
            "type": "quantitative",
            "title": f"{whose}, %",
            "scale": {"domain": [0, 100]},
            "axis": {"labelFontSize": FONT_SIZE, "titleFontSize": FONT_SIZE, "tickCount": 5},
        }

    ends = [{"paper": at, "ours": at} for at in (0, 100)]
    tips = [{"field": name, "type": "nominal"} for name in ("experiment", "table", "trained on")]
    return {
        "description": f"{len(points)} of our numbers against the paper's. "
        "They are in the tables below.",
        "width": WIDTH,
        "height": 360,
        "config": BELOW,
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
                    "color": _category("trained on", points, REGIMES),
                    "shape": _category("experiment", points, symbolFillColor=GREY),
                    "tooltip": [*tips, *_tooltip(points)],
                },
            },
        ],
    }


def _regime(row: Spec, result: Result) -> str:
    """Say how the training set is gone through: the names of Karel's models end in it."""
    if not is_karel(result):
        return OTHER
    ends = {", passes": PASSES, ", whole": WHOLE}
    return next((text for end, text in ends.items() if row["row"].endswith(end)), STREAM)


def _category(name: str, points: Sequence[Spec], names: Sequence[str] = (), **more: str) -> Spec:
    """Tell points apart by a field; of its ``names`` the legend has those that are there."""
    there = list(dict.fromkeys(point[name] for point in points))
    listed = [each for each in names if each in there] or there
    return {
        "field": name,
        "type": "nominal",
        "scale": {"domain": list(names) or there},
        "legend": _legend(columns=_columns(listed), values=listed, **more),
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
