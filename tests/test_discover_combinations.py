"""Combinations of values that fail, or come, more often than their parts say."""

import numpy as np
import pytest
from scipy import stats

from unskew.core.errors import UnskewError
from unskew.core.variables.coded import as_coded
from unskew.discovery.combinations.failing import failing_slices
from unskew.discovery.combinations.joint import _fitted, deviance, joint_skew

N = 3_000


def table(rng, rows=N, features=12):
    return {f"f{n}": rng.integers(0, 4 + n % 6, rows) for n in range(features)}


def coded(columns):
    return {name: as_coded(np.asarray(column)) for name, column in columns.items()}


FAILURES = {
    "one in ten": lambda rng, columns: rng.random(N) < 0.1,
    "one in a hundred": lambda rng, columns: rng.random(N) < 0.01,
    "scores": lambda rng, columns: rng.random(N) ** 4,
    "one value": lambda rng, columns: rng.random(N) < 0.1 + 0.3 * (columns["f3"] == 2),
}


@pytest.mark.parametrize("kind", FAILURES)
def test_where_no_combination_fails_hardly_any_is_found(kind):
    """At one false alarm in twenty runs, 20 runs have five in one case of 400."""
    alarms = 0
    for seed in range(20):
        rng = np.random.default_rng([seed, len(kind)])
        columns = table(rng)
        failed = FAILURES[kind](rng, columns).astype(float)
        alarms += bool(failing_slices(coded(columns), failed))
    assert alarms <= 4


def test_two_planted_slices_are_found_and_nothing_else():
    for seed in range(5):
        rng = np.random.default_rng(seed)
        columns = table(rng, 8_000, 20)
        failed = rng.random(8_000) < 0.1
        two = (columns["f3"] == 2) & (columns["f7"] == 1)
        three = (columns["f4"] == 2) & (columns["f6"] == 1) & (columns["f12"] == 0)
        failed |= two & (rng.random(8_000) < 0.4)
        failed |= three & (rng.random(8_000) < 0.7)
        found = failing_slices(coded(columns), failed.astype(float))
        assert {each.terms for each in found} == {
            (("f3", 2), ("f7", 1)),
            (("f4", 2), ("f6", 1), ("f12", 0)),
        }
        for each in found:
            inside = two if len(each.terms) == 2 else three
            assert each.rows == inside.sum()
            assert each.rate == pytest.approx(failed[inside].mean())
            assert each.low < each.rate < each.high
            assert each.rest == pytest.approx(failed[~inside].mean())
            assert each.rest < each.part < each.rate


def test_a_planted_slice_of_scores_is_found():
    rng = np.random.default_rng(1)
    columns = table(rng)
    failed = rng.random(N) ** 4
    failed[(columns["f1"] == 1) & (columns["f2"] == 3)] **= 0.2
    (found,) = failing_slices(coded(columns), failed)
    assert found.terms == (("f1", 1), ("f2", 3))


def test_a_slice_by_hand():
    """All 30 rows with a and b fail, and no other: the parts fail in half of their 60 rows."""
    columns = {"x": ["a"] * 60 + ["c"] * 60, "y": (["b"] * 30 + ["d"] * 30) * 2}
    failed = np.zeros(120)
    failed[:30] = 1
    (found,) = failing_slices(coded(columns), failed)
    assert found.terms == (("x", "a"), ("y", "b"))
    assert (found.rows, found.rate, found.rest, found.part) == (30, 1, 0, 0.5)
    given_part = 1 / stats.hypergeom(60, 30, 30).pmf(30) ** -1
    assert found.p == pytest.approx(2 * 4 * given_part)  # there are four pairs, and no triples


def test_a_slice_is_told_once_though_features_say_the_same():
    rng = np.random.default_rng(2)
    columns = table(rng, features=4)
    inside = (columns["f0"] == 1) & (columns["f1"] == 2)
    failed = inside * 0.5 > rng.random(N)
    columns["again"] = columns["f1"] * 10
    assert len(failing_slices(coded(columns), failed.astype(float))) == 1


def test_at_most_so_many_slices():
    rng = np.random.default_rng(3)
    columns = table(rng)
    failed = np.zeros(N)
    for value in range(4):
        failed[(columns["f0"] == value) & (columns["f1"] == value)] = 1
    assert len(failing_slices(coded(columns), failed)) == 4
    assert len(failing_slices(coded(columns), failed, top=2)) == 2


@pytest.mark.parametrize("failed", [np.zeros(N), np.ones(N)])
def test_where_all_rows_fail_alike_there_is_no_slice(failed):
    assert failing_slices(coded(table(np.random.default_rng(4))), failed) == ()


def test_too_little_to_combine():
    assert failing_slices({}, np.zeros(0)) == ()
    assert failing_slices(coded({"x": [1] * 50}), np.ones(50)) == ()
    assert failing_slices(coded({"x": [1, 2], "y": [1, 2]}), np.array([0.0, 1.0])) == ()
    assert joint_skew({}) == ()
    assert joint_skew(coded({"x": [1] * 50, "y": [2] * 50})) == ()


def test_rows_and_failures_are_checked():
    with pytest.raises(UnskewError, match="feature 'y' has 3 rows; the others have 50"):
        failing_slices(coded({"x": [1, 2] * 25, "y": [1, 2, 3]}), np.ones(50))
    with pytest.raises(UnskewError, match="outside the range from 0 to 1"):
        failing_slices(coded({"x": [1, 2] * 25}), np.full(50, 2.0))


def test_independent_features_seldom_have_joint_skew():
    """At one false alarm in twenty runs, 40 runs have seven in one case of 300."""
    alarms = 0
    for seed in range(40):
        rng = np.random.default_rng(seed)
        columns = table(rng, features=8)
        columns["rare"] = np.minimum(rng.geometric(0.5, N), 6)
        columns["pair"] = np.where(rng.random(N) < 0.3, columns["f0"], columns["f1"])
        found = joint_skew(coded(columns))
        alarms += any({"f0", "f1"}.isdisjoint(name for name, _ in each.terms) for each in found)
    assert alarms <= 6


def test_a_planted_hole_is_found():
    rng = np.random.default_rng(5)
    columns = table(rng)
    columns["f7"][(columns["f3"] == 2) & (columns["f7"] == 1)] = 0
    hole, excess = joint_skew(coded(columns))
    assert hole.terms == (("f3", 2), ("f7", 1))
    assert (hole.rows, excess.terms) == (0, (("f3", 2), ("f7", 0)))
    assert hole.expected > 50


def test_a_planted_triple_is_found_though_no_pair_shows_it():
    rng = np.random.default_rng(6)
    columns = table(rng)
    a, b = columns["f0"], columns["f1"]
    columns["f2"] = np.where(rng.random(N) < 0.5, (a + b) % 2, rng.integers(0, 2, N))
    found = joint_skew(coded(columns))
    assert {tuple(name for name, _ in each.terms) for each in found} == {("f0", "f1", "f2")}
    assert max(each.p for each in found) <= 0.05


def test_features_that_follow_from_each_other_are_not_compared():
    rng = np.random.default_rng(7)
    number = rng.integers(0, 10, N)
    columns = {"number": number, "parity": number % 2, "other": rng.integers(0, 3, N)}
    assert joint_skew(coded(columns)) == ()


def test_a_joint_excess_by_hand():
    """Of 200 rows, 80 have a and u, where 50 are expected."""
    columns = {
        "x": ["a"] * 100 + ["b"] * 100,
        "y": ["u"] * 80 + ["v"] * 40 + ["u"] * 20 + ["v"] * 60,
    }
    excess, lack = joint_skew(coded(columns))
    assert {excess.terms, lack.terms} == {(("x", "a"), ("y", "u")), (("x", "a"), ("y", "v"))}
    by_rows = {each.rows: each for each in (excess, lack)}
    assert set(by_rows) == {80, 20}
    assert by_rows[80].expected == 50
    assert by_rows[80].p == pytest.approx(4 * 4 * np.exp(-(80 * np.log(1.6) - 30)))


def test_the_bound_of_a_count_is_never_below_the_probability():
    expected = np.array([0.3, 2.0, 20.0, 20.0, 400.0])
    rows = np.array([4.0, 9.0, 35.0, 6.0, 330.0])
    upper, lower = stats.poisson.sf(rows - 1, expected), stats.poisson.cdf(rows, expected)
    assert (np.exp(-deviance(rows, expected)) >= np.minimum(upper, lower)).all()


def test_a_table_without_a_common_part_of_three_is_fitted():
    """Pairs that depend on each other and nothing more: the fitted table is the table."""
    rng = np.random.default_rng(8)
    pairs = [rng.random((3, 4, 1)), rng.random((3, 1, 5)), rng.random((1, 4, 5))]
    counts = 1000 * pairs[0] * pairs[1] * pairs[2]
    assert _fitted(counts[None])[0] == pytest.approx(counts, abs=0.1)
