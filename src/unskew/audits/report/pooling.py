"""Pools neighbouring values of a long support, so that a histogram has room."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import chain, count, pairwise

from unskew.audits.records import VariableAudit
from unskew.audits.report.words import shown

BLOCKS = "▁▂▃▄▅▆▇█"
NOBODY = "."  # not a space: a value of X that no example has is shown too


@dataclass(frozen=True)
class Bar:
    """One or more neighbouring values of X, and how many examples have one of them."""

    label: str
    count: int
    share: float
    values: int

    @property
    def height(self) -> float:
        """Mean share of a value: comparable between bars, and with 1/|X|."""
        return self.share / self.values


def pooled(variable: VariableAudit, most: int) -> list[Bar]:
    """Return the histogram in order as at most ``most`` bars of (almost) equally many values."""
    names = [shown(value) for value in variable.counts]
    counts = list(variable.counts.values())
    bars = min(len(counts), most)
    edges = [len(counts) * i // bars for i in range(bars + 1)]
    labels = _distinct(
        [
            names[low] if high - low == 1 else f"{names[low]} … {names[high - 1]}"
            for low, high in pairwise(edges)
        ]
    )
    totals = [sum(counts[low:high]) for low, high in pairwise(edges)]
    sizes = [high - low for low, high in pairwise(edges)]
    return [
        Bar(label, total, total / variable.n, size)
        for label, total, size in zip(labels, totals, sizes, strict=True)
    ]


def _spark(bars: Sequence[Bar], top: float) -> str:
    """Draw bars as one character each; a bar of height ``top`` fills it."""
    return "".join(
        BLOCKS[max(0, math.ceil(len(BLOCKS) * bar.height / top - 1e-9) - 1)]
        if bar.count
        else NOBODY
        for bar in bars
    )


def sparks(variables: Sequence[VariableAudit], most: int) -> list[str]:
    """Draw histograms over the same X to the same scale, one character a bar."""
    histograms = [pooled(variable, most) for variable in variables]
    top = max(bar.height for bars in histograms for bar in bars)
    return [_spark(bars, top) for bars in histograms]


def _distinct(labels: Sequence[str]) -> list[str]:
    """Number labels that look alike: 1 and "1" are two values and must stay two bars."""
    distinct: dict[str, None] = {}
    for label in labels:
        tries = chain([label], (f"{label} ({i})" for i in count(2)))
        distinct[next(name for name in tries if name not in distinct)] = None
    return list(distinct)
