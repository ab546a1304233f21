"""How two datasets differ: feature by feature, and for a classifier that sees all features."""

import numpy as np
import pytest

from unskew.core.errors import UnskewError
from unskew.core.variables.coded import Coded, as_coded, end_to_end
from unskew.discovery.score.ceiling import _area, ceiling
from unskew.discovery.score.shift import shift


def coded(values):
    return as_coded(np.array(values, dtype=object))


def test_two_samples_of_one_distribution_seldom_differ():
    """At the level of one in a hundred, 300 runs have 11 alarms in one case of 1,000."""
    alarms, divergences, variations = 0, [], []
    for seed in range(300):
        rng = np.random.default_rng(seed)
        draw = rng.geometric if seed % 2 else rng.integers
        few = 0.1 if seed % 2 else 900
        found = shift(as_coded(draw(few, size=400)), as_coded(draw(few, size=900)), seed=seed)
        alarms += found.p <= 0.01
        divergences.append(found.divergence)
        variations.append(found.variation)
        assert not found.only_here
        assert not found.only_there
    assert alarms <= 10
    assert np.mean(divergences) < 0.005
    assert np.mean(variations) < 0.05


def test_a_planted_shift_is_found():
    rng = np.random.default_rng(1)
    here, there = rng.integers(0, 10, 3_000), rng.integers(0, 10, 3_000)
    there[rng.random(3_000) < 0.1] = 3
    found = shift(as_coded(here), as_coded(there))
    assert found.p < 1e-10
    assert found.values[0].value == 3
    assert found.variation == pytest.approx(0.09, abs=0.03)


def test_shares_by_hand():
    """Halves against 9 in 10: a total variation of 0.4, and 0.147 bits."""
    found = shift(coded(["a", "b"] * 10_000), coded((["a"] * 9 + ["b"]) * 2_000))
    assert found.variation == pytest.approx(0.4, abs=1e-3)
    assert found.divergence == pytest.approx(0.1468, abs=1e-3)
    assert found.values[0].here == 0.5
    assert {each.there for each in found.values} == {0.9, 0.1}


def test_datasets_with_nothing_in_common_differ_by_one_bit():
    found = shift(coded(["a"] * 500), coded(["b"] * 500))
    assert found.divergence == pytest.approx(1, abs=0.01)
    assert found.variation == pytest.approx(1, abs=0.01)


def test_values_that_only_one_dataset_has():
    """A value of 14 rows would be missing in as many others in one case of 16,384."""
    found = shift(coded(["a"] * 86 + ["new"] * 14), coded(["a"] * 87 + ["old"] * 13))
    assert [each.value for each in found.only_here] == ["new"]
    assert found.only_here[0].here == pytest.approx(0.14)
    assert found.only_there == ()


def test_equal_values_of_two_datasets_have_one_code():
    both = end_to_end([coded(["b", "a"]), coded(["a", "c"])])
    assert both.tolist() == ["b", "a", "a", "c"]
    assert list(both.distinct) == ["b", "a", "c"]


def test_a_dataset_without_rows_is_refused():
    with pytest.raises(UnskewError, match="no rows"):
        shift(Coded([], np.zeros(0, dtype=np.int64)), coded(["a"]))


def features(rng, n, many=12):
    return [rng.integers(0, 2 + 3 * place, n) for place in range(many)]


def as_features(columns):
    return [as_coded(column) for column in columns]


def test_a_classifier_seldom_tells_two_samples_of_one_distribution_apart():
    """At the level of one in twenty, 100 runs have 14 alarms in one case of 1,000."""
    alarms, outside = 0, 0
    for seed in range(100):
        rng = np.random.default_rng(seed)
        found = ceiling(as_features(features(rng, 300)), as_features(features(rng, 200)), seed=seed)
        alarms += found.p <= 0.05
        outside += not found.low <= 0.5 <= found.high
    assert alarms <= 13
    assert outside <= 13


def test_a_classifier_adds_up_small_shifts():
    """Each of twelve features differs a little; all together they differ much."""
    rng = np.random.default_rng(2)
    here, there = features(rng, 2_000), features(rng, 2_000)
    for column in there:
        column[rng.random(2_000) < 0.15] = 1
    single = max(
        ceiling(as_features([a]), as_features([b])).auc for a, b in zip(here, there, strict=True)
    )
    found = ceiling(as_features(here), as_features(there))
    assert found.p < 1e-20
    assert found.auc > single + 0.1
    assert found.low < found.auc < found.high
    assert (found.rows, found.features) == (4_000, 12)


def test_one_feature_that_tells_all():
    found = ceiling([coded(["a"] * 50)], [coded(["b"] * 40)])
    assert (found.auc, found.high) == (1, 1)
    assert found.p < 1e-3


def test_many_rows_are_sampled():
    column = as_coded(np.arange(20_000) % 3)
    assert ceiling([column], [column]).rows == 8_000


def test_the_area_by_hand():
    """Of the six pairs, four are in the right order and one is a tie."""
    scores, positive = np.array([3.0, 2.0, 1.0, 2.0, 0.0]), np.array([1, 0, 1, 1, 0], dtype=bool)
    assert _area(scores, positive) == pytest.approx(4.5 / 6)


def test_too_little_for_a_classifier():
    with pytest.raises(UnskewError, match="3 and 50 rows; a classifier needs at least 6"):
        ceiling([coded(["a"] * 3)], [coded(["a"] * 50)])
    with pytest.raises(UnskewError, match="1 and 0 features"):
        ceiling([coded(["a"] * 9)], [])
