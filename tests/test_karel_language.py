"""Karel's two syntaxes and its worlds: read, printed, refused with a reason."""

import re
from collections import Counter

import numpy as np
import pytest

from tests.karel import compiles, parses, twin_parses
from tests.naive import karel as naive
from unskew.core.errors import UnskewError
from unskew.core.rng import generator
from unskew.domains.karel import world
from unskew.domains.karel.language import tokens
from unskew.domains.karel.language.compiler import FINE, NO_PROGRAM, compile_programs
from unskew.domains.karel.language.syntax import (
    parse,
    parse_tokens,
    to_readable,
    to_tokens,
)

READABLE = """\
def main():
    while(frontIsClear()):
        move()
        if(not markersPresent()):
            putMarker()
        else:
            repeat(4):
                turnLeft()
    pickMarker()"""
TOKENS = (
    "DEF run m( WHILE c( frontIsClear c) w( move IFELSE c( not c( markersPresent c) c) i( putMarker"
    " i) ELSE e( REPEAT R=4 r( turnLeft r) e) w) pickMarker m)"
)


def test_both_forms_of_a_program_are_the_same_program():
    assert to_tokens(parse(READABLE)) == TOKENS
    assert to_readable(parse(TOKENS)) == READABLE


def test_random_programs_go_both_ways_and_back():
    rng = generator(0, "language")
    for _ in range(500):
        texts = naive.random_program(rng)
        program = parse_tokens(" ".join(texts))
        assert to_tokens(program).split() == list(texts)
        assert np.array_equal(parse(to_readable(program)), program)


@pytest.mark.parametrize(
    "text",
    [
        "def main(): while(frontIsClear()): move()",
        "def main():\n  while(frontIsClear()): move()",
        "def main():\n  while (frontIsClear( )) :\n\n    move()   # go\n",
    ],
)
def test_bodies_may_stand_on_the_line_of_their_colon(text):
    assert to_tokens(parse(text)) == "DEF run m( WHILE c( frontIsClear c) w( move w) m)"


def test_inline_else_and_semicolons():
    text = "def main():\n  if(leftIsClear()): move(); turnLeft()\n  else: pickMarker()\n  move()"
    assert to_tokens(parse(text)) == (
        "DEF run m( IFELSE c( leftIsClear c) i( move turnLeft i) ELSE e( pickMarker e) move m)"
    )


@pytest.mark.parametrize(
    "body", ["while(frontIsClear()):\n    move()", "if(leftIsClear()): move()"]
)
def test_no_line_begins_with_a_semicolon(body):
    with pytest.raises(UnskewError, match="found ';'"):
        parse(f"def main():\n  {body}\n  ; turnLeft()")


@pytest.mark.parametrize(
    ("text", "column", "result"),
    [
        ("if(markersPresent()): if(frontIsClear()): move()\n  else: turnLeft()", 25, "if"),
        ("if(markersPresent()): move(); if(frontIsClear()): move()\n  else: move()", 33, "if"),
        ("if(markersPresent()): move()\n  else: if(frontIsClear()): move()", 9, "if"),
        ("repeat(4): while(frontIsClear()): move(); turnLeft()", 14, "while"),
        ("while(frontIsClear()): move(); repeat(2): turnLeft()", 34, "repeat"),
    ],
)
def test_a_line_after_a_colon_holds_actions_alone(text, column, result):
    """What would have two readings has none, as in Python."""
    with pytest.raises(UnskewError) as caught:
        parse(f"def main():\n  {text}")
    line = 3 if column == 9 else 2
    assert str(caught.value) == (
        f"line {line}, column {column}: found '{result}', expected an action "
        "(if, while and repeat begin a line of their own)"
    )


def test_an_else_belongs_to_the_if_above_it():
    text = """
def main():
  if(markersPresent()):
    if(frontIsClear()): move()
  else: turnLeft()
"""
    assert to_tokens(parse(text)) == (
        "DEF run m( IFELSE c( markersPresent c) i( IF c( frontIsClear c) i( move i) i) ELSE e( "
        "turnLeft e) m)"
    )


def test_not_with_and_without_brackets_and_twice():
    for condition in ("not not frontIsClear()", "not(not(frontIsClear()))"):
        program = parse(f"def main():\n    if({condition}):\n        move()")
        assert to_tokens(program) == (
            "DEF run m( IF c( not c( not c( frontIsClear c) c) c) i( move i) m)"
        )


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("def main():\n  mov()", "line 2, column 3: found 'mov', expected an action"),
        ("def main():", "line 2, column 1: found the end, expected an indented statement"),
        ("def main():\nmove()", "expected an indented statement|found 'move'"),
        ("def main():\n  move", "line 2, column 7: found the end of the line, expected '\\('"),
        ("def main():\n  move()\n    move()", "line 3, column 5: found 'move', expected an indent"),
        ("def main():\n    move()\n  move()", "line 3, column 3: found 'move'"),
        ("def main():\n  move() move()", "line 2, column 10: found 'move', expected the end"),
        ("def main():\n  repeat(20):\n    move()", "column 10: found '20', expected a whole"),
        ("def main():\n  while(move()):\n    move()", "found 'move', expected not, markers"),
        ("def main():\n  else:\n    move()", "found 'else', expected an action"),
        ("def main():\n\tmove()", "line 2, column 1: found a tab, expected spaces"),
        ("", "line 1, column 1: found the end, expected 'def'"),
        ("DEF run m( m)", "line 1, column 12: found 'm\\)', expected one of move"),
        ("DEF run m( move", "line 1, column 16: found the end, expected one of"),
        ("DEF run m( move m) move", "column 20: found 'move', expected the end$"),
        ("DEF run m( move m) m)", "column 20: found 'm\\)', expected the end$"),
        ("DEF run\nm( jump m)", "line 2, column 4: found 'jump', expected one of move"),
        ("DEF run m( REPEAT R=20 r( move r) m)", "found 'R=20'"),
        ("DEF run m( IF c( not frontIsClear c) i( move i) m)", "found 'frontIsClear', expected c"),
    ],
)
def test_a_syntax_error_says_where_what_and_what_instead(text, message):
    with pytest.raises(UnskewError, match=message):
        parse(text)


@pytest.mark.parametrize(
    "text",
    [
        "(" * 1_000_000,
        "def main():" + " if(frontIsClear()):" * 100_000,
        "def main():\n  if(" + "not(" * 300_000,
        "\n".join("  " * i + "while(frontIsClear()):" for i in range(3000)),
        "DEF run m( " + "REPEAT R=2 r( " * 100_000,
        "DEF run m( " + "move " * 300_000,
        "def main():\n" + "  move()\n" * 300_000,
    ],
    ids=["brackets", "inline", "nots", "indents", "repeats", "long", "lines"],
)
def test_hostile_input_gets_an_error(text):
    with pytest.raises(UnskewError, match="line"):
        parse(text)


def test_nesting_as_deep_as_the_token_limit():
    depth = (tokens.MAX_TOKENS - 5) // 4
    text = "DEF run m( " + "REPEAT R=1 r( " * depth + "move " + "r) " * depth + "m)"
    program = parse(text)
    assert len(program) == 5 + 4 * depth
    assert np.array_equal(parse(to_readable(program)), program)
    assert compile_programs(program[None]).status[0] == FINE


RULES = (
    (r" not c\( C c\) ", " C "),
    (r" IF c\( C c\) i\((?: S)+ i\) ", " S "),
    (r" IFELSE c\( C c\) i\((?: S)+ i\) ELSE e\((?: S)+ e\) ", " S "),
    (r" WHILE c\( C c\) w\((?: S)+ w\) ", " S "),
    (r" REPEAT R=1?\d r\((?: S)+ r\) ", " S "),
)


def is_program(texts) -> bool:
    """Whether texts are a program, found out by rewriting the innermost parts, with no parser."""
    text = f" {' '.join(texts)} "
    text = re.sub(rf"(?<= )({'|'.join(tokens.ACTIONS)})(?= )", "S", text)
    text = re.sub(rf"(?<= )({'|'.join(tokens.CONDITIONS)})(?= )", "C", text)
    before = ""
    while before != text:
        before = text
        for pattern, replacement in RULES:
            text = re.sub(pattern, replacement, text)
    return re.fullmatch(r" DEF run m\((?: S)+ m\) ", text) is not None


def test_three_parsers_and_rewriting_accept_the_same():
    """Random programs with one or two tokens changed, dropped, added or swapped."""
    rng = generator(0, "compiler")
    counts = Counter()
    for _ in range(3000):
        texts = list(naive.random_program(rng, 30))
        assert is_program(texts)
        for _ in range(int(rng.integers(1, 3))):
            place = int(rng.integers(len(texts)))
            other = str(rng.choice(tokens.VOCABULARY[1:]))
            match int(rng.integers(4)):
                case 0:
                    del texts[place]
                case 1:
                    texts[place] = other
                case 2:
                    texts.insert(place, other)
                case 3:
                    texts[place - 1], texts[place] = texts[place], texts[place - 1]
        expected = is_program(texts)
        assert [compiles(texts), parses(texts), twin_parses(texts)] == [expected] * 3, texts
        counts[expected] += 1
    assert min(counts.values()) > 150


def test_padding_inside_a_program_is_no_program():
    good = parse(TOKENS)
    spoilt = good.copy()
    spoilt[5] = tokens.PAD
    padded = np.concatenate([good, np.zeros(7, np.uint8)])
    rows = tokens.stacked([padded, spoilt])
    assert compile_programs(rows).status.tolist() == [FINE, NO_PROGRAM]


def test_worlds_go_through_picture_json_and_tensor_and_back():
    rng = generator(0, "worlds")
    for _ in range(300):
        slow = naive.random_world(rng)
        packed = world.from_json(naive.to_json(slow))
        assert naive.from_json(world.to_json(packed)) == slow
        assert np.array_equal(world.from_picture(world.to_picture(packed)), packed)
        assert np.array_equal(world.from_tensor(world.to_tensor(packed)), packed)
        assert np.array_equal(world.to_tensor(packed), naive.to_tensor(slow))
        assert np.array_equal(world.from_json(world.to_json(packed)), packed)


def test_a_picture_is_what_it_looks_like():
    packed = world.from_picture("  .  #\n >3  .\n")
    assert world.hero_of(packed) == (0, 0, 1)
    assert world.grid_of(packed).tolist() == [[3, 0], [0, world.WALL]]
    assert world.to_picture(packed) == " .  #\n>3  ."


@pytest.mark.parametrize(
    ("picture", "message"),
    [
        (". .\n. ^#", "Karel stands on a wall at 0:1"),
        (". .\n. .", "the picture has 0 Karels; draw one"),
        ("^. .\n. v.", "the picture has 2 Karels"),
        ("^. 12\n. .", "line 1, cell 2 of the picture is '12'; allowed are"),
        ("^. 0\n. .", "cell 2 of the picture is '0'"),
        ("^. . .\n. .", "line 2 of the picture has 2 cells, line 1 has 3"),
        ("^. .\n" + ". .\n" * 16, "the world has 17 rows; allowed are 2 to 16"),
        ("^. .", "the world has 1 rows"),
        ("^.\n.", "the world has 1 columns"),
        ("", "the picture is empty"),
    ],
)
def test_worlds_that_cannot_be_are_refused(picture, message):
    with pytest.raises(UnskewError, match=message):
        world.from_picture(picture)


GRID = {"rows": 3, "cols": 3, "hero": "0:0:north", "blocked": "1:1", "markers": "2:2:9"}


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"markers": "2:2:12"}, "cell 2:2 has 12 markers; allowed are 1 to 9"),
        ({"markers": "1:1:3"}, "markers and a wall"),
        ({"markers": "3:0:1"}, "a marker is at 3:0, outside"),
        ({"hero": "1:1:east"}, "Karel stands on a wall"),
        ({"hero": "9:1:east"}, "Karel is at 9:1, outside the 3 × 3 world"),
        ({"hero": "0:0:up"}, "cannot be read"),
        ({"blocked": "1"}, "cannot be read"),
        ({"rows": 40}, "the world has 40 rows"),
        ({"hero": None}, "cannot be read"),
        ({"rows": float("nan")}, "cannot be read"),
        ({"rows": float("inf")}, "cannot be read"),
        ({"crashed": True}, "the grid has crashed True; allowed is false: leave it out"),
        ({"crashed": "false"}, "the grid has crashed 'false'"),
    ],
)
def test_grids_that_cannot_be_are_refused(change, message):
    world.from_json(GRID)
    with pytest.raises(UnskewError, match=message):
        world.from_json({**GRID, **change})


def spoilt(place, value):
    tensor = world.to_tensor(world.from_json(GRID)).astype(float)
    tensor[place] = value
    return tensor


@pytest.mark.parametrize(
    ("tensor", "message"),
    [
        (spoilt((6, 3, 3), 1), "the tensor holds 1 in channel 6 (1 markers), row 3, column 3, which"
         " contradicts its other cells; make it with to_tensor"),
        (spoilt((15, 1, 2), 1), "holds 1 in channel 15 (unused), row 1, column 2, which"),
        (spoilt((5, 0, 2), 0), "holds 0 in channel 5 (outline), row 0, column 2, which"),
        (spoilt((5, 2, 2), 1), "holds 1 in channel 5 (outline), row 2, column 2, which"),
        (spoilt((5, 17, 17), 1), "holds 0 in channel 5 (outline), row 0, column 5, which"),
        (spoilt(5, 0), "1 Karels and 0 cells of outline"),
        (spoilt((5, slice(1, None)), 0), "the world has -1 rows; allowed are 2 to 16"),
        (spoilt((1, 1, 1), 1), "2 Karels and 16 cells"),
        (spoilt((4, 17, 1), 1), "a wall is at 16:0, outside the 3 × 3 world"),
        (spoilt((4, 3, 3), 1), "cell 2:2 has markers and a wall"),
        (spoilt((4, 3, 3), 0.3), "holds 0.3 in channel 4 (wall), row 3, column 3, allowed are 0 "),
        (spoilt((9, 0, 0), float("nan")), "holds nan in channel 9 (4 markers), row 0, column 0, "),
        (spoilt((0, 1, 1), -1), "holds -1 in channel 0 (Karel facing north), row 1, column 1"),
        (spoilt((15, 1, 2), 1).astype(bool), "holds 1 in channel 15 (unused)"),
        (spoilt(0, 0)[:15], "the tensor has the shape (15, 18, 18); allowed is (16, 18, 18)"),
        (spoilt(0, 0).astype(str), "the tensor is of <U32; give a NumPy array of zeros and ones"),
        (spoilt(0, 0).astype(object), "the tensor is of object; give"),
        (spoilt(0, 0).astype(complex), "the tensor is of complex128; give"),
        ("tensor", "the tensor is of str; give"),
        (None, "the tensor is of NoneType; give"),
        ([[[0]]], "the tensor is of list; give"),
    ],
)  # fmt: skip
def test_a_tensor_is_that_of_a_world_or_refused(tensor, message):
    with pytest.raises(UnskewError) as caught:
        world.from_tensor(tensor)
    assert message in str(caught.value)
    assert "\n" not in str(caught.value)


def test_a_tensor_may_be_of_any_numbers():
    packed = world.from_json(GRID)
    for kind in (bool, np.int64, np.float16, np.float32):
        assert np.array_equal(world.from_tensor(world.to_tensor(packed).astype(kind)), packed)
