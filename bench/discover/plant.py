"""Plants skews in natural data: rows are changed, or chosen with tilted weights.

The strength of a skew is the Kullback-Leibler divergence of the planted shares from the natural
ones, in nats. A truth with two values is moved so far that its divergence from even shares is as
large too. The strength of a shortcut is that of the share of rows whose answer follows. A failure
has a rate for the favoured values and a rate for the others.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Hashable, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bench.discover.kinds import Kind, Natural, Row
from unskew.core.rng import generator

STRENGTHS = {"weak": 0.13, "medium": 0.33, "strong": 0.53}  # nats; 75, 88 and 96 % of two values
FAILS = {"weak": 0.35, "medium": 0.55, "strong": 0.85}  # the rate where the planted value is
USUAL = 0.15  # the rate elsewhere
ARTEFACT = 0.35  # share of rows that are changed where failures depend on the change
MOST = 0.97  # the share of a value: beyond it, hardly anything is left to find
STEEPEST = 12.0  # the largest tilt: a value of score 0 comes e^-12 times as often
PILOT, ROUNDS = 3_000, 80


@dataclass(frozen=True)
class Plant:
    """A kind, what it is planted as (skew, shortcut or failure), and how strongly."""

    kind: Kind
    role: str
    strength: str


@dataclass
class Planted:
    """Rows, and of each plant the truth of each row and what was reached."""

    rows: list[Row]
    truths: list[list[Hashable]] = field(default_factory=list)
    facts: list[dict[str, Any]] = field(default_factory=list)


def planted(
    draw: Natural, plants: Sequence[Plant], n: int, seed: int, *labels: str, failures: bool = False
) -> Planted:
    """Return ``n`` rows with all plants in them; with failures, each row says if a model failed."""
    rng = generator(seed, "planted", *labels)
    pilot = _changed(draw(generator(seed, "pilot", *labels), PILOT), plants, rng)
    tilts = [_tilt(plant, pilot) for plant in plants]
    kept: list[Row] = []
    for _ in range(ROUNDS):
        rows = _changed(draw(rng, n), plants, rng)
        chance = np.ones(len(rows))
        for plant, tilt in zip(plants, tilts, strict=True):
            if tilt:
                chance *= np.exp(tilt * (np.array([matched(plant, row) for row in rows]) - 1))
        kept += [
            row for row, keep in zip(rows, rng.random(len(rows)) < chance, strict=True) if keep
        ]
        if len(kept) >= n:
            break
    else:
        names = ", ".join(plant.kind.name for plant in plants)
        raise ValueError(
            f"{len(kept)} of {n} rows after {ROUNDS} rounds: {names} exclude each other"
        )
    result = Planted(kept[:n])
    if failures:
        _fail(result.rows, plants, rng)
    for plant in plants:
        values = [truth_of(plant, row) for row in result.rows]
        result.truths.append(values)
        result.facts.append(_facts(plant, values, [truth_of(plant, row) for row in pilot]))
    return result


def matched(plant: Plant, row: Row) -> float:
    """Return how much a row is favoured, 0 to 1: by its value, or by its answer given its value."""
    value = plant.kind.truth(row)
    if plant.role == "shortcut" and plant.kind.answers is not None:
        return float(plant.kind.answers(value) == row["answer"])
    return plant.kind.score(value)


def truth_of(plant: Plant, row: Row) -> Hashable:
    """Return the planted value of a row; for failures it is what decides about the rate."""
    value = plant.kind.truth(row)
    return round(plant.kind.score(value), 2) if plant.role == "failure" else value


def divergence(shares: NDArray[np.float64], base: NDArray[np.float64]) -> float:
    """Return the Kullback-Leibler divergence of shares from others, in nats."""
    some = shares > 0
    return float(np.sum(shares[some] * np.log(shares[some] / base[some])))


def tilted(base: NDArray[np.float64], scores: NDArray[np.float64], strength: float) -> float:
    """Return the tilt by which values come e^(tilt · score) times as often.

    It is the smallest that reaches the strength, and no larger than leaves something to find.
    """
    low, high = 0.0, STEEPEST
    for _ in range(50):
        tilt = (low + high) / 2
        if _reached(base, scores, tilt, strength):
            high = tilt
        else:
            low = tilt
    return high


def _reached(
    base: NDArray[np.float64], scores: NDArray[np.float64], tilt: float, strength: float
) -> bool:
    shares = base * np.exp(tilt * scores)
    shares /= shares.sum()
    if shares.max() >= MOST:
        return True
    far = divergence(shares, base) >= strength
    if len(base) > 2:
        return far
    top = shares[np.argmax(scores)]
    return bool(far and top > 0.5 and divergence(shares, np.full(2, 0.5)) >= strength)


def _tilt(plant: Plant, pilot: Sequence[Row]) -> float:
    """Return the tilt of a plant for which rows are chosen; 0 for the others."""
    if plant.role == "failure" or plant.kind.change is not None:
        return 0.0
    if plant.role == "shortcut":
        counts: Counter[Any] = Counter(bool(matched(plant, row)) for row in pilot)
        values: list[Any] = [False, True]
        scores = np.array([0.0, 1.0])
    else:
        counts = Counter(plant.kind.truth(row) for row in pilot)
        values = list(counts)
        scores = np.array([plant.kind.score(value) for value in values])
    base = np.array([counts[value] for value in values], dtype=float) / len(pilot)
    if base.min() == 0 or np.ptp(scores) == 0:
        raise ValueError(f"{plant.kind.name}: natural rows have {dict(counts.most_common(5))}")
    return tilted(base, scores, STRENGTHS[plant.strength])


def _changed(rows: list[Row], plants: Sequence[Plant], rng: np.random.Generator) -> list[Row]:
    """Change a share of the rows for each plant that changes rows."""
    for plant in plants:
        change = plant.kind.change
        if change is not None:
            share = ARTEFACT if plant.role == "failure" else share_of(STRENGTHS[plant.strength])
            chosen = rng.random(len(rows)) < share
            rows = [change(row, rng) if c else row for row, c in zip(rows, chosen, strict=True)]
    return rows


def share_of(strength: float) -> float:
    """Return the larger of two shares that are this far from even."""
    shares = np.linspace(0.5, MOST, 4801)
    far = math.log(2) + shares * np.log(shares) + (1 - shares) * np.log(1 - shares)
    return float(shares[np.argmax(far >= strength)])


def _fail(rows: list[Row], plants: Sequence[Plant], rng: np.random.Generator) -> None:
    """Write into each row whether a model failed, at a rate that the failure plants decide."""
    rates = np.full(len(rows), USUAL)
    for plant in plants:
        if plant.role == "failure":
            scores = np.array([plant.kind.score(plant.kind.truth(row)) for row in rows])
            if scores.mean() > 0.6:  # what is rare fails
                scores = 1 - scores
            rates = np.maximum(rates, USUAL + (FAILS[plant.strength] - USUAL) * scores)
    for i, failed in enumerate((rng.random(len(rows)) < rates).tolist()):
        rows[i] = {**rows[i], "failed": failed}


def _facts(plant: Plant, values: list[Hashable], before: list[Hashable]) -> dict[str, Any]:
    """Return what was planted, and how far the rows are from what they were before.

    For a kind that changes rows, that is before rows were chosen for other kinds.
    """
    counts, base = Counter(values), Counter(before)
    known = [value for value in counts if base[value]]
    total = sum(counts[value] for value in known)
    shares = np.array([counts[value] / total for value in known])
    natural = np.array([base[value] / len(before) for value in known])
    even = max(len(counts | base), 2)
    all_shares = np.array(list(counts.values())) / len(values)
    return {
        "kind": plant.kind.name,
        "role": plant.role,
        "strength": plant.strength,
        "changed": plant.kind.change is not None,
        "from_natural": round(divergence(shares, natural), 4),
        "from_even": round(divergence(all_shares, np.full(len(all_shares), 1 / even)), 4),
        "values": len(counts),
        "top": [[str(value), round(c / len(values), 4)] for value, c in counts.most_common(4)],
    }
