"""The short list: significant, without repeats, and nothing is lost that says something new."""

import numpy as np
import pytest

from unskew.core.variables.coded import as_coded
from unskew.discovery.choose import short_list, significant
from unskew.discovery.overlap import ROWS, Overlaps
from unskew.discovery.proposal import Proposal
from unskew.discovery.score.skew import skew_of
from unskew.discovery.scored import AboutAnswers, AboutSkew, Scored
from unskew.discovery.search import search
from unskew.domains import load_domain

N = 5_000


def proposal(name, values, **more):
    return Proposal(name, name, (name.strip(")").rpartition("(")[2],), as_coded(values), **more)


def names(proposals, top=10, question=None):
    found = search(proposals, question or AboutSkew(), top)
    return [one.scored.proposal.name for one in found.chosen], found


def rare(rng, share=0.2):
    return rng.random(N) < share


def test_near_synonyms_come_together_under_the_simplest_name():
    rng = np.random.default_rng(0)
    flags, other = rare(rng), rare(rng)
    slip = flags ^ (rng.random(N) < 0.002)
    chosen, found = names(
        [
            proposal("contains(text, a)", slip),
            proposal("a", flags),
            proposal("count(a)", flags * 3),
            proposal("b", other),
        ]
    )
    assert sorted(chosen) == ["a", "b"]
    [group] = [one for one in found.chosen if one.scored.proposal.name == "a"]
    assert set(group.synonyms) == {"contains(text, a)", "count(a)"}


def test_what_follows_from_a_chosen_one_comes_under_it():
    rng = np.random.default_rng(0)
    numbers = rng.geometric(0.25, N)
    chosen, found = names(
        [proposal("x", numbers), proposal("is_one(x)", numbers <= 1), proposal("b", rare(rng))]
    )
    assert sorted(chosen) == ["b", "x"]
    assert found.chosen[chosen.index("x")].implied == ("is_one(x)",)


def test_what_is_skewed_only_in_its_parity_comes_under_the_parity():
    rng = np.random.default_rng(0)
    numbers = 2 * rng.integers(0, 20, N) + rare(rng, 0.15)
    chosen, found = names([proposal("x", numbers), proposal("parity(x)", numbers % 2)])
    assert chosen == ["parity(x)"]
    assert found.chosen[0].implied == ("x",)


def test_many_values_do_not_look_like_synonyms_by_chance():
    rng = np.random.default_rng(0)
    features = [as_coded(rng.integers(0, 2_000, N)) for _ in range(4)]
    overlaps = Overlaps(features)
    for a in range(4):
        for b in range(a):
            assert not overlaps.alike(a, b, 0.9)
            assert overlaps.said(a, b) < 0.1


def test_shared_information_is_that_of_the_law():
    rng = np.random.default_rng(0)
    a = rng.integers(0, 4, 50_000)
    b = np.where(rng.random(50_000) < 0.5, a, rng.integers(0, 4, 50_000))
    law = np.full((4, 4), 0.125 / 4) + np.eye(4) * 0.125
    truth = float((law * np.log(law * 16)).sum())
    overlaps = Overlaps([as_coded(a), as_coded(b)])
    assert overlaps.n == ROWS
    assert overlaps.shared(0, 1) == pytest.approx(truth, abs=0.02)
    assert overlaps.said(0, 1) == pytest.approx(truth / np.log(4), abs=0.02)


def test_the_five_variables_of_the_calculator_all_stay():
    domain = load_domain("calculator")
    batch, _ = domain.source("dcfg").draw(np.random.default_rng(0), N)
    texts = batch.columns["expression"].to_pylist()
    more = [
        proposal(f"occurrences(x, {c})", np.array([t.count(c) for t in texts]), null="bell")
        for c in "0123456789+-*()"
    ]
    five = [proposal(name, domain.variable(name).measure(batch)) for name in domain.variables]
    chosen, _ = names([*more, *five])
    assert {"length", "operations", "parentheses", "max_depth"} <= set(chosen)
    assert "mean_depth" in chosen


def test_of_two_that_say_the_same_of_the_answers_the_simpler_one_is_chosen():
    rng = np.random.default_rng(0)
    cause = rare(rng, 0.5)
    answers = as_coded(cause ^ (rng.random(N) < 0.1))
    fine = cause * 10 + rng.integers(0, 10, N)
    question = AboutAnswers(answers, rng.random(N) < 0.5)
    chosen, _ = names(
        [proposal("fine", fine), proposal("cause", cause), proposal("b", rare(rng))], 10, question
    )
    assert chosen == ["cause"]


def test_all_proposals_are_counted():
    rng = np.random.default_rng(0)
    proposals = [
        proposal("same", np.zeros(N)),
        *(proposal(f"even{k}", rng.integers(0, 5, N)) for k in range(10)),
        *(proposal(f"rare{k}", rare(rng)) for k in range(5)),
        proposal("twin(rare0)", rng.random(N) < 0.2),
    ]
    chosen, found = names(proposals, 3)
    assert len(chosen) == 3
    assert sum(found.left_out.values()) + len(chosen) == len(proposals)


def test_in_at_most_one_of_twenty_datasets_without_skew_anything_is_found():
    """Of 200 datasets of 40 features. At a rate of 5 %, more than 20 come once in 700 tests."""
    found = 0
    for seed in range(200):
        rng = np.random.default_rng(seed)
        features = [
            proposal(f"x{k}", rng.integers(0, 2 + k % 9, 400), null=("even", "bell")[k % 2])
            for k in range(40)
        ]
        p = [min(1.0, 2 * min(s.p, s.missing_p)) for s in map(skew_of, features)]
        found += any(significant(p))
    assert found <= 20


def test_tests_that_are_not_listed_count_as_well():
    assert significant([0.001]) == [True]
    assert significant([0.001], tests=40) == [True]
    assert significant([0.001], tests=60) == [False]


def test_nothing_gives_nothing():
    assert short_list([], 10) == []
    assert names([])[0] == []


def test_hundreds_of_features_are_compared_soon():
    rng = np.random.default_rng(0)
    candidates = []
    for k in range(300):
        one = proposal(f"f{k}", rng.integers(0, 2 + k % 20, N))
        skew = skew_of(one)
        candidates.append(Scored(one, 0.5, skew.kl, 0.0, skew))
    assert len(short_list(candidates, 50)) == 50
