"""Drawing worlds while programs look at them against drawing them whole and rejecting.

Both ways must give the same distribution. Each comparison is a chi-square test of homogeneity on
one feature of valid worlds; all of them together raise a false alarm once in 500 runs (seeds are
fixed). Planted faults, a few more walls or other marker counts, are flagged by the same check.
"""

from collections import Counter

import numpy as np
import pytest

from tests.naive import karel as naive
from tests.naive.karel_worlds import draw_worlds
from tests.statistics import fits, same_distribution
from unskew.core.rng import generator
from unskew.domains.karel import world
from unskew.domains.karel.language import tokens
from unskew.domains.karel.language.compiler import compile_programs
from unskew.domains.karel.language.syntax import parse
from unskew.domains.karel.measures import AREA, MARKED, WALLS, world_facts
from unskew.domains.karel.running.chance import chance
from unskew.domains.karel.running.hidden import EVEN, GEOMETRIC, REVERSED, STATE, VARIED
from unskew.domains.karel.running.interpreter import NESTED_REPEATS, run
from unskew.domains.karel.sampling.pairs import CRASHES, FEW, MADE, NONE, UNCOVERED, draw_pairs
from unskew.domains.karel.sampling.prefix import SIZE, lets_begin, read_prefix
from unskew.domains.karel.sampling.worlds import NARROW_WORLDS, ORIGINAL_WORLDS, UNIFORM_WORLDS
from unskew.domains.karel.world import FACING, HEIGHT, POSITION, SIDE, WALL, WIDTH

ALARM = 1e-5
PROGRAMS = {
    "walk": "def main():\n    while(frontIsClear()): move()\n    putMarker()",
    "collect": (
        "def main():\n    move()\n    while(markersPresent()): pickMarker()\n"
        "    if(leftIsClear()): turnLeft()\n    else: turnRight(); move()"
    ),
    "turn": (
        "def main():\n  repeat(3):\n    if(not rightIsClear()): turnRight()\n  move(); putMarker()"
    ),
}
KINDS = {
    "original": (ORIGINAL_WORLDS, 0.0, 0.0, EVEN),
    "uniform": (UNIFORM_WORLDS, 0.0, 0.0, EVEN),
    "uniform, varied": (UNIFORM_WORLDS, 0.0, 0.0, VARIED),
    "narrow G": (NARROW_WORLDS, 0.25, 0.65, GEOMETRIC),
    "narrow A": (NARROW_WORLDS, 0.85, 0.05, REVERSED),
}


def drawn(program, settings, n, k=1, shown=0, budget=100_000):
    """Inputs, outputs and status of ``n`` sets of ``k`` worlds, drawn while looked at."""
    code = compile_programs(np.repeat(program[None], n, axis=0))
    made = draw_pairs(generator(0, "lazy"), code, settings, k, shown, budget)
    return made.inputs, made.outputs, made.status


def is_valid(ran, settings):
    acts = (ran.actions[:, 0] > 0) & (ran.actions[:, 3:].sum(axis=1) > 0)
    return (ran.status == 0) & (acts | (settings[0] != ORIGINAL_WORLDS))


def rejected(program, settings, n, seed=0):
    """Valid inputs, drawn whole and thrown away where they are not valid."""
    valid_worlds = np.empty((0, world.BYTES), np.uint8)
    rng = generator(seed, "plain")
    while len(valid_worlds) < n:
        worlds = draw_worlds(rng, 10_000, *settings)
        ran = run(program[None], worlds, np.zeros(len(worlds), np.int64))
        valid_worlds = np.concatenate([valid_worlds, worlds[is_valid(ran, settings)]])
    return valid_worlds[:n]


def features(worlds):
    """What two ways of drawing are compared by, one whole number a world each."""
    cells = worlds[:, : SIDE * SIDE].reshape(-1, SIDE, SIDE).astype(int)
    height, width = worlds[:, HEIGHT].astype(int), worlds[:, WIDTH].astype(int)
    size = height * width
    walls = (cells == WALL).sum(axis=(1, 2)) - (SIDE * SIDE - size)
    free = np.where(cells == WALL, 0, cells)
    place = worlds[:, POSITION].astype(int)
    return {
        "height": height,
        "width": width,
        "walls": walls * 10 // size,
        "marked": (free > 0).sum(axis=(1, 2)) * 10 // size,
        "markers": np.minimum(free.sum(axis=(1, 2)) // 20, 20),
        "row": place // SIDE,
        "column": place % SIDE,
        "facing": worlds[:, FACING].astype(int),
        "under": worlds[np.arange(len(worlds)), place].astype(int),
        "corner": np.minimum(cells[:, 0, 0], 10),
        "inner": np.minimum(cells[:, 1, 1], 10),
    }


def differences(left, right):
    """The features in which two sets of worlds differ more than chance allows."""
    a, b = features(left), features(right)
    return [
        name
        for name in a
        if same_distribution(Counter(a[name].tolist()), Counter(b[name].tolist())) < ALARM
    ]


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("name", PROGRAMS)
def test_both_ways_of_drawing_give_the_same_worlds(name, kind):
    program = parse(PROGRAMS[name])
    inputs, _, status = drawn(program, KINDS[kind], 4_000)
    assert (status == MADE).all()
    assert differences(inputs[:, 0], rejected(program, KINDS[kind], 4_000)) == []


ALWAYS = "def main():\n    turnLeft()"  # valid in every world
SMALL = 12  # cells: few enough for every number of walls and markers to come often


def numbers(worlds):
    """Cells, walls and marked cells of each world."""
    facts = world_facts(worlds)
    return facts[:, AREA], facts[:, WALLS], facts[:, MARKED]


def uniform_shares(most):
    """The paper's uniform worlds by (cells, walls, marked), worked out.

    A probability that is itself uniform makes every number of walls as likely, and of marked
    cells among the free ones; a world without a free cell is drawn again, its size too.
    """
    sizes = Counter(h * w for h in range(2, 17) for w in range(2, 17))
    alive = {cells: ways * cells / (cells + 1) for cells, ways in sizes.items()}
    total = sum(alive.values())
    return {
        (cells, walls, marked): alive[cells] / total / cells / (cells - walls + 1)
        for cells in alive
        if cells <= most
        for walls in range(cells)
        for marked in range(cells - walls + 1)
    }


def test_numbers_of_walls_and_markers_are_exactly_the_papers():
    """A wall or a marker more or less is seen in small worlds, cell by cell."""
    inputs, _, _ = drawn(parse(ALWAYS), KINDS["uniform"], 200_000)
    shares = uniform_shares(SMALL)
    assert number_alarm(inputs[:, 0], shares) > ALARM
    # Planted: markers never on the last free cell, and sizes that were not drawn again.
    one_short = {
        (cells, walls, marked): share * (cells - walls + 1) / (cells - walls)
        if marked < cells - walls
        else 0.0
        for (cells, walls, marked), share in shares.items()
    }
    assert number_alarm(inputs[:, 0], one_short) < ALARM
    kept = {key: share * (key[0] + 1) / key[0] for key, share in shares.items()}
    assert number_alarm(inputs[:, 0], kept) < ALARM


def number_alarm(worlds, shares):
    """How likely such numbers are; what has no share is one more cell of the table."""
    counts = Counter(zip(*(column.tolist() for column in numbers(worlds)), strict=True))
    seen = [counts[key] for key in shares]
    rest = max(1 - sum(shares.values()), 0)
    return fits([*seen, len(worlds) - sum(seen)], [*shares.values(), rest])


def test_original_worlds_are_the_same_both_ways_to_a_marker_and_a_corner():
    """Exact numbers in small worlds, and how often Karel starts in the corner."""
    program, n = parse("def main():\n    putMarker(); move()"), 150_000
    lazy = drawn(program, KINDS["original"], n)[0][:, 0]
    plain = rejected(program, KINDS["original"], n)

    def compared(worlds):
        cells, walls, marked = numbers(worlds)
        small = cells <= SMALL
        keys = zip(
            cells[small].tolist(), walls[small].tolist(), marked[small].tolist(), strict=True
        )
        return Counter(keys), Counter((worlds[:, POSITION] == 0).tolist())

    for left, right in zip(compared(lazy), compared(plain), strict=True):
        assert same_distribution(left, right) > ALARM
    moved = lazy.copy()  # planted: one start in ten moved away from the corner
    moved[(np.arange(n) % 10 == 0) & (lazy[:, POSITION] == 0), POSITION] = 1
    assert same_distribution(compared(moved)[1], compared(plain)[1]) < ALARM


def test_planted_faults_are_caught():
    program = parse(PROGRAMS["walk"])
    plain = rejected(program, KINDS["narrow G"], 4_000)
    more_walls, _, _ = drawn(program, (NARROW_WORLDS, 0.30, 0.65, GEOMETRIC), 4_000)
    assert "walls" in differences(more_walls[:, 0], plain)
    other_counts, _, _ = drawn(program, (NARROW_WORLDS, 0.25, 0.65, EVEN), 4_000)
    assert "under" in differences(other_counts[:, 0], plain)


def test_what_comes_before_the_first_test_is_read_right():
    """On whole worlds: what the prefix rules out crashes; what has no test and is not, does not.

    Checked against the slow twin, with random programs on random worlds.
    """
    rng = generator(3, "prefix")
    prefix, counters = np.empty(SIZE, np.int64), np.empty(NESTED_REPEATS, np.int64)
    ruled_out = straight = 0
    for _ in range(4_000):
        text = list(naive.random_program(rng, 20))
        row = tokens.to_ids(text)
        slow = naive.random_world(rng)
        packed = world.from_json(naive.to_json(slow))
        ran = naive.run(naive.parse(text), slow)
        possible = read_prefix(compile_programs(row[None]).instructions[0], prefix, counters)
        hidden = (chance(rng), np.zeros(STATE, np.int64), packed.copy())
        lets = possible and lets_begin(prefix, packed.copy(), hidden)
        if not lets:
            ruled_out += 1
            assert ran.status not in ("ok", "ticks"), text
        elif not set(text) & {"IF", "IFELSE", "WHILE"} and ran.ticks < 60:
            straight += 1
            assert ran.status == "ok", text
    assert ruled_out > 500
    assert straight > 100


@pytest.mark.parametrize("kind", ["uniform", "narrow G"])
def test_sets_that_cover_every_branch_are_the_papers(kind):
    """Five worlds that do not crash, all five thrown away where together they miss a branch."""
    program, settings = parse(PROGRAMS["collect"]), KINDS[kind]
    inputs, _, status = drawn(program, settings, 1_000, k=5, shown=5)
    assert (status == MADE).all()
    code = compile_programs(program[None])
    full = 2 ** (2 * int(code.tests[0])) - 1
    kept = []
    for seed in range(1_000):
        pool = rejected(program, settings, 5_000, seed)
        ran = run(code, pool, np.zeros(len(pool), np.int64))
        seen = np.bitwise_or.reduce(ran.coverage[:, 0].reshape(-1, 5), axis=1)
        kept.extend(pool.reshape(-1, 5, world.BYTES)[seen == full])
        if len(kept) >= 1_000:
            break
    plain = np.concatenate(kept[:1_000])
    assert differences(inputs.reshape(-1, world.BYTES), plain) == []


@pytest.mark.parametrize("kind", KINDS)
def test_what_is_made_is_right(kind):
    """Every pair replays, every world is one, and the first five cover every branch."""
    program = parse(PROGRAMS["collect"])
    inputs, outputs, status = drawn(program, KINDS[kind], 300, k=6, shown=5)
    assert (status == MADE).all()
    flat = inputs.reshape(-1, world.BYTES)
    ran = run(program[None], flat, np.zeros(len(flat), np.int64))
    assert np.array_equal(ran.worlds, outputs.reshape(-1, world.BYTES))
    assert is_valid(ran, KINDS[kind]).all()
    for packed in flat[:200]:
        assert np.array_equal(world.from_json(world.to_json(packed)), packed)
    if kind != "original":
        seen = np.bitwise_or.reduce(ran.coverage[:, 0].reshape(-1, 6)[:, :5], axis=1)
        assert (seen == 2**4 - 1).all()


def test_programs_without_worlds_are_told_apart():
    crashes = parse("def main():\n    repeat(10): move(); move()")
    _, _, status = drawn(crashes, KINDS["narrow G"], 3, k=5, shown=5, budget=500)
    assert (status == CRASHES).all()
    far = parse("def main():\n    repeat(6): move(); move()")
    _, _, status = drawn(far, KINDS["narrow A"], 3, k=5, shown=5, budget=500)
    assert (status == NONE).all()
    walk = parse("def main():\n    move(); move()")
    _, _, status = drawn(walk, KINDS["narrow G"], 3, k=64, shown=63, budget=64)
    assert (status == FEW).all()
    never = parse("def main():\n    putMarker()\n    if(noMarkersPresent()): turnLeft()")
    for hopeless in (never, parse(PROGRAMS["turn"])):  # whoever turns there, walks into a wall
        inputs, _, status = drawn(hopeless, KINDS["uniform"], 3, k=5, shown=5, budget=500)
        assert (status == UNCOVERED).all()
        assert not inputs.any()


def test_the_same_seed_gives_the_same_pairs():
    program = parse(PROGRAMS["collect"])
    first, again = (drawn(program, KINDS["uniform"], 20, k=6, shown=5)[0] for _ in range(2))
    assert np.array_equal(first, again)
    assert first.any()
