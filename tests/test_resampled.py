"""``resample`` gives back the kind of object that came in, and says which rows it took."""

import json
from collections import Counter
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import unskew
from unskew.core.errors import UnskewError
from unskew.core.rng import generator

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
    assert repr(made).splitlines()[0] == "100 of 100 examples, 30 of them repeats"
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


# Objects of other libraries: these need `open_target` to read them


def taken(made, columns) -> list[tuple]:
    return list(zip(*(list(columns[name]) for name in ("id", "answer")), strict=True))


EXPECTED = [(row["id"], row["answer"]) for row in unskew.resample(ROWS, "answer").data]


def test_a_pandas_frame_comes_back_as_one():
    pd = pytest.importorskip("pandas")
    frame = pd.DataFrame(ROWS).astype({"answer": "int8"}).set_axis(range(5000, 7000))
    made = unskew.resample(frame, "answer")
    pd.testing.assert_frame_equal(made.data, frame.iloc[made.indices])
    assert taken(made, made.data) == EXPECTED
    assert made.data.dtypes["answer"] == "int8"
    assert (
        unskew.weights(frame, "answer").weights.tolist()
        == unskew.weights(ROWS, "answer").weights.tolist()
    )
    assert list(unskew.Sampler(frame, "answer")) == list(unskew.Sampler(ROWS, "answer"))


@pytest.mark.parametrize("lazy", [False, True])
def test_a_polars_frame_comes_back_as_one(lazy):
    pl = pytest.importorskip("polars")
    frame = pl.DataFrame(ROWS)
    made = unskew.resample(frame.lazy() if lazy else frame, "answer")
    assert isinstance(made.data, pl.LazyFrame if lazy else pl.DataFrame)
    assert taken(made, made.data.lazy().collect()) == EXPECTED


def test_arrow_arrays_and_columns_come_back_as_they_were():
    table = pa.Table.from_pylist(ROWS)
    made = unskew.resample(table, "answer").data
    assert isinstance(made, pa.Table)
    assert made.schema == table.schema
    assert made.to_pylist() == [{"id": i, "answer": a} for i, a in EXPECTED]
    columns = unskew.resample({"id": list(range(2000)), "answer": np.array(ANSWERS)}, "answer").data
    assert isinstance(columns["id"], list)
    assert isinstance(columns["answer"], np.ndarray)
    assert taken(None, columns) == EXPECTED
    array = unskew.resample(np.array(ANSWERS), lambda x: x).data
    assert array.tolist() == [answer for _, answer in EXPECTED]


def test_hugging_face_datasets_come_back_as_they_were():
    datasets = pytest.importorskip("datasets")
    dataset = datasets.Dataset.from_list(ROWS)
    made = unskew.resample(dataset, "answer").data
    assert isinstance(made, datasets.Dataset)
    assert taken(None, made) == EXPECTED
    splits = datasets.DatasetDict(
        {"train": dataset.select(range(1500)), "test": dataset.select(range(1500, 2000))}
    )
    made = unskew.resample(splits, "answer").data
    assert isinstance(made, datasets.DatasetDict)
    assert taken(None, made["train"]) + taken(None, made["test"]) == EXPECTED
    stream = unskew.resample(dataset.to_iterable_dataset(), "answer").data
    assert isinstance(stream, datasets.IterableDataset)
    assert [(row["id"], row["answer"]) for row in stream] == EXPECTED


def test_a_torch_dataset_comes_back_as_one():
    torch = pytest.importorskip("torch")

    class Answers(torch.utils.data.Dataset):
        def __len__(self):
            return len(ROWS)

        def __getitem__(self, row):
            return ROWS[row]

    made = unskew.resample(Answers(), "answer").data
    assert isinstance(made, torch.utils.data.Dataset)
    batches = list(torch.utils.data.DataLoader(made, batch_size=100))
    answers = [answer for batch in batches for answer in batch["answer"].tolist()]
    assert answers == [answer for _, answer in EXPECTED]
