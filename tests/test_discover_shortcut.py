"""How much of the answer a feature gives away, and what a policy scores that reads nothing."""

import numpy as np
import pytest

from unskew.core.errors import UnskewError
from unskew.core.variables.coded import Coded, as_coded
from unskew.discovery.score.policies import halves, random_half, usual_answers
from unskew.discovery.score.shortcut import best_policy, blind, prepared, shortcut


def coded(values):
    return as_coded(np.array(values, dtype=object))


def test_the_blind_policy_gives_the_most_frequent_answer():
    found = blind(coded(["no"] * 410 + ["yes"] * 300 + ["both"] * 290))
    assert (found.answer, found.share, found.score) == ("no", 0.41, 0.41)
    assert (found.rows, found.different, found.note) == (1_000, 3, "")
    assert found.low == pytest.approx(0.3676, abs=1e-3)  # Wilson's of 0.41 in 500 rows
    assert found.high == pytest.approx(0.4536, abs=1e-3)


@pytest.mark.parametrize("kinds", [2, 5, 50])
def test_the_interval_of_the_blind_policy_holds_where_all_answers_are_equally_frequent(kinds):
    """It should miss in at most 5 of 100 runs; 13 or more would come in one case of 1,000."""
    missed = 0
    for seed in range(100):
        answers = as_coded(np.random.default_rng(seed).integers(0, kinds, 600))
        found = blind(answers, seed=seed)
        missed += not found.low <= 1 / kinds <= found.high
    assert missed <= 12


def test_a_feature_that_has_nothing_to_do_with_the_answer_is_no_shortcut():
    """At the level of one in a hundred, 300 runs have 11 alarms in one case of 1,000."""
    alarms, gains = 0, []
    for seed in range(300):
        rng = np.random.default_rng(seed)
        answers = as_coded(rng.choice(3, 500, p=[0.5, 0.3, 0.2]))
        values = as_coded(rng.integers(0, 1 + seed % 40, 500))
        found = shortcut(values, answers, seed=seed)
        alarms += found.p <= 0.01
        gains.append(found.gain)
    assert alarms <= 10
    assert np.mean(gains) < 0  # what is learned from noise costs a little, and never gains
    assert max(gains) < 0.05


def test_a_planted_shortcut_is_found():
    rng = np.random.default_rng(1)
    length = rng.integers(0, 20, 5_000)
    answer = np.where(rng.random(5_000) < 0.5, length % 2 == 0, rng.random(5_000) < 0.5)
    found = shortcut(as_coded(length), as_coded(answer))
    assert found.p < 1e-20
    assert found.score == pytest.approx(0.75, abs=0.02)
    assert found.low < 0.75 < found.high
    assert found.gain == pytest.approx(0.25, abs=0.03)
    assert found.information == pytest.approx(0.189, abs=0.03)  # 1 - H(1/4)
    assert {(rule.value % 2 == 0) == rule.answer for rule in found.rules} == {True}


def test_memorizing_is_no_shortcut():
    """A number that each row has for itself decides every answer, and says nothing of new rows."""
    answers = as_coded(np.random.default_rng(2).integers(0, 2, 2_000))
    found = shortcut(as_coded(np.arange(2_000)), answers)
    assert found.score == pytest.approx(found.blind)
    assert (found.information, found.p) == (0, 1)


def test_rows_that_are_alike_are_in_the_same_half():
    """Questions that come twice tell nothing of others, if no half has both."""
    rng = np.random.default_rng(3)
    questions = np.repeat(np.arange(1_000), 2)
    answers = as_coded(np.repeat(rng.integers(0, 2, 1_000), 2))
    hashes = (questions.astype(np.uint64) + np.uint64(1)) * np.uint64(0x9E3779B97F4A7C15)
    first = halves(hashes)
    assert first.mean() == pytest.approx(0.5, abs=0.06)
    assert (first[::2] == first[1::2]).all()
    held = shortcut(as_coded(questions), answers, first=first)
    assert held.score == held.blind
    assert shortcut(as_coded(questions), answers).gain > 0.15


def test_the_usual_answer_by_hand():
    """A tie goes to the answer that is more frequent everywhere; so does a value without rows."""
    values, answers = np.array([0, 0, 0, 1, 1, 2]), np.array([1, 1, 0, 0, 2, 0])
    everywhere = np.ones(6, dtype=bool)
    assert usual_answers(values, answers, everywhere, 4, 3).tolist() == [1, 0, 0, 0]


def test_each_half_is_scored_by_what_the_other_taught():
    """One half always has a with x and b with y, the other the reverse: nothing is right."""
    values = coded(["x", "y"] * 20)
    answers = coded(["a", "b"] * 10 + ["b", "a"] * 10)
    found = shortcut(values, answers, first=np.arange(40) < 20)
    assert found.halves == (0, 0)
    assert found.score == 0


def test_numbers_that_hardly_repeat_come_in_bins():
    rng = np.random.default_rng(4)
    total = rng.normal(0, 10, 2_000)
    found = blind(as_coded(total))
    assert "bins" in found.note
    assert 0.05 < found.share < 0.3
    sign = shortcut(as_coded(total > 0), as_coded(total))
    assert sign.gain > 0.03
    assert sign.p < 1e-50


def test_texts_that_hardly_repeat_are_said_to():
    answers = coded([f"answer {n}" for n in range(500)])
    assert "hardly repeat" in blind(answers).note
    assert blind(answers).score == 0
    assert prepared(answers)[0].distinct == answers.distinct


def test_rows_without_an_answer_are_left_out():
    found = blind(coded([None, "a", "a", None, "a", "b"]))
    assert (found.rows, found.different) == (4, 2)
    assert found.note == "2 rows have no answer"
    values = coded(["x", "y", "y", "x", "y", "z"])
    assert [rule.value for rule in shortcut(values, coded([None, 1, 1, None, 1, 2])).rules] == [
        "y",
        "z",
    ]


def test_a_scorer_decides_what_an_answer_is_worth():
    """The usual answer is "1"; "any" is never right to the letter, and half right everywhere."""
    answers = coded((["1"] * 30 + ["2"] * 25 + ["any"] * 20 + ["3"] * 25) * 10)
    right = answers.tolist()

    def scorer(answer, row):
        return 1.0 if answer == right[row] else 0.5 * (answer == "any")

    found = blind(answers, scorer=scorer)
    assert found.score == pytest.approx(0.6, abs=0.02)
    assert (found.answer, found.share) == ("1", 0.3)
    exact = shortcut(answers, answers, scorer=scorer)
    assert exact.score == 1
    assert exact.gain == pytest.approx(0.4, abs=0.02)


def test_a_scorer_sees_the_numbers_of_the_rows():
    answers = coded([None, "a"] * 200)
    seen = set()
    blind(answers, scorer=lambda _, row: float(seen.add(row) is None))
    assert seen <= set(range(1, 400, 2))
    assert len(seen) > 100


@pytest.mark.parametrize("score", [float("nan"), float("inf"), -3.0])
def test_a_score_that_is_no_share_counts_as_nothing(score):
    assert blind(coded(["a", "b"] * 50), scorer=lambda *_: score).score == 0


def test_the_best_policy_is_chosen_and_scored_on_different_rows():
    """The best of 200 features of noise seems to be right more often; it is not."""
    rng = np.random.default_rng(5)
    answers = as_coded(rng.integers(0, 2, 400))
    first = random_half(400, 0)
    noise = {
        f"noise {n}": shortcut(as_coded(rng.integers(0, 4, 400)), answers, first=first)
        for n in range(200)
    }
    assert max(found.score for found in noise.values()) > 0.55
    assert best_policy(noise)[1] == pytest.approx(0.5, abs=0.07)
    planted = shortcut(answers, answers, first=first)
    assert best_policy(noise | {"planted": planted}) == ("planted", 1.0)
    assert best_policy({}) is None


def test_nothing_and_too_little():
    empty = Coded([], np.zeros(0, dtype=np.int64))
    assert blind(empty).rows == 0
    assert shortcut(empty, empty).rules == ()
    one = coded(["a"])
    assert (blind(one).answer, blind(one).rows) == ("a", 1)
    assert shortcut(one, one).gain == 0
    with pytest.raises(UnskewError, match="1 values and 0 answers"):
        shortcut(one, empty)
