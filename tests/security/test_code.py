"""Code that a dataset names is never imported, unless a person typed its name or said --trust."""

import json
import os
import pickle
import shutil
import subprocess
import sys
from functools import partial
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import unskew
from unskew import BatchSampler, Recipe, Sampler, UnskewError, generate, plan, resample, weights
from unskew.io.dataset import Dataset, recipe_of
from unskew.io.lookup import recipe_source, recipe_variables

MARK = Path("the-code-was-run")
EVIL = f"""
from pathlib import Path
Path({str(MARK)!r}).touch()

def draw(rng):
    return {{"x": int(rng.integers(5)), "y": int(rng.integers(5))}}

def x(row):
    return row["x"]
"""


@pytest.fixture
def stranger(tmp_path, monkeypatch):
    """A dataset made by somebody's module, and the module where it could be imported."""
    monkeypatch.chdir(tmp_path)
    Path("evil.py").write_text(EVIL)
    generate(Recipe("evil:draw", 200, homogenize=("evil:x",), shard_size=100), "made")
    forget()
    yield Path("made")
    forget()


def forget() -> None:
    """Bring back the moment before anything was imported."""
    sys.modules.pop("evil", None)
    shutil.rmtree("__pycache__", ignore_errors=True)
    MARK.unlink(missing_ok=True)


READING = [
    ("audit", "made"),
    ("audit", "made", "--by", "x"),
    ("audit", "calculator/dcfg", "-n", "100", "--after", "made"),
    ("show", "made"),
    ("convert", "made", "out.jsonl"),
    ("convert", "made", "out.parquet"),
    ("resample", "made", "--homogenize", "x", "-o", "even.parquet"),
    ("train", "made", "-o", "run", "--steps", "1"),
    ("evaluate", "run", "made"),
    ("verify", "made"),
    ("verify", "made", "--against", "made"),
    ("generate", "calculator/dcfg", "-n", "10", "--exclude", "made", "-o", "new"),
    ("generate", "karel/uniform", "-n", "10", "--given", "made", "-o", "new"),
    ("generate", "calculator/dcfg", "-n", "10", "-o", "made"),
    ("list",),
]


@pytest.mark.parametrize("args", READING, ids=" ".join)
def test_no_command_runs_the_code_of_a_dataset_that_it_reads(run, stranger, args):
    code, _, err = run(*args)
    assert not MARK.exists()
    assert "evil" not in sys.modules
    assert "Traceback" not in err
    assert code in (0, 1, 2)


@pytest.mark.parametrize("name", ["verify", "audit", "show"])
def test_a_command_inside_the_folder_runs_nothing_of_it(stranger, name):
    """The folder has a module that a library would be looked for in, and the source's own."""
    shutil.copy("evil.py", "made/evil.py")
    for library in ("numpy", "pyarrow", "rich", "typer", "json"):
        Path(f"made/{library}.py").write_text(EVIL)
    command = [sys.executable, "-m", "unskew", name, "."]
    done = subprocess.run(command, cwd="made", capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert not Path("made", MARK).exists()


def test_processes_that_are_started_inside_the_folder_run_nothing_of_it(stranger):
    for library in ("numpy", "pyarrow", "json", "unskew"):
        Path(f"made/{library}.py").write_text(EVIL)
    options = ["-n", "100", "--shard-size", "50", "--workers", "2", "-o", "../new"]
    command = [sys.executable, "-P", "-m", "unskew", "generate", "calculator/dcfg", *options]
    done = subprocess.run(command, cwd="made", capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert not Path("made", MARK).exists()


@pytest.mark.parametrize(
    "args",
    [
        ("audit", "made", "--trust"),
        ("verify", "made", "--trust"),
        ("show", "made", "--trust"),
        ("audit", "made", "--by", "evil:x"),
        ("audit", "evil:draw", "-n", "100", "--by", "x", "--after", "made"),
    ],
    ids=" ".join,
)
def test_what_a_person_trusts_or_types_is_imported(run, stranger, args):
    assert run(*args)[0] == 0
    assert MARK.exists()


def test_a_variable_that_was_typed_lets_nothing_else_in(run, stranger):
    """`--by os:getcwd` is typed; that the data names evil:draw stays data."""
    code, _, err = run("audit", "made", "--by", "os:getcwd")
    assert code == 2, err
    assert not MARK.exists()


NOT_TRUSTED = (
    "unknown variable 'size'; choose from x, y; the domain of evil:draw is not imported, and with "
    "it its variables: if you trust whoever made the data, add --trust (in Python: trust=True)"
)


@pytest.mark.parametrize(
    "args",
    [
        ("audit", "made", "--by", "size"),
        ("audit", "made", "--fail-if", "size.top > 0.5"),
        ("audit", "made", "--after", "made", "--by", "size"),
        ("resample", "made", "--homogenize", "size", "-o", "even.jsonl"),
        ("resample", "made", "--homogenize", "size", "-o", "even.jsonl", "--workers", "2"),
    ],
    ids=" ".join,
)
def test_a_variable_that_is_not_known_without_trust_says_so(run, stranger, args):
    code, out, err = run(*args)
    assert (code, out, err) == (2, "", f"error: {NOT_TRUSTED}\n")


@pytest.mark.parametrize("use", [weights, Sampler, plan, resample, partial(BatchSampler, batch=5)])
def test_every_function_that_measures_says_so(use, stranger):
    with pytest.raises(UnskewError) as error:
        use("made", by="size")
    assert str(error.value) == NOT_TRUSTED


def test_verify_says_in_one_line_what_it_did_not_check(run, stranger):
    code, out, err = run("verify", "made")
    assert code == 0, err
    (line,) = [line for line in out.splitlines() if line.startswith("not looked at: ")]
    for part in ("no part was made again", "rows and keys", "evil:draw", "evil:x", "--trust"):
        assert part in line
    code, out, _ = run("verify", "made", "--trust")
    assert code == 0
    (line,) = [line for line in out.splitlines() if line.startswith("not looked at: ")]
    assert "belongs to no domain" in line


@pytest.mark.parametrize(
    "change",
    [
        {"source": "antigravity:fly"},
        {"homogenize": ["os:system"]},
        {"source": "os:system", "homogenize": []},
        {"source": "evil:draw", "parameters": {"a": 1}},
        {"source": "evil:DOMAIN"},
        {"source": ":"},
        {"source": "evil.below:draw"},
    ],
    ids=str,
)
def test_what_a_recipe_was_altered_to_name_is_not_imported(run, stranger, change):
    altered = json.loads((stranger / "recipe.json").read_text()) | change
    (stranger / "recipe.json").write_text(json.dumps(altered))
    before = set(sys.modules)
    for args in READING:
        code, _, err = run(*args)
        assert "Traceback" not in err
        assert code in (0, 1, 2)
    assert not MARK.exists()
    assert not {"evil", "antigravity"} & (set(sys.modules) - before)


def test_a_recipe_cannot_say_of_itself_that_it_is_trusted(run, stranger):
    altered = json.loads((stranger / "recipe.json").read_text()) | {"trusted": ["evil:draw"]}
    (stranger / "recipe.json").write_text(json.dumps(altered))
    code, _, err = run("audit", "made")
    assert code == 2
    assert "unknown recipe field 'trusted'" in err
    assert not MARK.exists()


def test_a_recipe_file_typed_into_train_is_data_until_it_is_trusted(run, stranger):
    recipe = Recipe("karel/uniform", 10, homogenize=("evil:x",))
    Path("r.json").write_text(recipe.to_json())
    code, _, err = run("train", "r.json", "-o", "run", "--steps", 1)
    assert code == 2
    assert "evil:x" in err
    assert "--trust" in err
    assert not MARK.exists()


def test_a_recipe_file_typed_into_generate_is_run(run, stranger):
    Path("r.json").write_text(Recipe("evil:draw", 10).to_json())
    assert run("generate", "r.json", "-o", "new")[0] == 0
    assert MARK.exists()


def test_in_python_a_dataset_is_data_until_it_is_trusted(stranger):
    assert Dataset.open(stranger).recipe == recipe_of(stranger)
    for ask in (recipe_source, recipe_variables):
        with pytest.raises(UnskewError, match=r"evil:.*is not run.*trust=True"):
            ask(Dataset.open(stranger).recipe)
    unskew.audit("made")
    unskew.audit(Dataset.open(stranger))
    unskew.verify("made")
    assert not MARK.exists()
    assert "no part was made again" not in str(unskew.verify("made", trust=True).skipped)
    assert MARK.exists()


def test_what_generate_returns_is_the_persons_own(stranger):
    made = generate(Recipe("evil:draw", 10), "own")
    assert recipe_source(made.recipe).name == "evil:draw"


def test_built_in_sources_need_no_trust(run, stranger):
    recipe = Recipe("karel/msr", 20, exclude=("karel/while-in-if",))
    generate(recipe, "new")
    code, out, _ = run("verify", "new")
    assert (code, "not looked at" in out) == (0, False)


def test_a_file_here_never_takes_the_place_of_a_library(run, stranger):
    """A typed module is looked for here last; one that is hidden is told of."""
    Path("colorsys.py").write_text(EVIL)
    code, _, err = run("audit", "colorsys:draw")
    assert code == 2
    assert "colorsys.py is hidden by" in err
    assert "rename the file" in err
    assert not MARK.exists()


def test_whom_a_recipe_trusts_is_no_part_of_what_it_is():
    """It is not written, not hashed, not compared; results keep their names."""
    for trusted in (None, frozenset(), frozenset({"evil:draw"})):
        recipe = Recipe("evil:draw", 10, trusted=trusted)
        assert recipe == Recipe("evil:draw", 10)
        assert recipe.hash == Recipe("evil:draw", 10).hash
        assert "trusted" not in recipe.to_json()


def test_a_column_that_is_called_like_code_is_a_column(run, stranger):
    Path("x.jsonl").write_text('{"evil:x": 1}\n{"evil:x": 2}\n')
    code, out, _ = run("audit", "x.jsonl", "--by", "evil:x")
    assert code == 0
    assert "evil:x" in out
    assert not MARK.exists()


def test_the_current_folder_is_not_searched_after_the_import(run, stranger):
    """A library that is not installed must not be found among a stranger's files later on."""
    Path("own.py").write_text("def length(row):\n    return 1\n")
    before = list(sys.path)
    assert run("audit", "made", "--by", "own:length")[0] == 0
    assert sys.path == before
    sys.modules.pop("own", None)


def test_verify_prints_no_line_that_a_recipe_made_up(run, stranger):
    altered = json.loads((stranger / "recipe.json").read_text())
    altered["source"] = "x\n\nno fault found\nevil:draw"
    (stranger / "recipe.json").write_text(json.dumps(altered))
    code, out, _ = run("verify", "made")
    assert code == 1
    assert "no fault found" not in out.splitlines()


class Touch:
    """What a pickle of a stranger may hold: it runs a command when it is loaded."""

    def __reduce__(self):
        return os.system, (f"touch {MARK}",)


@pytest.mark.parametrize("name", ["x.parquet", "x.arrow", "x.feather"])
def test_a_type_that_is_pickled_in_a_file_is_not_unpickled(run, tmp_path, monkeypatch, name):
    """Old versions of Arrow did so (CVE-2023-47248)."""
    monkeypatch.chdir(tmp_path)
    pickled = {
        b"ARROW:extension:name": b"arrow.py_extension_type",
        b"ARROW:extension:metadata": pickle.dumps(Touch()),
    }
    schema = pa.schema([pa.field("a", pa.int64(), metadata=pickled)])
    table = pa.table([pa.array([1, 2, 3])], schema=schema)
    if name == "x.parquet":
        pq.write_table(table, name)
    else:
        with pa.ipc.new_file(name, schema) as file:
            file.write_table(table)
    for args in (("audit", name), ("show", name), ("convert", name, "out.jsonl")):
        assert run(*args)[0] == 0
    assert not MARK.exists()


@pytest.mark.parametrize("name", ["x.npy", "x.npz", "x.pt", "x.pkl", "x.bin"])
def test_pickled_arrays_and_tensors_are_no_data(run, tmp_path, monkeypatch, name):
    monkeypatch.chdir(tmp_path)
    Path("data").mkdir()
    Path("data", name).write_bytes(pickle.dumps(Touch()))
    for args in (("audit", f"data/{name}"), ("audit", "data"), ("show", f"data/{name}")):
        code, out, err = run(*args)
        assert (code, out, err.count("\n")) == (2, "", 1)
    assert not MARK.exists()


def test_a_folder_of_hugging_face_runs_nothing(run, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path("repo/data").mkdir(parents=True)
    Path("repo/data/train.jsonl").write_text('{"a": 1}\n')
    Path("repo/repo.py").write_text(EVIL)
    tag = f"!!python/object/apply:os.system ['touch {MARK}']"
    Path("repo/README.md").write_text(f"---\nconfigs: {tag}\n---\n")
    assert run("audit", "repo")[0] == 0
    assert not MARK.exists()
