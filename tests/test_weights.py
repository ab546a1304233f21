"""Weights of rows: the distribution that they give, their cap, and their effective size."""

import json
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import unskew
from tests.naive import weights as naive
from tests.statistics import fits
from unskew.balance.allotment import target_shares
from unskew.balance.weighting import capped, effective_size, systematic, value_weights
from unskew.core.errors import UnskewError
from unskew.core.rng import generator

ALARM = 1e-6
counts_of_pools = st.lists(st.integers(1, 2000), min_size=1, max_size=40).map(np.array)


def skewed(n: int = 5000) -> list[dict]:
    answers = np.minimum(generator(0, "rows").geometric(0.5, n), 6)
    return [{"answer": int(answer), "odd": bool(answer % 2)} for answer in answers]


@pytest.mark.parametrize("epsilon", [0, 0.025, 1])
def test_the_weighted_distribution_is_that_of_homogenizing(epsilon):
    rows = skewed()
    made = unskew.weights(rows, "answer", epsilon=epsilon)
    answers = np.array([row["answer"] for row in rows]) - 1
    shares = np.bincount(answers, weights=made.weights) / len(rows)
    assert made.weights.mean() == pytest.approx(1)
    assert shares == pytest.approx(target_shares(np.bincount(answers), epsilon))
    assert [made.by_value[answer + 1] for answer in answers] == made.weights.tolist()


@given(counts_of_pools, st.floats(0, 1), st.floats(1, 20))
def test_a_cap_moves_the_excess_to_all_others_alike(counts, epsilon, most):
    p = counts / counts.sum()
    free = value_weights(counts, epsilon)
    weights = value_weights(counts, epsilon, most)
    assert weights.max() <= most * (1 + 1e-9)
    assert p @ weights == pytest.approx(1, abs=1e-9)
    assert weights == pytest.approx(naive.capped(free, p, most), rel=1e-6)
    below = weights < most * (1 - 1e-9)
    assert np.ptp((weights / free)[below]) < 1e-9 if below.any() else most == pytest.approx(1)
    assert effective_size(counts, weights) >= effective_size(counts, free) * (1 - 1e-9)


def test_equal_weights_are_worth_all_rows_and_one_heavy_row_is_worth_one():
    assert capped(np.array([9.0, 1 / 9]), np.array([0.1, 0.9]), 1.0) == pytest.approx([1, 1])
    assert effective_size(np.array([30, 70]), np.ones(2)) == pytest.approx(100)
    assert effective_size(np.array([1, 99]), np.array([100.0, 0.0])) == pytest.approx(1)


def test_weights_are_an_array_for_numpy_and_tell_what_they_are_worth():
    made = unskew.weights([0] * 90 + [1] * 10, lambda x: x, epsilon=0)
    assert np.asarray(made) is made.weights
    assert np.asarray(made, np.float32).dtype == np.float32
    assert np.dot(made, np.ones(100)) == pytest.approx(100)
    assert len(made) == 100
    assert made.effective_size == pytest.approx(36)
    assert repr(made) == ("100 weights from 0.556 to 5, mean 1; effective sample size 36 (36.0 %)")


def test_weights_of_files_by_several_variables(tmp_path):
    path = Path(tmp_path, "x.jsonl")
    path.write_text("".join(json.dumps(row) + "\n" for row in skewed(500)))
    made = unskew.weights(path, ["answer", "odd"], most=3)
    assert (
        made.weights.tolist()
        == unskew.weights(skewed(500), ["answer", "odd"], most=3).weights.tolist()
    )
    assert max(made.by_value.values()) == pytest.approx(3)
    assert set(made.by_value) == {(row["answer"], row["odd"]) for row in skewed(500)}


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"most": 0.5}, r"most is 0\.5; allowed is at least 1"),
        ({"epsilon": -1}, "epsilon is -1; allowed is at least 0"),
        ({"by": "b"}, "unknown variable 'b'"),
    ],
)
def test_what_cannot_be_weighted_is_one_line(settings, message):
    with pytest.raises(UnskewError, match=message):
        unskew.weights([{"a": 1}], **{"by": "a", **settings})


@given(st.lists(st.floats(0, 10), min_size=1, max_size=50), st.integers(1, 200), st.integers(0, 9))
def test_systematic_choice_rounds_each_expected_number_up_or_down(weights, n, seed):
    weights = np.array(weights) + np.eye(1, len(weights), 0)[0]  # at least one above zero
    times = systematic(weights, n, generator(seed, "systematic"))
    assert times.sum() == n
    assert (np.abs(times - n * weights / weights.sum()) < 1 + 1e-6).all()


def test_systematic_choice_is_as_likely_as_the_weights():
    weights = np.array([1.0, 2, 3, 4] * 10)
    times = sum(systematic(weights, 20, generator(seed, "x")) for seed in range(2000))
    assert fits(times, weights / weights.sum()) > ALARM
    assert fits(times, np.full(40, 1 / 40)) < ALARM  # planted: all rows alike
