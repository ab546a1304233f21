"""What two variables say about each other."""

import math

import numpy as np
import pytest

from unskew.core.variables.coded import Coded, as_coded
from unskew.discovery.score.dependence import cell_counts, dependence

DRAWS = {
    "coin": lambda rng, n: rng.integers(0, 2, n),
    "rare": lambda rng, n: (rng.random(n) < 0.01).astype(int),
    "geometric": lambda rng, n: rng.geometric(0.1, n),
    "many": lambda rng, n: rng.integers(0, 3 * n // 5, n),
    "zipf": lambda rng, n: np.minimum(rng.zipf(1.5, n), 10**6),
}
LEVEL, RUNS = 0.01, 200


@pytest.mark.parametrize("kind", DRAWS)
@pytest.mark.parametrize("other", DRAWS)
def test_independent_variables_are_seldom_called_dependent(kind, other):
    """At the level of one in a hundred, 200 runs have 9 false alarms in one case of 10,000."""
    alarms = 0
    for seed in range(RUNS):
        rng = np.random.default_rng([seed, *map(ord, kind + other)])
        a, b = (as_coded(DRAWS[name](rng, 400)) for name in (kind, other))
        alarms += dependence(a, b, seed=seed).p <= LEVEL
    assert alarms <= 8


@pytest.mark.parametrize(
    ("kind", "often", "share"),
    [("coin", 0.2, 0.029), ("geometric", 0.2, 0.029), ("many", 0.9, 0.7)],
)
def test_a_planted_dependence_is_found(kind, often, share):
    """A variable that decides another one so often takes away this share of its entropy."""
    rng = np.random.default_rng(3)
    a = DRAWS[kind](rng, 4_000)
    b = np.where(rng.random(4_000) < often, a % 2, rng.integers(0, 2, 4_000))
    found = dependence(as_coded(a), as_coded(b))
    assert found.p < 1e-10
    assert found.share(1) == pytest.approx(share, abs=0.15 * often)


def test_a_variable_that_decides_the_other_takes_all_of_its_entropy():
    rng = np.random.default_rng(4)
    a = rng.integers(0, 12, 3_000)
    found = dependence(as_coded(a), as_coded(a % 3))
    assert found.share(1) == pytest.approx(1)
    assert found.share(0) == pytest.approx(math.log(3) / math.log(12), abs=0.01)


def test_the_noise_of_many_values_is_taken_off():
    """3,000 rows of 2,000 values seem to decide a coin to two thirds; they say nothing."""
    rng = np.random.default_rng(5)
    a, b = as_coded(rng.integers(0, 2_000, 3_000)), as_coded(rng.integers(0, 2, 3_000))
    found = dependence(a, b)
    assert found.information / found.entropies[1] > 0.4
    assert found.share(1) < 0.05


def test_a_table_by_hand():
    """Of 40 rows, 15, 5, 5, 15 in the four cells: G is 80 (0.75 ln 1.5 + 0.25 ln 0.5)."""
    a = Coded(["x", "y"], np.repeat([0, 0, 1, 1], [15, 5, 5, 15]))
    b = Coded(["u", "v"], np.repeat([0, 1, 0, 1], [15, 5, 5, 15]))
    found = dependence(a, b)
    information = 0.75 * math.log(1.5) + 0.25 * math.log(0.5)
    assert found.information == pytest.approx(information)
    assert found.noise == pytest.approx(1 / 80)
    assert found.entropies == pytest.approx((math.log(2), math.log(2)))
    assert found.p == pytest.approx(math.erfc(math.sqrt(80 * information / 2)))


def test_nothing_to_compare():
    one = Coded(["x"], np.zeros(5, dtype=np.int64))
    assert dependence(one, as_coded(np.arange(5))).p == 1
    empty = Coded([], np.zeros(0, dtype=np.int64))
    assert dependence(empty, empty).p == 1
    every = as_coded(np.arange(50))
    assert dependence(every, as_coded(np.arange(50) % 2)).p == 1
    assert dependence(every, every).share(0) == 0


def test_cells_are_counted_alike_where_they_are_sorted():
    cells = np.random.default_rng(6).integers(0, 50, 1_000)
    assert cell_counts(cells, 50).tolist() == cell_counts(cells, 10**9).tolist()
