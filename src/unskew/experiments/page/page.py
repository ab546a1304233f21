"""A reproduction of the paper as one HTML file that loads nothing from the network."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
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
from unskew.experiments.page.charts import (
    beside_chart,
    has_own,
    lines_chart,
    panels,
    table_heatmap,
)
from unskew.experiments.page.glossary import beams, tries
from unskew.experiments.page.results import (
    LONGEST,
    Result,
    Table,
    cells_not_run,
    cells_to_run,
    check_result,
    duration,
    is_karel,
    label,
)
from unskew.experiments.page.sentences import NEWLINE, Fact, sentences, why_silent
from unskew.experiments.page.tables import numbers, tests, trainings
from unskew.experiments.page.tasks import failure_tasks, problem_tasks
from unskew.io.files import write_text

FULL = "full"
LONGEST_NOTE = 1_000  # characters
WIDE = 14  # characters of a fact; a longer fact gets a row of its own
FRAMED = "A frame marks a model that is tested on the kind of worlds it was trained on."
DASHED = "Solid lines are our numbers, dashed lines the paper’s."
AUDITED = 20_000  # examples of each histogram
WORLD_VARIABLES = ("wall_ratio", "marker_ratio", "marker_count", "grid_size")


def write_page(results: Sequence[Result], path: Path, audited: int = AUDITED) -> Path:
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
    results: Sequence[Result],
    tasks: Sequence[dict[str, Any]] = (),
    comparisons: Sequence[Comparison] = (),
) -> str:
    """Return the page of some experiments' results.

    ``tasks`` are sets of Karel runs to step through, as ``failure_tasks`` returns them.
    ``comparisons`` are audits before and after, which the page shows as histograms.
    """
    if not results:
        raise UnskewError("there are no results to show; run `unskew reproduce` first")
    for result in results:
        check_result(result)
    charts = _Charts()
    chart = beside_chart(results)
    beside = charts.add(chart) if chart is not None else None
    told: set[Fact] = set()
    experiments = [_experiment(result, tasks, charts, told) for result in results]
    histograms = [_histograms(comparison, charts) for comparison in comparisons]
    return filled(
        "experiments/page/page.html",
        charts.specs,
        has_karel=any(map(is_karel, results)),
        not_full=_not_full(results),
        facts=_facts(results),
        beams=beams(results),
        tries=tries(results),
        beside=beside,
        experiments=experiments,
        tasks=list(tasks),
        histograms=histograms,
    )


def _facts(results: Sequence[Result]) -> list[tuple[str, str, bool]]:
    """Return facts about all experiments, each with its name and whether it is long."""
    tables = [table for result in results for table in result["tables"]]
    cells = [cell for table in tables for cell in cells_to_run(table)]
    run = sum(cell["ours"] is not None for cell in cells)
    compared = sum(cell["ours"] is not None and cell["paper"] is not None for cell in cells)
    facts = {
        "Experiments": str(len(results)),
        "Numbers": f"{run:,} of {len(cells):,} run, {compared:,} next to a number of the paper",
        "Time": _time(results),
        "Hardware": _distinct(results, "hardware"),
        "Version": _distinct(results, "unskew"),
        **_code(results),
    }
    return [(term, text, len(text) > WIDE) for term, text in facts.items() if text]


def _code(results: Sequence[Result]) -> dict[str, str]:
    """Return the commits that made the results, and the hash of the code if one is unknown."""
    commits = _distinct(results, "commit")
    code = {"Commit": re.sub(r"\b([0-9a-f]{10})[0-9a-f]{30}\b", r"\1", commits)}
    are_known = all(result["provenance"].get("commit") for result in results)
    if not are_known or "unknown" in commits or "changed" in commits:
        code["Source"] = _distinct(results, "source_sha256")
    return code


def _time(results: Sequence[Result]) -> str:
    """Add up the time of all trainings; models that experiments share count once."""
    trained = {
        training["hash"]: training
        for result in results
        for training in result.get("trainings") or ()
    }.values()
    others = (float(result["seconds"]) for result in results if not result.get("trainings"))
    seconds = sum(float(training["seconds"]) for training in trained) + sum(others)
    overlap = any(int(training.get("at_once", 1)) > 1 for training in trained)
    return duration(seconds) + (" in total; some trainings ran at the same time" if overlap else "")


def _not_full(results: Sequence[Result]) -> str:
    """Name the experiments that did not run at full scale, with their scales."""
    scales = {_title(result): _scale(result) for result in results if _scale(result) != FULL}
    return ", ".join(f"{title} ({scale})" for title, scale in scales.items())


def _distinct(results: Sequence[Result], fact: str) -> str:
    """List the different values of a fact in the provenance of the results."""
    texts = (str(result["provenance"].get(fact) or "") for result in results)
    # An experiment whose models differ in a fact has a list of values already.
    values = dict.fromkeys(part for text in texts for part in text.split("; ") if part)
    return "; ".join(words.shown(value, LONGEST) for value in values)


def _title(result: Result) -> str:
    return words.shown(result["title"], LONGEST)


def _scale(result: Result) -> str:
    return words.shown(str(result.get("scale", FULL)), 20)


def _experiment(
    result: Result, tasks: Sequence[dict[str, Any]], charts: _Charts, told: set[Fact]
) -> Data:
    """Return the section of an experiment, and its sentences for the summary."""
    section = str(result.get("section") or "")
    of_paper = (
        f"The paper’s section {words.shown(section, LONGEST)}" if section else "Not in the paper"
    )
    question = str(result.get("question") or "")
    return {
        "title": _title(result),
        "in_short": [_lines(text) for text in sentences(result, told)]
        or [(why_silent(result), [])],
        "about": f"{of_paper} · {_scale(result)} scale · {duration(result['seconds'])}",
        "question": words.shown(question, 400) if question else "",
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


def _failures(result: Result, tasks: Sequence[dict[str, Any]]) -> Data:
    """Return how many failures of an experiment the page has, and the name of their first set."""
    names = {f"{failure['model']} on {failure['test']}" for failure in result.get("failures") or ()}
    groups = [group for group in tasks if group["name"] in names]
    count = sum(len(group["tasks"]) for group in groups)
    return {
        "failures": words.some(count, "failure") if groups else "",
        "first_set": groups[0]["name"] if groups else "",
    }


def _figures(result: Result, charts: _Charts) -> Iterator[Data]:
    """Yield the tables of a result; the tables of one figure come together."""
    for figure, group in groupby(result["tables"], lambda table: table.get("figure") or ""):
        if figure:
            yield _figure(figure, list(group), charts)
        else:
            yield from (_table(table, charts) for table in group)


def _figure(title: str, tables: Sequence[Table], charts: _Charts) -> Data:
    """Return tables that are drawn together, with a panel for each row."""
    colours = len(theme(dark=False)["range"]["category"])
    return {
        "title": words.shown(title, LONGEST),
        "tables": [_shown(table, f", {label(table)}") for table in tables],
        "legend": [(i % colours, label(table)) for i, table in enumerate(tables)],
        "panels": [
            (words.shown(row, LONGEST), charts.add(spec)) for row, spec in panels(tables).items()
        ],
        "caption": "",
        "chart": None,
        "is_open": False,
    }


def _table(table: Table, charts: _Charts) -> Data:
    """Return a table with its chart, if it has numbers to draw."""
    chart, caption = None, ""
    is_open = table["form"] == "table"
    if not is_open and any(cell["ours"] is not None for cell in table["cells"]):
        if table["form"] == "heatmap":
            chart = charts.add(table_heatmap(table), wide=f"{table['title']}, heatmap")
            caption = FRAMED if has_own(table) else ""
        else:
            chart = charts.add(lines_chart(table))
            has_paper = any(cell["paper"] is not None for cell in table["cells"])
            caption = DASHED if has_paper else ""
    return {
        "title": words.shown(table["title"], LONGEST),
        "tables": [_shown(table)],
        "panels": [],
        "caption": caption,
        "chart": chart,
        "is_open": is_open,
    }


def _shown(table: Table, which: str = "") -> Data:
    """Return the numbers and the note of a table, and how many cells were not run."""
    missing = cells_not_run(table)
    note = str(table.get("note") or "")
    return {
        "not_run": words.some(len(missing), "cell") if missing else "",
        "note": words.shown(note, LONGEST_NOTE) if note else "",
        "which": which,
        "numbers": numbers(table),
    }


def _histograms(comparison: Comparison, charts: _Charts) -> Data:
    """Return the histograms of two audits, and sentences about what changed."""
    before = words.shown(comparison.before.label, 40)
    after = words.shown(comparison.after.label, 40)
    return {
        "before": before,
        "after": after,
        "changes": [" ".join(words.changes(comparison)), words.left(comparison)],
        "variables": [
            _histogram(comparison, name, charts, (before, after)) for name in comparison.variables
        ],
    }


def _histogram(comparison: Comparison, name: str, charts: _Charts, labels: tuple[str, str]) -> Data:
    before, after = comparison.variables[name]
    row = words.comparison_row(comparison, name)
    numbers = f"KL {row['KL']} nats, total variation {row['TV']}"
    return {
        "name": words.shown(name, LONGEST),
        "doc": f"{before.doc}. {numbers}" if before.doc else numbers,
        "chart": charts.add(comparison_chart(before, after, labels)),
        "table": exact({"before": before, "after": after}),
    }
