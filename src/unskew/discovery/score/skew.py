"""How far the values of a proposal are from what they would be in data without skew."""

from __future__ import annotations

import math
from collections.abc import Hashable, Mapping
from dataclasses import dataclass, field
from typing import Literal, TypeAlias

import numpy as np

from unskew.core.rng import generator
from unskew.discovery.proposal import Proposal
from unskew.discovery.score.cells import (
    Cells,
    Numbers,
    bins_of,
    cells_of,
    enough_expected,
    shared_cells,
    told,
)
from unskew.discovery.score.tails import chi2_tail, gamma_tail

Nearest: TypeAlias = Literal["even", "bell", "hill", "chance", "zipf"]

EXPECTED = 5.0  # rows of a cell from which on the law of chi-square holds
MANY = 8  # values of a number; more are often a measurement, which may be like a bell as well
HILL_CELLS = 40  # of numbers that may rise and fall
TRIALS = 60  # of labels without skew, where each has few rows


@dataclass(frozen=True)
class Skew:
    """How skewed a feature is.

    Args:
        null: what the values were compared with, of all that are no skew: the nearest one.
        kl: the Kullback-Leibler divergence from it in nats, with the sampling error taken off.
        effect: ``kl`` as a share of the largest entropy that so many values can have.
        total_variation: the share of rows that would have to move; sampling error taken off.
        p: how probable so large a distance is in data without skew.
        missing: values that no row has, though the values next to them are frequent.
        missing_p: how probable it is that chance alone leaves such a value out.
        counts: how many rows have each value.
        usual: the share of rows that each value would have without skew, where it is known.
    """

    null: Nearest
    kl: float
    effect: float
    total_variation: float
    p: float
    missing: tuple[Hashable, ...]
    missing_p: float
    counts: Mapping[Hashable, int]
    usual: Mapping[Hashable, float] = field(default_factory=dict)

    @property
    def rows(self) -> int:
        """Number of rows."""
        return sum(self.counts.values())

    def excess(self) -> tuple[Hashable, float, float] | None:
        """Return the value that comes most too often, its share, and what would be usual."""
        rows = self.rows
        more = {
            value: self.counts.get(value, 0) / rows - share for value, share in self.usual.items()
        }
        if not more:
            return None
        value = max(more, key=lambda value: more[value])
        return value, self.counts.get(value, 0) / rows, self.usual[value]


@dataclass(frozen=True)
class _Distance:
    kl: float
    effect: float
    total_variation: float
    p: float


def skew_of(proposal: Proposal) -> Skew | None:
    """Return the skew of a proposal; None if all rows are alike, or if no value comes twice.

    What all rows share is how the data was meant to be, and no choice of rows changes it.
    """
    counts = told(proposal.values)
    if len(counts) < 2:
        return None
    distances = _distances(proposal, counts)
    if not distances:
        return None
    null, near = min(distances, key=lambda pair: pair[1].kl)
    gone, gone_p = _missing(proposal, counts, is_even=null == "even")
    return Skew(
        null,
        near.kl,
        near.effect,
        near.total_variation,
        max(distance.p for _, distance in distances),  # no null that fits must be rejected
        gone,
        gone_p,
        counts,
        _usual(proposal, counts, null, len(gone)),
    )


def _usual(
    proposal: Proposal, counts: Mapping[Hashable, int], null: Nearest, gone: int
) -> dict[Hashable, float]:
    """Return the shares that values would have without skew, as far as these are known."""
    if null == "chance":
        samples = [sample for other in proposal.chance if (sample := told(other))]
        totals = [sum(sample.values()) for sample in samples]
        return {
            value: max(s.get(value, 0) / n for s, n in zip(samples, totals, strict=True))
            for value in dict.fromkeys([*counts, *(v for sample in samples for v in sample)])
        }
    if null != "even":
        return {}
    values = list(dict.fromkeys([*(proposal.support or ()), *counts]))
    return {value: 1 / (len(values) + gone) for value in values}


def _distances(proposal: Proposal, counts: dict[Hashable, int]) -> list[tuple[Nearest, _Distance]]:
    """Return the distance from each thing that the values could be without skew."""
    samples = [sample for other in proposal.chance if (sample := told(other))]
    found: list[tuple[Nearest, _Distance]] = [
        ("chance", _from_sample(counts, sample)) for sample in samples
    ]
    if proposal.null == "chance" and found:
        return found
    bell = proposal.null in ("bell", "hill") or len(counts) >= MANY
    cells = cells_of(counts, proposal.support or bins_of(proposal.name), bell=bell)
    if cells.size < 2 or cells.counts.max() == 1:
        return []
    found.append(("even", _from_even(cells)))
    if bell and cells.middles is not None:
        found.append(("bell", _from_bell(cells)))
    if proposal.null == "hill" and cells.middles is not None:
        found.append(("hill", _from_hill(cells)))
    return found


def _from_even(cells: Cells) -> _Distance:
    if cells.is_open and cells.n < 10 * cells.size:
        return _from_even_labels(cells)
    return _from_shares(cells.counts, cells.widths / cells.widths.sum(), cells.size - 1)


def _from_bell(cells: Cells) -> _Distance:
    """Compare with a normal curve of the same mean and spread."""
    middles = cells.middles
    if middles is None:
        raise ValueError("labels have no mean")
    shares = cells.counts / cells.n
    mean = float((shares * middles).sum())
    variance = float((shares * (middles - mean) ** 2).sum())
    heights = -((middles - mean) ** 2) / (2 * variance)
    curve = cells.widths * np.exp(heights - heights.max())
    return _from_shares(cells.counts, curve / curve.sum(), cells.size - 3)


def _from_hill(cells: Cells) -> _Distance:
    """Compare with the nearest shares that rise to one top and fall after it."""
    size = math.ceil(cells.size / HILL_CELLS)
    starts = np.arange(0, cells.size, size)
    cells = Cells(np.add.reduceat(cells.counts, starts), np.add.reduceat(cells.widths, starts))
    if cells.size < 2:
        return _Distance(0.0, 0.0, 0.0, 1.0)
    heights = cells.counts / cells.widths
    rising = [
        falling(heights[: top + 1][::-1], cells.widths[: top + 1][::-1])
        for top in range(cells.size)
    ]
    hills = [
        np.concatenate([left[::-1], falling(heights[top + 1 :], cells.widths[top + 1 :])])
        * cells.widths
        for top, left in zip(range(cells.size), rising, strict=True)
    ]
    near = min(hills, key=lambda hill: _kl(cells.counts / cells.n, hill / cells.n))
    return _from_shares(cells.counts, near / near.sum(), cells.size - 1)


def falling(heights: Numbers, widths: Numbers) -> Numbers:
    """Return the nearest heights that never rise: neighbours that do become their mean."""
    blocks: list[tuple[float, float, int]] = []  # height, width and number of cells
    for height, width in zip(heights.tolist(), widths.tolist(), strict=True):
        block = (height, width, 1)
        while blocks and blocks[-1][0] < block[0]:
            before = blocks.pop()
            both = before[1] + block[1]
            mean = (before[0] * before[1] + block[0] * block[1]) / both
            block = (mean, both, before[2] + block[2])
        blocks.append(block)
    return np.repeat([block[0] for block in blocks], [block[2] for block in blocks])


def _from_shares(counts: Numbers, expected: Numbers, freedom: int) -> _Distance:
    """Compare counts with known shares."""
    n = counts.sum()
    kl = _kl(counts / n, np.maximum(expected, 1e-300))
    observed, likely = enough_expected(counts, expected * n, EXPECTED)
    lost = len(counts) - len(observed)
    degrees = max(1, freedom - lost)
    statistic = 2 * n * _kl(observed / n, likely / n) if len(observed) > 1 else 0.0
    # Williams' correction: with few rows in a cell, G is a little larger than chi-square
    grown = 1 + (float((n / likely).sum()) - 1) / (6 * n * degrees)
    p = chi2_tail(statistic / grown, degrees)
    noise = np.sqrt(2 * expected * (1 - expected) / (math.pi * n)).sum() / 2
    apart = float(np.abs(counts / n - expected).sum() / 2)
    return _distance(kl, degrees / (2 * n), apart, float(noise), p, len(counts))


def _from_even_labels(cells: Cells) -> _Distance:
    """Compare labels with few rows each, some of them unseen, with labels that are equally likely.

    How many labels there are is worked out from how many were seen. The distance is that of such
    labels drawn at random again and again; a gamma law with its mean and variance gives ``p``.
    """
    n, seen = int(cells.n), cells.size
    labels = _all_labels(n, seen)
    kl = math.log(seen) + float(_entropy(cells.counts / n)) * -1
    rng = generator(0, "discover", "labels", n, seen)
    drawn = rng.multinomial(n, np.full(labels, 1 / labels), size=TRIALS)
    distances = np.array([_uneven(row[row > 0].astype(float), n) for row in drawn])
    mean, variance = float(distances.mean()), float(max(distances.var(ddof=1), 1e-12))
    p = gamma_tail(kl * mean / variance, mean**2 / variance) if mean > 0 else 1.0
    apart = float(np.abs(cells.counts / n - 1 / seen).sum() / 2)
    noise = float(np.mean([np.abs(r[r > 0] / n - 1 / (r > 0).sum()).sum() / 2 for r in drawn[:20]]))
    return _distance(kl, mean, apart, noise, p, seen)


def _all_labels(n: int, seen: int) -> int:
    """Return of how many equally likely labels ``n`` draws show ``seen`` on average."""
    low, high = float(seen), float(seen) * 1_000
    for _ in range(60):
        middle = (low + high) / 2
        shown = -middle * math.expm1(-n / middle)
        low, high = (middle, high) if shown < seen else (low, middle)
    return max(seen, min(round(low), 20 * n))


def _uneven(counts: Numbers, n: int) -> float:
    return math.log(len(counts)) - _entropy(counts / n)


def _from_sample(counts: dict[Hashable, int], others: dict[Hashable, int]) -> _Distance:
    """Compare with a sample without skew: the G-test of two samples."""
    ours, theirs = shared_cells(counts, others)
    n, m, size = ours.sum(), theirs.sum(), len(ours)
    if size < 2 or not m:
        return _Distance(0.0, 0.0, 0.0, 1.0)
    both = (ours + theirs) / (n + m)
    statistic = 2 * (n * _kl(ours / n, both) + m * _kl(theirs / m, both))
    p = chi2_tail(statistic, size - 1)
    expected = (theirs + 0.5) / (m + 0.5 * size)  # none is impossible only as no row has it
    noise = np.sqrt(2 * both * (1 - both) * (1 / n + 1 / m) / math.pi).sum() / 2
    bias = (size - 1) / 2 * (1 / n + 1 / m)
    apart = float(np.abs(ours / n - theirs / m).sum() / 2)
    return _distance(_kl(ours / n, expected), bias, apart, float(noise), p, size)


def _distance(kl: float, bias: float, apart: float, noise: float, p: float, size: int) -> _Distance:
    """Take the sampling error off: KL has a bias; errors of TV add up like sides of a triangle."""
    left = max(0.0, kl - bias)
    moved = math.sqrt(max(0.0, apart**2 - noise**2))
    return _Distance(left, min(1.0, left / math.log(size)), moved, p)


def _kl(p: Numbers, q: Numbers) -> float:
    there = p > 0
    return max(0.0, float((p[there] * np.log(p[there] / q[there])).sum()))


def _entropy(p: Numbers) -> float:
    return float(-(p * np.log(p)).sum())


def _missing(
    proposal: Proposal, counts: dict[Hashable, int], *, is_even: bool
) -> tuple[tuple[Hashable, ...], float]:
    """Return values that are missing between frequent ones, and how probable this is by chance.

    The rule and its probability are those of ``audits/holes``. The smallest count that could come
    is missing where the next one is frequent; an even choice may just begin above it. Nothing is
    missing that a sample without skew does not have either.
    """
    from unskew.audits.holes import holes

    gone = list(holes(counts))
    least = proposal.least
    if least is not None and not is_even and least not in counts and least + 1 in counts:
        gone.append(least)
    others = [told(other) for other in proposal.chance]
    gone = [value for value in gone if all(other.get(value, 0) > 0 for other in others)]
    if not gone:
        return (), 1.0
    n = sum(counts.values())
    beside = {value: _beside(value, counts) for value in gone}
    chances = {value: 6 * n / k * 0.5**k for value, k in beside.items()}
    sure = tuple(value for value in sorted(gone, key=str) if chances[value] < 1)
    return sure, min([1.0, *chances.values()])


def _beside(value: Hashable, counts: Mapping[Hashable, int]) -> int:
    """Return the count of the rarer of the numbers next to one that is missing."""
    numbers = sorted(number for number in counts if type(number) is int)
    below = [number for number in numbers if number < value]  # type: ignore[operator]
    above = [number for number in numbers if number > value]  # type: ignore[operator]
    return min(counts[side] for side in [*below[-1:], *above[:1]])
