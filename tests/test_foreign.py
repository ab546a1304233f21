"""Data, modules and machines that are not ours: read as far as they can be, else one line."""

import datetime
import errno
import json
import os
import subprocess
import sys
from itertools import islice
from pathlib import Path

import numba
import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import torch

import unskew
from tests.commands import UNSKEW
from unskew.core.batch import Batch
from unskew.core.compiled import compiled
from unskew.core.errors import UnskewError
from unskew.core.rng import generator
from unskew.core.tally import Tally
from unskew.io.files import write_by
from unskew.models.calculator.network import Expressions, ReaderConfig
from unskew.models.calculator.train import TrainConfig, TrainingData, train


@pytest.fixture(autouse=True)
def folder(monkeypatch, tmp_path):
    """A folder of one's own, and no module left over."""
    monkeypatch.chdir(tmp_path)
    yield
    sys.modules.pop("theirs", None)


def module(text: str) -> None:
    Path("theirs.py").write_text(text)


# Training data of somebody else.


@pytest.mark.parametrize(
    ("rows", "message"),
    [
        ([{"expression": "1+2", "value": 7}], "row 0 has the value"),
        ([{"expression": "1", "value": 1}, {"expression": "1+", "value": 1}], "row 1 is '1\\+'"),
        ([{"expression": "hello", "value": 1}], "is no expression"),
        ([{"expression": "", "value": 1}], "is no expression"),
        ([{"expression": "1", "value": 12}], "row 0 has the value"),
        ([{"expression": "1", "value": "one"}], "row 0 has the value"),
        ([{"expression": "1", "value": None}], "row 0 has the value"),
        ([{"text": "1"}], "needs a text column 'expression'"),
    ],
)
def test_expressions_that_are_none_or_have_another_value_are_refused(rows, message):
    for batch in (Batch.of(rows), Batch.from_arrow(pa.Table.from_pylist(rows))):
        with pytest.raises(UnskewError, match=message):
            Expressions.of(batch, 64)


def test_values_may_be_left_out():
    assert Expressions.of(Batch.of([{"expression": "3*4"}]), 64).values.tolist() == [2]


def test_long_expressions_keep_their_lengths():
    text = "1" + "+1" * 200
    data = Expressions.of(Batch.of([{"expression": text}, {"expression": "2"}]), 500)
    on_device = TrainingData([data], [0], torch.device("cpu"))
    assert on_device.lengths.tolist() == [[401, 1]]


def test_a_run_does_not_go_on_with_other_data(tmp_path):
    reader, config = ReaderConfig(4, 3), TrainConfig(steps=1, batch=2)
    for values, refused in ((["1", "2"], False), (["1", "3"], True)):
        data = Expressions.of(Batch.of([{"expression": v} for v in values]), 3)
        there = TrainingData([data], [0], torch.device("cpu"))
        if refused:
            with pytest.raises(UnskewError, match="other settings or data"):
                train(reader, config, there, tmp_path / "run")
        else:
            train(reader, config, there, tmp_path / "run")


def test_metrics_after_the_checkpoint_are_forgotten(tmp_path):
    data = Expressions.of(Batch.of([{"expression": "1"}]), 3)
    there = TrainingData([data], [0], torch.device("cpu"))
    config = TrainConfig(steps=8, batch=2, log_every=1, save_every=4)

    def stop(progress):
        if progress.step == 6:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        train(ReaderConfig(4, 3), config, there, tmp_path / "run", stop)
    train(ReaderConfig(4, 3), config, there, tmp_path / "run")
    lines = (tmp_path / "run" / "metrics.jsonl").read_text().splitlines()
    assert [json.loads(line)["step"] for line in lines] == list(range(1, 9))


def test_neighbouring_seeds_share_no_weights(run):
    run("generate", "calculator/dcfg", "-n", 20, "-o", "d", "--set", "max_length=3")
    seeds = []
    for seed in (0, 1):
        run("train", "d", "-o", f"r{seed}", "--steps", 1, "--hidden", 2, "--seeds", 4,
            "--seed", seed, "--max-length", 3)  # fmt: skip
        seeds += json.loads(Path(f"r{seed}/config.json").read_text())["reader"]["seeds"]
    assert len(set(seeds)) == 8
    assert run("evaluate", "r0", "-n", 50)[0] == 0  # sources keep to what the model reads


# Tables of somebody else.


def test_times_to_the_nanosecond_and_what_is_not_there(run):
    times = pa.array([1, 2, 1], pa.timestamp("ns"))
    numbers = pa.array([1.5, float("nan"), None])
    pq.write_table(pa.table({"t": times, "f": numbers}), "x.parquet")
    code, out, _ = run("audit", "x.parquet", "--json")
    assert code == 0
    data = json.loads(out)
    assert data["variables"]["f"]["histogram"] == [[1.5, 1], [None, 2]]
    assert [count for _, count in data["variables"]["t"]["histogram"]] == [2, 1]
    assert run("show", "x.parquet")[0] == 0


def test_rows_with_other_keys_are_read(run):
    rows = [{"a": i % 2, "id": f"row {i}"} | ({"b": "x"} if i > 4500 else {}) for i in range(5000)]
    Path("x.jsonl").write_text("\ufeff" + "\n".join(map(json.dumps, reversed(rows))))
    code, out, _ = run("audit", "x.jsonl", "--json")
    assert code == 0
    data = json.loads(out)
    assert data["variables"]["b"]["histogram"] == [["x", 499], [None, 4501]]
    assert data["variables"].keys() == {"a", "characters(id)", "words(id)", "b"}
    assert data["variables"]["words(id)"]["histogram"] == [[2, 5000]]


def test_files_that_may_not_be_read(run, monkeypatch):
    Path("x.jsonl").write_text("{}")

    def denied(*_, **__):
        raise PermissionError(errno.EACCES, "Permission denied")

    monkeypatch.setattr(Path, "open", denied)
    code, _, err = run("audit", "x.jsonl")
    assert (code, err) == (2, "error: x.jsonl: Permission denied; check its permissions\n")


# Modules of somebody else.


def test_variables_made_in_a_module_go_by_name(run):
    module(
        "import unskew\n"
        "def draw(rng): return {'answer': int(rng.geometric(0.5))}\n"
        "few = unskew.clip(lambda row: row['answer'], 1, 4)\n"
        "declared = unskew.over(few, [1, 2, 3, 4, 5])\n"
    )
    few = ("generate", "theirs:draw", "--homogenize", "theirs:few", "-n", 500, "-o", "a", "--json")
    code, out, _ = run(*few)
    assert code == 0
    assert [v for v, _, _ in json.loads(out)["tally"]["values"]["theirs:few"]] == [1, 2, 3, 4]
    code, out, err = run("generate", "theirs:draw", "--homogenize", "theirs:declared", "-n", 900,
                         "-o", "b", "--shard-size", 300, "--json")  # fmt: skip
    assert code == 0
    assert "never took 5" in err
    assert json.loads(out)["tally"]["values"]["theirs:declared"][-1] == [5, 0, 0]
    code, out, _ = run("generate", "theirs:draw", "--homogenize", "answer", "-n", 50, "-o", "c")
    assert code == 0
    assert (
        "unknown column 'anser'; did you mean 'answer'?"
        in (run("generate", "theirs:draw", "--homogenize", "anser", "-n", 50, "-o", "e")[2])
    )


def test_a_module_that_exits_on_import(run):
    module("import sys; sys.exit('bye')")
    code, _, err = run("audit", "theirs:draw")
    assert code == 2
    assert "raised SystemExit: bye" in err


def test_values_that_json_does_not_know_survive_a_stop(run):
    module(
        "import datetime\n"
        "def draw(rng): return int(rng.integers(3))\n"
        "def day(n): return datetime.date(2024, 1, 1 + n)\n"
    )
    args = ("generate", "theirs:draw", "--homogenize", "theirs:day", "-n", 90, "--shard-size", 30)
    run(*args, "-o", "whole")
    run(*args, "-o", "cut")
    Path("cut/manifest.json").unlink()
    Path("cut/data/train-00002-of-00003.parquet").unlink()
    run(*args, "-o", "cut")
    assert Path("cut/manifest.json").read_bytes() == Path("whole/manifest.json").read_bytes()
    assert (
        len(json.loads(Path("cut/manifest.json").read_text())["tally"]["values"]["theirs:day"]) == 3
    )


# Several variables at once.


def test_declared_supports_hold_for_several_variables_too():
    def draw(rng):
        return ("pears", int(rng.integers(2)))

    def word(example):
        return example[0]

    def number(example):
        return example[1]

    with pytest.raises(UnskewError, match="'w' gave 'pears', outside its declared support apples"):
        next(unskew.homogenize(draw, by={"w": unskew.over(word, ["apples"]), "n": number}))
    by = {"w": unskew.over(word, ["pears", "kiwi"]), "n": number}
    examples = unskew.homogenize(draw, by=by)
    with pytest.warns(unskew.HealthWarning, match="never took w = kiwi"):
        list(islice(examples, 2000))
    assert examples.health().never_seen == ("w = kiwi",)


def test_tallies_keep_zeros_when_they_add():
    left = Tally.from_dict(
        {"drawn": 1, "kept": 1, "dropped": {}, "values": {"x": [[1, 1, 1], [2, 0, 0]]}}
    )
    assert (left + left).drawn_values["x"] == {1: 2, 2: 0}
    assert 2 in (left + left).drawn_values["x"]


# Machines of somebody else.


def test_a_failure_to_clean_up_does_not_hide_the_reason(tmp_path, monkeypatch):
    def read_only(*_, **__):
        raise OSError(errno.EROFS, "Read-only file system")

    monkeypatch.setattr(Path, "unlink", read_only)
    monkeypatch.setattr(os, "replace", read_only)
    with pytest.raises(UnskewError, match="Read-only file system; choose a place"):
        write_by(tmp_path / "x", Path.touch)


def test_kernels_compile_where_nothing_can_be_kept(monkeypatch):
    plain = numba.njit

    def nowhere(function, **options):
        if options.get("cache"):
            raise RuntimeError("cannot cache function: no locator available")
        return plain(function, **options)

    monkeypatch.setattr(numba, "njit", nowhere)
    assert compiled(lambda x: x + 1)(1) == 2


def test_a_terminal_without_unicode():
    env = {**os.environ, "PYTHONIOENCODING": "ascii"}
    command = [*UNSKEW, "audit", "calculator/dcfg", "-n", "50"]
    done = subprocess.run(command, capture_output=True, text=True, env=env)
    assert done.returncode == 0, done.stderr


def test_what_cannot_be_written_is_said_before_the_work(run):
    """The work says what it does, a line each; here the error is the only line."""
    Path("folder").mkdir()
    for option in (("--figure", "f.bmp"), ("-o", "/proc/x.json"), ("-o", "folder")):
        code, out, err = run("reproduce", "calculator", *option)
        assert (code, out, err.count("\n")) == (2, "", 1)
    assert run("audit", "calculator/dcfg", "-n", 10**12, "--report", "x.doc")[0] == 2
    assert sorted(p.name for p in Path().iterdir()) == ["folder"]


def test_a_recipe_is_not_changed_by_options(run):
    run("generate", "calculator/dcfg", "-n", 20, "-o", "d")
    code, _, err = run("generate", "d/recipe.json", "-n", 5, "--seed", 9, "-o", "e")
    assert code == 2
    assert "is a recipe and has all settings; change the file, and leave out n, seed" in err


# Values of somebody else.


def test_audits_print_as_tables_and_name_themselves_shortly():
    result = unskew.audit(["a", "bb", "cc"], by={"size": len})
    assert "size" in str(result)
    assert "KL" in str(result)
    assert repr(result) == "<Audit of examples: 3 examples, by size>"
    assert "KL" in str(result.compare(result))
    assert len(repr(result.compare(result))) < 200


def test_numbers_of_numpy_are_numbers_and_the_rest_is_refused():
    recipe = unskew.Recipe("calculator/dcfg", np.int64(10), seed=np.int64(3))
    assert recipe == unskew.Recipe("calculator/dcfg", 10, seed=3)
    assert json.loads(recipe.to_json())["n"] == 10
    assert generator(np.int64(3)).random() == generator(3).random()
    for wrong in ({"n": "10"}, {"n": 10.5}, {"epsilon": None}, {"homogenize": "length"}):
        with pytest.raises(UnskewError, match=f"recipe {next(iter(wrong))} is"):
            unskew.Recipe(**{"source": "calculator/dcfg", "n": 1, **wrong})
    for epsilon in ("x", True):
        with pytest.raises(UnskewError, match="epsilon is"):
            unskew.homogenize(lambda rng: 1, by=lambda x: x, epsilon=epsilon)
    with pytest.raises(UnskewError, match="seed is True"):
        generator(True)
    with pytest.raises(UnskewError, match="clip from 'a' to 'b'"):
        unskew.clip(len, "a", "b")


def test_dates_are_values_too():
    days = [datetime.date(2024, 1, day) for day in (3, 1, 2)]
    counts = unskew.audit(days, by={"day": lambda day: day}).variables["day"].counts
    assert list(counts) == sorted(days)
