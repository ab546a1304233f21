"""The skew of a proposal: silent on data without skew, loud on planted skews.

Where a test counts false alarms over seeds, a p-value below 1 % may come in at most 5 % of 100
seeds: with a right p-value that happens by chance in fewer than one of 1,000 such tests.
"""

import math

import numpy as np
import pytest

from unskew.core.variables.coded import as_coded
from unskew.discovery.proposal import Proposal
from unskew.discovery.score.skew import skew_of
from unskew.discovery.score.words import word_skews
from unskew.discovery.scored import LEAST_SKEW, AboutSkew

SEEDS = 100


def proposal(values, null="even", **more):
    values = np.asarray(values)
    if values.dtype.kind == "U":
        values = values.astype(object)
    return Proposal("x", "x", ("x",), as_coded(values), null, **more)


def sums(rng, n, parts=8):
    return rng.integers(0, 10, (n, parts)).sum(axis=1)


def words(rng, n, kinds):
    return np.array([f"w{number}" for number in rng.integers(0, kinds, n)])


WITHOUT_SKEW = {
    "flags": lambda rng, n: proposal(rng.integers(0, 2, n).astype(bool)),
    "dice": lambda rng, n: proposal(rng.integers(1, 7, n)),
    "even numbers": lambda rng, n: proposal(2 * rng.integers(0, 500, n)),
    "numbers that hardly repeat": lambda rng, n: proposal(rng.integers(0, 100_000, n)),
    "labels": lambda rng, n: proposal(words(rng, n, 5)),
    "labels of few rows": lambda rng, n: proposal(words(rng, n, n // 3)),
    "sums like a bell": lambda rng, n: proposal(sums(rng, n), "bell"),
    "sums like chance": lambda rng, n: proposal(
        sums(rng, n, 2), "chance", chance=(as_coded(sums(rng, n, 2)),)
    ),
    "one of two references": lambda rng, n: proposal(
        rng.integers(0, 4, n),
        "chance",
        chance=(as_coded(rng.integers(0, 9, n)), as_coded(rng.integers(0, 4, n))),
    ),
    "declared values": lambda rng, n: proposal(words(rng, n, 3), support=("w0", "w1", "w2")),
}


@pytest.mark.parametrize("n", [300, 3_000])
@pytest.mark.parametrize("name", WITHOUT_SKEW)
def test_false_alarms_are_as_rare_as_the_p_value_says(name, n):
    skews = [skew_of(WITHOUT_SKEW[name](np.random.default_rng(seed), n)) for seed in range(SEEDS)]
    alarms = sum(skew.p < 0.01 for skew in skews)
    assert alarms <= 5
    assert not any(skew.missing for skew in skews)
    assert np.mean([skew.effect for skew in skews]) < LEAST_SKEW / 4


PLANTED = {
    "a flag of 70 %": lambda rng, n: proposal(rng.random(n) < 0.7),
    "small numbers": lambda rng, n: proposal(rng.geometric(0.3, n)),
    "large numbers": lambda rng, n: proposal((rng.random(n) ** 3 * 10_000).astype(int)),
    "one of many labels": lambda rng, n: proposal(
        np.where(rng.random(n) < 0.3, "w0", words(rng, n, n // 3))
    ),
    "counts unlike a bell": lambda rng, n: proposal(rng.geometric(0.3, n), "bell"),
    "two bells": lambda rng, n: proposal(
        np.where(rng.random(n) < 0.5, sums(rng, n), 60 + sums(rng, n)), "bell"
    ),
    "not like chance": lambda rng, n: proposal(
        2 * sums(rng, n, 2), "chance", chance=(as_coded(sums(rng, n, 2)),)
    ),
    "a declared value that hardly comes": lambda rng, n: proposal(
        np.where(rng.random(n) < 0.98, "a", "b"), support=("a", "b", "c")
    ),
}


@pytest.mark.parametrize("name", PLANTED)
def test_a_planted_skew_is_found(name):
    for seed in range(20):
        skew = skew_of(PLANTED[name](np.random.default_rng(seed), 1_000))
        assert skew.p < 1e-6
        assert skew.effect > LEAST_SKEW
        assert 0 < skew.total_variation <= 1


def test_the_numbers_of_a_skew_are_those_of_the_counts():
    skew = skew_of(proposal([True] * 9_000 + [False] * 1_000))
    kl = 0.9 * math.log(1.8) + 0.1 * math.log(0.2)
    assert skew.kl == pytest.approx(kl, abs=1e-3)
    assert skew.effect == pytest.approx(kl / math.log(2), abs=1e-3)
    assert skew.total_variation == pytest.approx(0.4, abs=1e-3)
    assert skew.excess() == (True, 0.9, 0.5)
    assert skew.counts == {False: 1_000, True: 9_000}
    assert (skew.null, skew.rows) == ("even", 10_000)


def test_rows_without_a_value_are_left_out():
    values = np.array([None, 1, 2] * 500, dtype=object)
    skew = skew_of(proposal(values, "chance", chance=(as_coded(np.array([1, 2] * 500)),)))
    assert skew.p > 0.5
    assert skew.counts == {1: 500, 2: 500}


@pytest.mark.parametrize("values", [["a"] * 50, [None] * 50, [f"{n}" for n in range(50)]])
def test_what_is_the_same_in_all_rows_or_in_none_has_no_skew(values):
    assert skew_of(proposal(np.array(values, dtype=object))) is None


def test_a_number_that_is_missing_between_frequent_ones_is_named():
    values = [1] * 300 + [2] * 300 + [4] * 300 + [5] * 300
    skew = skew_of(proposal(values))
    assert skew.missing == (3,)
    assert skew.missing_p < 1e-6
    elsewhere = as_coded(np.array(values))  # chance leaves it out as well
    assert skew_of(proposal(values, "chance", chance=(elsewhere,))).missing == ()


def test_the_smallest_count_is_missed_unless_the_choice_just_begins_above_it():
    rng = np.random.default_rng(0)
    counts = 1 + rng.binomial(12, 0.2, 3_000)
    assert skew_of(proposal(counts, "bell", least=0)).missing == (0,)
    assert skew_of(proposal(rng.integers(1, 6, 3_000), least=0)).missing == ()


def test_numbers_of_any_range_are_measured():
    rng = np.random.default_rng(0)
    huge = [10**30 + int(number) for number in rng.integers(0, 5, 500)]
    assert skew_of(proposal(np.array(huge, dtype=object))).p > 0.001
    far = np.concatenate([rng.integers(0, 50, 999), [10**12]])
    assert skew_of(proposal(far)).effect < LEAST_SKEW  # one row far away is no skew
    powers = 2 ** rng.integers(0, 12, 2_000)
    assert skew_of(proposal(powers)).p > 0.001  # labels with gaps, and each as frequent


def word(rng, n, share):
    return proposal(rng.random(n) < share, "zipf")


def test_words_of_a_language_do_not_stand_out():
    for seed in range(20):
        rng = np.random.default_rng(seed)
        ranks = [word(rng, 2_000, 0.6 / rank) for rank in range(1, 40)]
        assert word_skews(ranks) == [None] * 39


def test_a_word_that_is_far_more_frequent_than_the_next_one_stands_out():
    rng = np.random.default_rng(1)
    rest = [word(rng, 2_000, 0.05 / rank) for rank in range(1, 10)]
    skews = word_skews([*rest, word(rng, 2_000, 0.4)])
    assert skews[:-1] == [None] * 9
    assert skews[-1].null == "zipf"
    assert skews[-1].p < 1e-6


def test_words_that_fill_one_place_equally_often_do_not_stand_out():
    def places(shares, seed):
        rng = np.random.default_rng(seed)
        which = rng.choice(len(shares), 2_000, p=shares)
        names = [word(rng, 2_000, 0.01) for _ in range(20)]
        return word_skews([*(proposal(which == k, "zipf") for k in range(len(shares))), *names])

    alike = [s for seed in range(20) for s in places([0.25] * 4, seed) if s and s.p < 0.001]
    assert len(alike) <= 1
    first, *others = places([0.7, 0.1, 0.1, 0.1], 0)
    assert first.p < 1e-6
    assert not any(others)


def test_words_with_the_same_rows_are_one_word():
    rng = np.random.default_rng(2)
    flags = rng.random(2_000) < 0.4
    rest = [word(rng, 2_000, 0.04) for _ in range(8)]
    skews = word_skews([proposal(flags, "zipf"), proposal(flags, "zipf"), *rest])
    assert skews[0] == skews[1]
    assert skews[0] is not None


def test_a_score_below_the_least_effect_is_never_significant():
    rng = np.random.default_rng(0)
    [scored] = AboutSkew().scores([proposal(rng.random(200_000) < 0.54)])
    assert scored.evidence.p < 1e-9
    assert scored.p == 1.0
