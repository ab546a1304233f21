"""The settings of the benchmark: which data, what is planted in it and how strongly.

For each type of data and each split there are: every kind alone, at the three strengths in turn;
every third kind that is no shortcut as the reason of failures; two and three kinds together, with
failures in every second setting; and natural data without any skew, some of it with an answer or
with failures that depend on nothing.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from bench.discover.judge import FAILURE, SHORTCUT, SKEW, carried, codes
from bench.discover.kinds import TYPES, Kind, Row, catalogue, natural
from bench.discover.plant import STRENGTHS, Plant, Planted, planted
from unskew.core.rng import generator

N = 5_000
TOGETHER = (2, 2, 2, 3, 3, 3)  # how many kinds are planted in each setting of several
CLEAN = 10  # settings without a skew, of each type
SAMPLE = 600  # rows that say whether kinds have to do with each other
RELATED = 0.1  # of an entropy: more mutual information is too much
# Data whose answer follows from nothing. Elsewhere something in the row must predict the answer, as
# it is computed from the row, and saying so is no false finding.
BY_CHANCE = {("chat", "preferences"), ("tables", "customers"), ("tables", "readings")}
ANSWER, FAILED = "answer", "failed"
LEVELS = tuple(STRENGTHS)


@dataclass(frozen=True)
class Setting:
    """A type and a variant of data, and what is planted; ``name`` seeds the rows."""

    name: str
    split: str
    kind_of_data: str
    variant: str
    plants: tuple[Plant, ...] = ()
    answer: bool = False
    failures: bool = False

    def make(self, n: int, seed: int) -> Planted:
        """Return the rows of the setting."""
        draw = natural(self.kind_of_data)[self.variant]
        return planted(draw, self.plants, n, seed, self.name, failures=self.failures)


def settings(split: str, only: str | None = None) -> list[Setting]:
    """Return all settings of a split, or those of one type of data."""
    return [s for name in TYPES if only in (None, name) for s in _of_type(split, name)]


def _of_type(split: str, name: str) -> Iterator[Setting]:
    kinds = list(catalogue(split, name).values())
    for i, kind in enumerate(kinds):
        yield _alone(split, name, kind, role(kind), LEVELS[i % 3], i)
    skews = [kind for kind in kinds if kind.answers is None]
    for i, kind in enumerate(skews[::3]):
        yield _alone(split, name, kind, FAILURE, LEVELS[i % 3], i)
    yield from _together(split, name, kinds)
    variants = list(natural(name))
    for i in range(CLEAN):
        variant = variants[i % len(variants)]
        turn = i // len(variants)
        yield Setting(
            f"{split}/{name}/clean/{i}",
            split,
            name,
            variant,
            answer=(name, variant) in BY_CHANCE and turn % 2 == 1,
            failures=turn % 3 == 2,
        )


def role(kind: Kind) -> str:
    """Return what a kind is planted as, unless a model fails by it."""
    return SKEW if kind.answers is None else SHORTCUT


def _alone(split: str, name: str, kind: Kind, as_role: str, level: str, turn: int) -> Setting:
    return Setting(
        f"{split}/{name}/{as_role}/{kind.name}",
        split,
        name,
        kind.variants[turn % len(kind.variants)],
        (Plant(kind, as_role, level),),
        answer=as_role == SHORTCUT,
        failures=as_role == FAILURE,
    )


def _together(split: str, name: str, kinds: list[Kind]) -> Iterator[Setting]:
    """Yield settings of several kinds: one of them a shortcut at most, one a failure at most.

    The kinds have nothing to do with each other in natural data. One of them changes rows at most,
    since a change may undo another.
    """
    rng = generator(0, "together", split, name)
    variants = list(natural(name))
    samples = {v: draw(generator(0, "sample", v), SAMPLE) for v, draw in natural(name).items()}
    for i, size in enumerate(TOGETHER):
        variant = variants[i % len(variants)]
        fitting = [kind for kind in kinds if variant in kind.variants]
        order = [fitting[j] for j in rng.permutation(len(fitting)).tolist()]
        wants_shortcut = i % 3 == 2
        order.sort(key=lambda kind: kind.answers is None or not wants_shortcut)
        chosen: list[Kind] = []
        for kind in order:
            first = wants_shortcut and not chosen
            changes = sum(k.change is not None for k in [*chosen, kind])
            if len(chosen) < size and changes <= 1 and (first or kind.answers is None):
                chosen += [kind] * apart(samples[variant], [*chosen, kind], rng)
        chosen.reverse()  # the shortcut is last, and the first one may be a failure
        failing = i % 2 == 1
        plants = tuple(
            Plant(kind, FAILURE if failing and j == 0 else role(kind), LEVELS[(i + j) % 3])
            for j, kind in enumerate(chosen)
        )
        yield Setting(
            f"{split}/{name}/together/{i}",
            split,
            name,
            variant,
            plants,
            answer=any(plant.role == SHORTCUT for plant in plants),
            failures=failing,
        )


def apart(sample: list[Row], kinds: list[Kind], rng: np.random.Generator) -> bool:
    """Return whether the last of some kinds says nothing about the others.

    Rows are changed half of the time for each kind that changes rows.
    """
    rows = sample
    for kind in kinds:
        if kind.change is not None:
            half = rng.random(len(rows)) < 0.5
            rows = [kind.change(r, rng) if h else r for r, h in zip(rows, half, strict=True)]
    *others, last = ([kind.truth(row) for row in rows] for kind in kinds)
    return all(
        max(carried(codes(last), other), carried(codes(other), last)) < RELATED for other in others
    )
