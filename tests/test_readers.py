"""Datasets as others read them: Hugging Face datasets, Polars, DuckDB, with nothing of ours."""

import numpy as np
import pytest

from unskew import Recipe, generate
from unskew.domains.karel import run, to_picture
from unskew.domains.karel.language.syntax import parse
from unskew.domains.karel.world import from_bytes

SPLITS = {"train": 40, "test": 20}


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    recipe = Recipe("karel/msr", 60, splits=SPLITS, shard_size=25)
    return generate(recipe, tmp_path_factory.mktemp("readers") / "made")


def replays(program: str, before: bytes, after: bytes) -> bool:
    """Whether a row that someone else read still runs."""
    ran = run(parse(program)[None], from_bytes(before))
    return np.array_equal(ran.worlds, from_bytes(after)) and not ran.status.any()


def test_hugging_face_datasets(made, tmp_path):
    datasets = pytest.importorskip("datasets")
    found = datasets.load_dataset(str(made.folder), cache_dir=str(tmp_path))
    assert {name: len(split) for name, split in found.items()} == SPLITS
    row = found["test"][3]
    assert replays(row["program"], row["inputs"], row["outputs"])


def test_polars(made):
    polars = pytest.importorskip("polars")
    found = polars.read_parquet(made.folder / "data" / "train-*.parquet")
    assert found.shape == (40, 3)
    assert replays(*found.row(7))


def test_duckdb(made):
    duckdb = pytest.importorskip("duckdb")
    files = made.folder / "data" / "*.parquet"
    rows = duckdb.sql(f"select program, inputs, outputs from '{files}'").fetchall()  # noqa: S608
    assert len(rows) == 60
    assert replays(*rows[11])


def test_a_row_becomes_worlds_one_can_look_at(made):
    example = next(next(made.batches()).examples())
    worlds = from_bytes(example["inputs"])
    assert worlds.shape == (6, 260)
    assert any(arrow in to_picture(worlds[0]) for arrow in "^>v<")
