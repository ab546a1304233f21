"""The shipped Karel problems solve themselves, by both interpreters; bad files are refused."""

from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

from tests.naive import karel as naive
from unskew.core.errors import UnskewError
from unskew.core.recipe import Recipe
from unskew.datasets.generate import generate
from unskew.datasets.open import open_target
from unskew.domains.karel import DOMAIN, Status, run, to_picture, to_tokens, world
from unskew.domains.karel.formats import problems as module
from unskew.domains.karel.formats.problems import Problem, problems, read_problem, write_problem
from unskew.domains.karel.world import from_bytes

SHIPPED = problems()
FOLDER = Path(module.__file__).with_name("problems")
CS106A = [
    *("beeperSquare", "border", "buildEfes", "checkerboard", "clear", "clearSquare", "diagonal"),
    *("doubleBeepers", "doubleSquare", "fill", "fillPotholes", "fourInARow", "infinity", "inset"),
    *("maze", "midpoint", "mountain", "newspaper", "place100", "place9", "plantTrees"),
]
HOUR_OF_CODE = [f"hoc{number}" for number in range(1, 21)]

each = pytest.mark.parametrize("problem", SHIPPED.values(), ids=SHIPPED)


def slow_runs(problem: Problem) -> tuple[naive.Program, list[naive.Run]]:
    assert problem.program is not None
    program = naive.parse(to_tokens(problem.program).split())
    worlds = [naive.from_json(world.to_json(one)) for one in problem.inputs]
    return program, [naive.run(program, one) for one in worlds]


# The set.


def test_the_set_is_complete() -> None:
    assert list(SHIPPED) == sorted([*CS106A, *HOUR_OF_CODE])
    assert len(SHIPPED) >= 36
    assert len({name.lower() for name in SHIPPED}) == len(SHIPPED)  # for any file system


def test_specifications_are_small_and_programs_long() -> None:
    pairs = [len(problem.inputs) for problem in SHIPPED.values()]
    lengths = [len(problem.program) for problem in SHIPPED.values() if problem.program is not None]
    assert set(pairs) == {1, 2, 3, 4}
    assert pairs.count(1) >= 15
    assert len(lengths) == len(SHIPPED)
    assert 3 * sum(length > 25 for length in lengths) >= len(SHIPPED)


def test_the_problem_that_survived_is_as_it_was() -> None:
    problem = SHIPPED["beeperSquare"]
    assert problem.program is not None
    assert to_tokens(problem.program) == "DEF run m( REPEAT R=4 r( putMarker move turnLeft r) m)"
    assert len(problem.inputs) == 1
    assert world.to_json(problem.inputs[0]) == {
        "blocked": "",
        "cols": 5,
        "crashed": False,
        "hero": "0:0:east",
        "markers": "",
        "rows": 5,
    }


@pytest.mark.parametrize("name", HOUR_OF_CODE)
def test_the_goal_of_a_maze_is_its_one_marker(name: str) -> None:
    for before, after in zip(SHIPPED[name].inputs, SHIPPED[name].outputs, strict=True):
        start, end = world.to_json(before), world.to_json(after)
        assert end["markers"] == ""
        assert start["markers"] == end["hero"].rpartition(":")[0] + ":1"


# Each problem.


@each
def test_the_program_makes_the_outputs(problem: Problem) -> None:
    assert problem.program is not None
    ran = run(problem.program[None], problem.inputs)
    assert (ran.status == Status.OK).all()
    assert np.array_equal(ran.worlds, problem.outputs)


@each
def test_the_slow_twin_makes_them_too(problem: Problem) -> None:
    _, runs = slow_runs(problem)
    for slow, after in zip(runs, problem.outputs, strict=True):
        assert slow.status == "ok"
        assert naive.to_json(slow.world) == world.to_json(after)


@each
def test_the_pairs_take_every_branch_and_run_every_statement(problem: Problem) -> None:
    program, runs = slow_runs(problem)
    statements = list(statements_of(program.body))
    tests = [s.test for s in statements if isinstance(s, naive.If | naive.IfElse | naive.While)]
    taken = set().union(*(slow.branches for slow in runs))
    assert taken == {(test, outcome) for test in tests for outcome in (False, True)}
    assert set().union(*(slow.ran for slow in runs)) == {s.at for s in statements}


def statements_of(block: naive.Block) -> Iterator[naive.Statement]:
    for statement in block:
        yield statement
        yield from statements_of(getattr(statement, "body", ()))
        yield from statements_of(getattr(statement, "otherwise", ()))


@each
def test_every_pair_is_a_task_of_its_own(problem: Problem) -> None:
    assert (problem.inputs != problem.outputs).any(axis=1).all()
    sizes = {tuple(one[[world.HEIGHT, world.WIDTH]]) for one in problem.inputs}
    assert len(sizes) == len(problem.inputs)


@each
def test_the_file_is_what_writing_it_gives(problem: Problem) -> None:
    text = (FOLDER / f"{problem.name}.txt").read_text(encoding="utf-8")
    assert write_problem(problem) == text
    assert problem.doc.endswith(".")
    assert 1 <= len(problem.doc.splitlines()) <= 3


# Reading and writing.

PROGRAM = """
== program
def main():
    move()
"""
PAIR = """
== before
 .  #
>.  .

== after
 .  #
 . >.
"""
SECOND = """
== before
 .  .  .
 . >2  .

== after
 .  .  .
 .  2 >.
"""


def same(one: Problem, other: Problem) -> bool:
    arrays = [
        (one.program, other.program),
        (one.inputs, other.inputs),
        (one.outputs, other.outputs),
    ]
    return (one.name, one.doc) == (other.name, other.doc) and all(
        (a is None and b is None) or (a is not None and b is not None and np.array_equal(a, b))
        for a, b in arrays
    )


@pytest.mark.parametrize("doc", ["", "# One line.\n", "# Two\n#\n# paragraphs.\n"])
@pytest.mark.parametrize("program", ["", PROGRAM])
@pytest.mark.parametrize("pairs", [PAIR, PAIR + SECOND, SECOND * 7])
def test_reading_and_writing_undo_each_other(doc: str, program: str, pairs: str) -> None:
    text = doc + program + pairs
    problem = read_problem(text, "mine")
    written = write_problem(problem)
    assert written == text.removeprefix("\n")
    assert same(read_problem(written, "mine"), problem)
    assert (problem.program is None) == (not program)


def test_what_a_file_holds() -> None:
    problem = read_problem("# Step\n#   forward.\n" + PROGRAM + PAIR + SECOND, "mine")
    assert problem.name == "mine"
    assert problem.doc == "Step\nforward."
    assert problem.program is not None
    assert to_tokens(problem.program) == "DEF run m( move m)"
    assert problem.inputs.shape == problem.outputs.shape == (2, world.BYTES)
    assert to_picture(problem.inputs[1]) == " .  .  .\n . >2  ."
    assert to_picture(problem.outputs[0]) == " .  #\n . >."


def test_other_ways_to_write_the_same() -> None:
    plain = read_problem(PROGRAM + PAIR, "mine")
    tokens = PROGRAM.replace("def main():\n    move()", "DEF run m( move m)")
    assert same(read_problem(tokens + PAIR, "mine"), plain)
    assert same(read_problem((PROGRAM + PAIR).replace("\n", "\r\n"), "mine"), plain)
    assert same(read_problem((PROGRAM + PAIR).replace("== ", "==  ") + "\n\n", "mine"), plain)
    commented = PROGRAM.replace("move()", "move()  # a step")
    assert same(read_problem(commented + PAIR, "mine"), plain)


BAD = {
    "nothing": ("", "mine, line 1: found the end, expected == before, == after"),
    "only words": ("# Nothing else.\n", "line 2: found the end, expected == before"),
    "only a program": (PROGRAM, "line 5: found the end, expected == before, == after"),
    "words without #": ("Go on.\n" + PAIR, "line 1: found 'Go on.', expected # or =="),
    "a picture without a section": (" .  .\n>.  .\n", "line 1: found ' .  .', expected # or =="),
    "an unknown section": (
        PAIR + "== afterwards\n",
        "line 9: found '== afterwards', expected == program, == before, == after",
    ),
    "a section of another case": (PAIR + "== Before\n", "line 9: found '== Before', expected"),
    "a closed header": (PAIR.replace("before", "before =="), "line 2: found '== before =='"),
    "after without before": (
        PAIR[PAIR.index("== after") :],
        "line 1: found == after, expected == before; each pair has both",
    ),
    "after twice": (PAIR + PAIR[PAIR.index("== after") :], "line 9: found == after, expected =="),
    "before twice": (
        PAIR[: PAIR.index("== after")] + PAIR,
        "line 7: found == before, expected == after; each pair has both",
    ),
    "before at the end": (
        PAIR + "== before\n>. .\n. .\n",
        "line 12: found the end, expected == after; draw the world",
    ),
    "a program twice": (
        PROGRAM + PROGRAM + PAIR,
        "line 6: found == program, expected == before; a program stands once, above the pairs",
    ),
    "a program in a pair": (
        PAIR.replace("\n== after", PROGRAM + "\n== after"),
        "found == program, expected == after; a program stands once, above",
    ),
    "a program below": (PAIR + PROGRAM, "line 10: found == program, expected == before"),
    "an empty program": (
        "== program\n\n" + PAIR,
        "line 1: found nothing below == program, expected a program; write one there",
    ),
    "a bad program": (
        PROGRAM.replace("move", "hop") + PAIR,
        "== program: line 4, column 5: found 'hop', expected an action, if, while or repeat;",
    ),
    "a program that stops": (
        "== program\nDEF run m( move\n" + PAIR,
        "== program: line 3, column 1: found the end, expected one of move",
    ),
    "a program of comments": ("== program\n# none\n" + PAIR, "found the end, expected 'def'"),
    "a program too long": (
        "== program\ndef main():\n" + "    move()\n" * 253 + PAIR,
        "== program: line 256, column 1: found the end, expected at most 256 tokens",
    ),
    "an empty picture": (
        PAIR + "== before\n\n== after\n",
        "line 9: found nothing below == before, expected a picture of a world",
    ),
    "a ragged picture": (
        PAIR.replace(" . >.", " . >.  ."),
        "== after at line 6: line 2 of the picture has 3 cells, line 1 has 2; make them equal",
    ),
    "a bad cell": (PAIR.replace(">.", ">0"), "== before at line 2: line 2, cell 1 of the picture"),
    "no Karel": (PAIR.replace(" . >.", " .  ."), "== after at line 6: the picture has 0 Karels"),
    "Karel on a wall": (PAIR.replace("  #", " >#").replace(">.", " ."), "stands on a wall"),
    "a picture too large": (
        PAIR.replace(">.  .", ">.  .\n" + " .  .\n" * 15),
        "== before at line 2: the world has 17 rows; allowed are 2 to 16",
    ),
    "another size": (
        PAIR + SECOND.replace(" .  2 >.\n", " .  2 >.\n .  .  .\n"),
        "line 14: found a world of 3 rows and 3 columns, expected 2 and 3, as in == before at "
        "line 10; no program changes a world's size",
    ),
    "a new wall": (
        SECOND.replace("\n .  2", "\n #  2"),
        "line 6: found a wall in row 2, cell 1 of the picture, expected none, as in == before at "
        "line 2; no program changes walls",
    ),
    "a wall that is gone": (
        PAIR.replace(" .  #\n . >", " .  .\n . >"),
        "line 6: found none in row 1, cell 2 of the picture, expected a wall",
    ),
}


@pytest.mark.parametrize(("text", "reason"), BAD.values(), ids=BAD)
def test_bad_files_are_refused_with_a_reason(text: str, reason: str) -> None:
    with pytest.raises(UnskewError) as caught:
        read_problem(text, "mine")
    message = str(caught.value)
    assert reason in message
    assert message.startswith("mine, ")
    assert "\n" not in message


# Text files of one's own.

OWN = """# Walk to the wall.
== program
def main():
    while(frontIsClear()): move()
    putMarker()
== before
 .  .  .
>.  .  .
"""


def opened(tmp_path, text, name="my.txt"):
    path = tmp_path / name
    path.write_text(text, encoding="utf-8")
    target = open_target(str(path))
    return target, [row for batch in target.read(None) for row in batch.examples()]


def test_a_world_after_is_what_the_program_makes(tmp_path):
    target, rows = opened(tmp_path, OWN)
    assert target.domain is DOMAIN
    assert to_picture(from_bytes(rows[0]["outputs"])[0]).splitlines()[1].strip() == ".  . >1"
    assert "putMarker()" in DOMAIN.show(rows[0])
    assert list(DOMAIN.views.trace(rows[0]))[-1] == "pair 1 ends as the example says"


def test_a_problem_without_a_program_is_drawn_and_not_traced(tmp_path):
    text = "== before\n .  .\n>.  .\n== after\n .  .\n>1  .\n"
    _, rows = opened(tmp_path, text)
    assert DOMAIN.show(rows[0]).strip().startswith("pair 1")
    with pytest.raises(UnskewError, match="no program; there is nothing to trace"):
        list(DOMAIN.views.trace(rows[0]))


@pytest.mark.parametrize(
    ("text", "programs"),
    [
        ("def main():\n    move()\n", ["DEF run m( move m)"]),
        ("DEF run m( move m)\n\nDEF run m( turnLeft m)\n",
         ["DEF run m( move m)", "DEF run m( turnLeft m)"]),
    ],
)  # fmt: skip
def test_programs_alone_are_read(tmp_path, text, programs):
    _, rows = opened(tmp_path, text)
    assert [row["program"] for row in rows] == programs


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "is empty; write a program"),
        ("def main(: x", "found ':', expected"),
        ("DEF run m( move m)\nDEF run m( jump m)\n", "line 2: .*found 'jump'"),
        (OWN.replace("putMarker()", "move()"), "line 6: the program does not end there .wall"),
    ],
)
def test_what_is_no_text_of_karel_is_refused(tmp_path, text, message):
    with pytest.raises(UnskewError, match=message):
        opened(tmp_path, text)


def test_worlds_are_made_for_programs_of_a_text_or_a_jsonl(tmp_path):
    (tmp_path / "p.txt").write_text("DEF run m( move m)\n" * 3)
    (tmp_path / "p.jsonl").write_text('{"program": "DEF run m( move m)"}\n' * 3)
    for name in ("p.txt", "p.jsonl"):
        recipe = Recipe("karel/uniform", 3, given=str(tmp_path / name))
        assert len(generate(recipe, tmp_path / f"made-{name}")) == 3
