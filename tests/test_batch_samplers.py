"""Samplers that return many examples at once, and what they may return."""

from itertools import islice

import numpy as np
import pandas as pd
import pytest

import unskew
from unskew import UnskewError
from unskew.core.rng import generator


def draw(rng, n):
    asked.append(n)
    return [{"a": int(a)} for a in rng.geometric(0.5, n)]


asked: list[int] = []


def level(example):
    return min(example["a"], 6)


@pytest.fixture(autouse=True)
def _fresh():
    asked.clear()


def test_homogenize_and_audit_ask_for_batches():
    examples = list(islice(unskew.homogenize(draw, by=level, batch=16), 50))
    again = list(islice(unskew.homogenize(unskew.sampler(draw, batch=16), by=level), 50))
    assert examples == again
    assert set(asked[6:]) == {1, 16}  # the trial asks for one
    asked.clear()
    audit = unskew.audit(draw, by=level, n=100, batch=16)
    assert audit.n == 100 == sum(asked[6:])
    assert max(asked) == 16
    assert set(asked) - {1, 16} <= {100 % 16}


def test_true_asks_for_256():
    next(unskew.homogenize(draw, by=level, batch=True))
    assert asked[-1] == 256


def test_at_most_one_batch_is_drawn_ahead():
    examples = unskew.homogenize(draw, by=level, batch=16)
    asked.clear()
    for _ in range(60):
        next(examples)
        assert 0 <= sum(asked) - examples.tally.drawn < 16
    assert sum(asked) % 16 == 0


def test_fewer_are_asked_for_again():
    def few(rng, n):
        return draw(rng, min(n, 3))

    source = unskew.sampler(few, batch=8)
    batch, _ = source.draw(generator(0), 20)
    assert len(batch) == 20
    assert asked[:3] == [3, 3, 3]


def test_generate_takes_one_by_its_name(run, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "batched.py").write_text(
        "import unskew\n"
        "def many(rng, n):\n"
        "    return [{'a': int(a)} for a in rng.geometric(0.5, n)]\n"
        "draw = unskew.sampler(many, batch=8)\n"
    )
    code, _, err = run("generate", "batched:draw", "-n", 100, "-o", "d")
    assert code == 0, err
    assert len(unskew.Dataset.open("d")) == 100


@pytest.mark.parametrize(
    "table",
    [
        lambda rows: {"a": [row["a"] for row in rows]},
        lambda rows: {"a": np.array([row["a"] for row in rows])},
        pd.DataFrame,
        tuple,
    ],
    ids=["columns", "arrays", "pandas", "tuple"],
)
def test_a_table_is_taken_apart(table):
    expected = list(islice(unskew.homogenize(draw, by=level, batch=8), 30))

    def tables(rng, n):
        return table(draw(rng, n))

    tables.__name__ = "draw"
    assert list(islice(unskew.homogenize(tables, by=level, batch=8), 30)) == expected


@pytest.mark.filterwarnings("ignore::unskew.core.errors.HealthWarning")
@pytest.mark.parametrize(
    ("returned", "message"),
    [
        ([], "returned 0 examples when asked for 1; return at least one and at most 1"),
        ([1, 2], "returned 2 examples when asked for 1"),
        (None, "returned None when asked for 1; with batch, draw"),
        ("text", "returned 'text' when asked for 1"),
        ({"a": [1], "b": [1, 2]}, "batch_samplers.py|raised"),
    ],
    ids=str,
)
def test_a_wrong_answer_is_one_line(returned, message):
    with pytest.raises(UnskewError, match=message) as caught:
        unskew.audit(lambda rng, n: returned, by=level, batch=4)
    assert "\n" not in str(caught.value)


def test_an_error_names_the_line():
    def fails(rng, n):
        raise KeyError("x")

    with pytest.raises(UnskewError, match=r"sampler 'fails' raised KeyError: 'x' \(.*py line \d+"):
        unskew.audit(fails, batch=4)


@pytest.mark.filterwarnings("ignore::unskew.core.errors.HealthWarning")
def test_an_object_that_is_changed_is_refused():
    one: dict[str, int] = {}

    def same(rng, n):
        for i in range(n):
            one["a"] = i
        return [one] * n

    def changed(rng, n):
        one["a"] = int(rng.integers(10**6))
        return [one]

    assert unskew.audit(same, by=lambda e: 0, n=50, batch=8).n == 50
    with pytest.raises(UnskewError, match="make a new object for each example"):
        unskew.audit(changed, by=lambda e: 0, n=50, batch=8)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"batch": 0}, "batch is 0; allowed is a whole number of at least 1"),
        ({"batch": 1.5}, "batch is 1.5"),
        ({"concurrency": 0}, "concurrency is 0"),
        ({"batch": 4, "concurrency": 2}, "concurrency is 2, but sampler 'draw' is not async"),
        ({"batch": False, "cache": "x"}, r"draw\(rng, n\) must take one argument"),
    ],
    ids=str,
)
def test_wrong_options_are_one_line(options, message):
    with pytest.raises(UnskewError, match=message) as caught:
        unskew.homogenize(draw, by=level, **options)
    assert "\n" not in str(caught.value)
    with pytest.raises(UnskewError, match=message):
        unskew.audit(draw, by=level, **options)


@pytest.mark.parametrize("target", ["calculator/dcfg", [1, 2]], ids=str)
def test_options_are_for_functions(target):
    with pytest.raises(UnskewError, match="batch, concurrency and cache are for functions"):
        unskew.audit(target, batch=4)


def test_a_function_with_one_argument_draws_no_batch():
    with pytest.raises(UnskewError, match="must take two arguments"):
        unskew.sampler(lambda rng: 1, batch=True)
