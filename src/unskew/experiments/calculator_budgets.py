"""The Calculator once more: all five variables at once, for a budget of draws.

It compares three kinds of models: some are trained on a source as it is, some on one homogenized by
one variable at ε = 0.025, and some on one in which all five variables are balanced for 10 or for 20
draws per kept example. The original models differ most from seed to seed, so there are more of
them.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from statistics import mean
from typing import Any

import numpy as np
from numpy.typing import NDArray

from unskew.core.recipe import Recipe
from unskew.core.tally import Tally
from unskew.experiments.calculator import (
    EPSILONS,
    SOURCES,
    TEST_SOURCES,
    VARIABLES,
    kl_removed_by,
    size_of,
    train_and_score,
    training_sets,
)
from unskew.experiments.provenance import provenance
from unskew.experiments.say import Say
from unskew.models.calculator.score import Estimate

NAME = "calculator-budgets"
BUDGETS = (10.0, 20.0)
PILOT = 16_384  # examples of the pilot sample of small training sets; large ones work it out
TIMES = 4  # original models for each model of another kind
ORIGINAL = "original"


@dataclass(frozen=True)
class SetKind:
    """One kind of training set: its name, and how it is homogenized."""

    name: str
    variables: tuple[str, ...] = ()
    epsilon: float = EPSILONS[0]
    budget: float = 0.0

    def recipe(self, source: str, n: int, seed: int) -> Recipe:
        """Return the recipe of a training set of one part."""
        recipe = Recipe(f"calculator/{source}", n, seed=seed, shard_size=n)
        if self.budget:
            pilot = 0 if n >= PILOT else PILOT
            return replace(recipe, homogenize=self.variables, budget=self.budget, pilot=pilot)
        return replace(recipe, homogenize=self.variables, epsilon=self.epsilon)


SET_KINDS = (
    SetKind(ORIGINAL),
    *(SetKind(name.replace("_", " "), (name,)) for name in VARIABLES),
    *(SetKind(f"all five, {draws:g} draws", VARIABLES, budget=draws) for draws in BUDGETS),
)


@dataclass(frozen=True)
class ModelPlan:
    """One model: the kind of its training set, its source, and its seed."""

    kind: SetKind
    source: str
    seed: int


def run(
    scale: str, work: Path | None = None, say: Say | None = None, steps: int | None = None
) -> dict[str, Any]:
    """Run the experiment at a scale, and return the result; see ``calculator.run``."""
    size, say = size_of(scale, steps), say or Say()
    begin = time.perf_counter()
    models = [
        ModelPlan(kind, source, seed)
        for source in SOURCES
        for kind in SET_KINDS
        for seed in range(size.seeds * (TIMES if kind.name == ORIGINAL else 1))
    ]
    say.stage(f"generating {len(models)} training sets of {size.examples:,}")
    sets = training_sets(
        [model.kind.recipe(model.source, size.examples, model.seed) for model in models]
    )
    generated = time.perf_counter()
    say.stage(f"training {len(models)} models side by side")
    examples = [data for data, _ in sets]
    scores = train_and_score(size, examples, [model.seed for model in models], work, say)
    return {
        "experiment": NAME,
        "scale": scale,
        "settings": {**asdict(size), "budgets": list(BUDGETS), "times": TIMES},
        "title": "Calculator, all variables at once",
        "section": "6.3",
        "question": "Does a model of arithmetic learn more if all variables of its training set "
        "are balanced at once?",
        "tables": [*_accuracies(models, scores), *_costs(models, [tally for _, tally in sets])],
        "seconds": round(time.perf_counter() - begin, 1),
        "seconds_generating": round(generated - begin, 1),
        "provenance": provenance(),
    }


def _accuracies(
    models: Sequence[ModelPlan], scores: dict[str, NDArray[np.float64]]
) -> list[dict[str, Any]]:
    """Return the table of the mixture, and one for each test source."""
    mixture = np.mean([scores[name] for name in TEST_SOURCES], axis=0)
    tested = {"the equal mixture of four sources": mixture}
    tested |= {name.upper(): scores[name] for name in TEST_SOURCES}
    return [
        _table(models, 100 * values, f"Accuracy on {name}", "%") for name, values in tested.items()
    ]


def _costs(models: Sequence[ModelPlan], tallies: Sequence[Tally]) -> list[dict[str, Any]]:
    """Return tables of what homogenizing costs, and of how much skew it removes."""
    draws = np.array([tally.cost for tally in tallies])
    removed = np.array([_mean_removed(tally) for tally in tallies])
    return [
        _table(models, draws, "Draws per kept example", "draws per kept example"),
        _table(models, removed, "KL from uniform removed, mean over the variables named", "%"),
    ]


def _mean_removed(tally: Tally) -> float:
    """Return how much of the KL is gone, as a mean over the variables that were homogenized."""
    return mean(kl_removed_by(tally).values()) if tally.drawn_values else 0.0


def _table(
    models: Sequence[ModelPlan], values: NDArray[np.float64], title: str, unit: str
) -> dict[str, Any]:
    """Return a table with a row for each training source and a column for each kind of set."""
    cells = []
    for source in SOURCES:
        for kind in SET_KINDS:
            ours = [
                float(value)
                for model, value in zip(models, values, strict=True)
                if (model.source, model.kind) == (source, kind)
            ]
            estimate = Estimate.of(ours)
            cells.append(
                {
                    "row": source.upper(),
                    "column": kind.name,
                    "paper": None,
                    "ours": {
                        "mean": round(estimate.mean, 3),
                        "low": round(estimate.mean - estimate.half_width, 3),
                        "high": round(estimate.mean + estimate.half_width, 3),
                        "values": [round(value, 3) for value in estimate.values],
                    },
                }
            )
    return {
        "title": title,
        "unit": unit,
        "form": "table",
        "rows": [source.upper() for source in SOURCES],
        "columns": [kind.name for kind in SET_KINDS],
        "cells": cells,
    }
