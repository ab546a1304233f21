"""A whole reproduction of the paper as one HTML file that loads nothing from anywhere."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import groupby
from typing import Any

from unskew.audits.audit import Comparison
from unskew.audits.report import words
from unskew.audits.report.charts import Spec, comparison_chart, theme
from unskew.audits.report.page import filled, responsive
from unskew.audits.report.sections import exact
from unskew.audits.report.templates import Data
from unskew.core.errors import UnskewError
from unskew.experiments.page.charts import (
    beside_chart,
    has_own,
    lines_chart,
    panels,
    table_heatmap,
)
from unskew.experiments.page.glossary import beams, tries
from unskew.experiments.page.tables import numbers, tests, trainings
from unskew.experiments.page.words import (
    LONGEST,
    NEWLINE,
    Fact,
    Result,
    Table,
    check_result,
    duration,
    is_karel,
    label,
    not_run,
    sentences,
    to_run,
    unsaid,
)

FULL = "full"
LONGEST_NOTE = 1_000  # characters
WIDE = 14  # characters of a fact; a longer one gets a row of its own
FRAMED = "Framed: a model of narrow worlds on its own kind of them."
DASHED = "Solid lines are ours, dashed ones the paper’s."


@dataclass
class _Charts:
    """The charts of a page in the order of their ids."""

    specs: list[Spec] = field(default_factory=list)

    def add(self, spec: Spec, wide: str = "") -> Data:
        """Return where a chart goes; a ``wide`` one, so named, is scrolled in a box of its own."""
        self.specs.append(spec if wide else responsive(spec))
        return {"number": len(self.specs) - 1, "wide": wide}


def reproduction_page(
    results: Sequence[Result],
    tasks: Sequence[dict[str, Any]] = (),
    comparisons: Sequence[Comparison] = (),
) -> str:
    """Return the page of some experiments' results.

    ``tasks`` are sets of Karel runs to step through (``facts.failure_tasks`` makes them);
    ``comparisons`` are audits before and after, drawn as histograms.
    """
    if not results:
        raise UnskewError("there are no results to show; run `unskew reproduce` first")
    for result in results:
        check_result(result)
    charts = _Charts()
    chart = beside_chart(results)
    beside = charts.add(chart) if chart is not None else None
    known: set[Fact] = set()
    experiments = [_experiment(result, tasks, charts, known) for result in results]
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
    """Return what is known of all experiments together, and whether it needs room."""
    cells = [cell for result in results for table in result["tables"] for cell in to_run(table)]
    run = sum(cell["ours"] is not None for cell in cells)
    beside = sum(cell["ours"] is not None and cell["paper"] is not None for cell in cells)
    facts = {
        "Experiments": str(len(results)),
        "Cells of tables": f"{run:,} of {len(cells):,} run, {beside:,} beside the paper’s",
        "Time": _time(results),
        "Hardware": _distinct(results, "hardware"),
        "Version": _distinct(results, "unskew"),
        **_code(results),
    }
    return [(term, text, len(text) > WIDE) for term, text in facts.items() if text]


def _code(results: Sequence[Result]) -> dict[str, str]:
    """Name the commits that made the results; where one has none, also the hash of its code."""
    commits = _distinct(results, "commit")
    told = {"Commit": re.sub(r"\b([0-9a-f]{10})[0-9a-f]{30}\b", r"\1", commits)}
    known = all(result["provenance"].get("commit") for result in results)
    if not known or "unknown" in commits or "changed" in commits:
        told["Source"] = _distinct(results, "source_sha256")
    return told


def _time(results: Sequence[Result]) -> str:
    """Add up what was trained, each model once however many experiments share it."""
    trained = {
        each["hash"]: each for result in results for each in result.get("trainings") or ()
    }.values()
    others = (float(result["seconds"]) for result in results if not result.get("trainings"))
    seconds = sum(float(each["seconds"]) for each in trained) + sum(others)
    beside = any(int(each.get("at_once", 1)) > 1 for each in trained)
    return duration(seconds) + (" added up, some side by side" if beside else "")


def _not_full(results: Sequence[Result]) -> str:
    """Name the results that are not at full scale, each with its scale."""
    scales = {_title(result): _scale(result) for result in results if _scale(result) != FULL}
    return ", ".join(f"{title} ({scale})" for title, scale in scales.items())


def _distinct(results: Sequence[Result], fact: str) -> str:
    """List what the provenance of the results says, each once."""
    told = (str(result["provenance"].get(fact) or "") for result in results)
    # Of an experiment whose models differ in it, it is a list already.
    found = dict.fromkeys(part for text in told for part in text.split("; ") if part)
    return "; ".join(words.shown(text, LONGEST) for text in found)


def _title(result: Result) -> str:
    return words.shown(result["title"], LONGEST)


def _scale(result: Result) -> str:
    return words.shown(str(result.get("scale", FULL)), 20)


def _experiment(
    result: Result, tasks: Sequence[dict[str, Any]], charts: _Charts, known: set[Fact]
) -> Data:
    """Return the section of an experiment, and what is said of it in short."""
    section = str(result.get("section") or "")
    of_paper = f"The paper’s section {words.shown(section, LONGEST)}" if section else "Ours"
    question = str(result.get("question") or "")
    return {
        "title": _title(result),
        "in_short": [_lines(text) for text in sentences(result, known)] or [(unsaid(result), [])],
        "about": f"{of_paper} · {_scale(result)} scale · {duration(result['seconds'])}",
        "question": words.shown(question, 400) if question else "",
        "figures": list(_figures(result, charts)),
        "trainings": trainings(result),
        "tests": tests(result),
        **_failures(result, tasks),
    }


def _lines(text: str) -> tuple[str, list[str]]:
    """Return the first line of a text, and its other lines.

    The space between a number and its percent sign becomes one that does not break.
    """
    first, *lines = text.replace(" %", "\N{NO-BREAK SPACE}%").split(NEWLINE)
    return first, lines


def _failures(result: Result, tasks: Sequence[dict[str, Any]]) -> Data:
    """Count the failures of an experiment that can be browsed, and name the first set of them."""
    names = {f"{failure['model']} on {failure['test']}" for failure in result.get("failures") or ()}
    groups = [group for group in tasks if group["name"] in names]
    count = sum(len(group["tasks"]) for group in groups)
    return {
        "failures": words.some(count, "failure") if groups else "",
        "first_set": groups[0]["name"] if groups else "",
    }


def _figures(result: Result, charts: _Charts) -> Iterator[Data]:
    """Return the tables of a result, those of one figure together."""
    for figure, group in groupby(result["tables"], lambda table: table.get("figure") or ""):
        if figure:
            yield _figure(figure, list(group), charts)
        else:
            yield from (_table(table, charts) for table in group)


def _figure(title: str, tables: Sequence[Table], charts: _Charts) -> Data:
    """Return tables that are drawn together, a panel for each row."""
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
    """Return a table with its chart, where it has something to draw."""
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
    """Return the numbers of a table, how much of it was not run, and what is to be known of it."""
    missing = not_run(table)
    note = str(table.get("note") or "")
    return {
        "not_run": words.some(len(missing), "cell") if missing else "",
        "note": words.shown(note, LONGEST_NOTE) if note else "",
        "which": which,
        "numbers": numbers(table),
    }


def _histograms(comparison: Comparison, charts: _Charts) -> Data:
    """Return the histograms of two audits beside each other, and what changed."""
    before = words.shown(comparison.before.label, 40)
    after = words.shown(comparison.after.label, 40)
    return {
        "before": before,
        "after": after,
        "said": [" ".join(words.changes(comparison)), words.left(comparison)],
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
