"""A module's own DOMAIN: its sources by `module:name`, its parameters, variables, check and key."""

import re
import shutil
import sys
from itertools import islice
from pathlib import Path

import pyarrow.parquet as pq
import pytest

import unskew
from unskew import Domain, Recipe, UnskewError, generate
from unskew.datasets.verify import verify
from unskew.io.lookup import built_in_domain, find_source, recipe_domain

OWN = '''
from typing import Annotated

import numpy as np

from unskew import Domain
from unskew.core.domain import Range
from unskew.core.source import plain_source


def words(letters: Annotated[int, Range(1, 26, "letters of the alphabet")] = 3):
    """A word and a number beside it."""

    def draw(rng):
        word = "".join(chr(97 + int(i)) for i in rng.integers(letters, size=rng.geometric(0.4)))
        return {"word": word, "length": len(word), "noise": float(rng.random())}

    return plain_source(draw)


def lies():
    """Words that are longer than they say."""
    return plain_source(lambda rng: {"word": "aa", "length": 1, "noise": 0.0})


def other(rng):
    return int(rng.integers(9))


DOMAIN = Domain(
    name="own",
    doc="words",
    sources={"words": words, "lies": lies},
    variables={"long": lambda row: row["length"] > 2, "first": lambda row: row["word"][0]},
    show=lambda row: f"<{row['word']}>",
    check=lambda batch: np.array([len(r["word"]) == r["length"] for r in batch.examples()]),
    key="word",
)
'''


@pytest.fixture
def own(tmp_path, own_module):
    own_module("own_domain", OWN)
    return tmp_path


def test_a_source_of_a_domain_has_its_parameters(own):
    source = find_source("own_domain:words", {"letters": "1"})
    assert (source.name, source.parameters) == ("own_domain:words", {"letters": 1})
    audit = unskew.audit("own_domain:words", settings={"letters": 2}, n=500)
    assert list(audit.variables) == ["long", "first"]
    assert set(audit.variables["first"].counts) == {"a", "b"}


@pytest.mark.parametrize(("settings", "message"), [({"letters": 27}, "27"), ({"n": 1}, "'n'")])
def test_settings_that_cannot_be_are_refused(own, settings, message):
    with pytest.raises(UnskewError, match=message):
        find_source("own_domain:words", settings)


def test_the_domain_is_that_of_its_sources_alone(own):
    assert isinstance(recipe_domain(Recipe("own_domain:words", 1)), Domain)
    assert recipe_domain(Recipe("own_domain:other", 1)) is None
    assert recipe_domain(Recipe("nowhere_at_all:words", 1)) is None
    with pytest.raises(UnskewError, match="takes no settings"):
        find_source("own_domain:other", {"letters": 3})


def test_show_draws_as_the_domain_does(own, run):
    code, out, _ = run("show", "own_domain:words", "-n", 2)
    assert code == 0
    assert [line[0] + line[-1] for line in out.splitlines()] == ["<>", "<>"]


def test_homogenize_by_the_domains_variable(own):
    kept = list(islice(unskew.homogenize("own_domain:words", by="long", epsilon=0.0), 2000))
    assert 900 < sum(row["length"] > 2 for row in kept) < 1100


def test_verify_checks_every_row(own):
    generate(Recipe("own_domain:words", 200, homogenize=("long",)), "made")
    assert verify("made", trust=True).faults == []
    generate(Recipe("own_domain:lies", 200), "wrong")
    (fault,) = verify("wrong", trust=True).faults
    assert fault.endswith(": 200 rows are wrong; the first is row 1")


def test_the_card_says_why_a_variable_is_not_measured(own):
    """One hardly repeats, one is a list, one is nan now and then; only the first has bins."""
    text = OWN.replace(
        '"first": lambda row: row["word"][0]',
        '"noise": lambda row: row["noise"], "parts": lambda row: list(row["word"]), '
        '"odd": lambda row: float("nan") if row["length"] == 1 else 1.0',
    )
    Path("own_domain.py").write_text(text)
    made = generate(Recipe("own_domain:words", 300, shard_size=200), "made")
    card = (made.folder / "README.md").read_text()
    assert "| `long` |" in card
    for name, why in {
        "noise": "hardly any value repeats; unskew.bins(…) sorts numbers into bins",
        "parts": "variable 'parts' returned ['a'], which cannot be hashed; return a number",
        "odd": "variable 'odd' gave nan; measure a number or a name instead",
    }.items():
        assert f"| `{name}` |" not in card
        assert re.search(rf"Not measured: `{name}` \({re.escape(why[:24])}.*\)\.", card), card
    assert "does not make them 0" not in card
    assert verify("made", trust=True).faults == []
    Path("made/README.md").unlink()  # written again from the notes, which say it too
    generate(Recipe("own_domain:words", 300, shard_size=200), "made")
    assert (made.folder / "README.md").read_text() == card


def test_splits_and_repeats_go_by_the_key(own):
    """Rows differ by their noise; only by its key does a word repeat, or stand in one split."""
    made = generate(
        Recipe("own_domain:words", 300, splits={"train": 200, "test": 100}, shard_size=50), "made"
    )
    words = {
        split: {
            word
            for file in made.parts
            if f"/{split}-" in str(file)
            for word in pq.read_table(file)["word"].to_pylist()
        }
        for split in ("train", "test")
    }
    assert all(words.values())
    assert not words["train"] & words["test"]
    assert verify("made", trust=True).faults == []
    once = generate(Recipe("own_domain:words", 300, distinct=True, shard_size=100), "once")
    assert len(once) < 150
    assert verify("once", trust=True).faults == []


def test_without_the_module_keys_are_not_compared_and_that_is_said(own, monkeypatch):
    made = generate(Recipe("own_domain:words", 300, splits={"train": 200, "test": 100}), "made")
    Path("own_domain.py").unlink()
    shutil.rmtree("__pycache__", ignore_errors=True)
    monkeypatch.delitem(sys.modules, "own_domain")
    found = verify("made", trust=True)
    assert [line.split(":")[0] for line in found.faults] == [
        "rows were not checked, no part was made again, and keys were not compared"
    ]
    assert found.skipped == []
    assert unskew.audit(made, by="length").n == 300


def test_a_function_that_is_called_like_a_domain_is_ones_own():
    def calculator(rng):
        return {"a": int(rng.integers(3))}

    assert set(unskew.audit(calculator, n=50).variables) == {"a"}
    assert next(unskew.homogenize(calculator, by="a", seed=0)).keys() == {"a"}
    assert built_in_domain("calculator") is None
    assert built_in_domain("calculator/dcfg") is not None


def test_settings_are_those_of_a_source_that_is_named():
    long = unskew.homogenize("calculator/bal", "length", settings={"min_depth": 4})
    assert min(len(next(long)["expression"]) for _ in range(20)) > 15
    for use in (unskew.homogenize, unskew.audit):
        with pytest.raises(UnskewError, match="only a source that is named takes any"):
            use(lambda rng: int(rng.integers(3)), by={"v": int}, settings={"p": 1})
