"""The compiled interpreter against its slow twin and the original records."""

import json
from pathlib import Path

import numpy as np
import pytest

from tests.naive import karel as naive
from unskew.core.errors import UnskewError
from unskew.core.rng import generator
from unskew.domains.karel import world
from unskew.domains.karel.language import tokens
from unskew.domains.karel.language.compiler import compile_programs
from unskew.domains.karel.language.syntax import parse
from unskew.domains.karel.running.interpreter import Status, run

RECORDS = Path(__file__).parents[2] / "shared" / "msr" / "records.jsonl"
STATUS = {
    "ok": Status.OK,
    "wall": Status.WALL,
    "no_marker": Status.NO_MARKER,
    "full": Status.FULL,
    "ticks": Status.OUT_OF_TICKS,
}


def branches(coverage) -> set[tuple[int, bool]]:
    bits = int(coverage[0]) | int(coverage[1]) << 64
    return {(bit // 2, bool(bit % 2)) for bit in range(128) if bits >> bit & 1}


def agree(seed: int, pairs: int, max_ticks: int = 200) -> set[str]:
    """Compare ``pairs`` random runs with the twin; return the statuses that occurred."""
    rng = generator(seed, "interpreter")
    programs = [naive.random_program(rng, int(rng.integers(5, 90))) for _ in range(pairs)]
    slow_worlds = [naive.random_world(rng) for _ in range(pairs)]
    rows = tokens.stacked([tokens.to_ids(list(program)) for program in programs])
    worlds = np.stack([world.from_json(naive.to_json(w)) for w in slow_worlds])
    fast = run(rows, worlds, max_ticks=max_ticks)
    marks = run(rows, worlds, max_ticks=max_ticks, statements=True).statements
    seen = set()
    for i, (program, start) in enumerate(zip(programs, slow_worlds, strict=True)):
        slow = naive.run(naive.parse(program), start, max_ticks)
        assert fast.status[i] == STATUS[slow.status], program
        assert fast.ticks[i] == slow.ticks, program
        assert np.array_equal(fast.worlds[i], world.from_json(naive.to_json(slow.world))), program
        assert branches(fast.coverage[i]) == set(slow.branches), program
        counts = [slow.actions.count(action) for action in tokens.ACTIONS]
        assert fast.actions[i].tolist() == counts, program
        assert set(np.flatnonzero(marks[i])) == slow.started(), program
        seen.add(slow.status)
    return seen


def test_ten_thousand_random_runs_agree_with_the_twin():
    assert agree(0, 10_000) == set(STATUS)


@pytest.mark.parametrize("max_ticks", [1, 2, 3, 7])
def test_the_tick_limit_agrees_with_the_twin_where_it_strikes_early(max_ticks):
    agree(1, 1_000, max_ticks)


@pytest.mark.long
@pytest.mark.parametrize("seed", range(100, 200))
def test_a_million_random_runs_agree_with_the_twin(seed):
    agree(seed, 10_000)


def test_the_original_records_replay_exactly():
    if not RECORDS.is_file():
        pytest.skip("the original records are not part of this project")
    for line in RECORDS.read_text().splitlines():
        record = json.loads(line)
        examples = record["examples"]
        before = np.stack([world.from_json(e["inpgrid_json"]) for e in examples])
        after = np.stack([world.from_json(e["outgrid_json"]) for e in examples])
        ran = run(tokens.to_ids(record["program_tokens"])[None], before)
        assert np.array_equal(ran.worlds, after)
        assert not ran.status.any()
        for i, example in enumerate(examples):
            counts = [example["actions"].count(action) for action in tokens.ACTIONS]
            assert ran.actions[i].tolist() == counts


@pytest.mark.parametrize(
    ("program", "picture", "status", "ticks", "after"),
    [
        ("move()", ". .\n>. .", Status.OK, 1, " .  .\n .  >."),
        ("move()", ". .\n<. .", Status.WALL, 1, " .  .\n<.  ."),
        ("move()", ". .\n>. #", Status.WALL, 1, " .  .\n>.  #"),
        ("pickMarker()", ". .\n>. .", Status.NO_MARKER, 1, " .  .\n>.  ."),
        ("putMarker()", ". .\n>9 .", Status.FULL, 1, " .  .\n>9  ."),
        ("repeat(3): turnLeft()", ". .\n^. .", Status.OK, 6, " .  .\n>.  ."),
        ("repeat(0): move()", ". .\n<. .", Status.OK, 0, " .  .\n<.  ."),
        ("if(frontIsClear()): move()", ". .\n<. .", Status.OK, 1, " .  .\n<.  ."),
        ("while(frontIsClear()): move()", ". .\n>. .", Status.OK, 3, " .  .\n .  >."),
        ("while(noMarkersPresent()): turnLeft()", ". .\n^. .", Status.OUT_OF_TICKS, 200, None),
    ],
)
def test_small_runs_worked_by_hand(program, picture, status, ticks, after):
    picture = picture.replace(">.", ">.") if after is None else picture
    ran = run(parse(f"def main(): {program}")[None], world.from_picture(picture)[None])
    assert ran.status[0] == status
    assert ran.ticks[0] == ticks
    if after is not None:
        assert world.to_picture(ran.worlds[0]).split() == after.split()


@pytest.mark.parametrize(
    ("program", "picture", "max_ticks", "ran"),
    [
        ("move(); turnLeft()", ". .\n>. .", 200, ["move", "turnLeft"]),
        ("turnLeft(); pickMarker(); move()", ". .\n>. .", 200, ["turnLeft", "pickMarker"]),
        ("turnLeft(); move()", ". .\n>. .", 1, ["turnLeft"]),
        ("turnLeft(); repeat(2): move()", ". .\n>. .", 1, ["turnLeft"]),
        ("turnLeft(); repeat(0): move()", ". .\n>. .", 1, ["turnLeft", "REPEAT"]),
        ("repeat(2): turnLeft()", ". .\n>. .", 1, ["REPEAT"]),
        ("while(markersPresent()): pickMarker()", ". .\n>. .", 200, ["WHILE"]),
        ("if(frontIsClear()): move()", ". .\n<. .", 200, ["IF"]),
        ("if(markersPresent()): move()\n    else: putMarker()", ". .\n<. .", 200,
         ["IFELSE", "putMarker"]),
    ],
)  # fmt: skip
def test_which_statements_ran_worked_by_hand(program, picture, max_ticks, ran):
    row = parse(f"def main():\n    {program}")
    worlds = world.from_picture(picture)[None]
    marks = run(row[None], worlds, max_ticks=max_ticks, statements=True).statements
    assert marks.shape == (1, len(row))
    assert marks.dtype == np.bool_
    assert [tokens.VOCABULARY[token] for token in row[marks[0]]] == ran


def test_asking_for_statements_changes_nothing_else():
    rng = generator(4, "statements")
    rows = tokens.stacked([tokens.to_ids(list(naive.random_program(rng))) for _ in range(50)])
    worlds = np.stack([world.from_json(naive.to_json(naive.random_world(rng))) for _ in range(500)])
    plain, asked = run(rows, worlds), run(rows, worlds, statements=True, threads=2)
    assert plain.statements is None
    for name in ("worlds", "status", "ticks", "coverage", "actions"):
        assert np.array_equal(getattr(plain, name), getattr(asked, name)), name


def test_threads_and_order_change_nothing():
    rng = generator(3, "threads")
    rows = tokens.stacked([tokens.to_ids(list(naive.random_program(rng))) for _ in range(50)])
    worlds = np.stack([world.from_json(naive.to_json(naive.random_world(rng))) for _ in range(500)])
    one = run(rows, worlds)
    for other in (run(rows, worlds, threads=3), run(compile_programs(rows), worlds)):
        for name in ("worlds", "status", "ticks", "coverage", "actions"):
            assert np.array_equal(getattr(one, name), getattr(other, name)), name
    backwards = np.arange(500)[::-1]
    turned = run(rows, worlds[backwards], (np.arange(500) // 10)[backwards])
    assert np.array_equal(turned.worlds[backwards], one.worlds)


def test_inputs_are_left_as_they_were():
    packed = world.from_picture(". .\n>1 .")[None]
    before = packed.copy()
    run(parse("def main():\n    pickMarker()\n    move()")[None], packed)
    assert np.array_equal(packed, before)


def test_what_cannot_be_run_is_refused():
    program, packed = parse("def main(): move()")[None], world.from_picture(". .\n>. .")[None]
    with pytest.raises(UnskewError, match="is no program"):
        run(program[:, :-1], packed)
    with pytest.raises(UnskewError, match="worlds have the shape"):
        run(program, packed[:, :-1])
    with pytest.raises(UnskewError, match="max_ticks is 0"):
        run(program, packed, max_ticks=0)
    with pytest.raises(UnskewError, match="do not divide"):
        run(np.repeat(program, 2, 0), np.repeat(packed, 3, 0))
    with pytest.raises(UnskewError, match="must name one of 1 programs"):
        run(program, packed, np.array([5]))


PROGRAM, WORLD = parse("def main(): move()")[None], world.from_picture(". .\n>. .")[None]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("DEF run m( move m)", WORLD), "programs are str; give a NumPy array of uint8, (n,"),
        ((PROGRAM.tolist(), WORLD), "programs are list; give"),
        ((None, WORLD), "programs are NoneType; give"),
        ((PROGRAM.astype(float), WORLD), "programs are float64; give"),
        ((PROGRAM.astype(np.int64), WORLD), "programs are int64; give"),
        ((PROGRAM[0], WORLD), "programs have the shape (5,); give (n, width)"),
        ((np.zeros((1, 300), np.uint8), WORLD), "programs have the shape (1, 300); give (n"),
        ((PROGRAM, WORLD.tolist()), "worlds are list; give a NumPy array of uint8, (n, 260"),
        ((PROGRAM, WORLD.astype(float)), "worlds are float64; give"),
        ((PROGRAM, WORLD.astype(object)), "worlds are object; give"),
        ((PROGRAM, WORLD[0]), "worlds have the shape (260,); give bytes (n, 260)"),
        ((PROGRAM, WORLD[None]), "worlds have the shape (1, 1, 260); give"),
        ((PROGRAM, WORLD, [0]), "which are list; give a NumPy array of whole numbers"),
        ((PROGRAM, WORLD, np.array([0.0])), "which are float64; give"),
        ((PROGRAM, WORLD, np.array([True])), "which are bool; give"),
        ((PROGRAM, WORLD, np.array([[0]])), "which, of the shape (1, 1), must name one of 1 "),
        ((PROGRAM, WORLD, np.array(0)), "which, of the shape (), must name"),
        ((PROGRAM, WORLD, np.array([0, 0])), "which, of the shape (2,), must name"),
        ((PROGRAM, WORLD, np.array([-1])), "which, of the shape (1,), must name"),
    ],
)  # fmt: skip
def test_arguments_of_another_kind_are_refused_in_a_line(arguments, message):
    with pytest.raises(UnskewError) as caught:
        run(*arguments)
    assert message in str(caught.value)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("ticks", [10**30, 2**31, 1.5, "200", None, True])
def test_ticks_are_a_number_that_can_be_counted(ticks):
    with pytest.raises(UnskewError, match=r"max_ticks is .*; allowed"):
        run(PROGRAM, WORLD, max_ticks=ticks)


def test_nothing_to_run_is_no_mistake():
    ran = run(PROGRAM, WORLD[:0])
    assert (len(ran.status), ran.worlds.shape) == (0, (0, world.BYTES))
    assert run(PROGRAM, WORLD, np.array([0], np.uint8)).status.tolist() == [Status.OK]
