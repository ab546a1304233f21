"""Recipes, datasets with a damaged file, states of streams."""

from __future__ import annotations

import hashlib
import json
from functools import partial
from pathlib import Path

from fuzz.machinery import Reader, Rng, Target
from fuzz.mutate import BINARY, TEXTUAL, change_json, often, pick
from unskew import Dataset, Recipe, generate, stream, verify
from unskew.core.errors import UnskewError
from unskew.io.lookup import recipe_source, recipe_variables

SMALL = Recipe("calculator/dcfg", 40, shard_size=20)
KAREL = Recipe(
    "karel/msr", 12, homogenize=("control_flow",), shard_size=6, splits={"test": 6, "train": 6}
)


def _recipes(folder: Path) -> Reader:
    full = Recipe(
        "calculator/t2t",
        100,
        {"max_depth": 3, "max_length": 40},
        ("length",),
        0.1,
        7,
        10,
        "",
        {"train": 60, "test": 40},
        ("karel/msr-test",),
        True,
    )
    given = Recipe("karel/uniform", 10, {}, given="karel/problems")
    seeds = [recipe.to_json().encode() for recipe in (full, given, SMALL, KAREL)]
    path = folder / "recipe.json"

    def make(rng: Rng) -> bytes:
        data: bytes = pick(rng, seeds)
        return often(rng, data, TEXTUAL) if rng.random() < 0.2 else change_json(rng, data)

    def read(data: bytes) -> None:
        path.write_bytes(data)
        recipe = Recipe.read(path)
        if Recipe.from_dict(json.loads(recipe.to_json())).hash != recipe.hash:
            raise ValueError("the recipe comes back as another one")
        _ = recipe.summary
        recipe.shard_at(recipe.shards - 1)
        if ":" not in "".join((recipe.source, *recipe.homogenize)):  # that would import a module
            recipe_source(recipe)
            recipe_variables(recipe)

    return Reader(make, read)


def _dataset_file(recipe: Recipe, name: str, folder: Path) -> Reader:
    """Return a reader of a dataset of which one file is damaged."""
    dataset = folder / "dataset"
    generate(recipe, dataset)
    path = dataset / name
    valid = path.read_bytes()

    def make(rng: Rng) -> bytes:
        if path.suffix != ".json":
            return often(rng, valid, BINARY)
        if rng.random() < 0.2:
            return often(rng, valid, TEXTUAL)
        data = change_json(rng, valid)
        return _sealed(data) if name.startswith(".unskew") else data

    def read(data: bytes) -> None:
        path.write_bytes(data)
        refused = []
        for job in (_open, _verify):
            try:
                job(dataset)
            except UnskewError as error:
                refused.append(error)
        if refused:
            raise refused[0]

    return Reader(make, read)


def _sealed(note: bytes) -> bytes:
    """Give a note the digest of what it says, so that it is read on."""
    try:
        data = json.loads(note)
        data.pop("digest", None)
        digest = hashlib.sha256(json.dumps(data, sort_keys=True).encode()).hexdigest()
        return json.dumps({**data, "digest": digest}).encode()
    except (ValueError, AttributeError, TypeError, RecursionError):
        return note


def _open(folder: Path) -> None:
    dataset = Dataset.open(folder)
    _ = len(dataset), dataset.tally.cost, dataset.tally + dataset.tally, dataset.tally.to_dict()
    for _batch in dataset.batches():
        pass
    dataset.check_parts()


def _verify(folder: Path) -> None:
    checked = verify(folder)
    wrong = [line for line in checked.faults if "\n" in line]
    if wrong:
        raise ValueError(f"a fault of several lines: {wrong[0]!r}")
    json.dumps(checked.to_dict())


def _states(_: Path) -> Reader:
    opened = stream("calculator/dcfg", 1, 3)
    next(opened)
    valid = json.dumps(opened.state()).encode()

    def read(data: bytes) -> None:
        try:
            state = json.loads(data)
        except (ValueError, RecursionError) as error:
            raise UnskewError("no JSON") from error
        opened.load_state_dict(state)
        next(opened)

    return Reader(lambda rng: change_json(rng, valid), read)


PART = "data/train-00000-of-00002.parquet"
TARGETS = (
    Target("recipes", _recipes, 1400),
    Target("stream-states", _states, 8000),
    Target("dataset-manifest", partial(_dataset_file, SMALL, "manifest.json"), 130),
    Target("dataset-recipe", partial(_dataset_file, SMALL, "recipe.json"), 80),
    Target("dataset-note", partial(_dataset_file, SMALL, ".unskew/train-00000-of-00002.json"), 90),
    Target("dataset-part", partial(_dataset_file, SMALL, PART), 150),
    Target("dataset-karel", partial(_dataset_file, KAREL, "manifest.json"), 20),
)
