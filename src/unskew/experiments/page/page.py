"""A reproduction of the paper as one HTML file that loads nothing from the network."""

import re
from collections import Counter
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
from unskew.experiments.page.sentences import NEWLINE, Fact, sentences, why_silent
from unskew.experiments.page.tables import numbers, tests, trainings
from unskew.experiments.page.tasks import failure_tasks, problem_tasks
from unskew.experiments.table import FULL, LONGEST, Result, Table, duration
from unskew.io.files import write_text

FRAMED = "A frame marks a model that is tested on the kind of worlds it was trained on."
DASHED = "Solid lines are our numbers, dashed lines the paper’s."
WIDE = 14  # characters of a fact; a longer fact gets a row of its own
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


# What the head of the page says about all results.


def facts(results: Sequence[Result]) -> list[tuple[str, str, bool]]:
    """Return facts about all experiments, each with its name and whether it is long."""
    cells = [cell for result in results for table in result.tables for cell in table.to_run]
    run = [cell for cell in cells if cell.ours is not None]
    compared = sum(cell.paper is not None for cell in run)
    terms = {
        "Experiments": str(len(results)),
        "Numbers": f"{len(run):,} of {len(cells):,} run, {compared:,} next to a number of the "
        "paper",
        "Time": _time(results),
        "Hardware": _distinct(results, "hardware"),
        "Version": _distinct(results, "unskew"),
        **_code(results),
    }
    return [(term, text, len(text) > WIDE) for term, text in terms.items() if text]


def _code(results: Sequence[Result]) -> dict[str, str]:
    """Return the commits that made the results, and the hash of the code if one is unknown."""
    commits = _distinct(results, "commit")
    code = {"Commit": re.sub(r"\b([0-9a-f]{10})[0-9a-f]{30}\b", r"\1", commits)}
    are_known = all(result.provenance.get("commit") for result in results)
    if not are_known or "unknown" in commits or "changed" in commits:
        code["Source"] = _distinct(results, "source_sha256")
    return code


def _time(results: Sequence[Result]) -> str:
    """Add up the time of all trainings; models that experiments share count once."""
    trained = {
        training["hash"]: training for result in results for training in result.trainings
    }.values()
    seconds = sum(float(training["seconds"]) for training in trained)
    seconds += sum(result.seconds for result in results if not result.trainings)
    overlap = any(int(training.get("at_once", 1)) > 1 for training in trained)
    return duration(seconds) + (" in total; some trainings ran at the same time" if overlap else "")


def not_full(results: Sequence[Result]) -> str:
    """Name the experiments that did not run at full scale, with their scales."""
    return ", ".join(
        f"{result.title} ({result.scale})" for result in results if result.scale != FULL
    )


def _distinct(results: Sequence[Result], fact: str) -> str:
    """List the different values of a fact in the provenance of the results."""
    texts = (str(result.provenance.get(fact) or "") for result in results)
    # An experiment whose models differ in a fact has a list of values already.
    values = dict.fromkeys(part for text in texts for part in text.split("; ") if part)
    return "; ".join(words.shown(value, LONGEST) for value in values)


def beams(results: Sequence[Result]) -> str:
    """Return the width of the beam on each test set, in words; empty if no result has it."""
    tests = {name: test for result in results for name, test in result.tests.items()}
    widths = {name: int(test["beam"]) for name, test in tests.items() if "beam" in test}
    if not widths:
        return ""
    (usual, _), *_ = Counter(widths.values()).most_common(1)
    by_beam: dict[int, list[str]] = {}
    for name, beam in widths.items():
        if beam != usual:
            by_beam.setdefault(beam, []).append(words.shown(name.removeprefix("karel/"), LONGEST))
    others = [f"{beam} on {' and '.join(names)}" for beam, names in by_beam.items()]
    return ", ".join([*others, f"{usual} {'elsewhere' if others else 'on every test set'}"])


def tries(results: Sequence[Result]) -> str:
    """Return after how many draws a search for valid worlds ends; empty if no result has it."""
    counts = dict.fromkeys(result.tries for result in results if result.tries)
    return " or ".join(f"{count:,}" for count in counts)
