"""What a person gives back: states, caches, frozen rules, conditions, names of variables."""

from __future__ import annotations

import json
from collections.abc import Callable
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np

from fuzz.machinery import Reader, Rng, Target
from fuzz.mutate import TEXTUAL, change_json, often, pick, words
from unskew import BatchSampler, Recipe, Sampler, audit, generate, homogenize, sampler, verify
from unskew.core.errors import UnskewError

ROWS: list[dict[str, Any]] = [
    {"a": i % 3, "meta": {"lang": "xyz"[i % 3]}, "tags": ["p", "q"][: i % 3], "text": "a b " * i}
    for i in range(40)
]


def draw(rng: np.random.Generator) -> dict[str, Any]:
    """Draw an example."""
    return {"a": int(rng.integers(5)), "b": (1, 2.5, None, True)[int(rng.integers(4))]}


def _parsed(data: bytes) -> Any:
    try:
        return json.loads(data)
    except (ValueError, RecursionError) as error:
        raise UnskewError("no JSON") from error


def _states(start: Callable[[], Any]) -> Reader:
    """Return a reader of states: they are loaded, and the next items are taken."""
    begun = start()
    list(islice(iter(begun), 7))
    valid = json.dumps(begun.state_dict()).encode()
    other = start()

    def read(data: bytes) -> None:
        other.load_state_dict(_parsed(data))
        list(islice(iter(other), 3))
        json.dumps(other.state_dict())

    return Reader(lambda rng: change_json(rng, valid), read)


def _homogenized(_: Path) -> Reader:
    # A fast source: a state may say that nothing is kept, which a million draws find out.
    return _states(lambda: homogenize("calculator/dcfg", by=["length", "max_depth"]))


def _balanced(_: Path) -> Reader:
    return _states(lambda: homogenize(draw, by=["a", "b"], budget=2.0, pilot=400))


def _samplers(_: Path) -> Reader:
    return _states(lambda: Sampler(ROWS, by="a"))


def _batch_samplers(_: Path) -> Reader:
    return _states(lambda: BatchSampler(ROWS, by="a", batch=6))


def _caches(folder: Path) -> Reader:
    path = folder / "draws.jsonl"
    list(islice(homogenize(draw, by="a", cache=path), 20))
    valid = path.read_bytes()

    def make(rng: Rng) -> bytes:
        lines = valid.splitlines()
        at = int(rng.integers(len(lines)))
        lines[at] = change_json(rng, lines[at])
        data = b"\n".join(lines) + b"\n"
        return often(rng, data, TEXTUAL) if rng.random() < 0.4 else data

    def read(data: bytes) -> None:
        path.write_bytes(data)
        source = sampler(draw, cache=path)
        audit(source, n=12)
        list(islice(homogenize(draw, by="a", cache=path), 5))

    return Reader(make, read)


def _rules(folder: Path) -> Reader:
    """Return a reader of datasets whose frozen rule is damaged."""
    recipe = Recipe(
        "calculator/dcfg", 40, homogenize=("length",), shard_size=20, budget=2.0, pilot=500
    )
    dataset = folder / "dataset"
    generate(recipe, dataset)
    path = dataset / ".unskew/balance.json"
    part = dataset / "data/train-00001-of-00002.parquet"
    valid = path.read_bytes()

    def make(rng: Rng) -> bytes:
        return often(rng, valid, TEXTUAL) if rng.random() < 0.2 else change_json(rng, valid)

    def read(data: bytes) -> None:
        path.write_bytes(data)
        json.dumps(verify(dataset).to_dict())
        part.unlink(missing_ok=True)
        generate(recipe, dataset)

    return Reader(make, read)


def _conditions(_: Path) -> Reader:
    measured = audit(ROWS, by=["a", "meta.lang", "count(tags)"])
    vocabulary = (
        *(
            "a",
            "a.top",
            "meta.lang.kl",
            "a.share(1)",
            "share(x)",
            "duplicates",
            "n",
            "count(tags).values",
        ),
        *(
            ">",
            ">=",
            "==",
            "<",
            "<=",
            "=",
            "!",
            "0.3",
            "1e999",
            "nan",
            "-",
            ".",
            "(",
            ")",
            "\n",
            "é",
        ),
    )
    seeds = (b"a.top > 0.3", b"meta.lang.share(x) == 0.2", b"duplicates.share >= 0.1")

    def read(data: bytes) -> None:
        measured.breaches(data.decode("utf-8", "surrogateescape"))

    def make(rng: Rng) -> bytes:
        made = words(rng, pick(rng, seeds), vocabulary)
        return often(rng, made, TEXTUAL) if rng.random() < 0.3 else made

    return Reader(make, read)


def _names(_: Path) -> Reader:
    """Return a reader of names of variables: paths, and measures of paths."""
    pieces = (
        *(
            "a",
            "meta",
            "lang",
            "tags",
            "text",
            ".",
            "[",
            "]",
            "[0]",
            "[-1]",
            "[99999999999]",
            "(",
            ")",
        ),
        *("words(", "count(", "has(", "year(", "roles(", ",", " ", "é", "\x00", "..", "example"),
    )

    def make(rng: Rng) -> bytes:
        made = "".join(pick(rng, pieces) for _ in range(int(rng.integers(1, 7)))).encode()
        return often(rng, made, TEXTUAL) if rng.random() < 0.1 else made

    def read(data: bytes) -> None:
        name = data.decode("utf-8", "surrogateescape")
        if ":" in name or "/" in name:  # code, or a variable of a domain
            raise UnskewError("another kind of name")
        audit(ROWS, by=name)

    return Reader(make, read)


TARGETS = (
    Target("homogenized-states", _homogenized, 500),
    Target("balanced-states", _balanced, 500),
    Target("sampler-states", _samplers, 2000),
    Target("batch-states", _batch_samplers, 2000),
    Target("sampler-caches", _caches, 100),
    Target("dataset-rules", _rules, 20),
    Target("conditions", _conditions, 5000),
    Target("variable-names", _names, 500),
)
