"""Tables of results as charts: heatmaps, lines, and all numbers against the paper's."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from unskew.audits.report.charts import WIDTH, Spec, grid_chart, label_axis
from unskew.experiments.table import NONE, Result, Table

FONTS = {"labelFontSize": 12, "titleFontSize": 12}
NUMBER_AXIS = FONTS | {"tickCount": 5}
PANEL = 180  # pixels, the height of a small chart
OURS, PAPER = "ours", "the paper's"
TRAINED_AND_TESTED = ("trained on", "tested on")  # the sides of a table with an own test set
TOOLTIP = {  # the texts of a cell, and their titles in a tooltip
    "text ours": OURS,
    "text interval": "95 % interval",
    "text seeds": "seeds",
    "text paper": PAPER,
    "text difference": "difference",
}
# The names of the paper's rows are in italics.
ITALICS = {
    "condition": {"test": f'indexof(datum.label, "{PAPER} ") == 0', "value": "italic"},
    "value": "normal",
}
GREY = "#808790"  # a colour that can be seen on a light page and on a dark one
DASHES = ([5, 4], [2, 3], [10, 3], [10, 3, 2, 3])  # one for each line of the paper
PASSES, STREAM, WHOLE, CALCULATOR = REGIMES = (  # what a model is trained on
    "passes over a small set",
    "a stream",
    "passes over the whole set",
    "Calculator data",
)
# Legends below each other, since two side by side are wider than a phone.
BELOW = {"legend": {"layout": {"top": {"direction": "vertical", "anchor": "start"}}}}
IS_OURS = f"datum.whose == '{OURS}'"
IS_PAPER = f"!({IS_OURS})"


def _nominal(field: str, **more: Any) -> Spec:
    return {"field": field, "type": "nominal"} | more


def _legend(**more: Any) -> Spec:
    return {"title": None, "orient": "top", "labelFontSize": 12, "labelLimit": 300} | more


def _filtered(condition: str, mark: Spec, encoding: Spec | None = None) -> Spec:
    """Return a layer with the rows for which a condition holds."""
    layer: Spec = {"transform": [{"filter": condition}], "mark": mark}
    return layer if encoding is None else layer | {"encoding": encoding}


def table_heatmap(table: Table) -> Spec:
    """Return a table as a grid, its shorter side across, the paper's numbers before ours.

    The grid leaves out models that were not run at all.
    """
    all_rows = [row | {"value": row["ours"]} for row in _rows(table)]
    were_run = {row["row"] for row in all_rows if row["ours"] is not None}
    models = [name for name in table.rows if name in were_run]
    papers = _papers(models, all_rows)
    before = {of_series[0]["row"]: f"{PAPER} {name}" for name, of_series in papers.items()}
    names = [name for model in models for name in (before.get(model), model) if name]
    rows = [row for row in all_rows if row["row"] in were_run]
    for name, of_series in papers.items():
        numbers = dict(_numbers(of_series))
        rows += [
            {"row": f"{PAPER} {name}", "column": column, "value": numbers.get(column)}
            | dict.fromkeys(TOOLTIP, NONE)
            | {"text paper": table.number(numbers.get(column))}
            for column in table.columns
        ]
    unit = table.unit
    most = 100.0 if unit == "%" else max((row["value"] or 0.0 for row in rows), default=0.0)
    spec = grid_chart(rows, _sides(table, names), unit, most or 1.0)
    spec["description"] = f"Heatmap of {table.title}. The table below has the numbers."
    encoding, layers = spec["encoding"], spec["layer"]
    encoding["tooltip"] = _tooltip(rows)  # of the cell, and of the number in it
    for axis in "xy":
        look = encoding[axis].get("axis") or {}
        encoding[axis]["axis"] = look | {"labelFontStyle": ITALICS}
    # A wide grid is scrolled, so the legend stands where it begins.
    legend = layers[0]["encoding"]["color"]["legend"]
    legend |= {"orient": "top", "direction": "horizontal", "gradientLength": 160}
    *number_layers, missing = layers[1:]
    for layer in number_layers:
        layer["encoding"]["text"] |= {"format": ".1f" if unit == "%" else f".{table.decimals}f"}
    missing["mark"] = {"type": "text", "style": "not-run"}
    missing["encoding"] = {"text": _nominal("text ours")}
    if has_own(table):
        own = {"type": "rect", "style": "own", "filled": False}
        layers.append(_filtered("datum.row == datum.column && isValid(datum.value)", own))
    return spec


def _sides(table: Table, names: Sequence[str]) -> Spec:
    """Return the axes of a grid; the side with fewer names goes across."""
    row_title, column_title = table.sides or (None, None)
    sides = [("column", table.columns, column_title), ("row", names, row_title)]
    across, down = sorted(sides, key=lambda side: len(side[1]))
    return {
        axis: _nominal(field, title=title, scale={"domain": domain})
        for axis, (field, domain, title) in (("x", across), ("y", down))
    }


def has_own(table: Table) -> bool:
    """Return whether any model was tested on the kind of data it was trained on."""
    return tuple(table.sides) == TRAINED_AND_TESTED and any(
        cell.row == cell.column and cell.ours is not None for cell in table.cells
    )


def panels(tables: Sequence[Table]) -> dict[str, Spec]:
    """Return a small chart for each row that was run, with a line for each table."""
    charts = {}
    for row in dict.fromkeys(row for table in tables for row in table.rows):
        in_row = [(table.name, cell) for table in tables for cell in table.cells if cell.row == row]
        if any(cell.ours is not None for _, cell in in_row):
            names = [table.name for table in tables]
            cells = [replace(cell, row=name) for name, cell in in_row]
            whole = replace(tables[0], title=row, rows=names, cells=cells)
            charts[row] = lines_chart(whole, has_legend=False) | {"height": PANEL}
    return charts


def lines_chart(table: Table, *, has_legend: bool = True) -> Spec:
    """Return a table as lines along its columns; the paper's lines are grey and dashed.

    Without a legend every row has its own colour, even a row that was not run. So the colours of
    several charts agree.
    """
    rows = _rows(table)
    ours = [row | {"whose": OURS, "value": row["ours"]} for row in rows if row["ours"] is not None]
    names = [name for name in table.rows if any(row["row"] == name for row in ours)]
    paper = [
        row | {"whose": PAPER, "value": row["paper"], "series": f"paper: {name}"}
        for name, of_series in _papers(table.rows, rows).items()
        for row in of_series
    ]
    y = {"type": "quantitative", "scale": _scale(table), "title": table.unit, "axis": NUMBER_AXIS}
    color = _nominal(
        "row",
        scale={"domain": names if has_legend else list(table.rows)},
        legend=_legend(columns=_columns(names)) if has_legend else None,
    )
    value = {"y": {"field": "value", **y}, "color": color, "tooltip": _tooltip(rows)}
    layers = [_filtered(IS_OURS, {"type": "line", "point": True}, value)]
    if any(row["low"] is not None for row in rows):
        rule = {"type": "rule", "strokeDash": [1, 0], "strokeWidth": 1.5}
        ends = {"y": {"field": "low", **y}, "y2": {"field": "high"}, "color": color}
        layers.append(_filtered(f"{IS_OURS} && isValid(datum.low)", rule, ends))
    _, title = table.sides or (None, None)
    x: Spec = {"field": "column", "type": "ordinal", "sort": None, "title": title}
    x |= {"scale": {"domain": table.columns}, "axis": _column_axis(table.columns)}
    return {
        "description": f"Lines of {table.title}. The table below has the numbers.",
        "width": WIDTH,
        "height": 280,
        "data": {"values": [*ours, *paper]},
        "encoding": {"x": x},
        "layer": [*layers, *(_paper_layers(paper, y) if paper else [])],
        "config": BELOW,
    }


def _column_axis(columns: Sequence[str]) -> Spec:
    """Return an axis with text in brackets on a second line, which needs less room."""
    axis = label_axis(columns) | FONTS
    if not any(column.endswith(")") for column in columns):
        return axis
    lines = "split(replace(datum.label, /[)]$/, ''), ' (')"
    return axis | {"labelExpr": lines, "labelAngle": 0, "labelOverlap": False, "labelFontSize": 10}


def _scale(table: Table) -> Spec:
    """Return the scale of numbers. All shares go to 100 %, so that charts can be compared."""
    if table.log:
        return {"type": "log"}
    return {"domain": [0, 100]} if table.unit == "%" else {"zero": True}


def _papers(names: Sequence[str], rows: Sequence[Spec]) -> dict[str, list[Spec]]:
    """Return each series of the paper's numbers once; several of our rows may share a series."""
    series: dict[str, list[Spec]] = {}
    for name in names:
        of_row = [row for row in rows if row["row"] == name and row["paper"] is not None]
        kind = name.partition(",")[0]
        if of_row and _numbers(of_row) != _numbers(series.get(kind, [])):
            series[name if kind in series else kind] = of_row
    return series


def _numbers(rows: Sequence[Spec]) -> list[tuple[str, float]]:
    return [(row["column"], row["paper"]) for row in rows]


def _paper_layers(points: Sequence[Spec], y: Spec) -> list[Spec]:
    """Return the paper's lines, and their points as another layer so that legends show dashes."""
    names = list(dict.fromkeys(point["series"] for point in points))
    dashes = [DASHES[i % len(DASHES)] for i in range(len(names))]
    dash = _nominal(
        "series",
        legend=_legend(columns=1, symbolType="stroke", symbolSize=400),
        scale={"domain": names, "range": dashes},
    )
    places = [_nominal("series", title="row"), _nominal("column")]
    tooltip = [*places, _nominal("text paper", title=PAPER)]
    value = {"y": {"field": "value", **y}, "tooltip": tooltip}
    dots = {"type": "point", "filled": True, "color": GREY, "opacity": 1}
    return [
        _filtered(IS_PAPER, {"type": "line", "color": GREY}, value | {"strokeDash": dash}),
        _filtered(IS_PAPER, dots, value | {"detail": _nominal("series")}),
    ]


def beside_chart(results: Sequence[Result]) -> Spec | None:
    """Return every percentage against the paper's; on the dashed line they are equal."""
    points = [
        row | {"experiment": result.title, "table": table.title, "trained on": _regime(row, result)}
        for result in results
        for table in result.tables
        if table.unit == "%"
        for row in _rows(table)
        if row["difference"] is not None
    ]
    if not points:
        return None

    def axis(whose: str, field: str) -> Spec:
        look = {"title": f"{whose}, %", "scale": {"domain": [0, 100]}, "axis": NUMBER_AXIS}
        return {"field": field, "type": "quantitative"} | look

    ends = [{"paper": at, "ours": at} for at in (0, 100)]
    tooltip = [_nominal(name) for name in ("experiment", "table", "trained on")]
    return {
        "description": f"{len(points)} of our numbers against the paper's. "
        "The tables below have them.",
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
                    "tooltip": [*tooltip, *_tooltip(points)],
                },
            },
        ],
    }


def _regime(row: Spec, result: Result) -> str:
    """Return what a model is trained on; the names of Karel's models end with it."""
    if not result.is_karel:
        return CALCULATOR
    ends = {", passes": PASSES, ", whole": WHOLE}
    return next((text for end, text in ends.items() if row["row"].endswith(end)), STREAM)


def _category(field: str, points: Sequence[Spec], names: Sequence[str] = (), **more: str) -> Spec:
    """Tell points apart by a field; the legend lists only the ``names`` that occur."""
    present = list(dict.fromkeys(point[field] for point in points))
    listed = [name for name in names if name in present] or present
    return _nominal(
        field,
        scale={"domain": list(names) or present},
        legend=_legend(columns=_columns(listed), values=listed, **more),
    )


def _columns(names: Sequence[str]) -> int:
    """Return how many columns of a legend fit on a phone."""
    return 2 if max(map(len, names), default=0) <= 20 else 1


def _rows(table: Table) -> list[Spec]:
    """Return the numbers and texts of each cell; None or a dash where there is no number."""
    return [
        {
            "row": cell.row,
            "column": cell.column,
            "low": cell.ours and cell.ours.low,
            "high": cell.ours and cell.ours.high,
            "ours": cell.mean,
            "paper": cell.paper,
            "difference": table.difference(cell),
            "text ours": table.number(cell.mean) if cell.ours else table.why_missing(cell),
            "text interval": table.interval(cell),
            "text seeds": table.seeds(cell) or NONE,
            "text paper": table.number(cell.paper),
            "text difference": table.signed_difference(cell),
        }
        for cell in table.cells
    ]


def _tooltip(rows: Sequence[Spec]) -> list[Spec]:
    """Return the lines of a tooltip, without those that would be a dash everywhere."""
    return [_nominal("row"), _nominal("column")] + [
        _nominal(text, title=title)
        for text, title in TOOLTIP.items()
        if any(row[text] != NONE for row in rows)
    ]
