"""Karel's runs tick by tick: the stepper against `run` and the twin, and what `--trace` prints."""

import re

import numpy as np
import pytest

from tests.karel import (
    EXAMPLE,
    STATUS,
    packed,
    places_of_tests,
    random_examples,
    write_records,
)
from tests.naive import karel as twin
from unskew.core.errors import UnskewError
from unskew.domains.karel import from_picture, parse, run
from unskew.domains.karel.formats.show import show, trace
from unskew.domains.karel.language.compiler import compile_programs
from unskew.domains.karel.language.tokens import to_ids
from unskew.domains.karel.running.interpreter import MAX_TICKS, Status
from unskew.domains.karel.running.trace import executed, steps
from unskew.domains.karel.world import from_bytes


def draws(n, seed=0, max_tokens=60):
    rng = np.random.default_rng(seed)
    for _ in range(n):
        yield twin.random_program(rng, max_tokens), twin.random_world(rng)


def test_every_tick_is_that_of_the_interpreter():
    compared = 0
    for tokens, world in draws(150):
        program, start = to_ids(tokens), packed(world)[0]
        before, code = start.copy(), compile_programs(program[None])
        for step in steps(program, start):
            ran = run(code, start[None], max_ticks=min(step.tick, MAX_TICKS))
            assert np.array_equal(step.world, ran.worlds[0])
            assert ran.ticks[0] == min(step.tick, MAX_TICKS)
            ends = ran.status[0] not in (Status.OK, Status.OUT_OF_TICKS)
            assert step.status == (ran.status[0] if ends or step.tick > MAX_TICKS else Status.OK)
            compared += 1
        assert np.array_equal(start, before)
    assert compared > 3000


def test_whole_runs_are_those_of_the_twin():
    ends = set()
    for tokens, world in draws(600, seed=1):
        program, start = to_ids(tokens), packed(world)[0]
        expected = twin.run(twin.parse(tokens), world)
        actions, after, status = executed(program, start)
        assert (actions, status) == (expected.actions, STATUS[expected.status])
        assert np.array_equal(after, packed(expected.world)[0])
        done = list(steps(program, start))
        fine = {step.place for step in done if step.status == Status.OK}
        assert fine == {at for at in expected.ran if not _empty_repeat(tokens, at)}
        assert len(done) == expected.ticks + (status == Status.OUT_OF_TICKS)
        if expected.failed_at is not None:
            assert done[-1].place == expected.failed_at
        outcomes = {(step.place, step.outcome) for step in done if step.outcome is not None}
        tests = places_of_tests(tokens)
        assert outcomes == {(tests[number], outcome) for number, outcome in expected.branches}
        ends.add(status)
    assert ends == set(Status)


def _empty_repeat(tokens, at):
    return tokens[at] == "REPEAT" and tokens[at + 1] == "R=0"


def test_what_is_no_program_is_refused():
    with pytest.raises(UnskewError, match="is no program"):
        next(steps(to_ids(["DEF", "run", "m(", "m)"]), from_picture(">. .\n. .")))


def test_a_limit_of_ticks():
    program = parse("def main():\n    while(not markersPresent()): turnLeft()")
    done = list(steps(program, from_picture(">. .\n. ."), max_ticks=3))
    assert [step.tick for step in done] == [1, 2, 3, 4]
    assert [step.status for step in done] == [Status.OK] * 3 + [Status.OUT_OF_TICKS]
    assert [step.outcome for step in done] == [True, None, True, None]


# What people see.


def test_a_trace_marks_the_line_and_what_changed():
    frames = list(trace(EXAMPLE, 60))
    assert frames[0] == (
        "pair 1, 6 ticks\n"
        "  1   def main():                    >.  .  2\n"
        "  2       while(frontIsClear()):      .  #  .\n"
        "  3           move()\n"
        "  4       putMarker()"
    )
    assert frames[1].splitlines()[0] == "tick 1 of 6: while(frontIsClear()) is true"
    assert frames[2] == (
        "tick 2 of 6: move()\n"
        "  1   def main():                     .*>.* 2\n"
        "  2       while(frontIsClear()):      .  #  .\n"
        "  3 >         move()\n"
        "  4       putMarker()"
    )
    assert frames[5].splitlines()[0] == "tick 5 of 6: while(frontIsClear()) is false"
    assert ">3*" in frames[6]
    assert frames[7] == "pair 1 ends as the example says"
    assert frames[-1] == "pair 2 ends as the example says"


@pytest.mark.parametrize("width", [40, 80, 100])
def test_pictures_fit_the_terminal(width):
    for example in random_examples(20, seed=2, worlds=2):
        picture = re.compile(r"[ ^>v<.#1-9*-]+")
        shown = show(example, width).partition("pair 1")[2].splitlines()
        framed = [line for frame in trace(example, width) for line in frame.splitlines()[1:]]
        worlds = [line for line in framed if picture.fullmatch(line)]
        assert max(map(len, [*shown, *worlds])) <= width
        assert "\x1b" not in "".join([*shown, *framed])


def test_every_frame_has_one_mark_and_its_tick():
    for example in random_examples(20, seed=6, worlds=2):
        frames = list(trace(example, 100))
        ticks = 0
        for frame in frames:
            marks = re.findall(r"^ *\d+ > ", frame, re.MULTILINE)
            assert len(marks) == frame.startswith("tick")
            ticks += frame.startswith("tick")
        total = run(parse(example["program"])[None], from_bytes(example["inputs"])).ticks.sum()
        assert ticks == total


def test_a_trace_says_how_a_run_fails():
    crash = {**EXAMPLE, "program": "DEF run m( REPEAT R=9 r( move r) m)"}
    text = "\n".join(trace(crash, 100))
    assert "tick 6 of 6: move() fails: a wall is in the way" in text
    assert "pair 1 ends not as the example says" in text
    endless = {
        **EXAMPLE,
        "program": "DEF run m( WHILE c( rightIsClear c) w( turnLeft turnRight w) m)",
    }
    frames = list(trace(endless, 100))
    assert any(frame.startswith("no tick is left for ") for frame in frames)
    assert frames[0].startswith("pair 1, 200 ticks")


def test_show_trace_in_a_shell(tmp_path, run):
    write_records(tmp_path / "r.jsonl", [EXAMPLE, EXAMPLE])
    code, out, _ = run("show", tmp_path / "r.jsonl", "--trace")
    assert code == 0
    assert out.count("pair 2 ends as the example says") == 1
    assert run("show", tmp_path / "r.jsonl", "--trace", "-n", 2)[1].count("pair 2 ends") == 2
    for more, message in ((("--json",), "has no JSON"), (("-n", 0), "n is 0")):
        code, out, err = run("show", tmp_path / "r.jsonl", "--trace", *more)
        assert (code, out, err.count("\n")) == (2, "", 1)
        assert message in err
