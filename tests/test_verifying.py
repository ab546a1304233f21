"""Faults that are planted in a dataset, one at a time, and found by ``verify``."""

import re
import shutil
import sys
from collections.abc import Callable, Iterator
from dataclasses import replace
from importlib import import_module
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from tests.datasets import edit_json
from unskew import Dataset, Recipe, UnskewError, generate
from unskew.datasets.parts.part import NOTES, part_name
from unskew.datasets.verify import RECHECKED, verify
from unskew.io.location import sha256

SMALL = Recipe("calculator/dcfg", 250, {"p": 0.3}, shard_size=100)
NAMES = [f"data/train-0000{i}-of-00003.parquet" for i in range(3)]


@pytest.fixture(scope="module")
def made(tmp_path_factory) -> Path:
    return generate(SMALL, tmp_path_factory.mktemp("made") / "made").folder


@pytest.fixture
def folder(made, tmp_path) -> Path:
    """A dataset to spoil."""
    return Path(shutil.copytree(made, tmp_path / "spoilt"))


def agree(folder: Path) -> None:
    """Let manifest and notes say of every part what its file is, as a careful hand would."""
    shutil.rmtree(folder / NOTES)

    def corrected(manifest: dict) -> None:
        for part in manifest["parts"]:
            part["sha256"] = sha256(folder / part["file"])
            part["rows"] = pq.read_metadata(folder / part["file"]).num_rows
        manifest["rows"] = sum(part["rows"] for part in manifest["parts"])
        manifest["tally"]["kept"] = manifest["rows"]

    edit_json(folder / "manifest.json", corrected)


def rewrite(folder: Path, number: int, change: Callable[[pa.Table], pa.Table]) -> None:
    """Change the table of a part; what its footer says of its recipe stays."""
    path = folder / NAMES[number]
    table = pq.read_table(path)
    pq.write_table(change(table).replace_schema_metadata(table.schema.metadata), path)


# Files that agree with the manifest, but not with the recipe.


def cut_rows(folder: Path) -> str:
    rewrite(folder, 1, lambda table: table.slice(10))
    return f"{NAMES[1]} has 90 rows, the recipe asks for 100"


def cut_a_whole_part(folder: Path) -> str:
    (folder / NAMES[1]).unlink()
    edit_json(folder / "manifest.json", lambda manifest: manifest["parts"].pop(1))
    return f"{NAMES[1]} is missing"


def swap_parts(folder: Path) -> str:
    one, two = ((folder / name).read_bytes() for name in NAMES[:2])
    (folder / NAMES[0]).write_bytes(two)
    (folder / NAMES[1]).write_bytes(one)
    return f"{NAMES[0]} is part 1 of the recipe, not 0"


def swap_entries(folder: Path) -> str:
    edit_json(folder / "manifest.json", lambda manifest: manifest["parts"].reverse())
    return "manifest.json has the parts in another order than the recipe"


def copy_a_part(folder: Path) -> str:
    shutil.copy(folder / NAMES[0], folder / NAMES[1])
    return f"{NAMES[1]} is part 0 of the recipe, not 1"


def part_of_another_recipe(folder: Path) -> str:
    other = replace(SMALL, seed=4)
    shutil.copy(generate(other, folder.with_name("other")).parts[1], folder / NAMES[1])
    return f"{NAMES[1]} is of another recipe ({other.hash})"


def part_that_names_no_recipe(folder: Path) -> str:
    table = pq.read_table(folder / NAMES[1])
    pq.write_table(table.replace_schema_metadata(None), folder / NAMES[1])
    return f"{NAMES[1]} is of another recipe (it names none)"


def another_type(folder: Path) -> str:
    def change(table: pa.Table) -> pa.Table:
        column = table.column_names.index("value")
        return table.set_column(column, "value", table["value"].cast(pa.float64()))

    rewrite(folder, 1, change)
    return "value double; elsewhere expression string"


def another_column_everywhere(folder: Path) -> str:
    for number in range(3):
        rewrite(folder, number, lambda t: t.append_column("more", pa.array(range(len(t)))))
    return "train-00002-of-00003.parquet is not what its recipe makes"


def rows_in_another_order(folder: Path) -> str:
    rewrite(folder, 2, lambda table: table.take(list(reversed(range(len(table))))))
    return "train-00002-of-00003.parquet is not what its recipe makes"


def no_such_column(folder: Path) -> str:
    rewrite(folder, 1, lambda table: table.rename_columns(["x", *table.column_names[1:]]))
    return "train-00001-of-00003.parquet: columns x string"


def nothing_but_text(folder: Path) -> str:
    (folder / NAMES[1]).write_bytes(b"PAR1 and no more")
    edit_json(
        folder / "manifest.json",
        lambda manifest: manifest["parts"][1].update(sha256=sha256(folder / NAMES[1])),
    )
    (folder / "data" / "more.parquet").touch()  # the faults beside it are told of too
    checked = verify(folder).faults
    assert "data/more.parquet is not in manifest.json" in checked
    return f"{NAMES[1]} cannot be read as Parquet"


@pytest.mark.parametrize(
    "spoil",
    [
        cut_rows,
        cut_a_whole_part,
        swap_parts,
        swap_entries,
        copy_a_part,
        part_of_another_recipe,
        part_that_names_no_recipe,
        another_type,
        another_column_everywhere,
        rows_in_another_order,
        no_such_column,
    ],
)
def test_parts_that_are_not_the_recipes_are_found(spoil, folder, run):
    expected = spoil(folder)
    agree(folder)
    checked = verify(folder)
    assert any(expected in fault for fault in checked.faults), checked.faults
    assert checked.skipped == [f"the tally was not added up: not all notes are in {NOTES}"]
    code, out, _ = run("verify", folder)
    assert code == 1
    assert expected in out


def test_a_changed_part_is_told_by_its_note_alone(folder):
    """Checksum and manifest agree; the note still tells."""
    rewrite(folder, 0, lambda table: table.take([1, 0, *range(2, 100)]))
    edit_json(
        folder / "manifest.json",
        lambda manifest: manifest["parts"][0].update(sha256=sha256(folder / NAMES[0])),
    )
    assert verify(folder).faults == [f"manifest.json does not agree with the note of {NAMES[0]}"]


# A manifest that says something else, or nothing that can be understood.


def said(**changes: object) -> Callable[[dict], object]:
    return lambda manifest: manifest.update(changes)


def said_of_a_part(**changes: object) -> Callable[[dict], object]:
    return lambda manifest: manifest["parts"][1].update(changes)


MANIFESTS = {
    "no recipe": (lambda manifest: manifest.pop("recipe"), "is of another recipe"),
    "another recipe": (said(recipe="0" * 16), "is of another recipe"),
    "rows": (said(rows=2_507), "says 2507 rows, its parts have 250"),
    "rows of text": (said(rows="x"), "says 'x' rows, its parts have 250"),
    "no rows": (lambda manifest: manifest.pop("rows"), "says None rows"),
    "rows of a part": (said_of_a_part(rows=7), f"{NAMES[1]} has 100 rows, manifest.json says 7"),
    "kept": (lambda manifest: manifest["tally"].update(kept=9), "the tally has 9 kept"),
    "dropped": (
        lambda manifest: manifest["tally"].update(dropped={"invented": 5}),
        "the tally is not what the notes add up to",
    ),
    "twice": (lambda manifest: manifest["parts"].append(manifest["parts"][0]), "twice"),
}
UNREADABLE = {
    "rows of a part of text": (said_of_a_part(rows="x"), "part 1 has no right rows"),
    "no checksum": (lambda manifest: manifest["parts"][1].pop("sha256"), "no right sha256"),
    "parts of text": (lambda m: m["parts"].append("x"), "part 3 has no right file"),
    "no parts": (said(parts=7), f"{NAMES[0]} is not in manifest.json"),
    "no tally": (said(tally=None), "the tally has None kept"),
}


@pytest.mark.parametrize("name", [*MANIFESTS, *UNREADABLE])
def test_a_manifest_that_is_wrong_is_a_fault(name, folder, run):
    change, expected = {**MANIFESTS, **UNREADABLE}[name]
    edit_json(folder / "manifest.json", change)
    faults = verify(folder).faults
    assert any(expected in fault for fault in faults), faults
    if name in MANIFESTS:
        code, out, _ = run("verify", folder)
        assert code == 1
        assert f"{expected}" in out


@pytest.mark.parametrize("text", ["", "[]", "{", "7", pytest.param("[" * 100_000, id="deep")])
def test_a_manifest_that_is_none_is_a_fault(text, folder):
    (folder / "manifest.json").write_text(text)
    assert any("manifest.json" in fault for fault in verify(folder).faults)


def test_a_fault_is_one_line_whatever_a_file_is_called(folder):
    edit_json(folder / "manifest.json", lambda manifest: manifest["parts"][0].update(file="a\nb"))
    assert r"a\nb is in manifest.json, but no part of the recipe" in verify(folder).faults


@pytest.mark.parametrize("field", ["distinct", ""])
def test_a_recipe_that_asks_for_endless_rows_is_compared_but_not_run(field, folder):
    """Its part is there and is small; making it again would take more memory than there is."""
    edit_json(folder / "recipe.json", lambda recipe: recipe.update(n=10**12, shard_size=10**11))
    edit_json(folder / "recipe.json", lambda recipe: recipe.update({field: True} if field else {}))
    recipe = Recipe.read(folder / "recipe.json")
    (folder / NAMES[0]).rename(folder / part_name(recipe, 0))
    checked = verify(folder)
    assert "no part was made again: none is whole and of the recipe's size" in checked.skipped
    assert any("of another recipe" in fault for fault in checked.faults)


@pytest.mark.parametrize("rows", [1.5, True, None, -1, "1", 10**30])
def test_a_manifest_with_impossible_rows_is_not_opened(rows, folder):
    edit_json(folder / "manifest.json", lambda manifest: manifest["parts"][0].update(rows=rows))
    with pytest.raises(UnskewError, match=r"manifest.json cannot be read"):
        Dataset.open(folder)


def test_a_part_that_cannot_be_read_is_a_fault_among_others(folder, run):
    expected = nothing_but_text(folder)
    code, out, _ = run("verify", folder)
    assert code == 1
    assert expected in out
    assert "data/more.parquet is not in manifest.json" in out


def test_rows_that_cannot_be_read_are_a_fault(folder, run):
    """The footer is right, and so is the checksum; a page between is not."""
    path = folder / NAMES[1]
    data = bytearray(path.read_bytes())
    data[4:200] = bytes(196)
    path.write_bytes(data)
    agree(folder)
    code, out, _ = run("verify", folder)
    assert code == 1
    assert "train-00001-of-00003.parquet cannot be read" in out


def test_a_card_that_is_gone_is_a_fault(folder):
    (folder / "README.md").unlink()
    assert verify(folder).faults == ["README.md is missing"]


def test_an_altered_note_is_a_fault(folder):
    name = f"{NOTES}/train-00001-of-00003.json"
    edit_json(folder / name, lambda note: note.update(rows=7))
    assert verify(folder).faults == [f"{name} does not match its digest"]


# What is looked at again.


WATCHED = """
from dataclasses import replace
from unskew.domains.calculator import DOMAIN as CALCULATOR
SEEN = []
DOMAIN = replace(CALCULATOR, name="watched", recheck=lambda row: SEEN.append(row) or True)
"""


def test_the_rows_worked_out_again_are_of_all_parts_and_splits(tmp_path, own_module):
    own_module("watched", WATCHED)
    recipe = Recipe("watched:dcfg", 1_100, splits={"test": 20, "train": 1_080}, shard_size=100)
    made = generate(recipe, tmp_path / "made")
    seen = import_module("watched").SEEN
    assert verify(made.folder, trust=True).rechecked == len(seen) == RECHECKED
    texts = {row["expression"] for row in seen}
    for part in made.parts:
        assert texts & set(pq.read_table(part)["expression"].to_pylist())


NO_CHECK = (
    "rows were not checked: passing:draw belongs to no domain, so nothing says which rows are right"
)
DICE = """
import numpy as np
from unskew import Domain
from unskew.core.source import plain_source

def throws():
    return plain_source(lambda rng: {"dots": int(rng.integers(1, 7))})

def check(batch):
    return RIGHT

DOMAIN = Domain("dice", "one die", {"throws": throws}, {}, str, check)
"""


def test_the_output_says_which_rows_were_checked(folder, run, tmp_path, monkeypatch):
    """By a domain with a slow way, by one without, and by none."""
    assert "250 checked, 200 of them again in a second, slow way" in run("verify", folder)[1]
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(str(tmp_path))
    Path("own_dice.py").write_text(DICE.replace("RIGHT", "np.ones(len(batch), bool)"))
    Path("passing.py").write_text("def draw(rng):\n    return {'x': int(rng.integers(99))}\n")
    generate(Recipe("own_dice:throws", 60), "dice")
    code, out, _ = run("verify", "dice", "--trust")
    assert (code, out.partition("keys, ")[2]) == (0, "60 checked\nno fault found\n")
    generate(Recipe("passing:draw", 20), "made")
    code, out, _ = run("verify", "made", "--trust")
    assert code == 0
    assert "keys, 0 checked\n" in out
    assert f"not looked at: {NO_CHECK}\n" in out
    for name in ("own_dice", "passing"):
        del sys.modules[name]


@pytest.mark.parametrize(
    ("right", "got"),
    [
        ("True", "returned True"),
        ("[True] * len(batch)", "returned a list"),
        ("np.ones(len(batch) + 1, bool)", r"returned an array of bool of shape \(61,\)"),
        ("np.ones(len(batch))", r"returned an array of float64 of shape \(60,\)"),
    ],
)
def test_a_check_that_returns_anything_else_is_told_what_to_return(
    right, got, tmp_path, monkeypatch
):
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(str(tmp_path))
    Path("own_dice.py").write_text(DICE.replace("RIGHT", right))
    generate(Recipe("own_dice:throws", 60), "dice")
    checked = verify("dice", trust=True)
    del sys.modules["own_dice"]
    assert checked.checked == 0
    (fault,) = checked.faults
    assert re.search(f"the check of dice {got}; return a NumPy array of bool .* 60 rows", fault)


def test_a_source_that_is_gone_is_a_fault_if_it_is_trusted(tmp_path, monkeypatch, run):
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(str(tmp_path))
    Path("passing.py").write_text("def draw(rng):\n    return {'x': int(rng.integers(99))}\n")
    generate(Recipe("passing:draw", 20, shard_size=10), "made")
    assert verify("made", trust=True).skipped == [NO_CHECK]
    Path("passing.py").unlink()
    monkeypatch.delitem(__import__("sys").modules, "passing")
    shutil.rmtree("__pycache__", ignore_errors=True)
    checked = verify("made", trust=True)
    gone = "'passing:draw': there is no module 'passing'; run where it can be imported"
    message = f"rows were not checked, no part was made again, and keys were not compared: {gone}"
    assert (checked.faults, checked.skipped) == ([message], [])
    code, out, _ = run("verify", "made", "--trust")
    assert (code, f"fault: {message}\n" in out, "no fault" in out) == (1, True, False)
    assert verify("made").faults == []
    code, out, _ = run("verify", "made")
    assert (code, out.endswith("no fault found in what was looked at\n")) == (0, True)


def test_a_source_that_fails_is_a_fault_if_it_is_trusted(tmp_path, monkeypatch, run):
    """Not one part could be made again, which somebody who trusts the code asked for."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(str(tmp_path))
    Path("failing.py").write_text("def draw(rng):\n    return {'x': int(rng.integers(99))}\n")
    generate(Recipe("failing:draw", 20), "made")
    monkeypatch.delitem(sys.modules, "failing")
    shutil.rmtree("__pycache__", ignore_errors=True)
    Path("failing.py").write_text("def draw(rng):\n    raise ValueError('gone')\n")
    code, out, _ = run("verify", "made", "--trust")
    assert (code, "no fault" in out) == (1, False)
    assert "fault: no part was made again: sampler 'failing:draw' raised ValueError: gone" in out
    monkeypatch.delitem(sys.modules, "failing")


@pytest.mark.parametrize("fields", [{"distinct": True}, {"homogenize": ("length",)}])
def test_good_datasets_have_no_fault(fields, tmp_path):
    made = generate(replace(SMALL, **fields), tmp_path / "made")
    checked = verify(made.folder)
    assert (checked.faults, checked.skipped) == ([], [])
    assert checked.rows == len(made)


SELDOM = """
def lists(rng):
    tags = [{"name": "x", "by": None}] if rng.random() < 0.02 else []
    return {"n": int(rng.integers(9)), "tags": tags}

def two_types(rng):
    note = 7 if rng.random() < 0.5 else "x"
    return {"n": rng.random(), "note": note if rng.random() < 0.01 else None}
"""


@pytest.fixture
def seldom(tmp_path, monkeypatch) -> Iterator[Callable[[str], tuple[set[str], list[str]]]]:
    """Make a dataset of a sampler whose values are there seldom; return its types and faults."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(str(tmp_path))
    Path("seldom.py").write_text(SELDOM)

    def check(name: str) -> tuple[set[str], list[str]]:
        made = generate(Recipe(f"seldom:{name}", 400, shard_size=10), "made")
        types = {str(pq.read_schema(part).types[1]) for part in made.parts}
        return types, verify("made", trust=True).faults

    yield check
    sys.modules.pop("seldom", None)


def test_lists_that_are_all_empty_in_a_part_are_no_fault(seldom):
    types, faults = seldom("lists")
    assert len(types) == 2
    assert faults == []


def test_two_types_are_a_fault_though_most_parts_have_none(seldom):
    types, faults = seldom("two_types")
    assert types == {"null", "int64", "string"}
    assert faults
    assert all("columns n double, note" in fault for fault in faults)


def test_a_given_dataset_whose_input_has_changed_is_not_made_again(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    base = generate(Recipe("karel/msr", 30), "base")
    generate(Recipe("karel/uniform", 20, {"tries": 200}, given="base"), "made")
    checked = verify("made", trust=True)
    assert (checked.faults, checked.skipped) == ([], [])
    shutil.rmtree(base.folder)
    generate(Recipe("karel/msr", 30, seed=1), "base")
    checked = verify("made", trust=True)
    assert checked.faults == []
    assert "base has changed" in checked.skipped[0]


def test_sampled_rows_are_never_more_than_there_are(tmp_path):
    made = generate(replace(SMALL, n=50, shard_size=20), tmp_path / "made")
    assert verify(made.folder).rechecked == 50
    assert np.unique([len(part) for part in made.batches()]).tolist() == [10, 20]
