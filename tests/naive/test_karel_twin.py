"""Tests of the naive twin of Karel."""

import json
import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tests.naive import karel
from tests.naive.karel import World

RECORDS = Path(__file__).resolve().parents[2] / "../shared/msr/records.jsonl"

VOCABULARY = [
    *(*karel.ACTIONS, *karel.CONDITIONS, *karel.COUNTS),
    *("<s>", "not", "DEF", "run", "REPEAT", "WHILE", "IF", "IFELSE", "ELSE"),
    *("m(", "m)", "c(", "c)", "r(", "r)", "w(", "w)", "i(", "i)", "e(", "e)"),
]


def rng_of(seed: int) -> np.random.Generator:
    return np.random.default_rng(seed)


def wrap(body: str) -> list[str]:
    """The tokens of a program with this body; the body's first token is token 3."""
    return f"DEF run m( {body} m)".split()


# The dataset's records.


@pytest.fixture(scope="module")
def records() -> list[dict[str, Any]]:
    if not RECORDS.exists():
        pytest.skip(f"the dataset's records are not here: {RECORDS}")
    with RECORDS.open(encoding="utf-8") as lines:
        return [json.loads(line) for line in lines]


def grids_of(records: list[dict[str, Any]]) -> Iterator[tuple[dict[str, Any], str]]:
    for record in records:
        for example in record["examples"]:
            for side in ("inpgrid", "outgrid"):
                yield example[f"{side}_json"], example[f"{side}_tensor"]


def test_every_record_replays(records: list[dict[str, Any]]) -> None:
    replayed = 0
    for record in records:
        program = karel.parse(record["program_tokens"])
        for example in record["examples"]:
            before = karel.from_json(example["inpgrid_json"])
            result = karel.run(program, before)
            assert result.status == "ok"
            assert result.failed_at is None
            assert result.actions == example["actions"]
            assert result.world == karel.from_json(example["outgrid_json"])
            assert karel.to_json(result.world) == example["outgrid_json"]
            assert karel.to_json(before) == example["inpgrid_json"]
            replayed += 1
    assert replayed == 6 * len(records) > 0


def test_every_record_has_the_twins_tensors(records: list[dict[str, Any]]) -> None:
    for grid, text in grids_of(records):
        expected = np.zeros(16 * 18 * 18)
        for entry in text.split():
            index, value = entry.split(":")
            expected[int(index)] = float(value)
        tensor = karel.to_tensor(karel.from_json(grid))
        assert tensor.shape == (16, 18, 18)
        assert np.array_equal(tensor.reshape(-1), expected)


def condition_json(condition: karel.Condition) -> dict[str, Any]:
    if isinstance(condition, karel.Not):
        return {"type": "not", "condition": condition_json(condition.inner)}
    return {"type": condition.name}


def statement_json(statement: karel.Statement) -> dict[str, Any]:
    """The statement as the dataset's program_json has it."""
    match statement:
        case karel.Action(name=name):
            return {"type": name}
        case karel.Repeat(times=times, body=body):
            return {"type": "repeat", "times": times, "body": block_json(body)}
        case karel.IfElse(condition=condition, body=body, otherwise=otherwise):
            return {
                "type": "ifElse",
                "condition": condition_json(condition),
                "ifBody": block_json(body),
                "elseBody": block_json(otherwise),
            }
        case karel.If(condition=condition, body=body):
            kind = "if"
        case karel.While(condition=condition, body=body):
            kind = "while"
    return {"type": kind, "condition": condition_json(condition), "body": block_json(body)}


def block_json(block: karel.Block) -> list[dict[str, Any]]:
    return [statement_json(statement) for statement in block]


def test_every_record_parses_to_its_own_tree(records: list[dict[str, Any]]) -> None:
    for record in records:
        program = karel.parse(record["program_tokens"])
        assert {"run": block_json(program.body)} == record["program_json"]
        assert karel.unparse(program) == record["program_tokens"]


# Runs worked by hand.


@dataclass
class Case:
    """A run and all that it must come to. The worlds are empty but for what is named."""

    body: str
    status: str
    ticks: int
    actions: str
    ran: set[int]
    hero: tuple[int, int, str]  # after the run
    start: tuple[int, int, str] = (0, 0, "east")
    size: tuple[int, int] = (2, 3)
    walls: set[tuple[int, int]] = field(default_factory=set)
    before: dict[tuple[int, int], int] = field(default_factory=dict)
    after: dict[tuple[int, int], int] = field(default_factory=dict)
    branches: set[tuple[int, bool]] = field(default_factory=set)
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

CASES = {
    "one move": Case("move", "ok", 1, "move", {3}, (0, 1, "east")),
    "north goes up": Case("move", "ok", 1, "move", {3}, (1, 0, "north"), start=(0, 0, "north")),
    "south goes down": Case("move", "ok", 1, "move", {3}, (0, 2, "south"), start=(1, 2, "south")),
    "west goes left": Case("move", "ok", 1, "move", {3}, (1, 1, "west"), start=(1, 2, "west")),
    "left of north is west": Case(
        "turnLeft", "ok", 1, "turnLeft", {3}, (0, 0, "west"), start=(0, 0, "north")
    ),
    "right of north is east": Case(
        "turnRight", "ok", 1, "turnRight", {3}, (0, 0, "east"), start=(0, 0, "north")
    ),
    "over the edge": Case(
        "move move move turnLeft", "wall", 3, "move move", {3, 4}, (0, 2, "east"), failed_at=5
    ),
    "into a wall": Case(
        "move move", "wall", 2, "move", {3}, (0, 1, "east"), walls={(0, 2)}, failed_at=4
    ),
    "over the southern edge": Case(
        "move", "wall", 1, "", set(), (0, 1, "south"), start=(0, 1, "south"), failed_at=3
    ),
    "over the western edge": Case(
        "move", "wall", 1, "", set(), (1, 0, "west"), start=(1, 0, "west"), failed_at=3
    ),
    "over the northern edge": Case(
        "move", "wall", 1, "", set(), (1, 1, "north"), start=(1, 1, "north"), failed_at=3
    ),
    "pick one of three": Case(
        "pickMarker",
        "ok",
        1,
        "pickMarker",
        {3},
        (0, 0, "east"),
        before={(0, 0): 3, (1, 1): 9},
        after={(0, 0): 2, (1, 1): 9},
    ),
    "pick where none is": Case(
        "pickMarker",
        "no_marker",
        1,
        "",
        set(),
        (0, 0, "east"),
        before={(0, 1): 1},
        after={(0, 1): 1},
        failed_at=3,
    ),
    "pick the last and one more": Case(
        "pickMarker pickMarker",
        "no_marker",
        2,
        "pickMarker",
        {3},
        (0, 0, "east"),
        before={(0, 0): 1},
        failed_at=4,
    ),
    "put on an empty cell": Case(
        "putMarker", "ok", 1, "putMarker", {3}, (0, 0, "east"), after={(0, 0): 1}
    ),
    "put the ninth and the tenth": Case(
        "putMarker putMarker",
        "full",
        2,
        "putMarker",
        {3},
        (0, 0, "east"),
        before={(0, 0): 8},
        after={(0, 0): 9},
        failed_at=4,
    ),
    "while once": Case(
        "WHILE c( frontIsClear c) w( turnRight w)",
        "ok",
        3,  # test, turn, test
        "turnRight",
        {3, 8},
        (0, 0, "south"),
        branches={(0, True), (0, False)},
    ),
    "while never": Case(
        "WHILE c( frontIsClear c) w( turnLeft w) turnLeft",
        "ok",
        2,
        "turnLeft",
        {3, 10},
        (0, 0, "south"),
        start=(0, 0, "west"),
        branches={(0, False)},
    ),
    "while for ever": Case(
        "WHILE c( noMarkersPresent c) w( turnRight w)",
        "ticks",
        200,
        HUNDRED_TURNS.replace("Left", "Right"),
        {3, 8},
        (0, 0, "east"),
        branches={(0, True)},
        failed_at=3,
    ),
    "while for ever, an odd limit": Case(
        "WHILE c( noMarkersPresent c) w( turnRight w)",
        "ticks",
        7,  # four tests, three turns
        "turnRight turnRight turnRight",
        {3, 8},
        (0, 0, "north"),
        branches={(0, True)},
        failed_at=8,
        max_ticks=7,
    ),
    "if not taken": Case(
        "IF c( markersPresent c) i( move i)",
        "ok",
        1,
        "",
        {3},
        (0, 0, "east"),
        branches={(0, False)},
    ),
    "a crash in a branch": Case(
        "IF c( not c( markersPresent c) c) i( pickMarker i)",
        "no_marker",
        2,
        "",
        {3},
        (0, 0, "east"),
        branches={(0, True)},
        failed_at=11,
    ),
    "repeat nought": Case("REPEAT R=0 r( move r)", "ok", 0, "", {3}, (0, 0, "east")),
    "repeat nought needs no tick": Case(
        "REPEAT R=0 r( move r)", "ok", 0, "", {3}, (0, 0, "east"), max_ticks=0
    ),
    "repeat thrice": Case(
        "REPEAT R=3 r( turnLeft r)",
        "ok",
        6,
        "turnLeft turnLeft turnLeft",
        {3, 6},
        (0, 0, "south"),
    ),
    "repeat into a wall": Case(
        "REPEAT R=19 r( move r)", "wall", 6, "move move", {3, 6}, (0, 2, "east"), failed_at=6
    ),
    "repeat without a tick": Case(
        "REPEAT R=2 r( move r)",
        "ticks",
        0,
        "",
        set(),
        (0, 0, "east"),
        failed_at=3,
        max_ticks=0,
    ),
    "repeat with one tick": Case(
        "REPEAT R=2 r( move r)", "ticks", 1, "", {3}, (0, 0, "east"), failed_at=6, max_ticks=1
    ),
    "repeat with two ticks": Case(
        "REPEAT R=2 r( move r)",
        "ticks",
        2,
        "move",
        {3, 6},
        (0, 1, "east"),
        failed_at=3,
        max_ticks=2,
    ),
    "repeat in a repeat": Case(
        "REPEAT R=2 r( REPEAT R=2 r( turnLeft r) r)",
        "ok",
        10,  # 2 × (1 + 2 × (1 + 1))
        "turnLeft turnLeft turnLeft turnLeft",
        {3, 6, 9},
        (0, 0, "east"),
    ),
    "test without a tick": Case(
        "turnLeft IF c( frontIsClear c) i( move i)",
        "ticks",
        1,
        "turnLeft",
        {3},
        (0, 0, "north"),
        failed_at=4,
        max_ticks=1,
    ),
    "a body without a tick": Case(
        "IF c( frontIsClear c) i( move i)",
        "ticks",
        1,
        "",
        {3},
        (0, 0, "east"),
        branches={(0, True)},
        failed_at=8,
        max_ticks=1,
    ),
    "all 200 ticks": Case(EXACTLY_200, "ok", 200, HUNDRED_TURNS, {3, 6, 9, 11}, (0, 0, "east")),
    "all 200 ticks and repeat nought": Case(
        f"{EXACTLY_200} REPEAT R=0 r( move r)",
        "ok",
        200,
        HUNDRED_TURNS,
        {3, 6, 9, 11, 13},
        (0, 0, "east"),
    ),
    "the 201st tick": Case(
        f"{EXACTLY_200} move",
        "ticks",
        200,
        HUNDRED_TURNS,
        {3, 6, 9, 11},
        (0, 0, "east"),
        failed_at=13,
    ),
    "out of ticks before a crash": Case(
        "turnLeft pickMarker",
        "ticks",
        1,
        "turnLeft",
        {3},
        (0, 0, "north"),
        failed_at=4,
        max_ticks=1,
    ),
    "a crash with the last tick": Case(
        "turnLeft pickMarker",
        "no_marker",
        2,
        "turnLeft",
        {3},
        (0, 0, "north"),
        failed_at=4,
        max_ticks=2,
    ),
    # IFELSE false; WHILE true, turn, true, turn, false; IF false.
    "four tests, else": Case(
        FOUR_TESTS,
        "ok",
        7,
        "turnLeft turnLeft",
        {3, 18, 26, 29},
        (0, 0, "south"),
        start=(0, 0, "north"),
        branches={(0, False), (2, True), (2, False), (3, False)},
    ),
    # IFELSE true; IF true, move; IF true, put.
    "four tests, then": Case(
        FOUR_TESTS,
        "ok",
        5,
        "move putMarker",
        {3, 8, 13, 29, 40},
        (1, 0, "north"),
        start=(0, 0, "north"),
        before={(0, 0): 1},
        after={(0, 0): 1, (1, 0): 1},
        branches={(0, True), (1, True), (3, True)},
    ),
}


@pytest.mark.parametrize("name", CASES)
def test_worked_by_hand(name: str) -> None:
    case = CASES[name]
    world = World(*case.size, case.start, set(case.walls), dict(case.before))
    result = karel.run(karel.parse(wrap(case.body)), world, case.max_ticks)
    assert result == karel.Run(
        world=World(*case.size, case.hero, case.walls, case.after),
        status=case.status,
        ticks=case.ticks,
        actions=case.actions.split(),
        branches=case.branches,
        ran=case.ran,
        failed_at=case.failed_at,
    )
    assert world == World(*case.size, case.start, case.walls, case.before)


def test_the_hand_worked_cases_have_every_status() -> None:
    assert {case.status for case in CASES.values()} == set(karel.STATUSES)


@pytest.mark.parametrize("by_edge", [False, True])
@pytest.mark.parametrize(
    ("direction", "blocked"),
    [("north", "frontIsClear"), ("east", "leftIsClear"), ("south", ""), ("west", "rightIsClear")],
)
def test_clear_where_only_the_north_is_blocked(direction: str, blocked: str, by_edge: bool) -> None:
    hero = (1, 1, direction)
    world = World(2, 3, hero) if by_edge else World(3, 3, hero, {(2, 1)})
    for name in ("frontIsClear", "leftIsClear", "rightIsClear"):
        for condition, expected in (
            (name, name != blocked),
            (f"not c( {name} c)", name == blocked),
        ):
            program = karel.parse(wrap(f"IF c( {condition} c) i( turnLeft i)"))
            assert karel.run(program, world).branches == {(0, expected)}


@pytest.mark.parametrize("count", range(10))
def test_marker_conditions(count: int) -> None:
    markers = {(0, 1): 5, **({(0, 0): count} if count else {})}
    world = World(2, 2, (0, 0, "north"), set(), markers)
    for condition, expected in (
        ("markersPresent", count > 0),
        ("noMarkersPresent", count == 0),
        ("not c( markersPresent c)", count == 0),
        ("not c( not c( markersPresent c) c)", count > 0),
        ("not c( not c( not c( noMarkersPresent c) c) c)", count > 0),
    ):
        program = karel.parse(wrap(f"IF c( {condition} c) i( turnLeft i)"))
        assert karel.run(program, world).branches == {(0, expected)}


# Parsing.

MALFORMED = [
    "",
    "DEF",
    "DEF run",
    "DEF run m(",
    "DEF run m( m)",
    "DEF run m( move",
    "DEF run move m)",
    "run m( move m)",
    "DEF m( move m)",
    "DEF DEF run m( move m)",
    "<s> DEF run m( move m)",
    "DEF run m( move m) m)",
    "DEF run m( move m) move",
    "DEF run m( move m) <s>",
    "DEF run m( move m) DEF run m( move m)",
    "def run m( move m)",
    "DEF run m( Move m)",
    "DEF run m( move() m)",
    "DEF run m( jump m)",
    "DEF run m( <s> m)",
    "DEF run m( the end m)",
    "DEF run m( m( move m) m)",
    "DEF run m( move r)",
    "DEF run r( move r)",
    "DEF run m( frontIsClear m)",
    "DEF run m( not m)",
    "DEF run m( R=3 m)",
    "DEF run m( ELSE e( move e) m)",
    "DEF run m( i( move i) m)",
    # IF
    "DEF run m( IF m)",
    "DEF run m( IF c( frontIsClear c) m)",
    "DEF run m( IF c( frontIsClear c) i( i) m)",
    "DEF run m( IF c( frontIsClear c) i( move m)",
    "DEF run m( IF c( frontIsClear c) w( move w) m)",
    "DEF run m( IF c( frontIsClear c) i( move w) m)",
    "DEF run m( IF c( frontIsClear c) move m)",
    "DEF run m( IF frontIsClear i( move i) m)",
    "DEF run m( IF c( c) i( move i) m)",
    "DEF run m( IF c( move c) i( move i) m)",
    "DEF run m( IF c( frontIsClear i( move i) m)",
    "DEF run m( IF c( frontIsClear leftIsClear c) i( move i) m)",
    "DEF run m( IF c( c( frontIsClear c) c) i( move i) m)",
    "DEF run m( IF c( frontIsClear c) i( move i) ELSE e( move e) m)",
    # not
    "DEF run m( IF not c( frontIsClear c) i( move i) m)",
    "DEF run m( IF c( not frontIsClear c) i( move i) m)",
    "DEF run m( IF c( not c) i( move i) m)",
    "DEF run m( IF c( not c( c) c) i( move i) m)",
    "DEF run m( IF c( not c( frontIsClear c) i( move i) m)",
    "DEF run m( IF c( not not c( frontIsClear c) c) i( move i) m)",
    "DEF run m( IF c( not c( not frontIsClear c) c) i( move i) m)",
    "DEF run m( IF c( frontIsClear not c) i( move i) m)",
    # IFELSE
    "DEF run m( IFELSE c( frontIsClear c) i( move i) m)",
    "DEF run m( IFELSE c( frontIsClear c) i( move i) ELSE m)",
    "DEF run m( IFELSE c( frontIsClear c) i( move i) e( move e) m)",
    "DEF run m( IFELSE c( frontIsClear c) i( move i) ELSE i( move i) m)",
    "DEF run m( IFELSE c( frontIsClear c) i( i) ELSE e( move e) m)",
    "DEF run m( IFELSE c( frontIsClear c) i( move i) ELSE e( e) m)",
    "DEF run m( IFELSE c( frontIsClear c) ELSE e( move e) m)",
    "DEF run m( IFELSE c( frontIsClear c) i( move i) turnLeft ELSE e( move e) m)",
    "DEF run m( IFELSE c( frontIsClear c) i( move i) ELSE e( move e) ELSE e( move e) m)",
    # WHILE
    "DEF run m( WHILE c( frontIsClear c) w( w) m)",
    "DEF run m( WHILE c( frontIsClear c) i( move i) m)",
    "DEF run m( WHILE w( move w) m)",
    "DEF run m( WHILE R=3 w( move w) m)",
    # REPEAT
    "DEF run m( REPEAT R=3 r( r) m)",
    "DEF run m( REPEAT r( move r) m)",
    "DEF run m( REPEAT 3 r( move r) m)",
    "DEF run m( REPEAT R= r( move r) m)",
    "DEF run m( REPEAT R=20 r( move r) m)",
    "DEF run m( REPEAT R=-1 r( move r) m)",
    "DEF run m( REPEAT R=03 r( move r) m)",
    "DEF run m( REPEAT R=3 R=3 r( move r) m)",
    "DEF run m( REPEAT R=3 w( move w) m)",
    "DEF run m( REPEAT R=3 r( move m) r)",
    "DEF run m( REPEAT c( frontIsClear c) r( move r) m)",
]


@pytest.mark.parametrize("text", MALFORMED)
def test_malformed_programs_are_refused(text: str) -> None:
    with pytest.raises(ValueError, match="token"):
        karel.parse(text.split())


@pytest.mark.parametrize(
    "tokens",
    [
        ["DEF run m( move m)"],
        "DEF run m( move m)",
        ["DEF", "run", "m(", "move", "m)", ""],
        ["DEF", "run", "m(", "move ", "m)"],
        ["DEF", "run", "m(", "the end", "m)"],
        ["DEF", "run", "m(", 14, "m)"],
        ["DEF", "run", "m(", ["move"], "m)"],
    ],
)
def test_odd_tokens_are_refused(tokens: Any) -> None:
    with pytest.raises(ValueError, match="token"):
        karel.parse(tokens)


def test_every_count_parses() -> None:
    for n in range(20):
        program = karel.parse(wrap(f"REPEAT R={n} r( move r)"))
        assert program.body == (karel.Repeat(3, n, (karel.Action(6, "move"),)),)


def test_parse_of_a_nested_program() -> None:
    tokens = wrap(FOUR_TESTS)
    left, right = karel.Sensor("leftIsClear"), karel.Sensor("rightIsClear")
    inner = karel.If(8, 1, karel.Sensor("frontIsClear"), (karel.Action(13, "move"),))
    loop = karel.While(18, 2, karel.Not(left), (karel.Action(26, "turnLeft"),))
    assert karel.parse(tokens) == karel.Program(
        (
            karel.IfElse(3, 0, karel.Sensor("markersPresent"), (inner,), (loop,)),
            karel.If(29, 3, karel.Not(karel.Not(right)), (karel.Action(40, "putMarker"),)),
        )
    )


def test_unparse_undoes_parse_on_random_programs() -> None:
    rng = rng_of(1)
    for _ in range(2000):
        tokens = karel.random_program(rng)
        assert karel.unparse(karel.parse(tokens)) == tokens


def test_no_proper_prefix_of_a_program_is_a_program() -> None:
    rng = rng_of(2)
    for _ in range(100):
        tokens = karel.random_program(rng)
        for length in range(len(tokens)):
            with pytest.raises(ValueError, match="token"):
                karel.parse(tokens[:length])


def is_program(tokens: list[str]) -> bool:
    """Whether the tokens are a program, found out by rewriting innermost parts and no parser."""
    text = f" {' '.join(tokens)} "
    text = re.sub(rf"(?<= )({'|'.join(karel.ACTIONS)})(?= )", "S", text)
    text = re.sub(rf"(?<= )({'|'.join(karel.CONDITIONS)})(?= )", "C", text)
    rules = [
        (r" not c\( C c\) ", " C "),
        (r" IF c\( C c\) i\((?: S)+ i\) ", " S "),
        (r" IFELSE c\( C c\) i\((?: S)+ i\) ELSE e\((?: S)+ e\) ", " S "),
        (r" WHILE c\( C c\) w\((?: S)+ w\) ", " S "),
        (r" REPEAT R=1?\d r\((?: S)+ r\) ", " S "),
    ]
    before = ""
    while before != text:
        before = text
        for pattern, replacement in rules:
            text = re.sub(pattern, replacement, text)
    return re.fullmatch(r" DEF run m\((?: S)+ m\) ", text) is not None


def test_parse_accepts_what_rewriting_accepts() -> None:
    rng = rng_of(3)
    accepted = Counter[bool]()
    for _ in range(6000):
        tokens = karel.random_program(rng, 30)
        assert is_program(tokens)
        for _ in range(int(rng.integers(1, 3))):
            at = int(rng.integers(len(tokens)))
            other = VOCABULARY[int(rng.integers(len(VOCABULARY)))]
            match int(rng.integers(4)):
                case 0:
                    del tokens[at]
                case 1:
                    tokens[at] = other
                case 2:
                    tokens.insert(at, other)
                case 3:
                    tokens[at - 1], tokens[at] = tokens[at], tokens[at - 1]
        expected = is_program(tokens)
        accepted[expected] += 1
        if expected:
            assert karel.unparse(karel.parse(tokens)) == tokens
        else:
            with pytest.raises(ValueError, match="token"):
                karel.parse(tokens)
    assert accepted[True] > 300
    assert accepted[False] > 3000


# Worlds.


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ((0, 2, (0, 0, "north")), "grid"),
        ((2, 17, (0, 0, "north")), "grid"),
        ((2, 2, (0, 0, "up")), "direction"),
        ((2, 2, (2, 0, "north")), "outside"),
        ((2, 2, (0, -1, "north")), "outside"),
        ((2, 2, (0, 0, "north"), {(0, 2)}), "outside"),
        ((2, 2, (0, 0, "north"), set(), {(2, 0): 1}), "outside"),
        ((2, 2, (0, 0, "north"), {(0, 0)}), "hero"),
        ((2, 2, (0, 0, "north"), {(1, 1)}, {(1, 1): 1}), "marker lies"),
        ((2, 2, (0, 0, "north"), set(), {(1, 1): 0}), "count"),
        ((2, 2, (0, 0, "north"), set(), {(1, 1): 10}), "count"),
    ],
)
def test_what_is_no_world_is_refused(arguments: tuple[Any, ...], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        World(*arguments)


def test_json_by_hand() -> None:
    world = World(3, 4, (1, 2, "west"), {(0, 1), (2, 3), (2, 0)}, {(0, 0): 9, (1, 2): 1})
    grid = {
        "blocked": "2:0 2:3 0:1",
        "cols": 4,
        "crashed": False,
        "hero": "1:2:west",
        "markers": "1:2:1 0:0:9",
        "rows": 3,
    }
    assert karel.to_json(world) == grid
    assert karel.from_json(grid) == world
    with pytest.raises(ValueError, match="crash"):
        karel.from_json({**grid, "crashed": True})


def test_json_round_trip_on_random_worlds() -> None:
    rng = rng_of(4)
    for _ in range(300):
        world = karel.random_world(rng)
        assert karel.from_json(json.loads(json.dumps(karel.to_json(world)))) == world


def test_tensor_by_hand() -> None:
    world = World(2, 3, (1, 2, "south"), {(0, 1)}, {(1, 2): 9, (0, 0): 1})
    frame = [(r, c) for r in (0, 3) for c in range(5)] + [(r, c) for r in (1, 2) for c in (0, 4)]
    ones = {(2, 2, 3), (4, 1, 2), (14, 2, 3), (6, 1, 1)} | {(5, r, c) for r, c in frame}
    tensor = karel.to_tensor(world)
    assert tensor.shape == (16, 18, 18)
    assert {tuple(map(int, index)) for index in np.argwhere(tensor == 1)} == ones
    assert int(tensor.sum()) == len(ones) == 18


def test_tensor_of_the_largest_world() -> None:
    tensor = karel.to_tensor(World(16, 16, (15, 15, "north")))
    assert tensor[0, 16, 16] == 1
    assert int(tensor[5].sum()) == 4 * 17


# Random draws.


def draws(seed: int, count: int) -> Iterator[tuple[list[str], karel.Program, World]]:
    rng = rng_of(seed)
    for _ in range(count):
        tokens = karel.random_program(rng)
        yield tokens, karel.parse(tokens), karel.random_world(rng)


def test_draws_repeat_with_the_seed() -> None:
    assert [(t, w) for t, _, w in draws(5, 50)] == [(t, w) for t, _, w in draws(5, 50)]


def depth_of(tokens: list[str]) -> int:
    depth = deepest = 0
    for token in tokens:
        depth += token in ("i(", "e(", "w(", "r(")
        depth -= token in ("i)", "e)", "w)", "r)")
        deepest = max(deepest, depth)
    return deepest


def test_random_programs_have_everything() -> None:
    seen = Counter[str]()
    depths = Counter[int]()
    lengths = Counter[int]()
    double_not = 0
    for tokens, _, _ in draws(6, 3000):
        seen.update(tokens)
        depths[depth_of(tokens)] += 1
        lengths[len(tokens)] += 1
        double_not += "not c( not c(" in " ".join(tokens)
    for token in [*karel.ACTIONS, *karel.CONDITIONS, *karel.COUNTS, "IF", "IFELSE", "WHILE", "not"]:
        assert seen[token] > 50, token
    assert double_not > 50
    assert sum(count for depth, count in depths.items() if depth >= 5) > 50
    assert min(lengths) == 5
    assert max(lengths) == 60


def test_random_programs_keep_to_their_length() -> None:
    rng = rng_of(7)
    for limit in range(5, 80):
        for _ in range(20):
            tokens = karel.random_program(rng, limit)
            assert 5 <= len(tokens) <= limit
            assert all(type(token) is str for token in tokens)
            karel.parse(tokens)
    with pytest.raises(ValueError, match="5 tokens"):
        karel.random_program(rng, 4)


def test_random_worlds_have_everything() -> None:
    rng = rng_of(8)
    worlds = [karel.random_world(rng) for _ in range(1000)]
    assert {world.rows for world in worlds} == set(range(2, 17))
    assert {world.cols for world in worlds} == set(range(2, 17))
    assert {world.hero[2] for world in worlds} == set(karel.DIRECTIONS)
    counts = Counter(n for world in worlds for n in world.markers.values())
    assert set(counts) == set(range(1, 10))
    here = Counter(world.markers.get(world.hero[:2], 0) for world in worlds)
    assert set(here) == set(range(10))
    assert min(here[0], here[9]) > 100
    assert sum(not world.walls for world in worlds) > 100
    assert sum(len(world.walls) > 0.5 * world.rows * world.cols for world in worlds) > 50


def test_every_status_and_both_outcomes_occur() -> None:
    statuses = Counter[str]()
    outcomes = Counter[tuple[str, bool]]()
    for tokens, program, world in draws(9, 3000):
        result = karel.run(program, world)
        statuses[result.status] += 1
        keywords = [token for token in tokens if token in ("IF", "IFELSE", "WHILE")]
        outcomes.update((keywords[test], outcome) for test, outcome in result.branches)
    assert set(statuses) == set(karel.STATUSES)
    assert min(statuses.values()) > 60
    assert len(outcomes) == 6
    assert min(outcomes.values()) > 60


def test_what_holds_of_every_run() -> None:
    for tokens, program, world in draws(10, 1000):
        before = world.copy()
        result = karel.run(program, world)
        assert world == before
        assert karel.from_json(karel.to_json(result.world)) == result.world  # still a world
        assert (result.world.rows, result.world.cols) == (world.rows, world.cols)
        assert result.world.walls == world.walls
        assert len(result.actions) <= result.ticks <= 200
        assert (result.failed_at is None) == (result.status == "ok")
        if result.status == "ticks":
            assert result.ticks == 200
        starts = (*karel.ACTIONS, "IF", "IFELSE", "WHILE", "REPEAT")
        assert {tokens[at] for at in result.ran} <= set(starts)
        assert {tokens[at] for at in result.ran if tokens[at] in karel.ACTIONS} == set(
            result.actions
        )
        keywords = [at for at, token in enumerate(tokens) if token in ("IF", "IFELSE", "WHILE")]
        assert {keywords[test] for test, _ in result.branches} == result.ran & set(keywords)


def test_the_executed_actions_alone_come_to_the_same_world() -> None:
    for _, program, world in draws(11, 1000):
        result = karel.run(program, world)
        if result.actions:
            again = karel.run(karel.parse(wrap(" ".join(result.actions))), world)
            assert (again.status, again.ticks) == ("ok", len(result.actions))
            assert again.actions == result.actions
            assert again.world == result.world


def test_fewer_ticks_give_the_beginning_of_the_run() -> None:
    for _, program, world in draws(12, 150):
        whole = karel.run(program, world)
        assert karel.run(program, world, whole.ticks) == whole
        done = 0
        for limit in range(whole.ticks):
            part = karel.run(program, world, limit)
            assert (part.status, part.ticks) == ("ticks", limit)
            assert part.actions == whole.actions[: len(part.actions)]
            assert part.branches <= whole.branches
            assert part.ran <= whole.ran
            assert len(part.actions) - done in (0, 1)
            done = len(part.actions)
