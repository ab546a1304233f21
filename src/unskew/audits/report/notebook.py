"""An audit or a comparison as a piece of HTML for a notebook: one table, no script."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import islice

from unskew.audits.records import Report, VariableAudit
from unskew.audits.report import words
from unskew.audits.report.pooling import Bar, pooled
from unskew.audits.report.templates import Data, render

BARS = 24
MOST_VARIABLES = 50
HEIGHT = 20.0  # of a histogram, in its own units


@dataclass(frozen=True)
class Drawing:
    """A small histogram: for each bar its upper end, its height and its words."""

    bars: Sequence[tuple[str, str, str]]
    uniform: str  # where bars of uniform data would end


def notebook(report: Report) -> str:
    """Return the summary table as HTML that shows in light and dark notebooks."""
    more = len(report.variables) - MOST_VARIABLES
    shown = replace(report, variables=dict(islice(report.variables.items(), MOST_VARIABLES)))
    notes = [*_lead(report), *words.notes(report), *words.plan(report)]
    if more > 0:
        notes.append(f"{words.some(more, 'more variable')}: open() shows all of them")
    return render(
        "audits/report/notebook.html",
        sides=[
            (words.titled(name), words.shown(side.label, 80), words.facts(side))
            for name, side in report.sides.items()
        ],
        columns=words.columns(report),
        numbers=words.NUMBERS,
        rows=[_row(report, sides) for sides in shown.variables.values()],
        notes=notes,
    )


def _lead(report: Report) -> list[str]:
    """Return what stands first below the table, as in a terminal."""
    if len(report.sides) == 1:
        never = words.never_there(report)
        return [f"in none of the examples: {never}"] if never else []
    split = words.split(report.variables)
    return [*([split] if split else []), words.left(report.sides["after"].recipe, report.variables)]


def _row(report: Report, sides: Sequence[VariableAudit]) -> Data:
    texts: Data = words.row(*sides)
    return {
        **texts,
        **words.by_side(report, _drawings(sides)),
        "measured": words.measured(*sides),
    }


def _drawings(sides: Sequence[VariableAudit]) -> list[Drawing]:
    """Draw histograms over the same X to the same scale."""
    histograms = [pooled(variable, BARS) for variable in sides]
    uniform = 1 / len(sides[0].counts)
    top = max(bar.height for bars in histograms for bar in bars)
    return [
        Drawing([_bar(bar, top) for bar in bars], f"{HEIGHT * (1 - uniform / top):.2f}")
        for bars in histograms
    ]


def _bar(bar: Bar, top: float) -> tuple[str, str, str]:
    height = max(HEIGHT * bar.height / top, 0.4) if bar.count else 0
    return f"{HEIGHT - height:.2f}", f"{height:.2f}", f"{bar.label}: {words.percent(bar.share)}"
