"""``resample`` gives back the kind of object that came in, and says which rows it took."""

import json
from collections import Counter
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import unskew
from unskew.core.batch import Batch
from unskew.core.errors import UnskewError
from unskew.core.rng import generator
from unskew.datasets.resampling.rows import taken_batches
from unskew.datasets.target import Target

ANSWERS = np.minimum(generator(0, "rows").geometric(0.5, 2000), 6).tolist()
ROWS = [{"id": row, "answer": answer} for row, answer in enumerate(ANSWERS)]


@pytest.fixture(autouse=True)
def folder(monkeypatch, tmp_path):
    monkeypatch.chdir(tmp_path)


def write_jsonl(rows=ROWS, name="x.jsonl") -> Path:
    Path(name).write_text("".join(json.dumps(row) + "\n" for row in rows))
    return Path(name)


def test_a_list_comes_back_as_a_list_with_the_numbers_of_its_rows():
    made = unskew.resample(ROWS, "answer")
    assert isinstance(made.data, list)
    assert made.rows == len(made.data) == made.possible == made.distinct
    assert all(row is ROWS[i] for row, i in zip(made.data, made.indices, strict=True))
    assert made.indices.tolist() == sorted(set(made.indices.tolist()))
    assert made.weights.tolist() == [int(i in set(made.indices.tolist())) for i in range(2000)]
    assert made.path is None
    assert list(Path().iterdir()) == []
    assert Counter(row["answer"] for row in made.data) == made.after.counts


def test_repeats_stand_side_by_side():
    made = unskew.resample(ROWS, "answer", 4000, replacement=True, epsilon=0)
    assert made.data == [row for row, n in zip(ROWS, made.weights, strict=True) for _ in range(n)]
    assert np.bincount(made.indices, minlength=2000).tolist() == made.weights.tolist()
    assert made.rows > made.distinct == np.count_nonzero(made.weights)


def test_a_file_is_written_only_if_asked_and_holds_the_same_rows():
    made = unskew.resample(ROWS, "answer", path="y.jsonl")
    assert made.path == Path("y.jsonl")
    assert [json.loads(line) for line in Path("y.jsonl").read_text().splitlines()] == made.data
    assert made.to_dict()["file"] == "y.jsonl"
    assert unskew.resample(ROWS, "answer").to_dict()["file"] is None


def test_the_result_tells_its_counts():
    rows = ["a"] * 80 + ["b"] * 20
    made = unskew.resample(rows, lambda x: x, epsilon=0)
    assert repr(made) == (
        "40 of 100 examples\n<lambda>: KL 0.193 → 0.000 (100.0 % removed), TV 0.300 → 0.000"
    )
    made = unskew.resample(rows, {"letter": lambda x: x}, path="y.jsonl", replacement=True)
    assert repr(made).splitlines()[0] == "100 of 100 examples, 28 of them repeats"
    assert repr(made).splitlines()[2] == "written to y.jsonl"
    assert made.before.counts == {"a": 80, "b": 20}
    lost = unskew.resample([1] * 99 + [2], lambda x: x, 1)
    assert set(lost.after.counts) == {1, 2}  # over the same values, also one that is gone


# Files are read when they are used


@pytest.mark.parametrize("form", ["jsonl", "parquet"])
def test_rows_of_a_file_are_read_when_they_are_used(form):
    path = write_jsonl()
    if form == "parquet":
        path = Path("x.parquet")
        pq.write_table(pa.Table.from_pylist(ROWS), path, row_group_size=300)
    rows = unskew.resample(path, "answer").data
    expected = unskew.resample(ROWS, "answer").data
    assert len(rows) == len(expected)
    assert list(rows) == list(rows) == expected
    assert rows.to_arrow().to_pylist() == pa.table(rows).to_pylist() == expected
    assert repr(rows) == f"<{len(rows):,} rows of {path}, read when they are used>"
    assert unskew.audit(rows, "answer").variables["answer"].n == len(rows)
    path.unlink()
    with pytest.raises(UnskewError, match="x"):
        list(rows)


def test_rows_of_a_file_go_into_tables_of_other_libraries():
    polars = pytest.importorskip("polars")
    rows = unskew.resample(str(write_jsonl()), "answer").data
    assert polars.DataFrame(rows).to_dicts() == list(rows)


def test_rows_of_a_file_that_has_changed_are_refused():
    path = write_jsonl()
    rows = unskew.resample(path, "answer").data
    write_jsonl(ROWS[:-1])
    with pytest.raises(UnskewError, match="changed while it was read"):
        list(rows)


def test_a_dataset_of_ours_is_read_as_a_file_is():
    made = unskew.generate(unskew.Recipe("calculator/dcfg", 300), "made")
    rows = unskew.resample(made, "length").data
    assert list(rows) == list(unskew.resample("made", "length").data)
    assert 0 < len(rows) < 300


# The order of the arguments was another


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        (("x.jsonl", "y.jsonl", "answer"), "by='answer', path='y.jsonl')"),
        ((ROWS, Path("y.jsonl"), "answer"), "by='answer', path='y.jsonl')"),
        ((ROWS, Path("y.jsonl"), len), "by='answer', path='y.jsonl')"),
        ((ROWS, "y.jsonl", ["a", "b"]), "by='answer', path='y.jsonl')"),
    ],
)
def test_the_order_of_before_is_refused_with_the_new_form(arguments, expected):
    with pytest.raises(UnskewError) as refused:
        unskew.resample(*arguments)
    assert str(refused.value).endswith(f"give the file by its name: resample(data, {expected}")


def test_few_rows_of_each_batch_make_tables_of_many_rows():
    pq.write_table(pa.table({"a": np.arange(300_000) % 50}), "x.parquet", row_group_size=10_000)
    made = unskew.resample("x.parquet", "a", 90_000, path="y.parquet")
    groups = pq.ParquetFile("y.parquet").metadata
    sizes = [groups.row_group(i).num_rows for i in range(groups.num_row_groups)]
    assert sum(sizes) == made.rows == 90_000
    assert min(sizes[:-1]) >= 1 << 16
    assert pq.read_table("y.parquet").column("a").to_pylist() == (made.indices % 50).tolist()


def test_tables_whose_types_differ_are_not_joined():
    batches = [Batch({"a": pa.array([1, 2])}), Batch({"a": pa.array(["x", "y"])}), Batch.of([3, 4])]
    target = Target("mixed", lambda n: iter(batches))
    found = taken_batches(target, np.array([1, 1, 0, 1, 2, 0]))
    assert [list(batch.examples()) for batch in found] == [
        [{"a": 1}, {"a": 2}],
        [{"a": "y"}],
        [3, 3],
    ]
