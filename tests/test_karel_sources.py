"""Karel's sources, tables and recipes: what they make is right, and what they drop is counted."""

import warnings

import numpy as np
import pytest

from unskew.core.batch import Batch, concatenate
from unskew.core.errors import HealthWarning, UnskewError
from unskew.core.recipe import Recipe
from unskew.core.rng import generator
from unskew.core.tally import Reason, by_kind
from unskew.datasets.generate import generate
from unskew.datasets.open import open_input
from unskew.datasets.run import shard
from unskew.domains.karel import DOMAIN
from unskew.domains.karel.examples import (
    INPUTS,
    OUTPUTS,
    PROGRAM,
    all_worlds,
    make_batch,
    program_rows,
    world_rows,
)
from unskew.domains.karel.language.compiler import compile_programs
from unskew.domains.karel.language.syntax import parse
from unskew.domains.karel.measures import AREA, KINDS, WALLS, WORLD_FACTS, world_facts
from unskew.domains.karel.recipes import NARROW, RECIPES, action_table, problem_table
from unskew.domains.karel.running.hidden import EVEN
from unskew.domains.karel.running.interpreter import run
from unskew.domains.karel.sampling import pairs as sampling
from unskew.domains.karel.sampling.pairs import MADE, draw_pairs
from unskew.domains.karel.sampling.worlds import UNIFORM_WORLDS
from unskew.domains.karel.world import BYTES, HEIGHT, WIDTH
from unskew.io.lookup import find_recipe, find_source

SETTINGS = {
    "msr": ("msr", {}),
    "msr, while in while": ("msr", {"nested": "while-in-while"}),
    "msr, every branch": ("msr", {"branches": "all"}),
    "uniform": ("uniform", {}),
    "uniform, two worlds": ("uniform", {"pairs": 2}),
    "uniform, any counts": ("uniform", {"counts": "any"}),
    "narrow": ("narrow", {"r_wall": 0.05, "r_marker": 0.85, "counts": "A"}),
    "actions": ("actions", {"max_length": 8}),
}


def drawn(name, n=300, seed=0, **more):
    source, settings = SETTINGS[name]
    return DOMAIN.source(source, {**settings, **more}).draw(generator(seed, name), n)


def ran(batch):
    return run(program_rows(batch), world_rows(batch, INPUTS).reshape(-1, BYTES))


@pytest.mark.parametrize("name", SETTINGS)
def test_every_example_replays(name):
    batch, _ = drawn(name)
    assert len(batch) == 300
    assert DOMAIN.check(batch).all()
    broken = batch.columns[OUTPUTS].to_pylist()
    spoilt = bytearray(broken[7])
    spoilt[HEIGHT] ^= 1
    broken[7] = bytes(spoilt)
    columns = {**batch.columns, OUTPUTS: type(batch.columns[OUTPUTS]).from_pandas(broken)}
    assert np.flatnonzero(~DOMAIN.check(Batch(columns))).tolist() == [7]


@pytest.mark.parametrize("name", SETTINGS)
def test_the_same_seed_gives_the_same_bytes(name):
    first, again, other = drawn(name, 50), drawn(name, 50), drawn(name, 50, seed=1)
    assert first[0].to_arrow().equals(again[0].to_arrow())
    assert first[1] == again[1]
    assert not first[0].to_arrow().equals(other[0].to_arrow())


@pytest.mark.parametrize("name", ["msr, every branch", "uniform", "uniform, any counts", "narrow"])
def test_the_first_five_worlds_take_every_branch_and_none_crashes(name):
    batch, _ = drawn(name)
    runs, code = ran(batch), program_rows(batch)
    tests = ((code == 5) | (code == 6) | (code == 7)).sum(axis=1)  # WHILE, IF, IFELSE
    seen = runs.coverage[:, 0].reshape(-1, 6)[:, :5]
    full = [2 ** (2 * int(number)) - 1 for number in tests]
    assert np.bitwise_or.reduce(seen, axis=1).tolist() == full
    assert (runs.status == 0).all()


def test_nested_constructs_are_there():
    for pair in ("while-in-while", "if-in-repeat"):
        batch, _ = DOMAIN.source("msr", {"nested": pair}).draw(generator(2, pair), 100)
        assert DOMAIN.variables[pair].measure(batch).all()


def test_actions_come_in_every_length_and_have_no_control_flow():
    batch, _ = drawn("actions", 400)
    assert np.bincount(DOMAIN.variables["actions"].measure(batch)).tolist() == [0, *[50] * 8]
    assert not DOMAIN.variables["control_flow"].measure(batch).any()


def test_worlds_that_are_given_have_the_figures_asked_for():
    batch, _ = drawn("narrow")
    worlds = world_rows(batch, INPUTS).reshape(-1, BYTES)
    size = worlds[:, HEIGHT].astype(int) * worlds[:, WIDTH]
    assert worlds[:, [HEIGHT, WIDTH]].min() == 10
    cells = worlds[:, :256]
    marked = ((cells > 0) & (cells < 255)).sum(axis=1) / size
    assert np.abs(marked - 0.85).max() < 0.01
    counts = np.bincount(cells[(cells > 0) & (cells < 255)], minlength=10)
    assert counts[9] / counts.sum() == pytest.approx(0.5, abs=0.02)


def test_fewer_than_three_percent_of_original_programs_are_dropped_in_uniform():
    _, dropped = DOMAIN.source("uniform").draw(generator(3, "dropped"), 4_000)
    main = by_kind(dropped)
    assert 0 < sum(main.values()) < 0.01 * 4_000


def test_what_is_dropped_is_counted_by_reason_and_by_program():
    source = DOMAIN.source("uniform", {"tries": 30})
    _, dropped = source.draw(generator(4, "few tries"), 300)
    main = by_kind(dropped)
    assert set(main) == {
        "no valid world in 30 draws",
        "too few valid worlds in 30 draws",
        "no worlds that take every branch in 30 draws",
    }
    assert_told_in_detail(dropped, main)


def test_what_the_original_drops_is_counted_by_program_too():
    _, dropped = DOMAIN.source("msr").draw(generator(5, "msr drops"), 2_000)
    main = by_kind(dropped)
    assert set(main) == {
        "no valid run was found that takes some branch",
        "no valid world in 250 draws",
        "fewer than six valid worlds in 1,000 draws",
    }
    assert_told_in_detail(dropped, main)


def assert_told_in_detail(dropped, main):
    for why, count in main.items():
        for variable in ("nesting", "size"):
            reasons = {Reason.read(text): n for text, n in dropped.items()}
            parts = [n for r, n in reasons.items() if (r.kind, r.variable) == (why, variable)]
            assert sum(parts) == count


def test_homogenizing_by_a_variable_of_all_worlds_evens_all_of_them():
    """By the first world alone, the others stay as they were."""
    far = {}
    for name in ("wall_ratio", "all_wall_ratio"):
        recipe = Recipe("karel/uniform", 3_000, homogenize=(name,), seed=5)
        with warnings.catch_warnings():  # of values that never come
            warnings.simplefilter("ignore", HealthWarning)
            batch = shard(recipe, 0)[0]
        counts = world_facts(all_worlds(batch, INPUTS)).reshape(len(batch), -1, WORLD_FACTS)
        share = counts[..., WALLS].sum(axis=1) / counts[..., AREA].sum(axis=1)
        shares = np.histogram(share, 10, (0, 1))[0] / len(batch)
        far[name] = abs(shares - 0.1).sum() / 2
    assert far["all_wall_ratio"] < far["wall_ratio"] - 0.1, far


def test_what_can_have_no_worlds_is_given_up():
    source = DOMAIN.source("narrow", {"r_wall": 0.99, "r_marker": 0.0, "tries": 1})
    with pytest.raises(UnskewError, match=r"no world was found for \d+ programs in a row"):
        source.draw(generator(0, "none"), 10)


@pytest.mark.parametrize(
    ("name", "settings", "message"),
    [
        ("narrow", {"counts": "X"}, "counts is 'X'; give one of G, U, A"),
        ("narrow", {"r_wall": 0.6, "r_marker": 0.6}, r"r_wall \+ r_marker is 1.2"),
        ("narrow", {"r_wall": 1.5}, "r_wall is 1.5"),
        ("msr", {"nested": "while-in-until"}, "nested is 'while-in-until'; give one of any, or"),
        ("msr", {"pairs": 0}, "pairs is 0"),
        ("actions", {"min_length": 9, "max_length": 3}, "min_length 9 is above max_length 3"),
        ("uniform", {"trys": 3}, "unknown parameter of karel/uniform 'trys'"),
    ],
)
def test_settings_that_cannot_be_are_refused(name, settings, message):
    with pytest.raises(UnskewError, match=message):
        DOMAIN.source(name, settings)


def test_the_same_programs_get_new_worlds():
    batch, _ = drawn("msr")
    made, dropped = find_source("karel/uniform").derive(generator(5, "derive"), batch)
    lost = sum(by_kind(dropped).values())
    assert len(made) + lost == len(batch)
    old, new = batch.columns[PROGRAM].to_pylist(), made.columns[PROGRAM].to_pylist()
    rest = iter(old)
    assert all(text in rest for text in new)  # in order
    assert DOMAIN.check(made).all()
    assert not set(made.columns[INPUTS].to_pylist()) & set(batch.columns[INPUTS].to_pylist())


def test_what_is_no_program_is_refused():
    worlds = np.zeros((1, 1, BYTES), np.uint8)
    batch = make_batch(parse("DEF run m( move m)")[None][:, :4], worlds, worlds)
    with pytest.raises(UnskewError, match="row 1: this is no program"):
        find_source("karel/msr").derive(generator(0, "x"), batch)


# Recipes and tables.


def test_recipes_are_the_papers():
    assert {name: RECIPES[f"msr-{name}"].n for name in ("train", "val", "test")} == {
        "train": 1_116_854,
        "val": 2_500,
        "test": 2_500,
    }
    assert len([name for name in RECIPES if name.startswith("narrow-")]) == 3 * len(NARROW) == 12
    assert len({RECIPES[f"msr-{split}"].seed for split in ("train", "val", "test")}) == 3
    assert RECIPES["actions-train"].n == 20 * 20_000
    for name, recipe in RECIPES.items():
        source = find_source(recipe.source, recipe.parameters)
        if recipe.given:
            assert source.derive is not None
            assert open_input(recipe.given).size() == recipe.n, name


def test_a_given_recipe_starts_from_the_same_programs(tmp_path):
    """Row for row, also where the second has other shards than the first."""
    base = generate(Recipe("karel/msr", 60, seed=7, shard_size=16), tmp_path / "base")
    made = generate(
        Recipe("karel/uniform", 60, {"tries": 200}, given=str(base.folder), shard_size=25),
        tmp_path / "made",
    )
    old = [text for batch in base.batches() for text in batch.columns[PROGRAM].to_pylist()]
    new = [text for batch in made.batches() for text in batch.columns[PROGRAM].to_pylist()]
    rest = iter(old)
    assert all(text in rest for text in new)
    assert len(made) == len(new) == made.tally.kept < 60
    lost = by_kind(made.tally.dropped)
    assert len(made) + sum(lost.values()) == 60
    again = generate(made.recipe, tmp_path / "made")  # nothing is missing, nothing is made
    assert again.tally == made.tally


def test_named_recipes_start_from_each_other():
    test, uniform = find_recipe("karel/msr-test"), find_recipe("karel/uniform-test")
    small = Recipe("karel/uniform", 40, given="karel/msr-test", shard_size=40)
    programs = shard(test, 0)[0].head(40).columns[PROGRAM].to_pylist()
    made = shard(small, 0)[0].columns[PROGRAM].to_pylist()
    assert uniform.given == "karel/msr-test"
    assert made == [text for text in programs if text in made]
    assert len(made) >= 38


def test_more_than_is_given_is_refused(tmp_path):
    with pytest.raises(UnskewError, match="n is 99, but karel/problems has 41 examples"):
        generate(Recipe("karel/uniform", 99, given="karel/problems"), tmp_path / "x")
    with pytest.raises(UnskewError, match="homogenizes"):
        Recipe("karel/uniform", 9, given="karel/problems", homogenize=("size",))
    with pytest.raises(UnskewError, match="calculator/dcfg makes nothing of given examples"):
        generate(Recipe("calculator/dcfg", 9, given="karel/problems"), tmp_path / "y")


def test_problems_are_a_table_that_checks():
    table = problem_table()
    assert len(table) == 41
    assert DOMAIN.check(table).all()
    assert set(DOMAIN.variables["grids"].measure(table).tolist()) == {1, 2, 3, 4}


def test_action_programs_are_up_to_five_hundred_of_each_length_ten_times():
    table = action_table()
    texts = table.columns[PROGRAM].to_pylist()
    assert len(texts) == 26_550
    assert all(texts.count(text) == 10 for text in set(texts[:200]))
    lengths = DOMAIN.variables["actions"].measure(table)
    by_length = {n: len(set(np.array(texts)[lengths == n])) for n in range(1, 9)}
    assert by_length == {1: 5, 2: 25, 3: 125, **dict.fromkeys(range(4, 9), 500)}


def test_programs_can_be_homogenized_by_what_they_are(tmp_path):
    recipe = Recipe("karel/msr", 1_500, homogenize=("nesting",), shard_size=1_500)
    made = generate(recipe, tmp_path / "even")
    kept = np.bincount(
        np.concatenate([DOMAIN.variables["nesting"].measure(b) for b in made.batches()]),
        minlength=6,
    )
    plain = np.bincount(DOMAIN.variables["nesting"].measure(drawn("msr", 1_500)[0]), minlength=6)
    assert kept[4] > 4 * plain[4]
    assert kept[:4].max() < 2.5 * kept[:4].min()


def test_every_pair_of_constructs_has_a_name():
    names = {f"{inner}-in-{outer}" for inner in KINDS for outer in KINDS}
    assert len(names) == 16
    assert names < set(DOMAIN.variables)
    assert not names & set(DOMAIN.main)


def test_batches_join_and_slice():
    batch, _ = drawn("msr", 20)
    halves = concatenate([batch.slice(0, 10), batch.slice(10, 99)])
    assert np.array_equal(world_rows(halves, INPUTS), world_rows(batch, INPUTS))
    assert np.array_equal(program_rows(halves), program_rows(batch))
    assert DOMAIN.check(batch.slice(5, 7)).all()


def test_given_programs_that_have_no_worlds_leave_a_dataset_without_rows(tmp_path):
    """Programs of one action never move and handle a marker: none is left, and it is said."""
    made = generate(Recipe("karel/msr", 50, given="karel/action-programs"), tmp_path / "none")
    assert len(made) == 0
    main = by_kind(made.tally.dropped)
    assert sum(main.values()) == 50
    assert len(generate(made.recipe, tmp_path / "none")) == 0


def test_a_recipe_is_no_source_and_says_so():
    with pytest.raises(UnskewError, match="run it with `unskew generate karel/msr-test -o DIR`"):
        find_source("karel/msr-test")


def test_draws_in_several_calls_are_those_of_one():
    """A call of the kernel is kept short, for Ctrl-C; the worlds do not depend on it."""
    code = compile_programs(parse("DEF run m( move putMarker m)")[None].repeat(40, axis=0))
    worlds = (UNIFORM_WORLDS, 0.0, 0.0, EVEN)
    budgets = (sampling.DRAWS_PER_CALL // 40, sampling.DRAWS_PER_CALL // 3)  # 1 call, 14 calls
    one, several = (draw_pairs(generator(6, "calls"), code, worlds, 6, 0, b) for b in budgets)
    assert np.array_equal(one.inputs, several.inputs)
    assert np.array_equal(one.outputs, several.outputs)
    assert (one.status == MADE).all()


def test_worlds_of_an_example_of_actions_are_all_different():
    """They are picked from a pool: none twice, however few of them are valid."""
    batch, _ = DOMAIN.source("actions", {"min_length": 15}).draw(generator(7, "actions"), 300)
    for worlds in world_rows(batch, INPUTS):
        assert len(np.unique(worlds, axis=0)) == 6


def test_no_more_worlds_are_drawn_than_tries_allow():
    source = DOMAIN.source("uniform", {"tries": 5})  # six worlds cannot be
    with pytest.raises(UnskewError, match="5 draws each"):
        source.draw(generator(8, "five"), 10)
    code = compile_programs(parse("DEF run m( turnLeft m)")[None].repeat(50, axis=0))
    made = draw_pairs(generator(8, "six"), code, (UNIFORM_WORLDS, 0.0, 0.0, EVEN), 6, 5, 6)
    assert (made.status == MADE).all()
    assert (made.tries == 6).all()
