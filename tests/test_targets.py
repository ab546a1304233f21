"""Every command takes every name: a source, a recipe, a table, a dataset, a file, a folder."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest

import unskew
from unskew import Recipe, UnskewError
from unskew.datasets.open import open_input, open_target

RECIPE = Recipe("karel/msr", 30, seed=5)


@pytest.fixture
def command(run):
    """Run a command; return stdout, or stderr if it is to fail."""

    def call(*arguments: object, code: int = 0) -> str:
        ended, out, err = run(*arguments)
        assert ended == code, err
        return err if code else out

    return call


@pytest.fixture(scope="module")
def data(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """The same examples under every name that data can have."""
    folder = tmp_path_factory.mktemp("data")
    dataset = unskew.generate(RECIPE, folder / "dataset")
    (folder / "recipe.json").write_text(RECIPE.to_json())
    rows = [json.dumps(row) for row in map(plain, open_target(dataset).read(None))]
    (folder / "rows.jsonl").write_text("\n".join(rows) + "\n")
    return {
        "dataset": str(folder / "dataset"),
        "part": str(dataset.parts[0]),
        "folder of parts": str(folder / "dataset" / "data"),
        "recipe file": str(folder / "recipe.json"),
        "rows": str(folder / "rows.jsonl"),
    }


def plain(batch: unskew.Batch) -> dict[str, object]:
    return {"program": batch.columns["program"][0].as_py()}


FINITE = ("karel/narrow-0.65-0.25-U", "karel/problems")


@pytest.mark.parametrize("name", ["dataset", "part", "folder of parts", "recipe file"])
def test_one_set_of_examples_is_the_same_under_each_of_its_names(data, name):
    expected = list(open_target(data["dataset"]).read(None))
    programs = [p for batch in expected for p in batch.columns["program"].to_pylist()]
    target = open_target(data[name])
    of_this_name = [p for batch in target.read(None) for p in batch.columns["program"].to_pylist()]
    assert of_this_name == programs
    assert target.domain.name == "karel"
    assert target.size() == 30
    assert target.rows(7, 19).columns["program"].to_pylist() == programs[7:19]
    assert len(target.content()) >= 16


def test_a_recipe_object_is_read_as_its_dataset_is(data):
    audits = [unskew.audit(target, by="size") for target in (RECIPE, data["dataset"])]
    assert audits[0].variables["size"].counts == audits[1].variables["size"].counts
    assert dict(audits[0].dropped) == dict(audits[1].dropped)


@pytest.mark.parametrize("name", [*FINITE, "recipe file", "part"])
@pytest.mark.parametrize(
    "arguments",
    [
        ("audit", "{}", "--by", "size", "-n", 20),
        ("show", "{}", "-n", 2),
        ("convert", "{}", "out.jsonl", "-n", 20),
        ("resample", "{}", "--homogenize", "nesting", "-o", "out.parquet"),
    ],
)
def test_every_command_of_data_takes_every_name(
    command, data, name, arguments, tmp_path, monkeypatch
):
    monkeypatch.chdir(tmp_path)
    command(*(str(a).format(data.get(name, name)) for a in arguments))


def test_recipes_and_their_files_can_be_given_and_excluded(data, tmp_path):
    for name in ("karel/while-in-if", data["recipe file"]):
        assert open_input(name).content()
    recipe = Recipe("karel/narrow", 30, given=data["recipe file"])
    assert 0 < len(unskew.generate(recipe, tmp_path / "narrow")) <= 30


def test_a_source_is_no_finite_set():
    with pytest.raises(UnskewError, match="karel/msr never ends"):
        open_input("karel/msr")
    with pytest.raises(UnskewError, match="karel/msr never ends"):
        open_target("karel/msr").size()


def test_a_built_in_name_comes_before_a_folder_of_that_name(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path("calculator/dcfg").mkdir(parents=True)
    Path("calculator/dcfg/a.jsonl").write_text('{"x": 1}\n')
    assert open_target("calculator/dcfg").endless
    assert open_target("./calculator/dcfg").size() == 1


def test_the_file_of_a_recipe_runs_no_code_unless_it_is_trusted(command, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setitem(sys.modules, "evil", None)  # it is restored: others look whether it is here
    del sys.modules["evil"]
    Path("evil.py").write_text("print('imported')\ndef draw(rng):\n    return {'x': 1}\n")
    Path("recipe.json").write_text(Recipe("evil:draw", 5).to_json())
    refused = command("audit", "recipe.json", code=2)
    assert "the data names the code evil:draw, which is not run" in refused
    assert "imported" not in refused
    assert "x" in command("audit", "recipe.json", "--trust")


def test_generate_says_what_data_is_for(command, data):
    refused = command("generate", data["part"], "-o", "x", code=2)
    assert refused == (
        f"error: {data['part']} is data, and generate makes new examples; choose from the data "
        f"with unskew resample {data['part']}\n"
    )


@pytest.mark.parametrize("kind", ["records", "table"])
def test_synthesize_takes_an_example_of_any_data(run, data, kind):
    """One row of Karel's six pairs: five are shown, and the sixth tells if a program is right."""
    name, held_out = (data["part"], 1) if kind == "records" else ("karel/problems", 0)
    code, out, err = run("synthesize", name, "--row", 2, "--json")
    assert code in (0, 1), err
    result = json.loads(out)
    assert (result["row"], result["held_out"]) == (2, held_out)
    assert all(type(program["generalizes"]) is bool for program in result["programs"])


def test_a_row_that_is_not_there_is_named(command, data):
    refused = command("synthesize", data["part"], "--row", 31, code=2)
    assert (
        refused == f"error: {data['part']} has 30 examples, and no row 31; give a smaller --row\n"
    )
