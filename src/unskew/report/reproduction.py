"""A whole reproduction of the paper as one HTML file that loads nothing from anywhere."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from html import escape
from itertools import groupby
from typing import Any

from unskew.auditing import Comparison
from unskew.errors import UnskewError
from unskew.report import words
from unskew.report.charts import Spec, comparison_chart, theme
from unskew.report.page import filled, json_in_script, resource, responsive
from unskew.report.reproduction_charts import (
    beside_chart,
    has_own,
    lines_chart,
    panels,
    table_heatmap,
)
from unskew.report.reproduction_glossary import glossary
from unskew.report.reproduction_tables import table_html, tests_html, trainings_html
from unskew.report.reproduction_words import (
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
from unskew.report.sections import exact

TITLE = "Synthetic Datasets for Neural Program Synthesis, reproduced"
PAPER = "Shin et al., ICLR 2019"
FULL = "full"
LONGEST_NOTE = 1_000  # characters
ABOUT = (
    "What the paper reports stands beside ours in the section of its experiment; a cell that was "
    "not run says so."
)
RECREATED = "The original test set of Karel is recreated: most of the original data is lost."
BESIDE = (
    "A point on the dashed line is as the paper has it; above it ours is higher. Higher is not "
    "always the better reproduction: where the paper’s baseline breaks, ours may not."
)
FRAMED = "Framed: a model of narrow worlds on its own kind of them."
DASHED = "Solid lines are ours, dashed ones the paper’s."
HISTOGRAMS = (
    "How often each value of a salient variable comes before and after. The dashed line is where "
    "all bars would end if every value came equally often."
)


@dataclass
class _Charts:
    """The charts of a page in the order of their ids."""

    specs: list[Spec] = field(default_factory=list)

    def add(self, spec: Spec, wide: str = "") -> str:
        """Return where a chart goes; a ``wide`` one, so named, is scrolled in a box of its own."""
        self.specs.append(spec if wide else responsive(spec))
        place = f'<div class="chart" id="chart-{len(self.specs) - 1}"></div>'
        if not wide:
            return place
        return (
            f'<div class="scroll" tabindex="0" role="region" aria-label="{escape(wide)}">'
            f"{place}</div>"
        )


def reproduction_page(
    results: Sequence[Result],
    tasks: Sequence[dict[str, Any]] = (),
    comparisons: Sequence[Comparison] = (),
) -> str:
    """Return the page of some experiments' results.

    ``tasks`` are sets of Karel runs to step through (``experiments.pages`` makes them);
    ``comparisons`` are audits before and after, drawn as histograms.
    """
    if not results:
        raise UnskewError("there are no results to show; run `unskew reproduce` first")
    for result in results:
        check_result(result)
    charts = _Charts()
    parts = [
        *_head(results),
        glossary(results) if any(map(is_karel, results)) else "",
        _contents(results, bool(tasks), bool(comparisons)),
        _in_short(results, charts),
        *(_experiment(i, result, tasks, charts) for i, result in enumerate(results)),
        *([_player(tasks)] if tasks else []),
        *_histograms(comparisons, charts),
    ]
    return filled(
        "unskew: the paper, reproduced",
        "\n".join(parts),
        charts.specs,
        f"{resource('reproduction.css').strip()}\n{_series_style()}",
        resource("reproduction.js").strip(),
    )


def _head(results: Sequence[Result]) -> Iterator[str]:
    yield '<p class="brand">unskew</p>'
    yield f"<h1>{TITLE}</h1>"
    yield f'<p class="sources">{PAPER}</p>'
    about = f"{ABOUT} {RECREATED}" if any(map(is_karel, results)) else ABOUT
    yield f'<div class="lead"><p>{about}</p>{_scales(results)}</div>'
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
    terms = "".join(
        f"<div{' class=wide' if len(text) > 14 else ''}><dt>{term}</dt>"
        f"<dd>{escape(text)}</dd></div>"
        for term, text in facts.items()
        if text
    )
    yield f'<dl class="facts">{terms}</dl>'


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


def _scales(results: Sequence[Result]) -> str:
    """Warn of results that are not at full scale."""
    short = {
        words.shown(result["title"], LONGEST): words.shown(str(result.get("scale", FULL)), 20)
        for result in results
        if result.get("scale", FULL) != FULL
    }
    if not short:
        return ""
    named = ", ".join(f"{title} ({scale})" for title, scale in short.items())
    return (
        "<p><strong>Not at full scale, so not to be read as a reproduction:</strong> "
        f"{escape(named)}.</p>"
    )


def _distinct(results: Sequence[Result], fact: str) -> str:
    """List what the provenance of the results says, each once."""
    told = (str(result["provenance"].get(fact) or "") for result in results)
    # Of an experiment whose models differ in it, it is a list already.
    found = dict.fromkeys(part for text in told for part in text.split("; ") if part)
    return "; ".join(words.shown(text, LONGEST) for text in found)


def _in_short(results: Sequence[Result], charts: _Charts) -> str:
    known: set[Fact] = set()

    def lines() -> Iterator[str]:
        for i, result in enumerate(results):
            said = list(sentences(result, known)) or [unsaid(result)]
            items = "".join(_said(text) for text in said)
            yield f'<li><a href="#experiment-{i}">{_title(result)}</a><ul>{items}</ul></li>'

    chart = beside_chart(results)
    drawn = (
        f'<h3>Every percentage, ours against the paper’s</h3><p class="doc">{BESIDE}</p>'
        f'<div class="beside">{charts.add(chart)}</div>'
        if chart is not None
        else ""
    )
    return (
        '<section aria-labelledby="short"><h2 id="short">In short</h2>'
        f'{drawn}<ul class="short">{"".join(lines())}</ul></section>'
    )


def _said(text: str) -> str:
    """Return a text as an item of a list; lines after its first are items below it."""
    first, *lines = map(_unbroken, text.split(NEWLINE))
    below = "".join(f"<li>{line}</li>" for line in lines)
    return f"<li>{first}{f'<ul>{below}</ul>' if below else ''}</li>"


def _unbroken(text: str) -> str:
    """Escape a sentence, and keep a number and its percent sign on one line."""
    return escape(text).replace(" %", "&nbsp;%")


def _contents(results: Sequence[Result], has_tasks: bool, has_comparisons: bool) -> str:
    links = [(f"experiment-{i}", _title(result)) for i, result in enumerate(results)]
    links += [("runs", "Runs to step through")] if has_tasks else []
    links += [("histograms", "Before and after")] if has_comparisons else []
    items = "".join(f'<li><a href="#{place}">{name}</a></li>' for place, name in links)
    return f'<nav aria-label="Contents"><ol class="contents">{items}</ol></nav>'


def _title(result: Result) -> str:
    return escape(words.shown(result["title"], LONGEST))


def _experiment(
    number: int, result: Result, tasks: Sequence[dict[str, Any]], charts: _Charts
) -> str:
    section = str(result.get("section") or "")
    of_paper = f"The paper’s section {words.shown(section, LONGEST)}" if section else "Ours"
    scale = words.shown(str(result.get("scale", FULL)), 20)
    about = f"{of_paper} · {scale} scale · {duration(result['seconds'])}"
    question = words.shown(str(result.get("question") or ""), 400) if result.get("question") else ""
    tables = "\n".join(_tables(result, charts))
    return (
        f'<section id="experiment-{number}" aria-labelledby="title-{number}">'
        f'<h2 id="title-{number}">{_title(result)}</h2>'
        f'<p class="doc">{escape(about)}</p><p>{escape(question)}</p>\n{tables}\n'
        f"{_browse(result, tasks)}{trainings_html(result)}{tests_html(result)}</section>"
    )


def _browse(result: Result, tasks: Sequence[dict[str, Any]]) -> str:
    """Return a link to the failures of an experiment, which names the first set of them."""
    names = {f"{failure['model']} on {failure['test']}" for failure in result.get("failures") or ()}
    groups = [group for group in tasks if group["name"] in names]
    if not groups:
        return ""
    count = words.some(sum(len(group["tasks"]) for group in groups), "failure")
    first = escape(groups[0]["name"])
    return f'<p><a href="#runs" data-set="{first}">{count} to browse</a></p>'


def _tables(result: Result, charts: _Charts) -> Iterator[str]:
    """Return the tables of a result, those of one figure together."""
    for figure, group in groupby(result["tables"], lambda table: table.get("figure") or ""):
        tables = list(group)
        if figure:
            yield _figure(figure, tables, charts)
        else:
            yield from (_table(table, charts) for table in tables)


def _figure(title: str, tables: Sequence[Table], charts: _Charts) -> str:
    drawn = "".join(
        f"<div><h4>{escape(words.shown(row, LONGEST))}</h4>{charts.add(spec)}</div>"
        for row, spec in panels(tables).items()
    )
    colours = len(theme(dark=False)["range"]["category"])
    names = [escape(label(table)) for table in tables]
    keys = "".join(
        f'<li><span style="background: var(--series-{i % colours})"></span>{name}</li>'
        for i, name in enumerate(names)
    )
    legend = f'<ul class="legend">{keys}</ul><div class="panels">{drawn}</div>' if drawn else ""
    numbers = "".join(
        _numbers(table, f", {name}") for table, name in zip(tables, names, strict=True)
    )
    return f"{_heading(title)}{''.join(map(_notes, tables))}{legend}{numbers}"


def _table(table: Table, charts: _Charts) -> str:
    above = _heading(table["title"]) + _notes(table)
    if not _has_number(table):
        return above
    if table["form"] == "table":
        return above + table_html(table)
    if all(cell["ours"] is None for cell in table["cells"]):
        drawn = ""  # there is nothing to draw yet
    elif table["form"] == "heatmap":
        drawn = charts.add(table_heatmap(table), wide=f"{table['title']}, heatmap")
        if has_own(table):
            drawn = f'<p class="note">{FRAMED}</p>{drawn}'
    else:
        drawn = charts.add(lines_chart(table))
        if any(cell["paper"] is not None for cell in table["cells"]):
            drawn = f'<p class="note">{DASHED}</p>{drawn}'
    return f"{above}{drawn}{_numbers(table)}"


def _heading(title: str) -> str:
    return f"<h3>{escape(words.shown(title, LONGEST))}</h3>"


def _has_number(table: Table) -> bool:
    return any(cell["ours"] or cell["paper"] is not None for cell in table["cells"])


def _notes(table: Table) -> str:
    """Say how much of a table was not run, and what is to be known of it."""
    missing = not_run(table)
    said = f'<p class="doc">{words.some(len(missing), "cell")} not run.</p>' if missing else ""
    if table.get("note"):
        said += f"<p>{escape(words.shown(str(table['note']), LONGEST_NOTE))}</p>"
    return said


def _numbers(table: Table, which: str = "") -> str:
    if not _has_number(table):
        return ""
    return f"<details><summary>The numbers as a table{which}</summary>{table_html(table)}</details>"


def _series_style() -> str:
    """Name the colours of lines as charts have them, for a legend outside of these."""
    light, dark = (
        " ".join(f"--series-{i}: {colour};" for i, colour in enumerate(look["range"]["category"]))
        for look in (theme(dark=False), theme(dark=True))
    )
    return f":root {{ {light} }}\n@media (prefers-color-scheme: dark) {{ :root {{ {dark} }} }}"


def _player(tasks: Sequence[dict[str, Any]]) -> str:
    """Return the section with the runs; what it shows is made from data by a script."""
    data = json_in_script({"sets": list(tasks)})
    skeleton = resource("reproduction_player.html").strip()
    return f'{skeleton}\n<script type="application/json" id="tasks">{data}</script>'


def _histograms(comparisons: Sequence[Comparison], charts: _Charts) -> Iterator[str]:
    if not comparisons:
        return
    yield (
        '<section aria-labelledby="histograms"><h2 id="histograms">Before and after</h2>'
        f"<p>{HISTOGRAMS}</p>"
    )
    for comparison in comparisons:
        labels = (comparison.before.label, comparison.after.label)
        short = (words.shown(labels[0], 40), words.shown(labels[1], 40))
        said = [" ".join(words.changes(comparison)), words.left(comparison)]
        yield f"<h3>{escape(short[0])} against {escape(short[1])}</h3>"
        yield "".join(f"<p>{escape(text)}</p>" for text in said)
        yield '<div class="histograms">'
        for name, (before, after) in comparison.variables.items():
            chart = charts.add(comparison_chart(before, after, short))
            row = words.comparison_row(comparison, name)
            numbers = f"KL {row['KL']} nats, total variation {row['TV']}"
            yield (
                f"<div><h4>{escape(words.shown(name, LONGEST))}</h4>"
                f'<p class="doc">{escape(before.doc)}{". " if before.doc else ""}'
                f"{escape(numbers)}</p>{chart}<details><summary>The numbers as a table</summary>"
                f"{exact({'before': before, 'after': after})}</details></div>"
            )
        yield "</div>"
    yield "</section>"
