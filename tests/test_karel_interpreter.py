"""The compiled interpreter against its slow twin on random programs and worlds."""

from collections import Counter

import numpy as np
import pytest

from tests.karel import STATUS, branches, packed, places_of_tests, rows_of
from tests.naive import karel as naive
from unskew.core.errors import UnskewError
from unskew.core.rng import generator
from unskew.domains.karel import world
from unskew.domains.karel.language import tokens
from unskew.domains.karel.language.compiler import compile_programs
from unskew.domains.karel.language.syntax import parse
from unskew.domains.karel.running.interpreter import Status, run
from unskew.domains.karel.running.trace import executed


def agree(seed: int, pairs: int, max_ticks: int = 200) -> Counter[object]:
    """Compare random runs with the twin; count what occurred in them."""
    rng = generator(seed, "interpreter")
    programs = [naive.random_program(rng, int(rng.integers(5, 90))) for _ in range(pairs)]
    slow_worlds = [naive.random_world(rng) for _ in range(pairs)]
    rows, worlds = rows_of(programs), packed(*slow_worlds)
    fast = run(rows, worlds, max_ticks=max_ticks, statements=True)
    afters = []
    occurred: Counter[object] = Counter()
    for i, (program, start) in enumerate(zip(programs, slow_worlds, strict=True)):
        slow = naive.run(naive.parse(program), start, max_ticks)
        assert fast.status[i] == STATUS[slow.status], program
        assert fast.ticks[i] == slow.ticks, program
        assert branches(fast.coverage[i]) == set(slow.branches), program
        counts = [slow.actions.count(action) for action in tokens.ACTIONS]
        assert fast.actions[i].tolist() == counts, program
        assert set(np.flatnonzero(fast.statements[i])) == slow.started(), program
        afters.append(slow.world)
        places = places_of_tests(program)
        occurred.update((program[places[test]], outcome) for test, outcome in slow.branches)
        occurred.update([slow.status, *program, "not c( not c(" in " ".join(program)])
    assert np.array_equal(fast.worlds, packed(*afters))
    return occurred


def test_ten_thousand_random_runs_agree_with_the_twin():
    occurred = agree(0, 10_000)
    tests = [(keyword, way) for keyword in ("IF", "IFELSE", "WHILE") for way in (False, True)]
    common = [*STATUS, *tests, *tokens.VOCABULARY[1:], True]  # True: a doubled not
    assert min(occurred[thing] for thing in common) > 100


@pytest.mark.parametrize("max_ticks", [1, 2, 3, 7])
def test_the_tick_limit_agrees_with_the_twin_where_it_strikes_early(max_ticks):
    agree(1, 1_000, max_ticks)


def test_the_random_worlds_have_everything():
    """Every size, direction and number of markers, and worlds with many walls and with none."""
    rng = generator(8, "worlds")
    worlds = [naive.random_world(rng) for _ in range(1_000)]
    sizes = set(range(world.SMALLEST, world.SIDE + 1))
    assert {one.rows for one in worlds} == {one.cols for one in worlds} == sizes
    assert {one.hero[2] for one in worlds} == set(naive.DIRECTIONS)
    assert {n for one in worlds for n in one.markers.values()} == set(range(1, 10))
    under = Counter(one.markers.get(one.hero[:2], 0) for one in worlds)
    assert min(under[0], under[9]) > 100
    walls = np.array([len(one.walls) / (one.rows * one.cols) for one in worlds])
    assert (walls == 0).sum() > 100
    assert (walls > 0.5).sum() > 50


def test_the_executed_actions_alone_make_the_same_world():
    """Whatever way a program takes, its actions one after the other do the same."""
    rng = generator(11, "actions")
    programs = [naive.random_program(rng) for _ in range(500)]
    worlds = packed(*(naive.random_world(rng) for _ in programs))
    done = [
        executed(*pair)[0] or ["turnLeft"] for pair in zip(rows_of(programs), worlds, strict=True)
    ]
    plain = run(rows_of([["DEF", "run", "m(", *actions, "m)"] for actions in done]), worlds)
    moved = run(rows_of(programs), worlds)
    acted = moved.actions.any(axis=1)
    assert acted.sum() > 300
    assert (plain.status[acted] == 0).all()
    assert np.array_equal(plain.worlds[acted], moved.worlds[acted])
    assert np.array_equal(plain.actions[acted], moved.actions[acted])


@pytest.mark.long
@pytest.mark.parametrize("seed", range(100, 200))
def test_a_million_random_runs_agree_with_the_twin(seed):
    agree(seed, 10_000)


def test_asking_for_statements_changes_nothing_else():
    rng = generator(4, "statements")
    rows = rows_of(naive.random_program(rng) for _ in range(50))
    worlds = packed(*(naive.random_world(rng) for _ in range(500)))
    plain, asked = run(rows, worlds), run(rows, worlds, statements=True, threads=2)
    assert plain.statements is None
    for name in ("worlds", "status", "ticks", "coverage", "actions"):
        assert np.array_equal(getattr(plain, name), getattr(asked, name)), name


def test_threads_and_order_change_nothing():
    rng = generator(3, "threads")
    rows = rows_of(naive.random_program(rng) for _ in range(50))
    worlds = packed(*(naive.random_world(rng) for _ in range(500)))
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
