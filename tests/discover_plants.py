"""What the tests of the bench of `discover` share: whether two samples differ, and fake results."""

from collections import Counter
from collections.abc import Hashable, Sequence
from types import SimpleNamespace
from typing import Any

import numpy as np
from scipy.stats import chi2_contingency

from bench.discover.kinds import Kind, Natural, Row, catalogue, natural
from bench.discover.plant import Plant, matched, planted
from unskew import Batch, SalientVariable
from unskew.core.rng import generator

N, POOL = 1_000, 3_000


def chance(a: Sequence[Hashable], b: Sequence[Hashable]) -> float:
    """Return the p-value of the χ² test that two samples come from one distribution."""
    counts = Counter(a), Counter(b)
    values = [v for v in counts[0] | counts[1] if counts[0][v] + counts[1][v] >= 10]
    table = np.array([[count[v] for v in values] for count in counts])
    return 1.0 if len(values) < 2 else float(chi2_contingency(table).pvalue)


def _again(pool: list[Row]) -> Natural:
    """Return a maker of rows that takes rows of a pool, since drawing new ones takes long."""
    return lambda rng, n: [pool[i] for i in rng.integers(len(pool), size=n).tolist()]


def what_planting_moves(plant: Plant, rows: list[Any]) -> list[Hashable]:
    """Return the values of rows; for a shortcut, whether the answer follows from the value."""
    if plant.role == "shortcut":
        return [matched(plant, row) for row in rows]
    return [plant.kind.truth(row) for row in rows]


def chances(split: str, kind_of_data: str) -> dict[str, tuple[float, float]]:
    """Return, for each kind, how likely its planted rows, and other natural rows, are natural."""
    drawn, pools = {}, {}
    for variant, draw in natural(kind_of_data).items():
        rows = draw(generator(1, "pool"), 2 * N + POOL)
        drawn[variant] = rows[:N], rows[N : 2 * N]
        pools[variant] = rows[2 * N :]
    results = {}
    for name, kind in catalogue(split, kind_of_data).items():
        plant = Plant(kind, "skew" if kind.answers is None else "shortcut", "strong")
        first, second = drawn[kind.variants[0]]
        rows = planted(_again(pools[kind.variants[0]]), [plant], N, 2, name).rows
        natural_values = what_planting_moves(plant, first)
        results[name] = (
            chance(natural_values, what_planting_moves(plant, rows)),
            chance(natural_values, what_planting_moves(plant, second)),
        )
    return results


def finding(name: str, values: Any, kind: str = "skew") -> Any:
    """Return a finding whose variable gives these values, or makes them of an example."""

    def measure(batch: Batch) -> Any:
        return np.array([values(e) for e in batch.examples()]) if callable(values) else values

    return SimpleNamespace(name=name, kind=kind, variable=SalientVariable(name, measure))


def nothing(rows: Any, answer: Any = None, failures: Any = None, top: int = 5) -> Any:
    """Find nothing, as a fake of `discover`."""
    return SimpleNamespace(findings=[])


def finds(*findings: Any, failures: Any = None) -> Any:
    """Return a fake of `discover` that finds these."""

    def discover(rows: Any, answer: Any = None, failures: Any = failures, top: int = 5) -> Any:
        return SimpleNamespace(findings=list(findings)[:top])

    return discover


def kind_of(split: str, kind_of_data: str, name: str) -> Kind:
    """Return a kind by name."""
    return catalogue(split, kind_of_data)[name]
