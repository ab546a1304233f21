"""Errors that name the next step: it is a step that helps, and no traceback is left."""

import json
import os
import subprocess
import sys
from datetime import timedelta
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from unskew import HealthWarning, Recipe, UnskewError, generate, homogenize
from unskew.core.batch import Batch
from unskew.datasets.convert import convert


@pytest.mark.parametrize("name", ["made.parquet", "folder"])
def test_a_key_with_half_of_a_character_is_refused(name, own_module, run):
    own_module("halves", "def draw(rng):\n    return {'\\ud800x': 1}\n")
    command = "generate" if name == "folder" else "convert"
    args = ["halves:draw", "-n", "3", *(["-o", name] if name == "folder" else [name])]
    code, out, err = run(command, *args)
    assert (code, out, err.count("\n")) == (2, "", 1)
    assert r"the key '\ud800x' has half of a character" in err
    assert "mend the key" in err


@pytest.mark.parametrize(
    ("value", "step"),
    [
        (b"\x00", "write a .parquet file"),
        (float("nan"), "write a .parquet file"),
        (timedelta(days=1), "write a .parquet file"),
        (1j, "return a dict of numbers, texts and lists"),
        (10**5000, "return a dict of numbers, texts and lists"),
        (object(), "return a dict of numbers, texts and lists"),
    ],
    ids=["bytes", "nan", "timedelta", "complex", "huge", "object"],
)
def test_what_cannot_be_json_is_sent_to_parquet_only_if_parquet_holds_it(value, step, tmp_path):
    with pytest.raises(UnskewError, match=f"row 1 cannot be JSON .*; {step}"):
        convert([{"a": value}], tmp_path / "made.jsonl")
    if "parquet" in step:
        convert([{"a": value}], tmp_path / "made.parquet")


@pytest.mark.parametrize("args", [("audit",), ("show",), ("convert", "new.parquet")], ids=" ".join)
def test_two_columns_of_one_name_are_not_called_a_truncated_file(args, own_module, run):
    column = pa.array([1, 2])
    own_module("unused", "")
    pq.write_table(pa.table([column, column], names=["a\x1b[31m", "a\x1b[31m"]), "twice.parquet")
    code, out, err = run(args[0], "twice.parquet", *args[1:])
    assert (code, out) == (2, "")
    assert err == ("error: twice.parquet has two columns named 'a\\x1b[31m'; rename one of them\n")


SHOWN = """
from unskew import Domain
from unskew.core.domain import Views
from unskew.core.source import plain_source

DOMAIN = Domain(
    name="shown", doc="d", variables={}, show=lambda example: None,
    check=lambda batch: None,
    sources={"draw": lambda: plain_source(lambda rng: {"a": 1})},
    views=Views(trace=lambda example: [1]),
)
"""


@pytest.mark.parametrize(
    ("flag", "message"),
    [((), "show of domain 'shown' gave None"), (("--trace",), "trace of domain 'shown' gave 1")],
)
def test_a_domain_that_shows_no_text_is_told_so(flag, message, own_module, run):
    own_module("shown", SHOWN)
    code, out, err = run("show", "shown:draw", *flag)
    assert (code, out, err) == (2, "", f"error: row 1: {message}; give a text\n")


def test_data_whose_code_depends_on_the_process_is_not_only_called_altered(tmp_path):
    """The order of a set of texts is another one in each process."""
    text = "def draw(rng):\n    return {'a': list({'x', 'y', 'z', 'u', 'v', 'w'})}\n"
    (tmp_path / "ordered.py").write_text(text)

    def unskew(seed: int, *args: str) -> subprocess.CompletedProcess:
        return subprocess.run(
            [sys.executable, "-m", "unskew", *args],
            cwd=tmp_path,
            env={**os.environ, "PYTHONHASHSEED": str(seed)},
            capture_output=True,
            text=True,
        )

    made = unskew(1, "generate", "ordered:draw", "-n", "5", "-o", "made", "--workers", "1")
    assert made.returncode == 0, made.stderr
    same, other = (unskew(seed, "verify", "made", "--trust", "--json") for seed in (1, 2))
    assert (same.returncode, json.loads(same.stdout)["faults"]) == (0, [])
    (fault,) = json.loads(other.stdout)["faults"]
    assert other.returncode == 1
    assert "it was altered, made by another version of its source, or its code gives" in fault
    assert "other examples in another process" in fault


def test_a_batch_names_a_wrong_key_before_it_blames_a_value():
    with pytest.raises(UnskewError, match="the key"):
        Batch.of([{"\udfff": object()}]).to_arrow()


def test_a_recipe_of_the_package_is_not_said_to_depend_on_the_process(tmp_path, run):
    made = generate(Recipe("calculator/dcfg", 50), tmp_path / "made")
    part = Path(made.parts[0])
    assert run("verify", made.folder)[0] == 0
    part.write_bytes(part.read_bytes()[:-9])
    _, out, _ = run("verify", made.folder)
    assert "process" not in out


@pytest.mark.parametrize(
    "examples", [[1, 2], iter([1, 2]), (n for n in (1, 2))], ids=["list", "iterator", "generator"]
)
def test_examples_that_are_there_already_are_sent_to_resample(examples):
    with pytest.raises(UnskewError, match=r"cannot be called; .*unskew\.resample"):
        homogenize(examples, by={"number": int})


def test_a_trial_calls_a_sampler_as_often_as_it_says():
    """Six calls, as the documentation says; fewer where the first examples differ."""
    calls = []

    def draw(rng):
        calls.append(rng)
        return int(rng.integers(3))

    kept = homogenize(draw, by={"number": int})
    assert (len(calls), kept.tally.drawn) == (6, 0)
    next(kept)
    assert (len(calls), kept.tally.drawn) == (7, 1)


def test_what_a_trial_took_of_an_iterator_is_said():
    numbers = iter(range(100))
    with pytest.warns(HealthWarning, match="the 2 examples that were drawn to see this are not in"):
        kept = homogenize(lambda rng: next(numbers), by={"number": lambda n: n % 2})
    assert next(kept) == 2


def test_an_iterator_that_ends_is_one_line():
    numbers = iter([1] * 7)
    kept = homogenize(lambda rng: next(numbers), by={"number": int})
    assert next(kept) == 1
    with pytest.raises(UnskewError, match=r"raised StopIteration .*make it return one example"):
        next(kept)


def test_a_variable_that_is_named_twice_is_refused(tmp_path, run):
    twice = ["--homogenize", "length", "--homogenize", "length"]
    code, out, err = run("generate", "calculator/dcfg", *twice, "-n", "9", "-o", tmp_path / "made")
    assert (code, out) == (2, "")
    assert err == "error: recipe homogenizes by 'length' twice; name it once\n"
