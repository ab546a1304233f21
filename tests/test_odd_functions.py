"""Samplers and variables that do odd things: each is right output, or one line that says what."""

import dataclasses
import os
import signal
import subprocess
import sys
import warnings
from itertools import islice
from pathlib import Path

import numpy as np
import pytest

import unskew
from unskew import UnskewError
from unskew.core.errors import HealthWarning

from .waiting import HANG

UNSKEW = [sys.executable, "-m", "unskew"]


def refused(call, *expected: str) -> None:
    """Check that a call raises an UnskewError of one line that has all expected texts."""
    with pytest.raises(UnskewError) as caught:
        call()
    assert "\n" not in str(caught.value)
    for text in expected:
        assert text in str(caught.value)


def nothing(example):
    return 0


# One object that is changed and returned again.

SHARED: dict = {}
ROWS: list = []
ARRAY = np.zeros(3)
RING: list = [{} for _ in range(40)]
TAKEN = iter(range(10**9))


def same_dict(rng):
    SHARED["a"] = int(rng.integers(1000))
    return SHARED


def same_list(rng):
    ROWS[:] = [int(rng.integers(1000))]
    return ROWS


def inner_dict(rng):
    return {"a": same_dict(rng)}


def inner_array(rng):
    ARRAY[:] = rng.random(3)
    return {"a": ARRAY}


def ring(rng):
    example = RING[next(TAKEN) % 40]
    example["a"] = int(rng.integers(1000))
    return example


@pytest.mark.filterwarnings("ignore::unskew.core.errors.HealthWarning")
@pytest.mark.parametrize("draw", [same_dict, same_list, inner_dict, inner_array, ring])
def test_an_example_that_is_changed_later_is_refused(draw, tmp_path):
    place = f"test_odd_functions.py line {draw.__code__.co_firstlineno}): "
    expected = f"sampler '{draw.__name__}' (", place, "make a new object for each example"
    refused(lambda: unskew.audit(draw, by=nothing, n=100), *expected)
    refused(lambda: list(islice(unskew.homogenize(draw, by=nothing), 100)), *expected)
    rng = np.random.default_rng(0)
    refused(lambda: unskew.audit((draw(rng) for _ in range(100)), by=nothing), "make a new object")


def test_generate_refuses_it_before_anything_is_finished(run, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path("odd_same.py").write_text(
        "d = {}\ndef draw(rng):\n    d['a'] = int(rng.integers(1000))\n    return d\n"
    )
    code, out, err = run("generate", "odd_same:draw", "-n", 100, "-o", "d")
    assert (code, out, err.count("\n")) == (2, "", 1)
    assert "make a new object for each example" in err
    assert not Path("d", "manifest.json").exists()


def test_examples_that_are_the_same_and_stay_are_taken():
    pool = [{"a": i} for i in range(5)]
    for draw in (
        lambda rng: pool[rng.integers(5)],
        lambda rng: int(rng.integers(3)),
        lambda rng: ("a", (1, 2)),
        lambda rng: {"a": pool},
    ):
        assert unskew.audit(draw, by=nothing, n=1000).n == 1000


# Sets, whose order is another in each process.


@pytest.mark.parametrize(
    "example", [{1, 2}, {"a": {1}}, {"a": [{"b": frozenset("x")}]}, ({1},)], ids=repr
)
def test_a_set_is_refused_wherever_it_is(example, tmp_path):
    said = "holds a set, whose order changes from run to run; give a sorted list or tuple"
    rows = [{"a": 1}, example]
    refused(lambda: unskew.audit(rows, by=nothing), "row 2: ", said)
    refused(lambda: unskew.resample(rows, by=nothing, path=tmp_path / "a.jsonl"), "row 2: ", said)
    refused(lambda: unskew.audit(lambda rng: example, by=nothing), "sampler '<lambda>' (", said)
    refused(lambda: unskew.audit([1], by=lambda e: frozenset([1])), "variable '<lambda>'", said)


@dataclasses.dataclass(frozen=True)
class Letters:
    letters: frozenset[str]


def test_a_set_in_a_dataclass_is_refused_too():
    said = "holds a set, whose order changes from run to run"
    refused(lambda: unskew.audit([1], by=lambda _: Letters(frozenset("abc"))), "variable", said)


# Values of classes whose own methods raise.


class Unprintable:
    def __repr__(self):
        raise ValueError("no repr")


class Unequal:
    def __init__(self, _):
        pass

    def __hash__(self):
        return 1

    def __eq__(self, other):
        raise ValueError("no eq")


class Unhashable:
    def __hash__(self):
        raise ValueError("no hash")


class Unordered:
    def __init__(self, number):
        self.number = number

    def __lt__(self, other):
        raise ValueError("no order")


def deep(levels: int) -> tuple:
    value: tuple = ()
    for _ in range(levels):
        value = (value,)
    return value


VALUES = {
    "repr": (lambda e: Unprintable(), "cannot be compared or printed (ValueError: no repr ("),
    "eq": (Unequal, "cannot be compared or printed (ValueError: no eq ("),
    "hash": (lambda e: Unhashable(), "cannot be hashed (ValueError: no hash ("),
    "deep": (lambda e: deep(300), "has more than 100 levels"),
    "very deep": (lambda e: deep(200_000), "has more than 100 levels"),
}


@pytest.mark.parametrize("kind", VALUES)
def test_a_value_that_cannot_be_counted_is_refused(kind, tmp_path):
    variable, said = VALUES[kind]
    rows = [{"a": i} for i in range(3)]
    expected = "returned ", said, "(example {'a': "
    refused(lambda: unskew.audit(rows, by=variable), *expected)
    reason = said.partition("(")[2] or said  # where each is drawn alone, nothing is compared first
    refused(lambda: list(islice(unskew.homogenize(lambda rng: rows[1], by=variable), 2)), reason)
    refused(lambda: unskew.resample(rows, by=variable, path=tmp_path / "a.jsonl"), *expected)

    def objects(batch):
        values = np.empty(len(batch), dtype=object)
        for row, example in enumerate(batch.examples()):
            values[row] = variable(example)
        return values

    own = unskew.SalientVariable("own", objects)
    refused(lambda: unskew.audit(rows, by=own), "variable 'own' (", "test_odd_functions.py", said)


def test_values_without_an_order_are_counted():
    assert unskew.audit([1, 2, 3], by=Unordered).variables["Unordered"].n == 3


def test_an_example_that_cannot_be_printed_is_refused_by_its_row():
    rows = [{"a": 1}, {"a": Unprintable()}]
    refused(lambda: unskew.audit(rows, by=nothing), "row 2: ", "ValueError: no repr")


# Numbers that hardly repeat cannot be homogenized.


def test_homogenizing_numbers_that_hardly_repeat_is_warned_of_once(run, tmp_path, monkeypatch):
    kept = unskew.homogenize(lambda rng: rng.random(), by=lambda x: x)
    with pytest.warns(HealthWarning) as caught:
        assert len(list(islice(kept, 3000))) == 3000
    (warning,) = caught
    assert "hardly any value of '<lambda>' repeats (1" in str(warning.message)
    assert "my_module:my_function (in Python: unskew.bins" in str(warning.message)
    assert any("hardly any value" in line for line in kept.health().warnings)
    monkeypatch.chdir(tmp_path)
    Path("odd_floats.py").write_text("def draw(rng):\n    return {'a': rng.random()}\n")
    code, _, err = run("generate", "odd_floats:draw", "-n", 150, "--homogenize", "a", "-o", "d")
    assert (code, err.count("hardly any value of 'a' repeats")) == (0, 1)


@pytest.mark.parametrize(
    "choose", [unskew.resample, unskew.Sampler, unskew.weights], ids=lambda choose: choose.__name__
)
def test_choosing_rows_by_numbers_that_hardly_repeat_is_warned_of(choose):
    with pytest.warns(HealthWarning, match="hardly any value of 'a' repeats") as caught:
        choose([{"a": number / 7} for number in range(300)], by="a")
    assert len(caught) == 1


@pytest.mark.parametrize("price", [{"budget": 2.0}, {"closeness": 0.05}, {"epsilon": 0.1}], ids=str)
def test_a_dataset_a_stream_and_an_iterator_warn_at_any_price(price, own_module):
    """A rule that keeps everything costs one draw: rounding must not make it less."""
    own_module("floats", "def draw(rng):\n    return {'a': rng.random()}\n")
    name = "floats:draw"
    recipe = unskew.Recipe(name, 200, homogenize=("a",), **price)
    said = "hardly any value of 'a' repeats"
    with pytest.warns(HealthWarning, match=said):
        assert len(unskew.generate(recipe, "made")) == 200
    with pytest.warns(HealthWarning, match=said):
        next(unskew.stream(recipe))
    with pytest.warns(HealthWarning, match=said):
        list(islice(unskew.homogenize(name, by="a", **price), 1001))


def test_resample_warns_in_a_shell_too(run, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path("x.csv").write_text("a\n" + "".join(f"{number / 7}\n" for number in range(300)))
    code, _, err = run("resample", "x.csv", "--homogenize", "a", "-o", "y.jsonl")
    assert (code, err.count("hardly any value of 'a' repeats")) == (0, 1)


def test_values_that_repeat_are_not_warned_of():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        kept = unskew.homogenize(lambda rng: int(rng.integers(300)), by=lambda x: x)
        assert len(list(islice(kept, 3000))) == 3000


# Ctrl-C that a user's function swallows.

SWALLOWS = """
import os, signal

calls = []

def stop_once():
    calls.append(1)
    if len(calls) == 20:
        try:
            os.kill(os.getpid(), signal.SIGINT)
            while True:  # until it comes
                pass
        except BaseException:
            {swallow}

def draw(rng):
    stop_once()
    return {{"a": int(rng.integers(5))}}

def plain(rng):
    return {{"a": int(rng.integers(5))}}

def size(example):
    stop_once()
    return example["a"]
"""


@pytest.mark.parametrize("swallow", ["pass", "raise ValueError", "raise SystemExit(0)"])
@pytest.mark.parametrize(
    "args",
    [
        ("generate", "mine:draw", "-n", "3000", "-o", "made", "--workers", "1"),
        ("audit", "mine:draw", "-n", "3000"),
        ("audit", "mine:plain", "--by", "mine:size", "-n", "3000"),
        ("convert", "mine:draw", "-n", "3000", "made.jsonl"),
        ("show", "mine:draw", "-n", "3000"),
        ("resample", "data.jsonl", "--homogenize", "mine:size", "-o", "made.jsonl"),
    ],
    ids=["generate", "audit", "a variable", "convert", "show", "resample"],
)
def test_ctrl_c_ends_a_command_whatever_catches_it(args, swallow, tmp_path):
    (tmp_path / "mine.py").write_text(SWALLOWS.format(swallow=swallow))
    (tmp_path / "data.jsonl").write_text('{"a": 1}\n{"a": 2}\n' * 1500)
    done = subprocess.run(
        [*UNSKEW, *args],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        timeout=HANG,
        check=False,
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.default_int_handler),
        env={**os.environ, "PYTHONPATH": str(Path(unskew.__file__).parents[1])},
    )
    assert (done.returncode, done.stdout) == (130, "")
    assert done.stderr.startswith("stopped; no file is half-written")
    assert not (tmp_path / "made" / "manifest.json").exists()
    assert not (tmp_path / "made.jsonl").exists()
    assert not list(tmp_path.rglob("*.part"))


# Whatever a sampler raises, returns or does to its process.

RAISING = """
import os

def leaves(rng):
    raise GeneratorExit

def ends(rng):
    raise SystemExit(0)

def interrupts(rng):
    raise KeyboardInterrupt

def without_keys(rng):
    return {}

def goes(rng):
    os.chdir("..")
    return {"a": int(rng.integers(3))}

def long(example):
    return 10**5000
"""


@pytest.fixture
def raising(tmp_path, monkeypatch):
    folder = tmp_path / "one" / "two" / "three"
    folder.mkdir(parents=True)
    monkeypatch.chdir(folder)
    Path("odd_raising.py").write_text(RAISING)
    yield folder
    sys.modules.pop("odd_raising", None)


@pytest.mark.parametrize("name", ["leaves", "ends"])
@pytest.mark.parametrize(
    "args", [("audit",), ("show",), ("generate", "-o", "d", "-n", 3)], ids=lambda args: args[0]
)
def test_what_a_sampler_raises_is_one_line(raising, run, name, args):
    code, out, err = run(args[0], f"odd_raising:{name}", *args[1:])
    assert (code, out, err.count("\n")) == (2, "", 1)
    assert f"error: sampler 'odd_raising:{name}' raised " in err
    assert "odd_raising.py line" in err


def test_a_sampler_that_raises_what_ctrl_c_raises_stops_the_command(raising, run):
    code, out, err = run("audit", "odd_raising:interrupts")
    assert (code, out, err) == (130, "", "stopped; no file is half-written\n")


def test_examples_without_keys_are_no_table(raising, run):
    said = "error: examples are dicts without any key, which no table can hold"
    for args in (
        ("convert", "odd_raising:without_keys", "-n", 3, "a.parquet"),
        ("generate", "odd_raising:without_keys", "-n", 3, "-o", "d"),
    ):
        code, out, err = run(*args)
        assert (code, out, err.startswith(said)) == (2, "", True)
    assert not Path("a.parquet").exists()


def test_a_sampler_that_leaves_the_folder_does_not_move_the_file(raising, run):
    code, _, err = run("convert", "odd_raising:goes", "-n", 300, "a.jsonl")
    assert (code, err) == (0, "")
    assert (raising / "a.jsonl").read_text().count("\n") == 300
    assert not list(raising.rglob("*.part"))


def test_a_number_too_long_to_print_is_no_value(raising, run):
    code, _, err = run("audit", "calculator/dcfg", "--by", "odd_raising:long", "-n", 10)
    assert (code, err.count("\n")) == (2, 1)
    assert "cannot be compared or printed (ValueError: Exceeds the limit" in err
