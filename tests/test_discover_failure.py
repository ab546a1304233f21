"""In which values of a feature a model fails more often."""

import numpy as np
import pytest
from scipy import stats

from unskew.core.errors import UnskewError
from unskew.core.variables.coded import Coded, as_coded
from unskew.discovery.score.failure import as_failures, failing_tail, failure


def coded(values):
    return as_coded(np.array(values, dtype=object))


FAILURES = {
    "yes or no": lambda rng, n: (rng.random(n) < 0.1).astype(float),
    "mostly no": lambda rng, n: (rng.random(n) < 0.004).astype(float),
    "scores": lambda rng, n: rng.random(n) ** 4,
    "half scores": lambda rng, n: rng.choice([0, 0.5, 1], n, p=[0.9, 0.09, 0.01]),
}


@pytest.mark.parametrize("kind", FAILURES)
def test_failures_that_have_nothing_to_do_with_a_feature_are_seldom_called_so(kind):
    """At the level of one in twenty, 200 runs have 22 false alarms in one case of 1,000."""
    alarms = 0
    for seed in range(200):
        rng = np.random.default_rng([seed, len(kind)])
        values = as_coded(np.minimum(rng.geometric(0.2, 500), 1 + seed % 15))
        alarms += failure(values, FAILURES[kind](rng, 500)).p <= 0.05
    assert alarms <= 21


@pytest.mark.parametrize("kind", ["yes or no", "scores"])
def test_a_value_in_which_a_model_fails_is_found(kind):
    rng = np.random.default_rng(1)
    values = rng.integers(0, 20, 5_000)
    failed = FAILURES[kind](rng, 5_000)
    failed[(values == 7) & (rng.random(5_000) < 0.3)] = 1.0
    found = failure(as_coded(values), failed)
    assert found.p < 1e-5
    assert found.values[0].value == 7
    assert found.values[0].difference > 0.15
    assert found.values[1].p > 1e-3


def test_a_table_by_hand():
    """4 of 5 rows with x fail and 1 of 5 others: 26 of 252 draws of five rows have so many."""
    values = coded(["x"] * 5 + ["y"] * 5)
    failed = np.array([1, 1, 1, 1, 0, 1, 0, 0, 0, 0], dtype=float)
    found = failure(values, failed)
    first, second = found.values
    assert (first.value, first.rows, first.rate, first.rest) == ("x", 5, 0.8, 0.2)
    assert first.difference == pytest.approx(0.6)
    assert (first.low, first.high) == pytest.approx((0.3755, 0.9638), abs=1e-4)
    assert first.p == pytest.approx(26 / 252)
    assert (second.value, second.p) == ("y", 1)
    assert found.p == pytest.approx(2 * 26 / 252)
    assert found.rate == 0.5


def test_the_bound_for_scores_is_never_below_the_exact_probability():
    """Scores that are nearly yes or no, so that the exact probability is known."""
    n = 400
    for hits in (8, 40, 200, 360):
        failed = np.zeros(n)
        failed[:hits] = 1
        rows = np.repeat([5, 20, 100, 200, 300, 380, 395], 40)
        rng = np.random.default_rng(hits)
        some = rng.hypergeometric(hits, n - hits, rows) + rng.integers(0, 10, len(rows))
        some = np.minimum(some, np.minimum(rows, hits))
        exact = stats.hypergeom.sf(some - 1, n, hits, rows)
        almost = failed.copy()
        almost[0] = 1 - 1e-9
        bound = failing_tail(some.astype(float), rows, almost)
        likely = some * n <= rows * hits
        assert (bound >= exact * (1 - 1e-6))[~likely].all()
        few = ~likely & (rows <= 20)  # of few rows, the bound is close
        assert (np.log(bound) <= 0.7 * np.log(exact) + 1)[few].all()


def test_values_with_few_rows_are_not_tested():
    values = coded(["x"] * 4 + ["y"] * 6 + ["z"] * 90)
    failed = np.array([1.0] * 4 + [0.0] * 96)
    assert {each.value for each in failure(values, failed).values} == {"y", "z"}
    assert failure(values, failed, least=4).values[0].value == "x"


@pytest.mark.parametrize("all_of_them", [0.0, 1.0, 0.5])
def test_where_all_rows_fail_alike_nothing_is_found(all_of_them):
    found = failure(as_coded(np.arange(100) % 5), np.full(100, all_of_them))
    assert found.p == 1
    assert found.rate == all_of_them


def test_nothing_to_compare():
    empty = Coded([], np.zeros(0, dtype=np.int64))
    assert failure(empty, np.zeros(0)).values == ()
    one = Coded(["x"], np.zeros(20, dtype=np.int64))
    assert failure(one, np.ones(20)).values == ()
    with pytest.raises(UnskewError, match="20 values and 3 failures"):
        failure(one, np.zeros(3))


def test_failures_are_yes_or_no_or_scores():
    assert as_failures(coded([True, False, 1, 0, 0.25])).tolist() == [1, 0, 1, 0, 0.25]
    for odd in ("yes", None, 2, -0.1, float("nan")):
        with pytest.raises(UnskewError, match="allowed is true or false, or a number from 0"):
            as_failures(coded([1, odd]))
