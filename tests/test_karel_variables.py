"""Karel's salient variables against their slow twin, and programs as text."""

import numpy as np
import pyarrow as pa
import pytest

from tests.karel import packed, rows_of
from tests.naive import karel as naive
from tests.naive.karel_variables import COUNTS, PAIRS, VARIABLES
from unskew.core.batch import Batch
from unskew.core.errors import UnskewError
from unskew.core.rng import generator
from unskew.domains.karel import DOMAIN
from unskew.domains.karel.examples import make_batch, program_column, program_rows

K = 2
LONGEST = 250
GOOD = "DEF run m( move m)"
HERE = (0, 0, "north")


# Random examples.


def wrapped(rng: np.random.Generator, body: list[str], kinds: int) -> list[str]:
    """Set a random one of the first kinds of construct around statements."""
    condition = ["c(", naive.CONDITIONS[rng.integers(5)], "c)"]
    other = [naive.ACTIONS[rng.integers(5)]]
    match rng.integers(kinds):
        case 0:
            return ["REPEAT", f"R={rng.integers(20)}", "r(", *body, "r)"]
        case 1:
            return ["WHILE", *condition, "w(", *body, "w)"]
        case 2:
            return ["IF", *condition, "i(", *body, "i)"]
        case 3:
            return ["IFELSE", *condition, "i(", *body, "i)", "ELSE", "e(", *other, "e)"]
    return ["IFELSE", *condition, "i(", *other, "i)", "ELSE", "e(", *body, "e)"]


def deep_program(rng: np.random.Generator) -> list[str]:
    """Draw a program of many constructs inside each other, half of the time without IFELSE."""
    room, kinds, body = rng.integers(20, LONGEST - 15), rng.choice([3, 5]), ["move"]
    while len(body) < room:
        body = wrapped(rng, body, kinds)
        if rng.random() < 0.1:
            body = [naive.ACTIONS[rng.integers(5)], *body]
    return ["DEF", "run", "m(", *body, "m)"]


def random_programs(rng: np.random.Generator, n: int) -> list[list[str]]:
    """Draw ordinary, long and deep programs, mixed."""
    draws = [
        lambda: naive.random_program(rng, 60),
        lambda: naive.random_program(rng, 60),
        lambda: naive.random_program(rng, LONGEST),
        lambda: deep_program(rng),
    ]
    return [draws[i % len(draws)]() for i in range(n)]


def random_worlds(rng: np.random.Generator, n: int, k: int = K) -> list[list[naive.World]]:
    """Draw k worlds for each of n examples."""
    return [[naive.random_world(rng) for _ in range(k)] for _ in range(n)]


def batch_of(programs: list[list[str]], worlds: list[list[naive.World]]) -> Batch:
    """Make a batch whose outputs are of no account: empty 2 by 2 worlds."""
    inputs = np.stack([packed(*inputs) for inputs in worlds])
    empty = packed(naive.World(2, 2, HERE))[0]
    return make_batch(rows_of(programs), inputs, np.broadcast_to(empty, inputs.shape).copy())


def measured(batch: Batch) -> dict[str, list[object]]:
    """Return every variable's values as Python values."""
    return {name: variable.measure(batch).tolist() for name, variable in DOMAIN.variables.items()}


def slow(programs: list[list[str]], worlds: list[list[naive.World]]) -> dict[str, list[object]]:
    """Return the twin's values."""
    examples = list(zip(programs, worlds, strict=True))
    return {name: [twin(*example) for example in examples] for name, twin in VARIABLES.items()}


def assert_agree(
    fast: dict[str, list[object]], twin: dict[str, list[object]], programs: list[list[str]]
) -> None:
    """Compare value by value, types too."""
    assert set(fast) == set(twin)
    for name, values in twin.items():
        for scores, value, program in zip(fast[name], values, programs, strict=True):
            assert scores == value, (name, " ".join(program))
            assert type(scores) is type(value), name


def value_of(name: str, program: str, *worlds: naive.World) -> object:
    """Measure one example, and see that the twin says the same."""
    inputs = [list(worlds) or [naive.World(2, 2, HERE)]]
    programs = [program.split()]
    fast = measured(batch_of(programs, inputs))
    assert_agree(fast, slow(programs, inputs), programs)
    return fast[name][0]


@pytest.fixture(scope="module")
def drawn():
    """3,000 random examples."""
    rng = generator(0, "karel variables")
    return random_programs(rng, 3_000), random_worlds(rng, 3_000)


@pytest.fixture(scope="module")
def values(drawn):
    """What the source measures of them."""
    return measured(batch_of(*drawn))


# Against the twin.


def test_three_thousand_random_examples_agree_with_the_twin(drawn, values):
    assert_agree(values, slow(*drawn), drawn[0])


def test_the_random_examples_reach_every_limit_and_go_beyond(drawn):
    for name, (count, most) in COUNTS.items():
        counts = {count(program) for program in drawn[0]}
        assert {most - 1, most, most + 1} <= counts, name
        assert max(counts) > 1.5 * most, name


def test_values_lie_in_the_declared_support_and_fill_it(values):
    for name, variable in DOMAIN.variables.items():
        if variable.support is not None:
            assert set(values[name]) <= set(variable.support), name
            if not name.startswith("all_"):  # means of two are rarely at either end
                assert set(values[name]) == set(variable.support), name


def test_variables_of_all_worlds_look_at_all_of_them():
    full = naive.World(16, 16, HERE, markers={(r, c): 9 for r in range(16) for c in range(16)})
    empty = naive.World(16, 16, HERE)
    halves = {"all_grid_size": 256, "all_marker_ratio": 0.5, "all_marker_count": 9}
    for name, value in halves.items():
        assert value_of(name, GOOD, empty, full) == value
    assert value_of("all_marker_ratio", GOOD, full, full) == 1.0
    assert value_of("all_marker_count", GOOD, empty, empty) == 0
    few = naive.World(2, 2, HERE, markers={(0, 0): 1, (0, 1): 2})
    assert value_of("all_marker_count", GOOD, empty, few) == 2  # 1.5, a half rounded up
    walled = naive.World(2, 2, HERE, walls={(1, 1), (1, 0), (0, 1)})
    assert value_of("all_wall_ratio", GOOD, walled, few) == 0.4


def test_every_pair_of_constructs_is_told_apart(values):
    columns = {tuple(values[pair]) for pair in PAIRS}
    assert len(columns) == len(PAIRS)
    assert {pair for text in values["inside"] for pair in text.split()} == {*PAIRS, "none"}


def test_a_part_of_a_batch_has_the_values_of_its_rows(drawn, values):
    batch = batch_of(*drawn)
    cut = measured(batch.slice(1_000, 500))
    odd = measured(batch.filter(np.arange(3_000) % 2 == 1))
    for name, column in values.items():
        assert cut[name] == column[1_000:1_500], name
        assert odd[name] == column[1::2], name


def test_rows_of_one_to_four_worlds_agree_with_the_twin():
    rng = generator(1, "karel variables")
    programs = random_programs(rng, 200)
    worlds = [random_worlds(rng, 1, 1 + i % 4)[0] for i in range(200)]
    inputs = [packed(*inputs).tobytes() for inputs in worlds]
    texts = [" ".join(program) for program in programs]
    columns = {"program": texts, "inputs": inputs, "outputs": inputs}
    fast = measured(Batch.from_arrow(pa.table(columns)))
    assert set(fast["grids"]) == {1, 2, 3, 4}
    assert_agree(fast, slow(programs, worlds), programs)


def test_programs_of_256_tokens_and_the_deepest_agree_with_the_twin():
    longest = ["DEF", "run", "m(", *["move"] * 252, "m)"]
    deepest = f"DEF run m( {'REPEAT R=2 r( ' * 62}move{' r)' * 62} m)".split()
    programs = [longest, deepest]
    inputs = [[naive.World(16, 16, HERE)]] * 2
    fast = measured(batch_of(programs, inputs))
    assert_agree(fast, slow(programs, inputs), programs)
    assert fast["nesting"] == [0, 5]
    assert fast["control_share"] == [0.0, 1.0]


# By hand: programs.


def test_one_action():
    expected = {
        "size": 5,
        "actions": 1,
        "moves": 1,
        "marker_actions": 0,
        "control_flow": 0,
        "control_share": 0.0,
        "nesting": 0,
        "inside": "none",
        **dict.fromkeys(PAIRS, 0),
    }
    assert {name: value_of(name, GOOD) for name in expected} == expected


@pytest.mark.parametrize(
    ("body", "inside"),
    [
        (
            "IFELSE c( leftIsClear c) i( move i) ELSE e( WHILE c( frontIsClear c) w( move w) e)",
            "while-in-ifelse",
        ),
        (
            "IFELSE c( leftIsClear c) i( IF c( not c( markersPresent c) c) i( putMarker i) move i)"
            " ELSE e( turnLeft e)",
            "if-in-ifelse",
        ),
        (
            "IF c( leftIsClear c) i( IFELSE c( markersPresent c) i( move i) ELSE e( move e) i)",
            "ifelse-in-if",
        ),
        # Each branch holds one: both are directly inside.
        (
            "IFELSE c( leftIsClear c) i( IF c( leftIsClear c) i( move i) i) ELSE e("
            " REPEAT R=3 r( move r) e)",
            "repeat-in-ifelse if-in-ifelse",
        ),
        # Directly inside only: the innermost is not in the outermost.
        (
            "REPEAT R=2 r( WHILE c( frontIsClear c) w( IF c( leftIsClear c) i( move i) w) r)",
            "while-in-repeat if-in-while",
        ),
        # Side by side is not inside.
        ("REPEAT R=2 r( move r) WHILE c( frontIsClear c) w( move w)", "none"),
        # After an inner construct has ended, the outer one goes on.
        (
            "WHILE c( frontIsClear c) w( REPEAT R=2 r( move r) IF c( leftIsClear c) i( move i) w)",
            "repeat-in-while if-in-while",
        ),
    ],
)
def test_what_stands_directly_inside_what(body, inside):
    program = f"DEF run m( {body} m)"
    assert value_of("inside", program) == inside
    assert {pair for pair in PAIRS if value_of(pair, program)} == set(inside.split()) - {"none"}


@pytest.mark.parametrize("depth", [1, 5, 6, 7])
def test_nested_repeats(depth):
    program = f"DEF run m( {'REPEAT R=2 r( ' * depth}move{' r)' * depth} m)"
    assert value_of("nesting", program) == min(depth, 5)
    assert value_of("control_flow", program) == min(depth, 7)
    assert value_of("inside", program) == ("none" if depth == 1 else "repeat-in-repeat")


def test_nesting_is_that_of_the_deepest_branch():
    shallow, deep = "REPEAT R=2 r( move r)", "REPEAT R=2 r( REPEAT R=2 r( move r) r)"
    program = f"DEF run m( IFELSE c( leftIsClear c) i( {{}} i) ELSE e( {{}} e) {shallow} m)"
    assert value_of("nesting", program.format(shallow, deep)) == 3
    assert value_of("nesting", program.format(deep, shallow)) == 3
    assert value_of("control_flow", program.format(deep, shallow)) == 5


@pytest.mark.parametrize(
    ("constructs", "actions", "share"),
    [(0, 3, 0.0), (1, 9, 0.1), (1, 8, 0.2), (1, 99, 0.1), (3, 7, 0.3), (7, 7, 0.5), (8, 7, 0.6)],
)
def test_the_share_of_constructs_is_rounded_up(constructs, actions, share):
    around = "REPEAT R=2 r( " * constructs, " r)" * constructs
    program = f"DEF run m( {around[0]}{'move ' * actions}{around[1]} m)"
    assert value_of("control_share", program) == share


def test_limits():
    actions = f"DEF run m( {{}}{'turnLeft ' * 9}m)"
    assert value_of("moves", actions.format("move " * 10)) == 10
    assert value_of("moves", actions.format("move " * 11)) == 10
    assert value_of("actions", actions.format("move " * 10)) == 19
    assert value_of("actions", actions.format("move " * 12)) == 20
    assert value_of("marker_actions", actions.format("pickMarker putMarker " * 4)) == 8
    assert value_of("marker_actions", actions.format("pickMarker putMarker " * 6)) == 10
    assert value_of("size", actions.format("move " * 51)) == 64
    assert value_of("size", actions.format("move " * 53)) == 65
    assert value_of("control_flow", actions.format("REPEAT R=0 r( move r) " * 9)) == 7


# By hand: worlds.


def test_only_the_first_world_counts():
    first = naive.World(3, 5, HERE, {(2, 4)}, {(0, 0): 7})
    second = naive.World(16, 2, HERE, set(), {(0, 1): 3, (1, 1): 2})
    names = ("height", "width", "grid_size", "marker_ratio", "wall_ratio", "marker_count", "grids")
    got = [value_of(name, GOOD, first, second) for name in names]
    assert got == [3, 5, 15, 0.1, 0.1, 7, 2]
    assert value_of("marker_count", GOOD, second, first) == 3


def test_the_first_cell_with_markers_is_in_the_lowest_row_then_the_leftmost():
    cells = {(1, 0): 2, (0, 3): 4, (0, 2): 9, (3, 0): 1}
    assert value_of("marker_count", GOOD, naive.World(4, 4, HERE, {(0, 1)}, cells)) == 9
    del cells[0, 2]
    assert value_of("marker_count", GOOD, naive.World(4, 4, HERE, {(0, 1)}, cells)) == 4
    assert value_of("marker_count", GOOD, naive.World(4, 4, HERE, {(0, 1)})) == 0


@pytest.mark.parametrize(
    ("cells", "share"), [(0, 0.0), (1, 0.1), (10, 0.1), (11, 0.2), (30, 0.3), (70, 0.7), (71, 0.8)]
)
def test_shares_of_cells_are_rounded_up(cells, share):
    chosen = [(n // 10, n % 10) for n in range(100)][100 - cells :]
    walls = naive.World(10, 10, HERE, set(chosen))
    markers = naive.World(10, 10, HERE, set(), dict.fromkeys(chosen, 1))
    assert value_of("wall_ratio", GOOD, walls) == share
    assert value_of("marker_ratio", GOOD, walls) == 0.0
    assert value_of("marker_ratio", GOOD, markers) == share
    assert value_of("wall_ratio", GOOD, markers) == 0.0


# Programs as text.


def test_programs_come_back_from_their_text(drawn):
    programs, worlds = drawn
    batch = batch_of(programs, worlds)
    assert batch.columns["program"].to_pylist() == [" ".join(program) for program in programs]
    rows = program_rows(batch)
    assert np.array_equal(rows, rows_of(programs))
    part = program_rows(batch.slice(40, 7))
    assert np.array_equal(part, rows_of(programs[40:47]))


def test_more_padding_is_not_written():
    rows = rows_of(random_programs(generator(2, "karel variables"), 100))
    wide = np.pad(rows, ((0, 0), (0, 256 - rows.shape[1])))
    assert program_column(wide).equals(program_column(rows))
    assert np.array_equal(program_rows(Batch({"program": program_column(wide)})), rows)


@pytest.mark.parametrize("kind", [pa.string(), pa.large_string(), pa.string_view()])
def test_text_of_any_layout_is_read(kind):
    texts = [GOOD, "DEF run m( REPEAT R=19 r( R=1 m)"]
    rows = program_rows(Batch({"program": pa.array(texts, kind)}))
    assert np.array_equal(rows, rows_of([text.split() for text in texts]))


def message(column: pa.Array) -> str:
    """Return the one line that refuses a column."""
    with pytest.raises(UnskewError) as caught:
        program_rows(Batch({"program": column}))
    text = str(caught.value)
    assert "\n" not in text
    return text


BAD = {
    "'jump' is no token": "DEF run m( jump m)",
    "'R=20' is no token": "DEF run m( R=20 m)",
    "'<s>' is no token": "DEF run m( <s> move m)",
    "there is no program": None,
    "more than 256 tokens": " ".join(["move"] * 257),
    "is no token": "DEF run m(\tmove m)",
}


@pytest.mark.parametrize("about", BAD)
def test_bad_text_is_refused_by_its_row(about):
    message_text = message(pa.array([GOOD, GOOD, BAD[about], GOOD]))
    assert about in message_text
    assert "row 3" in message_text


@pytest.mark.parametrize("text", ["REPEAT " * 128, "IFELSE " * 256, "i) r) w) e) move", "e) " * 99])
def test_what_is_no_program_is_measured_without_harm(text):
    """More blocks than there is room for, or closed before they are open: no number is right."""
    batch = Batch({"program": pa.array([text.strip()] * 200)})
    for name in ("nesting", "inside", "control_flow"):
        assert len(DOMAIN.variables[name].measure(batch)) == 200


def test_a_column_of_numbers_is_refused():
    assert "'program' is not text" in message(pa.array([1, 2, 3]))
    assert "'program' is not text" in message(np.arange(3))


def test_256_tokens_are_read():
    longest = ["move"] * 256
    rows = program_rows(Batch({"program": pa.array([" ".join(longest)])}))
    assert np.array_equal(rows, rows_of([longest]))
