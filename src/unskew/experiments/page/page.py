"""A reproduction of the paper as one HTML file that loads nothing from the network."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import groupby
from pathlib import Path
from typing import Any

from unskew.audits.audit import Comparison
from unskew.audits.report import words
from unskew.audits.report.charts import Spec, comparison_chart, theme
from unskew.audits.report.page import filled, responsive
from unskew.audits.report.sections import exact
from unskew.audits.report.templates import Data
from unskew.core.errors import UnskewError
from unskew.core.recipe import Recipe
from unskew.datasets.api import audit
from unskew.experiments.page.calculator import calculator_result
from unskew.experiments.page.charts import beside_chart, has_own, lines_chart, panels, table_heatmap
from unskew.experiments.page.head import beams, facts, not_full, tries
from unskew.experiments.page.sentences import NEWLINE, Fact, sentences, why_silent
from unskew.experiments.page.tables import numbers, tests, trainings
from unskew.experiments.page.tasks import failure_tasks, problem_tasks
from unskew.experiments.table import LONGEST, Result, Table, duration
from unskew.io.files import write_text

FRAMED = "A frame marks a model that is tested on the kind of worlds it was trained on."
DASHED = "Solid lines are our numbers, dashed lines the paper’s."
AUDITED = 20_000  # examples of each histogram
WORLD_VARIABLES = ("wall_ratio", "marker_ratio", "marker_count", "grid_size")


def write_page(results: Sequence[Mapping[str, Any]], path: Path, audited: int = AUDITED) -> Path:
    """Write the page of results, with runs to step through and histograms; return its path."""
    unified = [calculator_result(result) if "costs" in result else result for result in results]
    tasks = [*failure_tasks(results), problem_tasks()]
    write_text(path, reproduction_page(unified, tasks, comparisons(audited)))
    return path


def comparisons(audited: int = AUDITED) -> list[Comparison]:
    """Return audits before and after: of uniform worlds, and of homogenizing."""
    worlds = [audit(f"karel/{source}", WORLD_VARIABLES, audited) for source in ("msr", "uniform")]
    before = audit("calculator/dcfg", n=audited)
    recipe = Recipe("calculator/dcfg", audited, homogenize=("length",), epsilon=0.025)
    after = replace(audit(recipe, list(before.variables)), label="homogenized by length")
    return [worlds[0].compare(worlds[1]), before.compare(after)]


@dataclass
class _Charts:
    """The charts of a page, in the order of their ids."""

    specs: list[Spec] = field(default_factory=list)

    def add(self, spec: Spec, wide: str = "") -> Data:
        """Add a chart and return its place; a chart with a ``wide`` name scrolls in its own box."""
        self.specs.append(spec if wide else responsive(spec))
        return {"number": len(self.specs) - 1, "wide": wide}


def reproduction_page(
    data: Sequence[Mapping[str, Any]],
    tasks: Sequence[Data] = (),
    comparisons: Sequence[Comparison] = (),
) -> str:
    """Return the page of some experiments' results (``data``).

    ``tasks`` are sets of Karel runs to step through, as ``failure_tasks`` returns them.
    ``comparisons`` are audits before and after, which the page shows as histograms.
    """
    if not data:
        raise UnskewError("there are no results to show; run `unskew reproduce` first")
    results = [Result.of(result) for result in data]
    charts = _Charts()
    chart = beside_chart(results)
    beside = charts.add(chart) if chart is not None else None
    told: set[Fact] = set()
    experiments = [_experiment(result, tasks, charts, told) for result in results]
    histograms = [_histograms(comparison, charts) for comparison in comparisons]
    return filled(
        "experiments/page/page.html",
        charts.specs,
        has_karel=any(result.is_karel for result in results),
        not_full=not_full(results),
        facts=facts(results),
        beams=beams(results),
        tries=tries(results),
        beside=beside,
        experiments=experiments,
        tasks=list(tasks),
        histograms=histograms,
    )


def _experiment(result: Result, tasks: Sequence[Data], charts: _Charts, told: set[Fact]) -> Data:
    """Return the section of an experiment, and its sentences for the summary."""
    section = f"The paper’s section {result.section}" if result.section else "Not in the paper"
    return {
        "title": result.title,
        "in_short": [_lines(text) for text in sentences(result, told)]
        or [(why_silent(result), [])],
        "about": f"{section} · {result.scale} scale · {duration(result.seconds)}",
        "question": result.question,
        "figures": list(_figures(result, charts)),
        "trainings": trainings(result),
        "tests": tests(result),
        **_failures(result, tasks),
    }


def _lines(text: str) -> tuple[str, list[str]]:
    """Return the first line of a text, and its other lines.

    No line breaks between a number and its percent sign.
    """
    first, *lines = text.replace(" %", "\N{NO-BREAK SPACE}%").split(NEWLINE)
    return first, lines


def _failures(result: Result, tasks: Sequence[Data]) -> Data:
    """Return how many failures of an experiment the page has, and the name of their first set."""
    names = {f"{failure['model']} on {failure['test']}" for failure in result.failures}
    groups = [group for group in tasks if group["name"] in names]
    count = sum(len(group["tasks"]) for group in groups)
    return {
        "failures": words.some(count, "failure") if groups else "",
        "first_set": groups[0]["name"] if groups else "",
    }


def _figures(result: Result, charts: _Charts) -> Iterator[Data]:
    """Yield the tables of a result with their charts; the tables of one figure come together."""
    for figure, group in groupby(result.tables, lambda table: table.figure):
        tables = list(group)
        for drawn in [tables] if figure else [[table] for table in tables]:
            yield _figure(drawn, charts)


def _figure(tables: Sequence[Table], charts: _Charts) -> Data:
    """Return tables with a chart. Tables of one figure have a panel for each row."""
    table, row_panels, chart, caption = tables[0], {}, None, ""
    if table.figure:
        row_panels = {row: charts.add(spec) for row, spec in panels(tables).items()}
    elif table.ours and table.form == "heatmap":
        chart = charts.add(table_heatmap(table), wide=f"{table.title}, heatmap")
        caption = FRAMED if has_own(table) else ""
    elif table.ours and table.form == "lines":
        chart = charts.add(lines_chart(table))
        caption = DASHED if table.has_paper else ""
    colours = len(theme(dark=False)["range"]["category"])
    return {
        "title": table.figure or table.title,
        "tables": [(table, numbers(table)) for table in tables],
        "legend": [(i % colours, table.name) for i, table in enumerate(tables)],
        "panels": row_panels,
        "caption": caption,
        "chart": chart,
    }


def _histograms(comparison: Comparison, charts: _Charts) -> Data:
    """Return the histograms of two audits, and sentences about what changed."""
    labels = words.shown(comparison.before.label, 40), words.shown(comparison.after.label, 40)
    variables = []
    for name, (before, after) in comparison.variables.items():
        row = words.row(before, after)
        distances = f"KL {row['KL']} nats, total variation {row['TV']}"
        variables.append(
            {
                "name": words.shown(name, LONGEST),
                "doc": f"{before.doc}. {distances}" if before.doc else distances,
                "chart": charts.add(comparison_chart(before, after, labels)),
                "table": exact({"before": before, "after": after}),
            }
        )
    left = words.left(comparison.after.recipe, comparison.variables)
    return {
        "before": labels[0],
        "after": labels[1],
        "changes": [" ".join(words.changes(comparison.variables)), left],
        "variables": variables,
    }
