"""Karel's language, runs and worlds worked out by hand: the package and its slow twin agree.

Each case is data: what goes in, what must come out, and a word why. Every implementation is
given every case: the compiled interpreter, the stepper that draws a trace, and the twin.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest

from tests.karel import (
    STATUS,
    branches,
    compiles,
    packed,
    parses,
    places_of_tests,
    rows_of,
    twin_parses,
    unpacked,
)
from tests.naive import karel as naive
from tests.naive.karel_records import program_tree
from unskew.core.errors import UnskewError
from unskew.domains.karel import from_picture, run, to_picture, world
from unskew.domains.karel.formats.records import program_json
from unskew.domains.karel.language import tokens
from unskew.domains.karel.running.trace import steps


def program_of(body: str) -> list[str]:
    """Return the tokens of a program with this body; the first token of the body is token 3."""
    return f"DEF run m( {body} m)".split()


def world_of(picture: str) -> np.ndarray:
    """Read a picture of which the rows stand on one line, the top row first."""
    return from_picture(picture.replace(" / ", "\n"))


def picture_of(one: np.ndarray) -> str:
    """Return the picture of a world on one line."""
    return " / ".join(" ".join(line.split()) for line in to_picture(one).split("\n"))


# Runs.


@dataclass(frozen=True)
class Case:
    """A run and everything that must come of it.

    ``ran`` has the tokens of the statements that ran, without an action that crashed; it is at
    ``failed_at``, as is a statement for which no tick was left. ``branches`` has "0+" if test 0
    was true once, "0-" if it was false once.
    """

    why: str
    body: str
    before: str
    after: str
    status: str
    ticks: int
    actions: str
    ran: set[int]
    branches: str = ""
    failed_at: int | None = None
    max_ticks: int = 200


FOUR_TESTS = (
    "IFELSE c( markersPresent c) i( IF c( frontIsClear c) i( move i) i) "
    "ELSE e( WHILE c( not c( leftIsClear c) c) w( turnLeft w) e) "
    "IF c( not c( not c( rightIsClear c) c) c) i( putMarker i)"
)
# 10 times (1 iteration + 9 times (1 iteration + 1 turn) + 1 turn): 200 ticks, 100 turns.
EXACTLY_200 = "REPEAT R=10 r( REPEAT R=9 r( turnLeft r) turnLeft r)"
HUNDRED_TURNS = " ".join(["turnLeft"] * 100)

# fmt: off
CASES = [
    Case("one move", "move", ". . . / >. . .", ". . . / . >. .", "ok", 1, "move", {3}),
    Case("north goes up", "move", ". . . / ^. . .", "^. . . / . . .", "ok", 1, "move", {3}),
    Case("south goes down", "move", ". . v. / . . .", ". . . / . . v.", "ok", 1, "move", {3}),
    Case("west goes left", "move", ". . <. / . . .", ". <. . / . . .", "ok", 1, "move", {3}),
    Case("left of north is west", "turnLeft", ". . . / ^. . .", ". . . / <. . .", "ok", 1,
         "turnLeft", {3}),
    Case("right of north is east", "turnRight", ". . . / ^. . .", ". . . / >. . .", "ok", 1,
         "turnRight", {3}),
    Case("over the edge", "move move move turnLeft", ". . . / >. . .", ". . . / . . >.", "wall",
         3, "move move", {3, 4}, failed_at=5),
    Case("into a wall", "move move", ". . . / >. . #", ". . . / . >. #", "wall", 2, "move", {3},
         failed_at=4),
    Case("over the southern edge", "move", ". . . / . v. .", ". . . / . v. .", "wall", 1, "",
         set(), failed_at=3),
    Case("over the western edge", "move", "<. . . / . . .", "<. . . / . . .", "wall", 1, "",
         set(), failed_at=3),
    Case("over the northern edge", "move", ". ^. . / . . .", ". ^. . / . . .", "wall", 1, "",
         set(), failed_at=3),
    Case("pick one of three", "pickMarker", ". 9 . / >3 . .", ". 9 . / >2 . .", "ok", 1,
         "pickMarker", {3}),
    Case("pick where none is", "pickMarker", ". . . / >. 1 .", ". . . / >. 1 .", "no_marker", 1,
         "", set(), failed_at=3),
    Case("pick the last and one more", "pickMarker pickMarker", ". . . / >1 . .",
         ". . . / >. . .", "no_marker", 2, "pickMarker", {3}, failed_at=4),
    Case("put on an empty cell", "putMarker", ". . . / >. . .", ". . . / >1 . .", "ok", 1,
         "putMarker", {3}),
    Case("put the ninth and the tenth", "putMarker putMarker", ". . . / >8 . .",
         ". . . / >9 . .", "full", 2, "putMarker", {3}, failed_at=4),
    Case("while once", "WHILE c( frontIsClear c) w( turnRight w)", ". . . / >. . .",
         ". . . / v. . .", "ok", 3, "turnRight", {3, 8}, branches="0- 0+"),
    Case("while never", "WHILE c( frontIsClear c) w( turnLeft w) turnLeft", ". . . / <. . .",
         ". . . / v. . .", "ok", 2, "turnLeft", {3, 10}, branches="0-"),
    Case("while for ever", "WHILE c( noMarkersPresent c) w( turnRight w)", ". . . / >. . .",
         ". . . / >. . .", "ticks", 200, HUNDRED_TURNS.replace("Left", "Right"), {3, 8},
         branches="0+", failed_at=3),
    Case("while for ever, an odd limit", "WHILE c( noMarkersPresent c) w( turnRight w)",
         ". . . / >. . .", ". . . / ^. . .", "ticks", 7, "turnRight turnRight turnRight",
         {3, 8}, branches="0+", failed_at=8, max_ticks=7),
    Case("if not taken", "IF c( markersPresent c) i( move i)", ". . . / >. . .",
         ". . . / >. . .", "ok", 1, "", {3}, branches="0-"),
    Case("a crash in a branch", "IF c( not c( markersPresent c) c) i( pickMarker i)",
         ". . . / >. . .", ". . . / >. . .", "no_marker", 2, "", {3}, branches="0+",
         failed_at=11),
    Case("repeat nought", "REPEAT R=0 r( move r)", ". . . / >. . .", ". . . / >. . .", "ok", 0,
         "", {3}),
    Case("repeat thrice", "REPEAT R=3 r( turnLeft r)", ". . . / >. . .", ". . . / v. . .", "ok",
         6, "turnLeft turnLeft turnLeft", {3, 6}),
    Case("repeat into a wall", "REPEAT R=19 r( move r)", ". . . / >. . .", ". . . / . . >.",
         "wall", 6, "move move", {3, 6}, failed_at=6),
    Case("repeat without a tick", "turnLeft REPEAT R=2 r( move r)", ". . . / >. . .",
         ". . . / ^. . .", "ticks", 1, "turnLeft", {3}, failed_at=4, max_ticks=1),
    Case("repeat nought needs no tick", "turnLeft REPEAT R=0 r( move r)", ". . . / >. . .",
         ". . . / ^. . .", "ok", 1, "turnLeft", {3, 4}, max_ticks=1),
    Case("repeat with one tick", "REPEAT R=2 r( move r)", ". . . / >. . .", ". . . / >. . .",
         "ticks", 1, "", {3}, failed_at=6, max_ticks=1),
    Case("repeat with two ticks", "REPEAT R=2 r( move r)", ". . . / >. . .", ". . . / . >. .",
         "ticks", 2, "move", {3, 6}, failed_at=3, max_ticks=2),
    Case("repeat in a repeat", "REPEAT R=2 r( REPEAT R=2 r( turnLeft r) r)", ". . . / >. . .",
         ". . . / >. . .", "ok", 10, "turnLeft turnLeft turnLeft turnLeft", {3, 6, 9}),
    Case("test without a tick", "turnLeft IF c( frontIsClear c) i( move i)", ". . . / >. . .",
         ". . . / ^. . .", "ticks", 1, "turnLeft", {3}, failed_at=4, max_ticks=1),
    Case("a body without a tick", "IF c( frontIsClear c) i( move i)", ". . . / >. . .",
         ". . . / >. . .", "ticks", 1, "", {3}, branches="0+", failed_at=8, max_ticks=1),
    Case("all 200 ticks", EXACTLY_200, ". . . / >. . .", ". . . / >. . .", "ok", 200,
         HUNDRED_TURNS, {3, 6, 9, 11}),
    Case("all 200 ticks and repeat nought", f"{EXACTLY_200} REPEAT R=0 r( move r)",
         ". . . / >. . .", ". . . / >. . .", "ok", 200, HUNDRED_TURNS, {3, 6, 9, 11, 13}),
    Case("the 201st tick", f"{EXACTLY_200} move", ". . . / >. . .", ". . . / >. . .", "ticks",
         200, HUNDRED_TURNS, {3, 6, 9, 11}, failed_at=13),
    Case("out of ticks before a crash", "turnLeft pickMarker", ". . . / >. . .",
         ". . . / ^. . .", "ticks", 1, "turnLeft", {3}, failed_at=4, max_ticks=1),
    Case("a crash with the last tick", "turnLeft pickMarker", ". . . / >. . .",
         ". . . / ^. . .", "no_marker", 2, "turnLeft", {3}, failed_at=4, max_ticks=2),
    Case("four tests, else", FOUR_TESTS, ". . . / ^. . .", ". . . / v. . .", "ok", 7,
         "turnLeft turnLeft", {3, 18, 26, 29}, branches="0- 2- 2+ 3-"),
    Case("four tests, then", FOUR_TESTS, ". . . / ^1 . .", "^1 . . / 1 . .", "ok", 5,
         "move putMarker", {3, 8, 13, 29, 40}, branches="0+ 1+ 3+"),
]
# fmt: on


def by_kernel(case: Case, program: list[str], before: np.ndarray) -> dict[str, object]:
    """Run the compiled interpreter. It counts actions and does not say where a run stopped."""
    ran = run(rows_of([program]), before[None], max_ticks=case.max_ticks, statements=True)
    assert ran.statements is not None
    return {
        "after": picture_of(ran.worlds[0]),
        "status": ran.status[0],
        "ticks": ran.ticks[0],
        "counts": ran.actions[0].tolist(),
        "branches": branches(ran.coverage[0]),
        "started": set(np.flatnonzero(ran.statements[0])),
    }


def by_stepper(case: Case, program: list[str], before: np.ndarray) -> dict[str, object]:
    """Run one tick at a time. A REPEAT of no iterations takes no tick, so it is not seen."""
    done = list(steps(tokens.to_ids(program), before, case.max_ticks))
    fine = [step for step in done if step.status == 0]
    last = done[-1] if done else None
    outcomes = {(step.place, step.outcome) for step in done if step.outcome is not None}
    tests = places_of_tests(program)
    return {
        "after": picture_of(before if last is None else last.world),
        "status": 0 if last is None else last.status,
        "ticks": sum(step.tick <= case.max_ticks for step in done),
        "actions": " ".join(program[s.place] for s in fine if program[s.place] in tokens.ACTIONS),
        "branches": {(tests.index(place), outcome) for place, outcome in outcomes},
        "seen": {step.place for step in fine},
        "failed_at": None if len(fine) == len(done) else done[-1].place,
    }


def by_twin(case: Case, program: list[str], before: np.ndarray) -> dict[str, object]:
    """Run the twin."""
    ran = naive.run(naive.parse(program), unpacked(before), case.max_ticks)
    return {
        "after": picture_of(packed(ran.world)[0]),
        "status": STATUS[ran.status],
        "ticks": ran.ticks,
        "actions": " ".join(ran.actions),
        "branches": ran.branches,
        "started": ran.started(),
        "ran": ran.ran,
        "failed_at": ran.failed_at,
    }


@pytest.mark.parametrize("implementation", [by_kernel, by_stepper, by_twin])
@pytest.mark.parametrize("case", CASES, ids=lambda case: case.why)
def test_a_run(case, implementation):
    program, before = program_of(case.body), world_of(case.before)
    crashed = case.status in ("wall", "no_marker", "full")
    actions = case.actions.split()
    expected = {
        "after": case.after,
        "status": STATUS[case.status],
        "ticks": case.ticks,
        "actions": case.actions,
        "counts": [actions.count(name) for name in tokens.ACTIONS],
        "branches": {(int(text[:-1]), text[-1] == "+") for text in case.branches.split()},
        "ran": case.ran,
        "started": case.ran | ({case.failed_at} if crashed else set()),
        "seen": {at for at in case.ran if program[at + 1] != "R=0"},
        "failed_at": case.failed_at,
    }
    untouched = before.copy()
    result = implementation(case, program, before)
    assert result == {name: expected[name] for name in result}
    assert np.array_equal(before, untouched)


def test_the_cases_end_in_every_way():
    assert {case.status for case in CASES} == set(naive.STATUSES)


# Conditions, by the outcome of a test.

HEROES = "^>v<"
ASKED = ("markersPresent", "noMarkersPresent", "leftIsClear", "rightIsClear", "frontIsClear")
NOT, NOT_NOT, NOT_NOT_NOT = (
    "not c( {} c)",
    "not c( not c( {} c) c)",
    "not c( not c( not c( {} c) c) c)",
)


def conditions():
    """Yield a picture, a condition and whether it holds there."""
    # Only the cell to the north is blocked, by a wall or by the edge.
    blocked = {"^": "frontIsClear", ">": "leftIsClear", "v": "", "<": "rightIsClear"}
    for hero, name in blocked.items():
        for picture in (f". # . / . {hero}. . / . . .", f". {hero}. . / . . ."):
            for asked in ASKED[2:]:
                yield picture, asked, asked != name
                yield picture, NOT.format(asked), asked == name
                yield picture, NOT_NOT.format(asked), asked != name
    for count in range(10):
        picture = f". . / ^{count or '.'} 5"
        yield picture, "markersPresent", count > 0
        yield picture, "noMarkersPresent", count == 0
        yield picture, NOT.format("markersPresent"), count == 0
        yield picture, NOT_NOT.format("markersPresent"), count > 0
        yield picture, NOT_NOT_NOT.format("noMarkersPresent"), count > 0


@pytest.mark.parametrize("implementation", [by_kernel, by_stepper, by_twin])
def test_a_condition(implementation):
    for picture, condition, holds in conditions():
        for keyword, block in (("IF", "i"), ("WHILE", "w")):
            body = f"{keyword} c( {condition} c) {block}( turnLeft {block})"
            case = Case("", body, picture, "", "", 0, "", set(), max_ticks=1)
            outcomes = implementation(case, program_of(body), world_of(picture))["branches"]
            assert outcomes == {(0, holds)}, (picture, condition)


@pytest.mark.parametrize("implementation", [by_kernel, by_stepper, by_twin])
def test_every_count_of_a_repeat(implementation):
    for count in range(20):
        body = f"REPEAT R={count} r( turnRight r)"
        case = Case("", body, ". . / ^. .", "", "", 0, "", set())
        result = implementation(case, program_of(body), world_of(case.before))
        assert (result["status"], result["ticks"]) == (0, 2 * count)
        assert result["after"] == f". . / {HEROES[count % 4]}. ."


# What is a program.

MALFORMED = """
DEF
DEF run
DEF run m(
DEF run m( m)
DEF run m( move
DEF run move m)
run m( move m)
DEF m( move m)
DEF DEF run m( move m)
<s> DEF run m( move m)
DEF run m( move m) m)
DEF run m( move m) move
DEF run m( move m) DEF run m( move m)
def run m( move m)
DEF run m( Move m)
DEF run m( move() m)
DEF run m( jump m)
DEF run m( <s> m)
DEF run m( m( move m) m)
DEF run m( move r)
DEF run r( move r)
DEF run m( frontIsClear m)
DEF run m( not m)
DEF run m( R=3 m)
DEF run m( ELSE e( move e) m)
DEF run m( i( move i) m)
DEF run m( IF m)
DEF run m( IF c( frontIsClear c) m)
DEF run m( IF c( frontIsClear c) i( i) m)
DEF run m( IF c( frontIsClear c) i( move m)
DEF run m( IF c( frontIsClear c) w( move w) m)
DEF run m( IF c( frontIsClear c) i( move w) m)
DEF run m( IF c( frontIsClear c) move m)
DEF run m( IF frontIsClear i( move i) m)
DEF run m( IF c( c) i( move i) m)
DEF run m( IF c( move c) i( move i) m)
DEF run m( IF c( frontIsClear i( move i) m)
DEF run m( IF c( frontIsClear leftIsClear c) i( move i) m)
DEF run m( IF c( c( frontIsClear c) c) i( move i) m)
DEF run m( IF c( frontIsClear c) i( move i) ELSE e( move e) m)
DEF run m( IF not c( frontIsClear c) i( move i) m)
DEF run m( IF c( not frontIsClear c) i( move i) m)
DEF run m( IF c( not c) i( move i) m)
DEF run m( IF c( not c( c) c) i( move i) m)
DEF run m( IF c( not c( frontIsClear c) i( move i) m)
DEF run m( IF c( not not c( frontIsClear c) c) i( move i) m)
DEF run m( IF c( not c( not frontIsClear c) c) i( move i) m)
DEF run m( IF c( frontIsClear not c) i( move i) m)
DEF run m( IFELSE c( frontIsClear c) i( move i) m)
DEF run m( IFELSE c( frontIsClear c) i( move i) ELSE m)
DEF run m( IFELSE c( frontIsClear c) i( move i) e( move e) m)
DEF run m( IFELSE c( frontIsClear c) i( move i) ELSE i( move i) m)
DEF run m( IFELSE c( frontIsClear c) i( i) ELSE e( move e) m)
DEF run m( IFELSE c( frontIsClear c) i( move i) ELSE e( e) m)
DEF run m( IFELSE c( frontIsClear c) ELSE e( move e) m)
DEF run m( IFELSE c( frontIsClear c) i( move i) turnLeft ELSE e( move e) m)
DEF run m( IFELSE c( frontIsClear c) i( move i) ELSE e( move e) ELSE e( move e) m)
DEF run m( WHILE c( frontIsClear c) w( w) m)
DEF run m( WHILE c( frontIsClear c) i( move i) m)
DEF run m( WHILE w( move w) m)
DEF run m( WHILE R=3 w( move w) m)
DEF run m( REPEAT R=3 r( r) m)
DEF run m( REPEAT r( move r) m)
DEF run m( REPEAT 3 r( move r) m)
DEF run m( REPEAT R= r( move r) m)
DEF run m( REPEAT R=20 r( move r) m)
DEF run m( REPEAT R=-1 r( move r) m)
DEF run m( REPEAT R=03 r( move r) m)
DEF run m( REPEAT R=3 R=3 r( move r) m)
DEF run m( REPEAT R=3 w( move w) m)
DEF run m( REPEAT R=3 r( move m) r)
DEF run m( REPEAT c( frontIsClear c) r( move r) m)
"""


@pytest.mark.parametrize("accepts", [compiles, parses, twin_parses])
def test_what_is_a_program(accepts):
    for case in CASES:
        program = program_of(case.body)
        assert accepts(program), program
        for length in range(len(program)):
            assert not accepts(program[:length]), program[:length]
    for line in MALFORMED.splitlines():
        assert not accepts(line.split()), line


def test_padding_after_a_program():
    """In a row of ids, <s> is padding; as a word it is no part of a program."""
    padded = [*program_of("move"), "<s>"]
    assert [compiles(padded), parses(padded), twin_parses(padded)] == [True, False, False]


EVERY_CONSTRUCT = (
    "IFELSE c( not c( frontIsClear c) c) i( move i) ELSE e( "
    "REPEAT R=3 r( turnLeft r) WHILE c( markersPresent c) w( pickMarker w) e) "
    "IF c( leftIsClear c) i( putMarker turnRight i)"
)


@pytest.mark.parametrize("tree", [program_json, program_tree], ids=["package", "twin"])
def test_the_json_of_every_construct(tree):
    texts = program_of(EVERY_CONSTRUCT)
    given = tokens.to_ids(texts) if tree is program_json else texts
    assert tree(given) == {
        "run": [
            {
                "condition": {"condition": {"type": "frontIsClear"}, "type": "not"},
                "elseBody": [
                    {"body": [{"type": "turnLeft"}], "times": 3, "type": "repeat"},
                    {
                        "body": [{"type": "pickMarker"}],
                        "condition": {"type": "markersPresent"},
                        "type": "while",
                    },
                ],
                "ifBody": [{"type": "move"}],
                "type": "ifElse",
            },
            {
                "body": [{"type": "putMarker"}, {"type": "turnRight"}],
                "condition": {"type": "leftIsClear"},
                "type": "if",
            },
        ]
    }


# Worlds.

GRID = {"rows": 3, "cols": 4, "hero": "1:2:west", "blocked": "2:0 2:3 0:1", "crashed": False}
GRID["markers"] = "1:2:1 0:0:9"
PICTURE = "# . . # / . . <1 . / 9 # . ."
KAREL, WALL, OUTLINE = 3, 4, 5  # channels: Karel faces west; then 1 to 9 markers
FRAME = {(r, c) for r in range(5) for c in range(6) if r in (0, 4) or c in (0, 5)}
ONES = {(KAREL, 2, 3), (WALL, 3, 1), (WALL, 3, 4), (WALL, 1, 2), (OUTLINE + 1, 2, 3)}
ONES |= {(OUTLINE + 9, 1, 1), *((OUTLINE, r, c) for r, c in FRAME)}


def test_a_world_in_every_form():
    one = world_of(PICTURE)
    assert np.array_equal(one, world.from_json(GRID))
    assert np.array_equal(one, packed(naive.from_json(GRID))[0])
    assert picture_of(one) == PICTURE
    for grid in (world.to_json(one), naive.to_json(naive.from_json(GRID))):
        assert grid == GRID
    for tensor in (world.to_tensor(one), naive.to_tensor(naive.from_json(GRID))):
        assert tensor.shape == (16, 18, 18)
        assert {tuple(place) for place in np.argwhere(tensor == 1).tolist()} == ONES
        assert int(tensor.sum()) == len(ONES)
        assert np.array_equal(world.from_tensor(tensor), one)


def test_the_largest_world():
    large = naive.World(16, 16, (15, 15, "north"))
    for tensor in (naive.to_tensor(large), world.to_tensor(packed(large)[0])):
        assert tensor[0, 16, 16] == 1
        assert int(tensor[OUTLINE].sum()) == 4 * 17


@pytest.mark.parametrize("read", [world.from_json, naive.from_json], ids=["package", "twin"])
@pytest.mark.parametrize(
    ("why", "change"),
    [
        ("too small", {"rows": 1}),
        ("too large", {"cols": 17}),
        ("no direction", {"hero": "1:2:up"}),
        ("Karel is above", {"hero": "3:0:west"}),
        ("Karel is to the left", {"hero": "0:-1:west"}),
        ("Karel stands on a wall", {"hero": "0:1:west"}),
        ("a wall outside", {"blocked": "0:4"}),
        ("a marker outside", {"markers": "3:0:1"}),
        ("a marker on a wall", {"markers": "0:1:1"}),
        ("no markers", {"markers": "1:1:0"}),
        ("ten markers", {"markers": "1:1:10"}),
        ("a crash", {"crashed": True}),
    ],
)
def test_what_is_no_world(why: str, change: dict[str, Any], read):
    with pytest.raises((UnskewError, ValueError)):
        read({**GRID, **change})
