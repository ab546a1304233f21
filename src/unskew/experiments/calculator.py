"""The Calculator's three tables and its figure (sections 6.3, B.4 and B.5).

One model is trained on each of T2T and DCFG as it is, and one on each of them homogenized by each
of the five variables at each ε. All models of all seeds train together, and are scored on an equal
mixture of the four sources as they are.
"""

import hashlib
import json
import time
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict, dataclass, replace
from itertools import product
from os import cpu_count
from pathlib import Path
from statistics import mean
from typing import Any

import numpy as np
from numpy.typing import NDArray

from unskew.audits.records import VariableAudit, in_order, kl_removed
from unskew.balance.theory import cost_bound
from unskew.core.errors import unknown
from unskew.core.recipe import Recipe
from unskew.core.rng import generator
from unskew.core.tally import Tally
from unskew.datasets.run import shard
from unskew.experiments.provenance import provenance
from unskew.experiments.say import Say
from unskew.io.lookup import find_source
from unskew.models.calculator.network import Expressions, ReaderConfig
from unskew.models.calculator.score import Estimate, accuracies
from unskew.models.calculator.train import TrainConfig, TrainingData, train
from unskew.models.ranks import ALONE
from unskew.models.runs import read_json, write_json

NAME = "calculator"
SOURCES = ("t2t", "dcfg")
TEST_SOURCES = ("t2t", "dcfg", "rcfg", "bal")
VARIABLES = ("length", "max_depth", "mean_depth", "operations", "parentheses")
EPSILONS = (0.025, 0.05, 0.1, 0.2)
COST_EPSILONS = (0.0125, 0.025, 0.05, 0.1, 0.2, 0.4, 0.8)
TEST_SEED = 10_000  # the training seeds count from 0, so this one is different

# Tables 3, 4 and 5: accuracy and removed KL in percent, improvements in percentage points.
PAPER: dict[str, dict[str, dict[str, float]]] = {
    "original": {"t2t": {"accuracy": 83.83}, "dcfg": {"accuracy": 78.25}},
    "by_variable": {
        "t2t": dict(zip(VARIABLES, (4.35, 4.24, 2.14, 1.19, 2.32), strict=True)),
        "dcfg": dict(zip(VARIABLES, (3.84, 5.92, 4.02, 6.72, 4.51), strict=True)),
    },
    "by_epsilon": {
        "t2t": dict(zip(map(str, EPSILONS), (2.84, 1.31, 1.33, 2.45), strict=True)),
        "dcfg": dict(zip(map(str, EPSILONS), (5.00, 4.50, 3.54, 3.42), strict=True)),
    },
    "kl_removed": {
        "t2t": dict(zip(VARIABLES, (46.68, 30.45, 13.99, 38.82, 36.91), strict=True)),
        "dcfg": dict(zip(VARIABLES, (42.98, 30.77, 27.05, 43.95, 23.63), strict=True)),
    },
}


@dataclass(frozen=True)
class Sizes:
    """The sizes of the experiment."""

    seeds: int
    examples: int  # in each training set
    hidden: int
    train: TrainConfig
    test: int  # expressions from each of the four sources
    cost_examples: int  # examples kept for each point of the figure


SMOKE = TrainConfig(steps=80, batch=16, rate=3e-2, warmup=5, log_every=20)
SMALL = TrainConfig(steps=1_500, batch=64, rate=5e-3)
FULL = TrainConfig(steps=30_000, batch=128, rate=5e-3, log_every=1_000, save_every=10_000)
SCALES = {
    "smoke": Sizes(2, 2_000, 24, SMOKE, 500, 2_000),
    "small": Sizes(2, 50_000, 64, SMALL, 5_000, 20_000),
    "full": Sizes(5, 200_000, 128, FULL, 25_000, 100_000),
}


@dataclass(frozen=True)
class Distribution:
    """A training distribution: a source as it is, or homogenized by one variable."""

    source: str
    variable: str | None = None
    epsilon: float | None = None

    def recipe(self, n: int, seed: int) -> Recipe:
        """Return the recipe of a training set. One shard is the paper's procedure exactly."""
        recipe = Recipe(f"calculator/{self.source}", n, seed=seed, shard_size=n)
        if self.variable is None or self.epsilon is None:
            return recipe
        return replace(recipe, homogenize=(self.variable,), epsilon=self.epsilon)


def run(
    scale: str, work: Path | None = None, say: Say | None = None, steps: int | None = None
) -> dict[str, Any]:
    """Run the experiment at a scale, and return the result.

    ``work`` keeps the training, so that a later run can continue it. ``steps`` replaces the
    scale's number of training steps.
    """
    size, say = size_of(scale, steps), say or Say()
    begin = time.perf_counter()
    distributions = list(_distributions())
    say.stage(f"generating {len(distributions) * size.seeds} training sets of {size.examples:,}")
    jobs = list(product(distributions, range(size.seeds)))
    sets = training_sets([made.recipe(size.examples, seed) for made, seed in jobs])
    generated = time.perf_counter()
    say.stage("measuring draws per kept example")
    costs = _costs(size.cost_examples)
    say.stage(f"training {len(sets)} models side by side")
    seeds = [seed for _, seed in jobs]
    scores = train_and_score(size, [data for data, _ in sets], seeds, work, say)
    tallies = [tally for _, tally in sets]
    return {
        "experiment": NAME,
        "scale": scale,
        "settings": asdict(size),
        "seeds": list(range(size.seeds)),
        "sources": {s: dict(find_source(f"calculator/{s}").parameters) for s in TEST_SOURCES},
        "seconds": round(time.perf_counter() - begin, 1),
        "seconds_generating": round(generated - begin, 1),
        "provenance": provenance(),
        "paper": PAPER,
        "ours": _tables(distributions, size.seeds, scores, tallies),
        "costs": costs,
    }


def earlier_result(
    work: Path, scale: str, steps: int | None = None, name: str = NAME
) -> dict[str, Any] | None:
    """Return an earlier result with the settings of this scale, if the folder has one."""
    settings = json.loads(json.dumps(asdict(size_of(scale, steps))))
    for path in sorted(work.glob(f"{name}*.json")):
        result = read_json(path, "remove it")
        if not isinstance(result, dict) or result.get("experiment") != name:
            continue
        if settings.items() <= result.get("settings", {}).items():
            return result
    return None


def keep(result: dict[str, Any], work: Path) -> None:
    """Write a result into a folder. Its name depends on its settings."""
    text = json.dumps(result["settings"], sort_keys=True)
    name = hashlib.blake2b(text.encode(), digest_size=4).hexdigest()
    write_json(work / f"{result['experiment']}-{name}.json", result)


def training_steps(scale: str) -> int:
    """Return the number of training steps of a scale."""
    return size_of(scale).train.steps


def size_of(scale: str, steps: int | None = None) -> Sizes:
    """Return the sizes of a scale, with another number of training steps if it is given."""
    if scale not in SCALES:
        raise unknown("scale", scale, SCALES)
    size = SCALES[scale]
    return size if steps is None else replace(size, train=replace(size.train, steps=steps))


def _distributions() -> Iterator[Distribution]:
    for source in SOURCES:
        yield Distribution(source)
        for epsilon, variable in product(EPSILONS, VARIABLES):
            yield Distribution(source, variable, epsilon)


def training_sets(recipes: Sequence[Recipe]) -> list[tuple[Expressions, Tally]]:
    """Make the training set of each recipe, which has one part.

    Threads suffice, since the compiled kernels release the lock of the interpreter.
    """

    def make(recipe: Recipe) -> tuple[Expressions, Tally]:
        batch, tally = shard(recipe, 0)
        return Expressions.of(batch, 64), tally

    with ThreadPoolExecutor(cpu_count()) as pool:
        return list(pool.map(make, recipes))


def train_and_score(
    size: Sizes, sets: list[Expressions], seeds: Sequence[int], work: Path | None, say: Say
) -> dict[str, NDArray[np.float64]]:
    """Train a model on each set; return the accuracy of every model on each test source."""
    data = TrainingData(sets, range(len(sets)), ALONE.device)
    reader = ReaderConfig(hidden=size.hidden, seeds=tuple(seeds))
    model = train(reader, size.train, data, work, say.step)
    say.stage("scoring")
    scores = {}
    for name in TEST_SOURCES:
        rng = generator(TEST_SEED, "calculator", name)
        batch, _ = find_source(f"calculator/{name}").draw(rng, size.test)
        scores[name] = accuracies(model, Expressions.of(batch, reader.max_length))
    return scores


def _tables(
    distributions: list[Distribution],
    seeds: int,
    scores: dict[str, NDArray[np.float64]],
    tallies: list[Tally],
) -> dict[str, Any]:
    """Return the tables: a row for each source, and the accuracies on each test source."""

    def by_distribution(values: NDArray[np.float64]) -> dict[Distribution, NDArray[np.float64]]:
        return dict(zip(distributions, values.reshape(-1, seeds), strict=True))

    accuracy = by_distribution(100 * np.mean([scores[name] for name in TEST_SOURCES], axis=0))
    removed = by_distribution(np.array([sum(kl_removed_by(tally).values()) for tally in tallies]))
    on_test = {name: by_distribution(100 * scores[name]) for name in TEST_SOURCES}

    def gain(source: str, variable: str, epsilon: float) -> NDArray[np.float64]:
        return accuracy[Distribution(source, variable, epsilon)] - accuracy[Distribution(source)]

    tables: dict[str, Any] = {}
    for source in SOURCES:
        cells = {
            "original": {"accuracy": accuracy[Distribution(source)]},
            "by_variable": {v: gain(source, v, EPSILONS[0]) for v in VARIABLES},
            "by_epsilon": {
                str(e): np.mean([gain(source, v, e) for v in VARIABLES], axis=0) for e in EPSILONS
            },
            "kl_removed": {v: removed[Distribution(source, v, EPSILONS[0])] for v in VARIABLES},
        }
        for table, columns in cells.items():
            estimates = {column: _estimate(values) for column, values in columns.items()}
            tables.setdefault(table, {})[source] = estimates
    tables["by_test"] = {
        f"{trained.source}/{trained.variable or 'original'}/{trained.epsilon or 0:g}": {
            name: round(float(mean(on_test[name][trained])), 3) for name in TEST_SOURCES
        }
        for trained in distributions
    }
    return tables


def _estimate(values: NDArray[np.float64]) -> dict[str, Any]:
    estimate = Estimate.of(values.tolist())
    numbers = {"mean": round(estimate.mean, 3), "half_width": round(estimate.half_width, 3)}
    return numbers | {"values": [round(value, 3) for value in estimate.values]}


def kl_removed_by(tally: Tally) -> dict[str, float]:
    """Return how much of each variable's KL from uniform homogenizing removed, in percent."""
    removed = {}
    for name, drawn in tally.drawn_values.items():
        before, after = (
            VariableAudit(name, {value: counts[value] for value in in_order(drawn)}, False)
            for counts in (drawn, tally.kept_values[name])
        )
        removed[name] = kl_removed(before, after) or 0.0
    return removed


def _costs(kept: int) -> list[dict[str, Any]]:
    """Measure the draws per kept example for the figure, with the bound 1 + 1/ε."""

    def measure(point: tuple[str, str, float]) -> dict[str, Any]:
        source, variable, epsilon = point
        _, tally = shard(Distribution(source, variable, epsilon).recipe(kept, TEST_SEED), 0)
        return {
            "source": source,
            "variable": variable,
            "epsilon": epsilon,
            "draws_per_kept": round(tally.cost, 4),
            "bound": round(cost_bound(epsilon), 4),
        }

    with ThreadPoolExecutor(cpu_count()) as pool:
        return list(pool.map(measure, product(SOURCES, VARIABLES, COST_EPSILONS)))
