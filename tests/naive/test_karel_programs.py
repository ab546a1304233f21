"""Tests of the naive checks and statistics of Karel programs."""

import math
from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tests.naive import karel
from tests.naive.karel_programs import (
    FACTS,
    HISTOGRAMS,
    block_means,
    broken_rules,
    control_shares,
    foregone,
    mean,
    nested_percentages,
    pooled_lengths,
    statistics,
    total_variation,
)

PROGRAMS = Path(__file__).resolve().parents[2] / "../shared/msr/val_programs.txt"

SHORT = {
    "front": "frontIsClear",
    "left": "leftIsClear",
    "right": "rightIsClear",
    "marker": "markersPresent",
    "none": "noMarkersPresent",
    "L": "turnLeft",
    "R": "turnRight",
    "pick": "pickMarker",
    "put": "putMarker",
}


def wrap(body: str) -> list[str]:
    """The tokens of a program with this body, which may be written in the words of SHORT.

    ?C stands for c( C c), and ?!C for c( not c( C c) c).
    """
    tokens = []
    for word in body.split():
        if word.startswith("?!"):
            tokens += ["c(", "not", "c(", SHORT[word[2:]], "c)", "c)"]
        elif word.startswith("?"):
            tokens += ["c(", SHORT[word[1:]], "c)"]
        else:
            tokens.append(SHORT.get(word, word))
    return ["DEF", "run", "m(", *tokens, "m)"]


def rules_of(body: str) -> list[int]:
    """The numbers of the rules that a program breaks."""
    return sorted({int(text.split(":")[0]) for text in broken_rules(wrap(body))})


def letters_of(body: str) -> list[str]:
    return sorted({text.split(":")[0] for text in foregone(wrap(body))})


@pytest.fixture(scope="module")
def real_programs() -> list[list[str]]:
    if not PROGRAMS.exists():
        pytest.skip("needs the dataset's validation programs, which are not in the repository")
    return [line.split() for line in PROGRAMS.read_text().splitlines()]


# The rules.

BROKEN = [
    # 1: a move and a marker action.
    (1, "put L"),
    (1, "pick"),
    (1, "move L move"),
    (1, "L"),
    # 2: adjacent in a block.
    (2, "move put L R move"),
    (2, "move put R L move"),
    (2, "move put R R move"),
    (2, "move pick put"),
    (2, "move put pick"),
    (2, "move put L pick"),
    (2, "move put L put"),
    (2, "move put R pick"),
    (2, "move put R put"),
    (2, "put REPEAT R=3 r( IF ?left i( move L R i) move r)"),
    (2, "put IFELSE ?left i( move i) ELSE e( put pick e) move"),
    # 3: three times in a row.
    (3, "put move move move"),
    (3, "move put put put"),
    (3, "put move move move move"),
    (3, "put move L L L"),
    (3, "put WHILE ?left w( move pick pick pick w)"),
    # 4: a move into a wall.
    (4, "put IF ?!front i( move i)"),
    (4, "put WHILE ?!front w( move w)"),
    (4, "put IFELSE ?front i( L i) ELSE e( move e)"),
    (4, "put IFELSE ?!front i( move i) ELSE e( L e)"),
    (4, "put WHILE ?front w( L w) move"),
    (4, "put WHILE ?front w( move w) move L"),
    (4, "put IF ?left i( L WHILE ?front w( L w) i) WHILE ?front w( L w) move"),
    # 4: known from further before.
    (4, "move IF ?!front i( put move i)"),
    (4, "move WHILE ?front w( L w) pick pick move"),
    (4, "put IF ?!left i( L move i)"),
    (4, "put IF ?!right i( R move i)"),
    (4, "put IFELSE ?right i( move i) ELSE e( R move e)"),
    (4, "put IF ?!front i( IF ?left i( move i) i)"),
    (4, "put IF ?!front i( IFELSE ?left i( put i) ELSE e( pick e) move i)"),
    (4, "put IF ?!front i( REPEAT R=3 r( move L r) i)"),
    (4, "put IF ?!front i( REPEAT R=3 r( REPEAT R=2 r( move L r) r) i)"),
    # 4: no marker to pick.
    (4, "move IF ?none i( pick i)"),
    (4, "move WHILE ?none w( pick w)"),
    (4, "move IFELSE ?marker i( L i) ELSE e( pick e)"),
    (4, "move IFELSE ?none i( pick i) ELSE e( L e)"),
    (4, "move WHILE ?marker w( move w) pick"),
    (4, "move IF ?none i( IF ?left i( pick i) i)"),
    (4, "move IF ?none i( REPEAT R=3 r( pick r) i)"),
    # 5: a marker test after putMarker.
    (5, "move put IF ?marker i( L i)"),
    (5, "move put IF ?none i( L i)"),
    (5, "move put IFELSE ?marker i( L i) ELSE e( R e)"),
    (5, "move put IFELSE ?none i( L i) ELSE e( R e)"),
    (5, "move put WHILE ?none w( L w)"),
    (5, "move IF ?left i( put put IF ?marker i( move i) i)"),
    # 6: a condition asked again.
    (6, "put move IF ?left i( IF ?left i( R i) i)"),
    (6, "put move IF ?left i( IF ?!left i( R i) i)"),
    (6, "put move IF ?!left i( IF ?left i( R i) i)"),
    (6, "put move IF ?marker i( IFELSE ?none i( R i) ELSE e( L e) i)"),
    (6, "put move IFELSE ?left i( L i) ELSE e( IF ?left i( R i) e)"),
    (6, "put move IFELSE ?left i( L i) ELSE e( IFELSE ?!left i( R i) ELSE e( L e) e)"),
    (6, "put move IFELSE ?left i( IF ?left i( R i) i) ELSE e( L e)"),
    (6, "put move WHILE ?right w( IF ?right i( R i) L w)"),
    (6, "put move WHILE ?none w( IFELSE ?marker i( R i) ELSE e( L e) w)"),
    (6, "put move WHILE ?right w( R w) IF ?right i( R i)"),
    (6, "put move WHILE ?right w( R w) IFELSE ?!right i( R i) ELSE e( L e)"),
    (6, "put move WHILE ?none w( move w) IF ?marker i( R i)"),
    # 7: WHILE with a single IF.
    (7, "put WHILE ?front w( IF ?left i( move i) w)"),
    (7, "put REPEAT R=2 r( WHILE ?front w( IF ?left i( move L i) w) r)"),
    # 8: WHILE markersPresent that ends in putMarker.
    (8, "WHILE ?marker w( put w) move"),
    (8, "WHILE ?marker w( move put w) L"),
    (8, "WHILE ?marker w( move REPEAT R=2 r( move put r) w) L"),
    (8, "WHILE ?marker w( move IFELSE ?left i( put i) ELSE e( move put e) w) L"),
    # 9: not, counts, empty blocks.
    (9, "put move IF ?!marker i( L i)"),
    (9, "put move L IF ?!none i( L i)"),
    (9, "put move IF c( not c( not c( left c) c) c) i( L i)"),
    (9, "put REPEAT R=0 r( move r)"),
    (9, "put REPEAT R=1 r( move r)"),
    (9, "put REPEAT R=11 r( move r)"),
    (9, "put REPEAT R=19 r( move r)"),
    (9, ""),
    (9, "put move REPEAT R=2 r( r)"),
    (9, "put move IF ?left i( i)"),
    (9, "put move WHILE ?left w( w)"),
    (9, "put move IFELSE ?left i( i) ELSE e( L e)"),
    (9, "put move IFELSE ?left i( L i) ELSE e( e)"),
]

WHOLE = [
    # 1
    "move put",
    "pick move",
    "IF ?left i( move i) IF ?right i( pick i)",
    # 2
    "L L move put",
    "put put move pick pick",
    "put L move R",
    "put L IF ?left i( R i) R move",
    "put REPEAT R=4 r( move R r)",
    "move put IF ?left i( pick i) put",
    "move REPEAT R=2 r( L r) put",
    "put IF ?left i( move R i) R",
    # 3
    "put move move L move move",
    "put move move IF ?left i( move i) move",
    "put REPEAT R=9 r( move move r) move",
    # 4
    "put IF ?front i( move i)",
    "put WHILE ?front w( move w) L move",
    "put WHILE ?!front w( L w) move",
    "put IFELSE ?!front i( L i) ELSE e( move e)",
    "put IFELSE ?front i( move i) ELSE e( L e) move",
    "put IF ?!front i( L move i)",
    "put IF ?!left i( R move i)",
    "put IF ?!left i( move i)",
    "put IF ?!front i( R i) move",
    "put IF ?!front i( L REPEAT R=3 r( move r) i)",
    "put WHILE ?!front w( R w) move",
    "move IF ?none i( move pick i)",
    "move IF ?none i( put REPEAT R=2 r( pick r) i)",
    "move WHILE ?none w( move w) pick",
    "move WHILE ?marker w( pick w) move pick",
    "move IFELSE ?none i( put i) ELSE e( pick e)",
    "move IFELSE ?marker i( pick i) ELSE e( put e)",
    # 5
    "move put WHILE ?marker w( pick w)",
    "move put move IF ?marker i( L i)",
    "move pick IF ?none i( L i)",
    "move put IF ?left i( L i)",
    "move pick WHILE ?none w( put w)",
    "put IF ?left i( move i) IF ?marker i( L i)",
    # 6
    "put move IF ?left i( WHILE ?left w( L w) i)",
    "put move WHILE ?left w( WHILE ?left w( L w) put w)",
    "put move IFELSE ?left i( L i) ELSE e( WHILE ?!left w( L w) e)",
    "put move IF ?left i( move IF ?left i( R i) i)",
    "put move IF ?left i( IF ?right i( R i) i)",
    "put move IF ?left i( REPEAT R=2 r( IF ?left i( R i) r) i)",
    "put move IF ?left i( move i) IF ?left i( R i)",
    "put move WHILE ?left w( L w) IF ?right i( R i)",
    "put move WHILE ?left w( L w) move IF ?left i( R i)",
    # 7
    "put WHILE ?front w( IFELSE ?left i( move i) ELSE e( L e) w)",
    "put WHILE ?front w( IF ?left i( move i) L w)",
    "put WHILE ?front w( WHILE ?left w( L w) w) L move",
    "put REPEAT R=2 r( IF ?left i( move i) r)",
    "put IF ?front i( IF ?left i( move i) i)",
    # 8
    "WHILE ?none w( move put w)",
    "WHILE ?left w( move put w)",
    "WHILE ?marker w( put move w)",
    "WHILE ?marker w( L IFELSE ?left i( move i) ELSE e( put e) w)",
    "IF ?marker i( move put i)",
    "WHILE ?marker w( move IF ?left i( put i) w) L",
    # 9
    "put REPEAT R=2 r( move r) REPEAT R=10 r( L move r)",
    "put IF ?!left i( move i) IF ?!right i( L i) IF ?!front i( L i)",
    # Equal branches.
    "move put IFELSE ?left i( move i) ELSE e( move e)",
]


@pytest.mark.parametrize(("rule", "body"), BROKEN)
def test_a_broken_rule_is_flagged_and_no_other(rule: int, body: str) -> None:
    assert rules_of(body) == [rule]


@pytest.mark.parametrize("body", WHOLE)
def test_a_near_miss_is_not_flagged(body: str) -> None:
    assert broken_rules(wrap(body)) == []


def test_every_break_is_told() -> None:
    broken = broken_rules(wrap("L R L IF ?left i( IF ?left i( R R i) i) REPEAT R=12 r( L L L r)"))
    assert [text.split(":")[0] for text in broken] == ["1", "1", "2", "2", "2", "3", "6", "9"]
    assert len(set(broken)) == len(broken)
    assert "4: move where the front is known to be blocked, at token 12" in broken_rules(
        wrap("put IF ?!front i( move i)")
    )
    assert "4: pickMarker where no marker is known to be, at token 9" in broken_rules(
        wrap("move IF ?none i( pick i)")
    )


def test_no_program_is_refused() -> None:
    for body in ("move )", "IF i( move i)", "put REPEAT R=20 r( move r)"):
        with pytest.raises(ValueError, match="token"):
            broken_rules(wrap(body))


def test_real_programs_break_no_rule(real_programs: list[list[str]]) -> None:
    assert len(real_programs) == 2200
    assert [tokens for tokens in real_programs if broken_rules(tokens)] == []
    assert [tokens for tokens in real_programs if foregone(tokens)] == []


# Beyond the text of the rules.


@pytest.mark.parametrize(
    ("letter", "body"),
    [
        ("A", "move put L IF ?marker i( L i)"),
        ("A", "put move L IF ?left i( L i)"),
        ("A", "put move L L IFELSE ?!front i( L i) ELSE e( move e)"),
        ("A", "put move IF ?left i( L IF ?front i( move i) i)"),
        ("A", "put move IF ?left i( IFELSE ?right i( IF ?left i( R i) i) ELSE e( L e) i)"),
        ("A", "move WHILE ?marker w( pick w) L IF ?marker i( move i)"),
        ("B", "move put L WHILE ?none w( move w)"),
        ("B", "put move IF ?left i( WHILE ?!left w( L w) i)"),
        ("B", "put WHILE ?left w( L w) WHILE ?left w( move w)"),
        ("C", "move WHILE ?left w( put w)"),
        ("C", "move WHILE ?marker w( move put L w)"),
        ("C", "put WHILE ?right w( move R w)"),
        ("D", "put IF ?front i( L i) move"),
        ("D", "put IF ?front i( L i) put move"),
        ("D", "put IFELSE ?front i( L i) ELSE e( put e) move"),
        ("D", "put IF ?!left i( L i) move"),
        ("D", "put move IF ?marker i( move i) pick"),
        ("D", "put move IFELSE ?none i( put i) ELSE e( WHILE ?marker w( move w) e) pick"),
    ],
)
def test_a_foregone_outcome_is_flagged(letter: str, body: str) -> None:
    assert letters_of(body) == [letter]


@pytest.mark.parametrize(
    "body",
    [
        "put move IF ?left i( L i) IF ?left i( L i)",
        "move put WHILE ?marker w( pick w)",
        "put REPEAT R=3 r( IF ?marker i( move i) L r)",
        "put move WHILE ?left w( WHILE ?left w( move w) w)",
        "put move L IF ?right i( L i)",
        "put IF ?front i( L i) L move",
        "put IF ?!front i( L i) move",
        "put IFELSE ?front i( move i) ELSE e( L e) move",
        "put move IF ?none i( move i) pick",
        "put IF ?front i( L i) IF ?left i( move i)",
    ],
)
def test_an_open_outcome_is_not_flagged(body: str) -> None:
    assert foregone(wrap(body)) == []


def test_what_is_known_holds_in_runs() -> None:
    rng = np.random.default_rng(5)
    seen: Counter[str] = Counter()
    for _ in range(1500):
        tokens = karel.random_program(rng, 40)
        program = karel.parse(tokens)
        tests = [at for at, token in enumerate(tokens) if token in ("IF", "IFELSE", "WHILE")]
        crashing = [int(t.split()[-1]) for t in broken_rules(tokens) if t.startswith("4")]
        claims = [(text, int(text.split()[-1])) for text in foregone(tokens)]
        for _ in range(8):
            run = karel.run(program, karel.random_world(rng))
            branches = {(tests[number], outcome) for number, outcome in run.branches}
            assert not run.ran & set(crashing)
            seen["4"] += run.failed_at in crashing
            for text, at in claims:
                if "always true" in text:
                    assert (at, False) not in branches
                elif "always false" in text or "never entered" in text:
                    assert (at, True) not in branches
                elif "never left" in text:
                    assert (at, True) not in branches or run.status != "ok"
                seen[text[0]] += at in run.ran
    assert min(seen[name] for name in "4ABC") >= 20


# Statistics.


def test_statistics_of_a_few_programs() -> None:
    found = statistics(
        [
            wrap("move put"),
            wrap("put move move L"),
            wrap("REPEAT R=3 r( move WHILE ?!left w( L move w) r) pick IF ?marker i( L i)"),
            wrap(
                "IFELSE ?front i( move WHILE ?none w( move w) i)"
                " ELSE e( WHILE ?front w( L w) IF ?right i( IF ?!front i( put i) i) e)"
            ),
        ]
    )
    assert found == {
        "length": Counter({6: 1, 8: 1, 28: 1, 44: 1}),
        "actions_per_program": Counter({2: 1, 4: 2, 5: 1}),
        "constructs_per_program": Counter({0: 2, 3: 1, 5: 1}),
        "nesting": Counter({0: 2, 2: 1, 3: 1}),
        "action_only_length": Counter({2: 1, 4: 1}),
        "action": Counter({"move": 7, "turnLeft": 4, "putMarker": 3, "pickMarker": 1}),
        "condition": Counter(
            {
                "not left": 1,
                "markersPresent": 1,
                "frontIsClear": 2,
                "noMarkersPresent": 1,
                "rightIsClear": 1,
                "not front": 1,
            }
        ),
        "while_condition": Counter({"not left": 1, "noMarkersPresent": 1, "frontIsClear": 1}),
        "construct": Counter({"REPEAT": 1, "WHILE": 3, "IF": 3, "IFELSE": 1}),
        "repeat_count": Counter({3: 1}),
        "run_statements": Counter({1: 1, 2: 1, 3: 1, 4: 1}),
        "while_statements": Counter({1: 2, 2: 1}),
        "repeat_statements": Counter({2: 1}),
        "if_statements": Counter({1: 3}),
        "then_statements": Counter({2: 1}),
        "else_statements": Counter({2: 1}),
        "control_at_depth": Counter(
            {
                (0, False): 7,
                (0, True): 3,
                (1, False): 3,
                (1, True): 4,
                (2, False): 4,
                (2, True): 1,
                (3, False): 1,
            }
        ),
        "nested": Counter({"REPEAT>WHILE": 1, "IFELSE>WHILE": 1, "IFELSE>IF": 1, "IF>IF": 1}),
        "statements_at_depth": Counter(
            {
                (0, 1): 1,
                (0, 2): 1,
                (0, 3): 1,
                (0, 4): 1,
                (1, 1): 1,
                (1, 2): 3,
                (2, 1): 3,
                (2, 2): 1,
                (3, 1): 1,
            }
        ),
    }
    assert tuple(found) == HISTOGRAMS
    assert control_shares(found) == {0: 0.3, 1: 4 / 7, 2: 0.2, 3: 0}
    assert block_means(found) == {0: 2.5, 1: 1.75, 2: 1.25, 3: 1}
    assert nested_percentages(found) == dict.fromkeys(found["nested"], 25)


def test_statistics_of_nothing() -> None:
    assert statistics([]) == {name: Counter() for name in HISTOGRAMS}


def test_statistics_of_real_programs_agree_with_each_other(real_programs: list[list[str]]) -> None:
    found = statistics(real_programs)
    for name in ("length", "actions_per_program", "constructs_per_program", "nesting"):
        assert sum(found[name].values()) == len(real_programs)
    for name in ("action", "construct"):
        per_program = found[f"{name}s_per_program"]
        assert found[name].total() == sum(n * count for n, count in per_program.items())
    tests = found["construct"].total() - found["construct"]["REPEAT"]
    assert found["condition"].total() == tests
    assert found["repeat_count"].total() == found["construct"]["REPEAT"]
    assert found["while_condition"].total() == found["construct"]["WHILE"]
    assert set(found["condition"]) == set(FACTS["condition"])
    assert set(found["nested"]) == set(FACTS["nested_percent"])
    for length in range(2, 15):
        assert found["action_only_length"][length] <= found["length"][length + 4]
    # Near the facts, but for the long programs that the list lacks.
    for name in set(HISTOGRAMS) & set(FACTS) - {"length"}:
        assert total_variation(found[name], FACTS[name]) < 0.1
    assert total_variation(pooled_lengths(found["length"]), FACTS["length"]) < 0.12


# The facts.


@pytest.mark.parametrize(
    ("name", "total"),
    [
        ("length", 2500),
        ("actions_per_program", 2500),
        ("constructs_per_program", 2500),
        ("nesting", 2500),
        ("run_statements", 2500),
        ("action_only_length", 659),
        ("construct", 1106 + 954 + 849 + 735),
        ("repeat_count", 1106),
    ],
)
def test_histograms_of_the_facts_are_complete(name: str, total: int) -> None:
    assert sum(FACTS[name].values()) == total


def test_the_facts_agree_with_each_other() -> None:
    for name in ("action", "condition"):
        assert sum(FACTS[name].values()) == pytest.approx(100, abs=0.15)
    assert len(FACTS["condition"]) == 8
    assert len(FACTS["nested_percent"]) == 16
    assert set(FACTS["action"]) == set(karel.ACTIONS)
    for name in ("actions_per_program", "constructs_per_program", "run_statements"):
        assert mean(FACTS[name]) == pytest.approx(FACTS["mean"][name], abs=0.006)
    assert mean(FACTS["constructs_per_program"]) * 2500 == sum(FACTS["construct"].values())
    without = FACTS["constructs_per_program"][0]
    assert without == FACTS["nesting"][0] == sum(FACTS["action_only_length"].values())
    # The shortest program with a construct is of 10 tokens: REPEAT around two actions.
    for actions in (2, 3, 4, 5):
        assert FACTS["length"][str(actions + 4)] == FACTS["action_only_length"][actions]
    # Constructs in the outermost block, by two ways.
    outermost = FACTS["mean"]["run_statements"] * FACTS["control_share_at_depth"][0]
    assert outermost < FACTS["mean"]["constructs_per_program"]
    assert FACTS["block_mean_at_depth"][0] == FACTS["mean"]["run_statements"]


def test_the_lengths_of_the_facts_have_the_mean_and_percentiles_given() -> None:
    middles: Counter[float] = Counter()
    for name, count in FACTS["length"].items():
        ends = [int(end) for end in name.split("-")]
        middles[(ends[0] + ends[-1]) / 2] += count
    assert mean(middles) == pytest.approx(18.41, abs=0.03)
    variance = sum(n * n * count for n, count in middles.items()) / 2500 - mean(middles) ** 2
    assert math.sqrt(variance) == pytest.approx(10.64, abs=0.06)
    lengths = sorted(middles.elements())
    for percent in (25, 50, 75, 90, 95):
        assert lengths[25 * percent] == FACTS["length_percentile"][percent]


def test_lengths_are_pooled() -> None:
    lengths = Counter({6: 1, 45: 2, 46: 3, 50: 4, 51: 5, 55: 6, 56: 7, 65: 8, 66: 9, 5: 10})
    assert pooled_lengths(lengths) == Counter(
        {"6": 1, "45": 2, "46-50": 7, "51-55": 11, "56-65": 15, "66": 9, "5": 10}
    )
    assert set(pooled_lengths(dict.fromkeys(range(6, 66), 1))) == set(FACTS["length"])


@pytest.mark.parametrize(
    ("found", "facts", "distance"),
    [
        ({1: 3, 2: 1}, {1: 3, 2: 1}, 0),
        ({1: 6, 2: 2}, {1: 75.0, 2: 25.0}, 0),
        ({1: 1}, {2: 1}, 1),
        ({1: 1, 2: 1}, {1: 1}, 0.5),
        ({"a": 1, "b": 1, "c": 2}, {"a": 2, "b": 1, "d": 1}, 0.5),
    ],
)
def test_total_variation(found: dict[Any, float], facts: dict[Any, float], distance: float) -> None:
    assert total_variation(Counter(found), facts) == pytest.approx(distance)
    assert total_variation(Counter(facts), found) == pytest.approx(distance)


def test_total_variation_of_nothing_is_refused() -> None:
    for found, facts in ((Counter(), {1: 1}), (Counter({1: 1}), {})):
        with pytest.raises(ValueError, match="empty"):
            total_variation(found, facts)
