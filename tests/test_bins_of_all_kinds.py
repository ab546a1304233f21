"""The same numbers get the same bins, whatever holds them and however they are cut to batches."""

import json

import pandas as pd
import pyarrow as pa
import pytest
from pyarrow import parquet

import unskew

ROWS = [{"x": i / 7 if i < 5000 else 1000 + i / 7} for i in range(12_000)]


def parquet_file(folder):
    parquet.write_table(pa.table({"x": [row["x"] for row in ROWS]}), folder / "x.parquet")
    return str(folder / "x.parquet")


def json_lines(folder):
    (folder / "x.jsonl").write_text("".join(json.dumps(row) + "\n" for row in ROWS))
    return str(folder / "x.jsonl")


def csv(folder):
    pd.DataFrame(ROWS).to_csv(folder / "x.csv", index=False)
    return str(folder / "x.csv")


KINDS = {
    "frame": lambda _: pd.DataFrame(ROWS),
    "columns": lambda _: {"x": [row["x"] for row in ROWS]},
    "parquet": parquet_file,
    "json lines": json_lines,
    "csv": csv,
}


@pytest.mark.parametrize("kind", KINDS)
def test_bins_do_not_depend_on_what_holds_the_numbers(kind, tmp_path):
    expected = unskew.audit(ROWS).variables["x"]
    measured = unskew.audit(KINDS[kind](tmp_path)).variables["x"]
    assert len(expected.edges) > 10
    assert measured.edges == expected.edges
    assert measured.counts == expected.counts
