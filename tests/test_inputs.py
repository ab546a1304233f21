"""Given and excluded examples that change between a run and its resumption are noticed."""

import json
import shutil
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from tests.datasets import agree_with_part, contents
from unskew import Recipe, UnskewError, generate
from unskew.datasets import run as running
from unskew.datasets.engines import processes
from unskew.datasets.inputs import RECORD, content_of
from unskew.datasets.open import open_input, open_target
from unskew.datasets.parts.part import NOTES
from unskew.datasets.parts.shard import DERIVED_AT_ONCE
from unskew.datasets.parts.splits import keys_in
from unskew.datasets.run import shard
from unskew.domains.karel.recipes import problem_table

BASE = Recipe("karel/actions", 60, shard_size=25)
OTHER = Recipe("karel/actions", 60, seed=9, shard_size=25)


@pytest.fixture(scope="module")
def made(tmp_path_factory) -> Path:
    """A folder with a dataset, another to put in its place, and the same as plain files."""
    folder = tmp_path_factory.mktemp("inputs")
    for name, recipe in (("base", BASE), ("other", OTHER)):
        batches = generate(recipe, folder / name).batches()
        rows = [row for batch in batches for row in batch.examples()]
        pq.write_table(pa.Table.from_pylist(rows), folder / f"{name}.parquet")
        (folder / f"{name}.jsonl").write_text(
            "".join(json.dumps({"program": row["program"]}) + "\n" for row in rows)
        )
        (folder / f"{name}-files").mkdir()
        shutil.copy(folder / f"{name}.parquet", folder / f"{name}-files" / "a.parquet")
    return folder


@pytest.fixture
def inputs(made, tmp_path, monkeypatch) -> Path:
    """A copy of it, to change, as the current folder."""
    shutil.copytree(made, tmp_path, dirs_exist_ok=True)
    monkeypatch.chdir(tmp_path)
    return tmp_path


def replace(name: str) -> None:
    """Put the other content in the place of an input."""
    other = name.replace("base", "other")
    if Path(name).is_dir():
        shutil.rmtree(name)
        shutil.copytree(other, name)
    else:
        shutil.copy(other, name)


def recipe_with(kind: str, name: str) -> Recipe:
    if kind == "given":
        return Recipe("karel/uniform", 60, {"tries": 200}, given=name, shard_size=25)
    return Recipe("karel/actions", 60, seed=4, exclude=(name,), shard_size=25)


INPUTS = ["base", "base.parquet", "base.jsonl", "base-files"]


@pytest.mark.parametrize("kind", ["given", "exclude"])
@pytest.mark.parametrize(
    ("name", "engine"), [*((name, None) for name in INPUTS), ("base.jsonl", processes(2))]
)
def test_a_changed_input_is_refused_and_changes_nothing(inputs, name, kind, engine):
    recipe = recipe_with(kind, name)
    whole = contents(generate(recipe, "whole").folder)
    dataset = generate(recipe, "made", engine=engine)
    assert contents(Path("made")) == whole
    assert generate(recipe, "made") == dataset  # finished, and its inputs are what they were
    dataset.parts[1].unlink()
    before = contents(Path("made"))
    shutil.copytree(name, "kept") if Path(name).is_dir() else shutil.copy(name, "kept")
    replace(name)
    with pytest.raises(UnskewError) as caught:
        generate(recipe, "made", engine=engine)
    assert str(caught.value) == (
        f"{name} has changed since made was begun; restore it, or choose a new folder"
    )
    assert contents(Path("made")) == before
    if Path(name).is_dir():
        shutil.rmtree(name)
    shutil.move("kept", name)
    generate(recipe, "made", engine=engine)
    assert contents(Path("made")) == whole


def test_an_input_that_changes_while_parts_are_made_is_noticed(inputs, monkeypatch):
    recipe = recipe_with("given", "base.jsonl")

    def made_late(recipe, index, *rest):
        made = shard(recipe, index, *rest)
        if index == 1:
            replace("base.jsonl")
        return made

    monkeypatch.setattr(running, "shard", made_late)
    with pytest.raises(UnskewError, match=r"base\.jsonl has changed since made was begun"):
        generate(recipe, "made")
    assert [path.name for path in Path("made/data").iterdir()] == ["train-00000-of-00003.parquet"]


def test_workers_notice_it_by_themselves(inputs):
    """The parent looks when it starts; a worker looks at each part."""
    recipe = recipe_with("given", "base.jsonl")
    generate(recipe, "made").parts[1].unlink()

    def change_then_make(work):
        replace("base.jsonl")
        return processes(2)(work)

    before = contents(Path("made"))
    with pytest.raises(UnskewError, match=r"base\.jsonl has changed since .*made was begun"):
        generate(recipe, "made", engine=change_then_make)
    assert contents(Path("made")) == before


def test_without_a_record_nothing_is_gone_on_with(inputs):
    recipe = recipe_with("given", "base")
    generate(recipe, "made")
    Path("made", NOTES, RECORD).unlink()
    with pytest.raises(UnskewError, match="what its parts were made of is not known"):
        generate(recipe, "made")
    Path("made", NOTES, RECORD).write_text("[")
    with pytest.raises(UnskewError, match=r"inputs\.json cannot be read .*; choose a new folder"):
        generate(recipe, "made")


def test_stopped_before_the_record_it_begins_anew(inputs):
    recipe = recipe_with("given", "base")
    whole = contents(generate(recipe, "whole").folder)
    Path("made").mkdir()
    Path("made/recipe.json").write_text(recipe.to_json())
    generate(recipe, "made")
    assert contents(Path("made")) == whole


def test_a_recipe_without_inputs_has_no_record(inputs):
    assert not Path("base", NOTES, RECORD).exists()


def test_names_of_recipes_and_tables_have_contents_too():
    assert content_of("karel/while-in-if") != content_of("karel/uniform-test")
    assert content_of("karel/problems")


@pytest.mark.parametrize("kind", ["given", "exclude"])
def test_a_part_of_a_dataset_that_is_not_what_it_was(inputs, kind):
    shutil.move("base", "spoilt")
    part = "data/train-00001-of-00003.parquet"
    shutil.copy(Path("other", part), Path("spoilt", part))
    with pytest.raises(UnskewError, match=r"00001-of-00003\.parquet does not match its checksum"):
        generate(recipe_with(kind, "spoilt"), "made")
    assert not list(Path("made").rglob("*00001*"))


@pytest.mark.parametrize("name", INPUTS)
def test_every_form_of_an_excluded_input_leaves_the_same_out(inputs, name):
    dataset = generate(recipe_with("exclude", name), "made").tally.dropped
    assert dataset[f"is in {name}"] > 0
    left_out = keys_in(open_input(name), "program")
    assert np.array_equal(left_out, keys_in(open_input("base"), "program"))


def test_a_file_without_keys_leaves_nothing_out_and_is_refused(inputs):
    Path("x.jsonl").write_text('{"x": 1}\n')
    with pytest.raises(UnskewError, match=r"x\.jsonl has no column 'program' to tell"):
        generate(recipe_with("exclude", "x.jsonl"), "made")


def test_excluded_keys_are_those_of_now(inputs):
    before = keys_in(open_input("base.jsonl"), "program")
    replace("base.jsonl")
    assert not np.array_equal(keys_in(open_input("base.jsonl"), "program"), before)


def test_an_input_that_is_not_there_leaves_no_folder(inputs):
    for recipe in (recipe_with("given", "nowhere.jsonl"), recipe_with("exclude", "nowhere.jsonl")):
        with pytest.raises(UnskewError, match=r"nowhere\.jsonl does not exist"):
            generate(recipe, "made")
    for recipe in (recipe_with("given", "nowhere"), recipe_with("exclude", "nowhere")):
        with pytest.raises(UnskewError, match="unknown source, recipe or file 'nowhere'"):
            generate(recipe, "made")
    with pytest.raises(UnskewError, match="never ends"):
        generate(recipe_with("exclude", "karel/msr"), "made")
    assert not Path("made").exists()


# A bad row is named by its file and its number there.


def spoil(path: Path, row: int, program: str | None) -> None:
    """Put a program in the place of the row-th, counted from 1."""
    table = pq.read_table(path)
    programs = table["program"].to_pylist()
    programs[row - 1] = program
    column = table.column_names.index("program")
    pq.write_table(table.set_column(column, "program", pa.array(programs)), path)


@pytest.mark.parametrize(
    ("program", "message"),
    [
        ("DEF run m( jump m)", "found 'jump'"),
        ("DEF run m( move", "found the end, expected"),
        ("DEF run m( " + " ".join(["move"] * 300) + " m)", "at most 256"),
    ],
)
def test_a_bad_row_of_a_file(inputs, program, message):
    spoil(Path("base.parquet"), 38, program)
    with pytest.raises(UnskewError, match=rf"^base\.parquet row 38: .*{message}"):
        generate(recipe_with("given", "base.parquet"), "made")


def test_a_bad_row_after_those_that_are_made_anew_at_once(inputs):
    row, n = DERIVED_AT_ONCE + 5, DERIVED_AT_ONCE + 10
    programs = ["DEF run m( move m)"] * n
    programs[row - 1] = "DEF run m( jump m)"
    pq.write_table(pa.table({"program": programs}), "long.parquet")
    recipe = Recipe("karel/uniform", n, {"tries": 200}, given="long.parquet", shard_size=n)
    with pytest.raises(UnskewError, match=rf"^long\.parquet row {row}: .*found 'jump'"):
        generate(recipe, "made")


@pytest.mark.parametrize(("option", "row"), [("given", 1), ("given", 38), ("exclude", 38)])
def test_a_row_without_a_program(inputs, option, row):
    spoil(Path("base.parquet"), row, None)
    message = rf"^base\.parquet row {row}: there is no program; leave the row out$"
    with pytest.raises(UnskewError, match=message):
        generate(recipe_with(option, "base.parquet"), "made")


def test_a_line_without_a_program(inputs):
    lines = Path("base.jsonl").read_text().splitlines()
    lines[40] = json.dumps({"program": None})
    Path("base.jsonl").write_text("\n".join(lines))
    message = r"^base\.jsonl row 41: there is no program; leave the row out$"
    with pytest.raises(UnskewError, match=message):
        generate(recipe_with("given", "base.jsonl"), "made")


def test_a_bad_row_of_one_of_several_files(inputs):
    shutil.copy("other.parquet", "base-files/b.parquet")
    spoil(Path("base-files/b.parquet"), 7, "DEF run m( jump m)")
    recipe = Recipe("karel/uniform", 120, {"tries": 200}, given="base-files", shard_size=25)
    with pytest.raises(UnskewError, match=r"^base-files/b\.parquet row 7: .*'jump'"):
        generate(recipe, "made", engine=processes(2))


def test_a_bad_line_of_jsonl(inputs):
    lines = Path("base.jsonl").read_text().splitlines()
    lines[40] = json.dumps({"program": "DEF run m( jump m)"})
    Path("base.jsonl").write_text("\n".join(lines))
    with pytest.raises(UnskewError, match=r"^base\.jsonl row 41: .*jump"):
        generate(recipe_with("given", "base.jsonl"), "made")


def test_a_bad_row_of_a_part(inputs):
    part = Path("base/data/train-00001-of-00003.parquet")
    spoil(part, 3, "DEF run m( jump m)")
    agree_with_part(Path("base"), 1)
    with pytest.raises(
        UnskewError, match=r"^base/data/train-00001-of-00003\.parquet row 3: 'jump'"
    ):
        generate(recipe_with("given", "base"), "made")


def test_a_recipe_that_leaves_rows_out_is_no_beginning(tmp_path):
    """Its shards have fewer rows than they are asked for: rows would be taken twice."""
    recipe = Recipe("karel/narrow", 100, given="karel/uniform-train")
    with pytest.raises(UnskewError, match="generate it first, and give its folder"):
        generate(recipe, tmp_path / "made")
    assert not (tmp_path / "made").exists()


def test_a_table_is_known_by_its_rows(monkeypatch):
    before = content_of("karel/problems")
    tables = {"problems": lambda: problem_table().slice(0, 40)}
    monkeypatch.setattr(
        "unskew.datasets.open.find_table", lambda name: tables.get(name.partition("/")[2])
    )
    assert content_of("karel/problems") != before


def test_a_row_is_named_as_the_files_are_now_and_the_last_one_is_not_read_for_it(tmp_path):
    for name, rows in (("a.jsonl", 1_000), ("b.jsonl", 500)):
        (tmp_path / name).write_text('{"x": 1}\n' * rows)
    opened = open_target(tmp_path)
    (tmp_path / "a.jsonl").write_text('{"x": 1}\n' * 900)
    (tmp_path / "b.jsonl").write_text("no JSON")
    assert opened.where(899) == f"{tmp_path / 'a.jsonl'} row 900"
    assert opened.where(1_000) == f"{tmp_path / 'b.jsonl'} row 101"
