"""The rules of the original's programs, worked out by hand: what breaks one, what nearly does.

The checks that the tests of the sampler use are given every case. Where a rule forbids what no
valid run could do, the package's own search for a run that covers every branch must agree.
"""

from collections import Counter

import numpy as np
import pytest

from tests.karel import branches, places_of_tests, rows_of
from tests.karel_kernels import coverable, draw_worlds
from tests.naive import karel as naive
from tests.naive.karel_programs import (
    HISTOGRAMS,
    broken_rules,
    control_shares,
    foregone,
    nested_percentages,
    statistics,
)
from unskew.core.rng import generator
from unskew.domains.karel import run
from unskew.domains.karel.language.compiler import compile_programs
from unskew.domains.karel.running.hidden import EVEN
from unskew.domains.karel.sampling.worlds import UNIFORM_WORLDS

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
    """Return the tokens of a program with this body, which may be written in the words of SHORT.

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


def is_coverable(body: str) -> bool:
    """Whether the package finds valid runs that take every branch."""
    return bool(coverable(generator(0, body), compile_programs(rows_of([wrap(body)])))[0])


def marks(faults: list[str]) -> list[str]:
    """Return the number or letter in front of each fault, each once."""
    return sorted({fault.partition(":")[0] for fault in faults})


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


# No rule's text forbids these, but no surviving program has one.
FOREGONE = [
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
]
OPEN = [
    "put move IF ?left i( L i) IF ?left i( L i)",
    "move put WHILE ?marker w( pick w)",
    "put REPEAT R=3 r( IF ?marker i( move i) L r)",
    "put move WHILE ?left w( WHILE ?left w( move w) w)",
    "put move L IF ?right i( L i)",
    "put IF ?front i( L i) L move",
    "put IF ?!front i( L i) move",
    "put IFELSE ?front i( move i) ELSE e( L e) move",
    "put move IF ?none i( move i) pick",
    "put move IF ?front i( L i) IF ?left i( move i)",
]


@pytest.mark.parametrize(("rule", "body"), BROKEN)
def test_a_broken_rule_is_flagged_and_no_other(rule, body):
    assert marks(broken_rules(wrap(body))) == [str(rule)]


@pytest.mark.parametrize("body", WHOLE)
def test_a_near_miss_is_not_flagged(body):
    assert broken_rules(wrap(body)) == []


def test_every_break_is_told():
    broken = broken_rules(wrap("L R L IF ?left i( IF ?left i( R R i) i) REPEAT R=12 r( L L L r)"))
    assert [text.split(":")[0] for text in broken] == ["1", "1", "2", "2", "2", "3", "6", "9"]
    assert len(set(broken)) == len(broken)
    assert "4: move where the front is known to be blocked, at token 12" in broken_rules(
        wrap("put IF ?!front i( move i)")
    )
    assert "4: pickMarker where no marker is known to be, at token 9" in broken_rules(
        wrap("move IF ?none i( pick i)")
    )


@pytest.mark.parametrize(("letter", "body"), FOREGONE)
def test_a_foregone_outcome_is_flagged_and_no_run_has_the_other(letter, body):
    assert marks(foregone(wrap(body))) == [letter]
    assert not is_coverable(body)


@pytest.mark.parametrize("body", OPEN)
def test_an_open_outcome_is_not_flagged_and_runs_have_both(body):
    assert foregone(wrap(body)) == []
    assert is_coverable(body)


def test_what_is_known_holds_in_runs():
    """Of random programs on random worlds, each claim reached by twenty runs at least."""
    rng, runs_each = np.random.default_rng(5), 8
    programs = [naive.random_program(rng, 40) for _ in range(1500)]
    worlds = draw_worlds(
        generator(5, "worlds"), runs_each * len(programs), UNIFORM_WORLDS, 0, 0, EVEN
    )
    rows = np.repeat(rows_of(programs), runs_each, axis=0)
    ran = run(rows, worlds, statements=True)
    reached: Counter[str] = Counter()
    for number, tokens in enumerate(programs):
        tests = places_of_tests(tokens)
        crashes = [fault for fault in broken_rules(tokens) if fault.startswith("4")]
        claims = [(text, int(text.split()[-1])) for text in crashes + foregone(tokens)]
        for row in range(runs_each * number, runs_each * (number + 1)) if claims else ():
            taken = {(tests[test], outcome) for test, outcome in branches(ran.coverage[row])}
            for text, at in claims:
                if text[0] == "4":
                    assert not ran.statements[row, at] or ran.status[row] != 0
                elif "always true" in text:
                    assert (at, False) not in taken
                elif "always false" in text or "never entered" in text:
                    assert (at, True) not in taken
                elif "never left" in text:
                    assert (at, True) not in taken or ran.status[row] != 0
                reached[text[0]] += int(ran.statements[row, at])
    assert min(reached[name] for name in "4ABC") >= 20


# The histograms.


def test_statistics_of_a_few_programs():
    figures = statistics(
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
    assert figures == {
        "length": Counter({6: 1, 8: 1, 28: 1, 44: 1}),
        "actions_per_program": Counter({2: 1, 4: 2, 5: 1}),
        "constructs_per_program": Counter({0: 2, 3: 1, 5: 1}),
        "nesting": Counter({0: 2, 2: 1, 3: 1}),
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
    }
    assert tuple(figures) == HISTOGRAMS
    assert control_shares(figures) == {0: 0.3, 1: 4 / 7, 2: 0.2, 3: 0}
    assert nested_percentages(figures) == dict.fromkeys(figures["nested"], 25)
