"""Generation: the same recipe gives the same bytes, and nothing is ever left half-done."""

import errno
import hashlib
import json
import os
import shutil
import sys
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow.parquet as pq
import pytest

from tests.datasets import contents, finished_contents, one_by_one
from unskew import Dataset, Recipe, Tally, UnskewError, audit, generate
from unskew.core.tally import Reason, by_kind
from unskew.datasets.run import shard
from unskew.io.location import sha256

SMALL = Recipe("calculator/dcfg", 250, homogenize=("length",), seed=3, shard_size=100)


def examples(dataset: Dataset) -> list[dict[str, Any]]:
    return [example for batch in dataset.batches() for example in batch.examples()]


def fingerprint(dataset: Dataset) -> str:
    """Hash the columns' contents, which do not depend on the version of Parquet."""
    rows = [f"{row['expression']}={row['value']}" for row in examples(dataset)]
    return hashlib.sha256("\n".join(rows).encode()).hexdigest()[:16]


# The same recipe, the same data.


def test_the_same_recipe_gives_the_same_bytes(tmp_path: Path) -> None:
    generate(SMALL, tmp_path / "a")
    generate(SMALL, tmp_path / "b")
    assert contents(tmp_path / "a") == contents(tmp_path / "b")


def test_shards_may_be_made_in_any_order(tmp_path: Path) -> None:
    made = examples(generate(SMALL, tmp_path / "a"))
    shards = {index: list(shard(SMALL, index)[0].examples()) for index in (2, 0, 1)}
    assert [row for index in range(3) for row in shards[index]] == made


def test_shards_are_not_copies_of_each_other() -> None:
    first, second = (list(shard(SMALL, index)[0].examples()) for index in (0, 1))
    assert first != second


def test_another_seed_or_parameter_gives_other_data(tmp_path: Path) -> None:
    recipes = [Recipe("calculator/dcfg", 50, seed=seed) for seed in (0, 1)]
    recipes.append(Recipe("calculator/dcfg", 50, {"p": 0.3}))
    recipes.append(Recipe("calculator/dcfg", 50, homogenize=("length",)))
    made = [generate(recipe, tmp_path / recipe.hash) for recipe in recipes]
    assert len({recipe.hash for recipe in recipes}) == 4
    assert len({fingerprint(dataset) for dataset in made}) == 4


def test_a_smaller_dataset_is_the_beginning_of_a_larger_one() -> None:
    smaller = Recipe(SMALL.source, 40, homogenize=SMALL.homogenize, seed=3, shard_size=100)
    first = list(shard(SMALL, 0)[0].examples())
    assert list(shard(smaller, 0)[0].examples()) == first[:40]


# Changing one of these takes a line in CHANGELOG: datasets made before cannot be made again.
GOLDEN = {
    "dcfg": (Recipe("calculator/dcfg", 200), "547fab3cb2508c53"),
    "t2t": (Recipe("calculator/t2t", 200), "4e43976685d117d9"),
    "rcfg": (Recipe("calculator/rcfg", 200), "1b00f45a68f77a68"),
    "bal": (Recipe("calculator/bal", 200), "099d72ccf03a4ce3"),
    "homogenized": (
        Recipe("calculator/dcfg", 200, homogenize=("max_depth",), seed=1, shard_size=80),
        "17797ba97d460384",
    ),
}


@pytest.mark.parametrize("name", GOLDEN)
def test_datasets_stay_what_they_were(name: str, tmp_path: Path) -> None:
    recipe, golden = GOLDEN[name]
    assert fingerprint(generate(recipe, tmp_path / "made")) == golden


def test_the_name_of_a_recipe_stays_what_it_was() -> None:
    assert SMALL.hash == "1dd050238165b312"


# Counts of their own.


def left_over(shard_size: int) -> float:
    """Total variation from uniform that is left in 32,000 examples, over all lengths there are."""
    recipe = Recipe("calculator/dcfg", 32_000, homogenize=("length",), shard_size=shard_size)
    kept: Counter[Any] = Counter()
    for index in range(recipe.shards):
        kept += shard(recipe, index)[1].kept_values["length"]
    lengths = range(2, 66, 2)
    assert set(kept) <= set(lengths)
    return sum(abs(kept[length] / 32_000 - 1 / len(lengths)) for length in lengths) / 2


def test_counts_of_their_own_leave_parts_of_1000_nearly_as_even() -> None:
    """One part leaves 0.408, parts of 1,000 leave 0.414, both to about 0.003.

    False alarms: 0.02 is over four standard deviations off, below 1e-4, and the seed is fixed.
    Caught for certain: parts that count too roughly, such as those of 64, which leave 0.471.
    """
    one = left_over(32_000)
    assert abs(left_over(1_000) - one) < 0.02
    assert left_over(64) - one > 0.04


# What is written down.


def test_the_last_shard_holds_what_is_left(tmp_path: Path) -> None:
    dataset = generate(SMALL, tmp_path / "made")
    assert len(dataset) == 250
    assert [part.name for part in dataset.parts] == [
        f"train-0000{i}-of-00003.parquet" for i in range(3)
    ]
    assert [pq.read_metadata(part).num_rows for part in dataset.parts] == [100, 100, 50]
    manifest = json.loads((dataset.folder / "manifest.json").read_text())
    assert [part["rows"] for part in manifest["parts"]] == [100, 100, 50]


@pytest.mark.parametrize(("n", "shards"), [(1, 1), (99, 1), (100, 1), (101, 2), (200, 2)])
def test_the_number_of_shards(n: int, shards: int) -> None:
    recipe = Recipe("calculator/dcfg", n, shard_size=100)
    assert recipe.shards == shards
    assert sum(recipe.shard_rows(index) for index in range(shards)) == n


@pytest.mark.parametrize("variable", ["length", "operations", "mean_depth"])
@pytest.mark.parametrize("shard_size", [100, 1000])
def test_the_tally_adds_up(variable: str, shard_size: int, tmp_path: Path) -> None:
    recipe = Recipe("calculator/t2t", 300, homogenize=(variable,), shard_size=shard_size)
    dataset = generate(recipe, tmp_path / "made")
    tally = dataset.tally
    assert tally.kept == 300
    assert tally.drawn > 300
    assert tally.drawn_values[variable].total() == tally.drawn
    assert tally.kept_values[variable].total() == tally.kept
    assert tally.kept_values[variable] == audit(dataset, by=variable).variables[variable].counts
    for value, kept in tally.kept_values[variable].items():
        assert 0 < kept <= tally.drawn_values[variable][value]
    assert min(tally.drawn_values[variable].values()) > 0


def test_without_homogenizing_every_draw_is_kept(tmp_path: Path) -> None:
    tally = generate(Recipe("calculator/bal", 300, shard_size=100), tmp_path / "made").tally
    assert (tally.drawn, tally.kept, tally.drawn_values) == (300, 300, {})


def test_what_the_source_dropped_is_counted_for_the_draws_that_were_used(tmp_path: Path) -> None:
    """One draw in two is dropped, so that beside 2,000 stand about 2,000 (63 is one σ)."""
    recipe = Recipe("calculator/dcfg", 2000, {"p": 0.5, "max_length": 1}, shard_size=500)
    assert abs(generate(recipe, tmp_path / "made").tally.dropped.total() - 2000) < 400


def test_tallies_add() -> None:
    left = Tally(5, 3, Counter(long=1), {"x": Counter({1: 3, 2: 2})}, {"x": Counter({1: 3})})
    right = Tally(4, 4, Counter(bad=2), {"x": Counter({2: 4})}, {"x": Counter({2: 4})})
    both = left + right
    assert both == right + left
    assert (both.drawn, both.kept) == (9, 7)
    assert both.dropped == {"long": 1, "bad": 2}
    assert both.drawn_values == {"x": {1: 3, 2: 6}}
    assert both.kept_values == {"x": {1: 3, 2: 4}}
    assert both.cost == 9 / 7
    assert Tally().cost == float("inf")


@pytest.mark.parametrize(
    "values", [(1, 2), (0.5, -1.0), ("a", "b"), ((1, "a"), (2, "b")), ((1, (2, (3,))), None)]
)
def test_a_tally_is_read_back_as_it_was_written(values: tuple[Any, ...]) -> None:
    drawn = Counter({value: row + 2 for row, value in enumerate(values)})
    tally = Tally(7, 5, Counter(long=1), {"x": drawn}, {"x": Counter({values[0]: 1})})
    assert Tally.from_dict(json.loads(json.dumps(tally.to_dict()))) == tally


@pytest.mark.parametrize(
    ("reason", "text"),
    [
        (Reason("crashes"), "crashes"),
        (Reason("crashes", "nesting", "2"), "crashes · nesting: 2"),
        (Reason("crashes", "a: b", "0 to 9"), "crashes · a: b: 0 to 9"),
        (Reason("is in data · old/set"), "is in data · old/set"),  # a name of a user's own
        (Reason(""), ""),
    ],
)
def test_a_reason_is_read_back_from_its_text(reason: Reason, text: str) -> None:
    assert str(reason) == text
    assert Reason.read(text) == reason
    assert by_kind({text: 3}) == ({} if reason.variable else {text: 3})


def test_a_dropped_example_is_counted_once_though_its_details_count_it_again() -> None:
    dropped = {"long": 3, "long · size: 9": 2, "long · size: 8": 1, "odd": 1}
    assert by_kind(dropped) == {"long": 3, "odd": 1}


def test_the_manifest_names_each_part_with_its_checksum(tmp_path: Path) -> None:
    dataset = generate(SMALL, tmp_path / "made")
    assert dataset.recipe == SMALL
    manifest = json.loads((tmp_path / "made" / "manifest.json").read_text())
    assert manifest["recipe"] == SMALL.hash
    for part in manifest["parts"]:
        assert sha256(tmp_path / "made" / part["file"]) == part["sha256"]


def test_advance_is_told_of_each_example(tmp_path: Path) -> None:
    for _ in range(2):  # made, then found already made
        seen: list[int] = []
        generate(SMALL, tmp_path / "made", advance=seen.append)
        assert sum(seen) == 250


# Going on after a stop.


def spoil_nothing(dataset: Dataset) -> None:
    pass


def delete_a_part(dataset: Dataset) -> None:
    dataset.parts[1].unlink()


def delete_all_parts(dataset: Dataset) -> None:
    for part in dataset.parts:
        part.unlink()


def cut_a_part(dataset: Dataset) -> None:
    data = dataset.parts[2].read_bytes()
    dataset.parts[2].write_bytes(data[: len(data) // 2])


def empty_a_part(dataset: Dataset) -> None:
    dataset.parts[0].write_bytes(b"")


def put_a_part_in_place_of_the_last(dataset: Dataset) -> None:
    dataset.parts[2].write_bytes(dataset.parts[0].read_bytes())


def repeat_a_part(dataset: Dataset) -> None:
    dataset.parts[1].write_bytes(dataset.parts[0].read_bytes())


def take_a_part_of_another_recipe(dataset: Dataset) -> None:
    other = Recipe(SMALL.source, 250, homogenize=SMALL.homogenize, seed=4, shard_size=100)
    made = generate(other, dataset.folder.with_name("other"))
    dataset.parts[0].write_bytes(made.parts[0].read_bytes())


def flip_a_bit_of_a_part(dataset: Dataset) -> None:
    data = bytearray(dataset.parts[1].read_bytes())
    data[len(data) // 2] ^= 1
    dataset.parts[1].write_bytes(bytes(data))


def spoil_a_note(dataset: Dataset) -> None:
    next((dataset.folder / ".unskew").iterdir()).write_text("{")
    (dataset.folder / "manifest.json").unlink()


def delete_the_card(dataset: Dataset) -> None:
    (dataset.folder / "README.md").unlink()


def delete_the_manifest(dataset: Dataset) -> None:
    (dataset.folder / "manifest.json").unlink()


def leave_the_file_of_a_killed_run(dataset: Dataset) -> None:
    shutil.rmtree(dataset.folder)
    dataset.folder.mkdir()
    (dataset.folder / ".recipe.json.123.part").write_text("{")


@pytest.mark.parametrize(
    "spoil",
    [
        spoil_nothing,
        delete_a_part,
        delete_all_parts,
        cut_a_part,
        empty_a_part,
        put_a_part_in_place_of_the_last,
        repeat_a_part,
        take_a_part_of_another_recipe,
        flip_a_bit_of_a_part,
        spoil_a_note,
        delete_the_card,
        delete_the_manifest,
        leave_the_file_of_a_killed_run,
    ],
)
def test_run_again_it_ends_with_the_same_files(spoil: Any, tmp_path: Path) -> None:
    dataset = generate(SMALL, tmp_path / "made")
    whole = contents(tmp_path / "made")
    spoil(dataset)
    generate(SMALL, tmp_path / "made")
    assert finished_contents(tmp_path / "made") == whole


def test_finished_parts_are_not_made_again(tmp_path: Path) -> None:
    dataset = generate(SMALL, tmp_path / "made")
    dataset.parts[1].unlink()
    made: list[int] = []
    generate(SMALL, tmp_path / "made", engine=one_by_one(made.append))
    assert made == [1]


# What is in the way is left as it is.


def refused(message: str, recipe: Recipe, folder: Path) -> None:
    above = folder.parent
    before = contents(above)
    with pytest.raises(UnskewError, match=message) as caught:
        generate(recipe, folder)
    assert "\n" not in str(caught.value)
    assert contents(above) == before


def test_a_folder_made_by_another_recipe(tmp_path: Path) -> None:
    generate(SMALL, tmp_path / "made")
    other = Recipe(SMALL.source, 251, homogenize=SMALL.homogenize, seed=3, shard_size=100)
    refused("was made by another recipe", other, tmp_path / "made")


def test_a_folder_with_something_else_in_it(tmp_path: Path) -> None:
    (tmp_path / "made").mkdir()
    (tmp_path / "made" / "thesis.txt").write_text("years of work")
    refused("is not empty and no dataset", SMALL, tmp_path / "made")


def test_a_folder_whose_recipe_cannot_be_read(tmp_path: Path) -> None:
    (tmp_path / "made").mkdir()
    (tmp_path / "made" / "recipe.json").write_text("{")
    refused("recipe .* cannot be read", SMALL, tmp_path / "made")


def test_a_file_in_the_way(tmp_path: Path) -> None:
    (tmp_path / "made").write_text("a file")
    refused("made is a file; choose a new folder", SMALL, tmp_path / "made")
    refused("check the path", SMALL, tmp_path / "made" / "below")


@pytest.mark.parametrize(
    ("number", "step"),
    [(errno.EACCES, "a place you may write to"), (errno.ENOSPC, "free some space")],
)
@pytest.mark.parametrize("call", ["mkdir", "link", "write"])
def test_a_disk_that_refuses(
    number: int, step: str, call: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*args: object, **named: object) -> None:
        raise OSError(number, os.strerror(number))

    owner, name = {"mkdir": (Path, "mkdir"), "link": (os, "link")}.get(call, (Path, "write_text"))
    monkeypatch.setattr(owner, name, fail)
    refused(step, SMALL, tmp_path / "made")


@pytest.mark.parametrize("number", [errno.EACCES, errno.ENOSPC])
def test_a_disk_that_fills_up_while_a_part_is_written(
    number: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    delete_a_part(generate(SMALL, tmp_path / "made"))
    write_half_then(OSError(number, os.strerror(number)), monkeypatch)
    refused(os.strerror(number), SMALL, tmp_path / "made")


def write_half_then(error: BaseException, monkeypatch: pytest.MonkeyPatch) -> None:
    def write_bytes(path: Path, data: bytes) -> None:
        with path.open("wb") as file:
            file.write(data[: len(data) // 2])
        raise error

    monkeypatch.setattr(Path, "write_bytes", write_bytes)


def test_an_interrupt_leaves_no_half_written_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with monkeypatch.context() as patch:
        write_half_then(KeyboardInterrupt(), patch)
        with pytest.raises(KeyboardInterrupt):
            generate(SMALL, tmp_path / "made")
    assert list(contents(tmp_path / "made")) == ["recipe.json"]
    whole = generate(SMALL, tmp_path / "elsewhere")
    assert fingerprint(generate(SMALL, tmp_path / "made")) == fingerprint(whole)


def test_names_are_checked_before_anything_is_written(tmp_path: Path) -> None:
    refused("did you mean 'calculator/dcfg'", Recipe("calculator/dcgf", 9), tmp_path / "made")
    wrong = Recipe("calculator/dcfg", 9, {"q": 1})
    refused("unknown parameter", wrong, tmp_path / "made")
    wrong = Recipe("calculator/dcfg", 9, homogenize=("lenght",))
    refused("did you mean 'length'", wrong, tmp_path / "made")


# Sources of one's own.


@pytest.fixture
def own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A folder with the module ``own_sampler``; it is the current one."""
    (tmp_path / "own_sampler.py").write_text(
        "import numpy as np\n"
        "def draw(rng):\n    return {'x': int(rng.geometric(0.5)), 't': 'ab'}\n"
        "def text(rng):\n    return 'ab'[: int(rng.integers(3))]\n"
        "def uneven(rng):\n    return {'a': 1} if rng.random() < 0.5 else {'a': 1, 'b': 2}\n"
        "def huge(rng):\n    return 2**70\n"
        "def odd(rng):\n    return [1, 'a', None, {}]\n"
        "def capped(row):\n    return min(row['x'], 4)\n"
        "def numpy_value(row):\n    return np.int64(min(row['x'], 4))\n"
        "def nested(row):\n    return (row['t'], (min(row['x'], 4), 0))\n"
    )
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", ["", *sys.path])
    yield tmp_path
    sys.modules.pop("own_sampler", None)


@pytest.mark.parametrize("variable", ["capped", "numpy_value", "nested"])
def test_a_sampler_of_ones_own_is_generated_and_gone_on_with(variable: str, own: Path) -> None:
    recipe = Recipe("own_sampler:draw", 90, homogenize=(f"own_sampler:{variable}",), shard_size=40)
    dataset = generate(recipe, "made")
    assert len(examples(dataset)) == 90
    assert set(examples(dataset)[0]) == {"x", "t"}
    whole = contents(own / "made")
    delete_a_part(dataset)
    generate(recipe, "made")
    assert contents(own / "made") == whole


def test_plain_texts_are_one_column(own: Path) -> None:
    dataset = generate(Recipe("own_sampler:text", 50), "made")
    assert set(examples(dataset)) == {"", "a", "ab"}
    assert audit(dataset, by={"size": len}).variables["size"].n == 50


def test_no_key_of_an_example_is_lost(own: Path) -> None:
    rows = examples(generate(Recipe("own_sampler:uneven", 20), "made"))
    assert {(row["a"], row["b"]) for row in rows} == {(1, None), (1, 2)}


@pytest.mark.parametrize("draw", ["huge", "odd"])
def test_examples_that_no_column_can_hold_are_refused(draw: str, own: Path) -> None:
    with pytest.raises(UnskewError, match="cannot be stored as columns"):
        generate(Recipe(f"own_sampler:{draw}", 20), "made")


# Recipes.


def test_a_recipe_is_read_back_as_it_was_written(tmp_path: Path) -> None:
    recipe = Recipe("calculator/t2t", 7, {"max_depth": 3}, ("length", "max_depth"), 0.1, 5, 100)
    assert Recipe.from_dict(recipe.to_dict()) == recipe
    (tmp_path / "recipe.json").write_text(recipe.to_json())
    assert Recipe.read(tmp_path / "recipe.json") == recipe
    assert Recipe.read(tmp_path / "recipe.json").hash == recipe.hash


def test_only_source_and_n_are_needed() -> None:
    recipe = Recipe.from_dict({"unskew_recipe": 1, "source": "calculator/dcfg", "n": 5})
    assert recipe == Recipe("calculator/dcfg", 5)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"sede": 1}, "unknown recipe field 'sede'; did you mean 'seed'"),
        ({"unskew_recipe": 2}, "recipe version is 2; this unskew reads version 1"),
        ({"unskew_recipe": None}, "recipe version is None"),
        ({"source": None}, "recipe source is None; give a text"),
        ({"source": 5}, "recipe source is 5"),
        ({"n": 0}, "n is 0; allowed is at least 1"),
        ({"n": -3}, "n is -3"),
        ({"n": "5"}, "recipe n is '5'"),
        ({"n": 5.0}, "recipe n is 5.0"),
        ({"n": True}, "recipe n is True"),
        ({"n": None}, "recipe n is None"),
        ({"epsilon": -0.1}, "epsilon is -0.1"),
        ({"epsilon": float("nan")}, "epsilon is nan"),
        ({"epsilon": "0.1"}, "epsilon is '0.1'"),
        ({"epsilon": None}, "epsilon is None"),
        ({"seed": -1}, "seed is -1"),
        ({"seed": 1.5}, "recipe seed is 1.5"),
        ({"shard_size": 0}, "shard_size is 0"),
        ({"shard_size": "many"}, "recipe shard_size is 'many'"),
        ({"homogenize": "length"}, "homogenize is 'length'"),
        ({"homogenize": 5}, "homogenize is 5"),
        ({"homogenize": [5]}, "homogenize is"),
        ({"parameters": [1]}, r"parameters is \[1\]"),
        ({"parameters": None}, "parameters is None"),
    ],
    ids=str,
)
def test_a_recipe_that_cannot_be_run_is_refused(change: dict[str, Any], message: str) -> None:
    right = {"unskew_recipe": 1, "source": "calculator/dcfg", "n": 5}
    with pytest.raises(UnskewError, match=message):
        Recipe.from_dict({**right, **change})


@pytest.mark.parametrize("missing", ["source", "n"])
def test_a_recipe_without_its_source_or_size_is_refused(missing: str) -> None:
    data = {"unskew_recipe": 1, "source": "calculator/dcfg", "n": 5}
    del data[missing]
    with pytest.raises(UnskewError, match=f"recipe has no '{missing}'"):
        Recipe.from_dict(data)


@pytest.mark.parametrize("text", ["", "{", "[]", "5", "\udcff"])
def test_a_recipe_file_that_is_no_recipe_is_refused(text: str, tmp_path: Path) -> None:
    (tmp_path / "recipe.json").write_bytes(text.encode(errors="surrogateescape"))
    with pytest.raises(UnskewError, match=r"recipe\.json"):
        Recipe.read(tmp_path / "recipe.json")
    with pytest.raises(UnskewError, match=r"recipe .*missing\.json cannot be read"):
        Recipe.read(tmp_path / "missing.json")


def test_the_card_counts_values_that_json_does_not_have(tmp_path: Path, monkeypatch: Any) -> None:
    """An infinity and members of an Enum are texts in the notes of parts."""
    (tmp_path / "coins.py").write_text(
        "import enum, math\n"
        "import unskew\n"
        "Side = enum.Enum('Side', ['HEADS', 'TAILS'])\n"
        "def draw(rng): return int(rng.integers(2))\n"
        "far = unskew.over(lambda x: math.inf if x else 0.0, [0.0, math.inf])\n"
        "side = unskew.over(lambda x: Side.TAILS if x else Side.HEADS, list(Side))\n"
    )
    monkeypatch.chdir(tmp_path)
    for name in ("far", "side"):
        recipe = Recipe("coins:draw", 400, homogenize=(f"coins:{name}",), seed=3)
        made = generate(recipe, tmp_path / name)
        row = next(
            line
            for line in (made.folder / "README.md").read_text().splitlines()
            if line.startswith(f"| `coins:{name}")
        )
        cells = [cell.strip() for cell in row.split("|")]
        assert cells[3] == "2 of 2"
        assert float(cells[5].lstrip("<")) < 0.1, "the coin is fair"
        assert cells[7] == "none"


def test_a_warning_is_told_when_it_comes(tmp_path: Path, monkeypatch: Any, capsys: Any) -> None:
    """Not after the part, which may take hours and may be stopped."""
    (tmp_path / "dear.py").write_text(
        "drawn = 0\n"
        "def draw(rng):\n"
        "    global drawn\n"
        "    drawn += 1\n"
        "    if drawn > 200_000: raise KeyboardInterrupt\n"
        "    return int(rng.geometric(0.9))\n"
    )
    monkeypatch.chdir(tmp_path)
    recipe = Recipe("dear:draw", 30_000, homogenize=("builtins:int",), epsilon=1e-5)
    with pytest.warns(UserWarning, match="costs") as told, pytest.raises(KeyboardInterrupt):
        generate(recipe, tmp_path / "made")
    assert len([event for event in told if "costs" in str(event.message)]) == 1


def test_numbers_of_numpy_are_numbers() -> None:
    recipe = Recipe("calculator/dcfg", np.int64(3), epsilon=np.float32(0.5))
    assert recipe.hash == Recipe("calculator/dcfg", 3, epsilon=0.5).hash


# A run that fails before it makes anything leaves no folder.

OWN_DRAW = """
def draw(rng):
    return {"a": int(rng.integers(3)), "b": 1}

def late(example):
    late.calls += 1
    if late.calls > 60:
        raise ValueError("late")
    return example["a"]

late.calls = 0
"""


@pytest.fixture
def own_draw(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path("own_draw.py").write_text(OWN_DRAW)
    yield
    sys.modules.pop("own_draw", None)


@pytest.mark.parametrize("variable", ["zzz", "a.b", "words(a)"])
def test_a_variable_that_is_not_there_leaves_no_folder(own_draw, run, variable):
    Path("others.jsonl").write_text('{"a": 9, "b": 1}\n')
    command = ["generate", "own_draw:draw", "-n", 20, "--exclude", "others.jsonl", "-o", "made"]
    code, _, err = run(*command, "--homogenize", variable)
    assert (code, err.count("\n")) == (2, 1)
    assert not Path("made").exists()
    assert run(*command, "--homogenize", "a")[0] == 0  # the same folder, another recipe


def test_a_run_that_failed_late_keeps_what_it_made(own_draw):
    recipe = Recipe("own_draw:draw", 60, homogenize=("own_draw:late",), shard_size=10)
    with pytest.raises(UnskewError, match="late"):
        generate(recipe, "made")
    assert Path("made/recipe.json").is_file()
    assert list(Path("made/data").iterdir())


def test_a_folder_that_was_there_stays(own_draw):
    Path("made").mkdir()
    Path("made/recipe.json").write_text(Recipe("own_draw:draw", 20, homogenize=("zzz",)).to_json())
    with pytest.raises(UnskewError, match="zzz"):
        generate(Recipe("own_draw:draw", 20, homogenize=("zzz",)), "made")
    assert [path.name for path in Path("made").iterdir()] == ["recipe.json"]
