"""The bench of `discover`: kinds, planting, settings, judging. Held-out kinds have their own file.

The tests of whether rows are natural use fixed seeds. Each has a false-alarm rate of 10⁻⁶, about
150 of them in all.
"""

import json
import math

import numpy as np
import pytest

from bench.discover import judge
from bench.discover.kinds import SPLITS, TYPES, catalogue, natural, shortcut, skew, split_of
from bench.discover.plant import STRENGTHS, Plant, planted, share_of, tilted
from bench.discover.run import judged, lost, missed, run
from bench.discover.settings import CLEAN, Setting, settings
from bench.discover.summary import lines, summary
from tests.discover_plants import chances, finding, finds, kind_of, nothing

ALARM = 1e-6


def numbers(rng, n):
    return [
        {"number": number, "answer": answer}
        for number, answer in zip(
            rng.integers(0, 20, n).tolist(), rng.integers(0, 2, n).tolist(), strict=True
        )
    ]


@skew("numbers")
def is_even(row):
    """The number is even."""
    return row["number"] % 2 == 0


@skew("numbers", score=lambda v: float(v not in (3, 4, 5)))
def the_number(row):
    """The number; 3 to 5 do not come."""
    return row["number"]


@skew("numbers", change=lambda row: {**row, "number": -1})
def is_negative(row):
    """The number is negative."""
    return row["number"] < 0


@shortcut("numbers", answers=int)
def is_large(row):
    """The number is large: then the answer is 1."""
    return row["number"] >= 10


def shares(plant, failures=False):
    made = planted(numbers, [plant], 4_000, 0, "test", failures=failures)
    return made, np.array([float(bool(value)) for value in made.truths[0]])


def test_every_kind_is_in_the_split_that_its_name_decides():
    for kind_of_data in TYPES:
        names = {split: set(catalogue(split, kind_of_data)) for split in SPLITS}
        assert min(map(len, names.values())) >= 15
        assert sum(map(len, names.values())) >= 25
        for split, found in names.items():
            assert {split_of(kind_of_data, name) for name in found} == {split}


def test_every_kind_says_what_it_is_and_where_it_can_be_planted():
    for split in SPLITS:
        for kind_of_data in TYPES:
            for kind in catalogue(split, kind_of_data).values():
                assert kind.doc
                assert set(kind.variants) <= set(natural(kind_of_data))
                assert kind.variants


@pytest.mark.parametrize(
    ("kind_of_data", "name", "row", "value"),
    [
        ("expressions", "first_above_last", {"expression": "12 - (3 + 40)"}, False),
        ("expressions", "first_above_last", {"expression": "12 - (3 + 4)"}, True),
        ("expressions", "leading_zero", {"expression": "07 + 12"}, True),
        ("expressions", "leading_zero", {"expression": "70 + 102"}, False),
        ("lists", "equal_neighbours", {"input": [1, 2, 2]}, True),
        ("lists", "equal_neighbours", {"input": [2, 1, 2]}, False),
        ("lists", "length_gap", {"input": [5, 6, 7]}, 3),
        ("tables", "end_of_quarter", {"joined": "2022-06-30"}, True),
        ("tables", "end_of_quarter", {"joined": "2022-07-01"}, False),
        ("tables", "summer_gap", {"joined": "2022-07-01"}, 7),
        ("images", "middle_line", {"grid": [[1, 2], [3, 3], [1, 0]]}, True),
        ("images", "middle_line", {"grid": [[3, 3], [3, 2], [3, 3]]}, False),
        ("karel", "called_run", {"program": "def run():\n    move()"}, True),
        ("karel", "called_run", {"program": "def main():\n    move()"}, False),
        ("chat", "language_in_capitals", {"language": "DE"}, True),
    ],
)
def test_truths_by_hand(kind_of_data, name, row, value):
    assert kind_of("dev", kind_of_data, name).truth(row) == value


@pytest.mark.parametrize("kind_of_data", TYPES)
def test_planted_rows_differ_from_natural_ones_and_natural_ones_do_not(kind_of_data):
    for name, (with_skew, without) in chances("dev", kind_of_data).items():
        assert with_skew < ALARM, name
        assert without > ALARM, name


@pytest.mark.parametrize(
    ("strength", "share"), [("weak", 0.75), ("medium", 0.88), ("strong", 0.96)]
)
def test_the_strength_of_two_values_is_the_share_of_one(strength, share):
    assert share_of(STRENGTHS[strength]) == pytest.approx(share, abs=0.01)
    _, even = shares(Plant(is_even, "skew", strength))
    assert even.mean() == pytest.approx(share, abs=0.03)
    _, negative = shares(Plant(is_negative, "skew", strength))
    assert negative.mean() == pytest.approx(share, abs=0.03)


def test_a_tilt_reaches_the_divergence_that_is_asked_for():
    base = np.full(8, 1 / 8)
    scores = np.arange(8) / 7
    tilt = tilted(base, scores, 0.33)
    moved = base * np.exp(tilt * scores)
    moved /= moved.sum()
    assert np.sum(moved * np.log(moved / base)) == pytest.approx(0.33, abs=1e-6)


def test_values_without_a_score_hardly_come():
    made, _ = shares(Plant(the_number, "skew", "strong"))
    assert set(made.truths[0]) >= set(range(20)) - {3, 4, 5}
    assert sum(value in (3, 4, 5) for value in made.truths[0]) < 20
    assert made.facts[0]["from_natural"] == pytest.approx(-math.log(17 / 20), abs=0.03)


def test_a_shortcut_moves_the_answers_and_not_the_values():
    made, large = shares(Plant(is_large, "shortcut", "medium"))
    follows = np.mean([row["answer"] == (row["number"] >= 10) for row in made.rows])
    assert follows == pytest.approx(0.88, abs=0.03)
    assert large.mean() == pytest.approx(0.5, abs=0.05)


def test_failures_come_with_the_value_and_leave_it_as_it_is():
    made, even = shares(Plant(is_even, "failure", "medium"), failures=True)
    failed = np.array([row["failed"] for row in made.rows])
    assert even.mean() == pytest.approx(0.5, abs=0.05)
    assert failed[even == 1].mean() == pytest.approx(0.55, abs=0.05)
    assert failed[even == 0].mean() == pytest.approx(0.15, abs=0.05)


def test_what_natural_rows_never_have_cannot_be_chosen():
    never = skew("numbers")(lambda row: row["number"] > 99)
    with pytest.raises(ValueError, match="natural rows have"):
        planted(numbers, [Plant(never, "skew", "weak")], 100, 0)


def test_kinds_that_exclude_each_other_are_named():
    small = skew("numbers")(lambda row: row["number"] < 1)
    large = skew("numbers")(lambda row: row["number"] > 18)
    plants = [Plant(kind, "skew", "strong") for kind in (small, large, is_even, is_even)]
    with pytest.raises(ValueError, match="is_even exclude each other"):
        planted(numbers, plants, 3_000, 0)


@pytest.mark.parametrize("kind_of_data", TYPES)
def test_rows_are_those_of_the_seed(kind_of_data):
    setting = settings("dev", kind_of_data)[0]
    first, again, other = (
        json.dumps(setting.make(50, seed).rows, default=np.ndarray.tolist) for seed in (0, 0, 1)
    )
    assert first == again != other


def test_there_are_enough_settings_of_every_sort():
    for split in SPLITS:
        every = settings(split)
        assert len({setting.name for setting in every}) == len(every)
        assert [setting.name for setting in settings(split)] == [s.name for s in every]
        planted_ones = [setting for setting in every if setting.plants]
        assert len(planted_ones) >= 200
        assert len(every) - len(planted_ones) == CLEAN * len(TYPES) >= 60
        assert {len(setting.plants) for setting in planted_ones} == {1, 2, 3}
        assert {p.strength for s in every for p in s.plants} == set(STRENGTHS)
        for setting in every:
            roles = [plant.role for plant in setting.plants]
            assert setting.answer or "shortcut" not in roles
            assert setting.failures or "failure" not in roles


RNG = np.random.default_rng(0)
LENGTHS = RNG.integers(0, 40, 5_000)


@pytest.mark.parametrize(
    ("values", "truth", "low", "high"),
    [
        (LENGTHS, LENGTHS, 0.999, 1.001),  # the truth itself
        (-LENGTHS, LENGTHS, 0.999, 1.001),  # under other names
        (LENGTHS, LENGTHS % 2 == 0, 0.999, 1.001),  # a finding that says more
        (LENGTHS % 2, LENGTHS, 0.0, 0.3),  # a finding that says less
        (np.arange(5_000), LENGTHS % 2 == 0, 0.0, 0.0),  # a number for each row
        (np.arange(5_000) // 3, LENGTHS % 2 == 0, -0.05, 0.05),  # a number for every three rows
        (RNG.integers(0, 3, 5_000), LENGTHS % 2 == 0, -0.01, 0.01),  # chance
        ((LENGTHS % 2) ^ (RNG.random(5_000) < 0.05), LENGTHS % 2, 0.6, 0.8),  # wrong in 5 %
        (LENGTHS // 5, LENGTHS, 0.999, 1.001),  # bins of a number
        (7 - LENGTHS // 5, LENGTHS, 0.999, 1.001),
        (LENGTHS // 10, LENGTHS, 0.0, 0.6),  # too few bins
        (LENGTHS % 8, LENGTHS, 0.0, 0.6),  # as many values, and no bins
        (LENGTHS // 5, np.array([f"n{v}" for v in LENGTHS]), 0.0, 0.8),  # texts have no bins
        (np.zeros(5_000, int), LENGTHS, 0.0, 0.0),
    ],
)
def test_what_a_finding_carries(values, truth, low, high):
    share = judge.carried(judge.codes(values.tolist()), truth.tolist())
    assert low <= share <= high


def test_a_variable_that_does_not_measure_carries_nothing():
    rows = numbers(np.random.default_rng(0), 10)
    heard = judge.heard([finding("broken", lambda row: row["nothing"])], rows)
    assert heard[0].values is None
    assert judge.recalled(heard, [row["number"] for row in rows]) == (0.0, "", "")


def test_missing_values_are_one_value():
    assert judge.codes([math.nan, float("nan"), 1.0]).tolist() == [0, 0, 1]


EXPRESSIONS = next(s for s in settings("dev", "expressions") if s.plants)


def its_truth(setting):
    return setting.plants[0].kind.truth


def test_a_finding_of_the_truth_is_recalled_and_others_are_not():
    right = finding("right", its_truth(EXPRESSIONS))
    wrong = finding("wrong", lambda row: len(row["expression"]) % 3)
    found = judged(EXPRESSIONS, 500, 0, finds(wrong, right))
    assert [(p["found"], p["by"]) for p in found["plants"]] == [(True, "right")]
    assert missed(found) == ""
    other = judged(EXPRESSIONS, 500, 0, finds(wrong))
    assert not other["plants"][0]["found"]
    assert EXPRESSIONS.plants[0].kind.name in missed(other)
    assert "skew wrong" in missed(other)


def test_only_the_first_five_findings_count():
    five = [finding(f"wrong {i}", lambda row: len(row["expression"]) % 3) for i in range(5)]
    late = judged(EXPRESSIONS, 500, 0, finds(*five, finding("right", its_truth(EXPRESSIONS))))
    assert not late["plants"][0]["found"]


def test_a_failure_is_recalled_among_failures_only():
    setting = next(s for s in settings("dev", "tables") if s.failures and s.plants)
    for kind, found in (("skew", False), ("failure", True)):
        result = judged(setting, 500, 0, finds(finding("right", its_truth(setting), kind)))
        assert result["plants"][0]["found"] is found


def test_a_finding_in_clean_data_is_false():
    clean = Setting("clean", "dev", "lists", "numbers")
    assert missed(judged(clean, 200, 0, nothing)) == ""
    wrong = judged(clean, 200, 0, finds(finding("wrong", lambda row: len(row["input"]))))
    assert "skew wrong" in missed(wrong)
    figures = summary([wrong, judged(clean, 200, 0, nothing), lost(clean, "slow")])
    assert (figures["false"]["count"], figures["false"]["of"], figures["errors"]) == (2, 3, 1)


def test_figures_by_group():
    right = judged(EXPRESSIONS, 500, 0, finds(finding("right", its_truth(EXPRESSIONS))))
    figures = summary([right, lost(EXPRESSIONS, "slow")])
    assert (figures["recall"]["count"], figures["recall"]["of"]) == (1, 2)
    assert figures["recall"]["low"] < 0.5 < figures["recall"]["high"]
    assert figures["recall_by"]["type"]["expressions"]["of"] == 2
    assert figures["carried_by"] == {"skew": 1}
    assert any("recall@5" in line for line in lines(figures))
    json.dumps(figures)


def test_settings_run_in_processes_of_their_own():
    chosen = settings("dev", "lists")[:2]
    module = "tests.discover_plants"
    names = [setting.name for setting in chosen]
    facts = list(run(chosen, 100, 0, 300, f"{module}:nothing"))
    assert [f["setting"] for f in facts] == names
    assert all(not p["found"] and "share" in p for f in facts for p in f["plants"])
    (failed,) = run(chosen[:1], 100, 0, 300, f"{module}:no_such_function")
    assert "no_such_function" in failed["error"]
    (late,) = run(chosen[:1], 100, 0, 0, f"{module}:nothing")
    assert late["error"] == "more than 0 s"
