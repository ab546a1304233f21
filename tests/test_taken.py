"""Rows of an object come back as the kind of object that came in."""

import pickle
from types import MappingProxyType
from typing import NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.dataset
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st

from unskew.core.errors import UnskewError
from unskew.io.taken import check_takable, take

ROWS = np.array([0, 2, 2, 3])
TEXTS = ["a", "bb", "ccc", "dd", "e"]
NUMBERS = [1, 2, 3, 4, 5]
TAKEN = [{"text": TEXTS[row], "number": NUMBERS[row]} for row in ROWS]


def table() -> pa.Table:
    return pa.table({"text": TEXTS, "number": pa.array(NUMBERS, pa.int16())})


# Python objects


@pytest.mark.parametrize("kind", [list, tuple])
def test_a_list_gives_a_list_of_the_same_objects(kind):
    examples = kind([object() for _ in range(5)])
    taken = take(examples, ROWS)
    assert type(taken) is kind
    assert [id(x) for x in taken] == [id(examples[row]) for row in ROWS]


def test_an_iterable_that_can_be_read_again_gives_a_list():
    class Counting:
        def __iter__(self):
            return iter(range(100))

    assert take(Counting(), np.array([3, 3, 99])) == [3, 3, 99]
    assert take(range(5), ROWS) == [0, 2, 2, 3]
    assert take(Counting(), np.array([], np.int64)) == []
    with pytest.raises(UnskewError, match="changed while it was read"):
        take(Counting(), np.array([3, 100]))
    with pytest.raises(UnskewError, match="changed while it was read"):
        take([1, 2], np.array([0, 2]))
    with pytest.raises(UnskewError, match=r"object.* has no rows; pass a list"):
        take(object(), ROWS)


def test_a_dict_of_columns_keeps_the_kind_of_each_column():
    columns = {"text": TEXTS, "number": np.array(NUMBERS, np.int8), "pair": tuple(NUMBERS)}
    taken = take(columns, ROWS)
    assert taken["text"] == ["a", "ccc", "ccc", "dd"]
    assert taken["number"].dtype == np.int8
    assert taken["number"].tolist() == list(taken["pair"]) == [1, 3, 3, 4]
    assert isinstance(taken["pair"], tuple)
    assert take(MappingProxyType({"text": TEXTS}), ROWS) == {"text": taken["text"]}


@pytest.mark.parametrize(
    "array",
    [
        np.arange(5, dtype=np.float32),
        np.arange(20).reshape(5, 2, 2),
        np.array(list(zip(TEXTS, NUMBERS, strict=True)), dtype=[("text", "U3"), ("number", "i2")]),
        np.array(TEXTS, dtype=object),
    ],
)
def test_an_array_gives_an_array(array):
    taken = take(array, ROWS)
    assert (taken.dtype, taken.shape) == (array.dtype, (4, *array.shape[1:]))
    for row, value in zip(ROWS, taken, strict=True):
        assert np.array_equal(array[row], value)


# Arrow


@given(
    st.lists(st.integers(0, 4), min_size=1, max_size=6),
    st.lists(st.integers(0, 23), max_size=40).map(sorted),
)
def test_rows_of_chunks_are_the_rows_of_the_whole(lengths, rows):
    values = list(range(sum(lengths)))
    rows = np.array([row for row in rows if row < len(values)], np.int64)
    ends = np.cumsum(lengths)
    chunks = [pa.array(values[e - n : e], pa.int64()) for e, n in zip(ends, lengths, strict=True)]
    whole = pa.table({"x": pa.chunked_array(chunks, pa.int64())})
    assert take(whole, rows).column("x").to_pylist() == [values[row] for row in rows]


@pytest.mark.parametrize("rows", [ROWS, np.array([], np.int64)])
def test_arrow_keeps_its_schema_with_metadata_and_every_layout(rows):
    columns = {
        "view": pa.array(TEXTS, pa.string_view()),
        "deep": pa.array([{"a": x} for x in TEXTS], pa.struct([("a", pa.string_view())])),
        "category": pa.array(TEXTS).dictionary_encode(),
        "list": pa.array([[x] for x in TEXTS], pa.list_view(pa.large_string())),
        "time": pa.array(NUMBERS, pa.timestamp("ns", "UTC")),
    }
    whole = pa.table(columns).replace_schema_metadata({"who": "me"})
    taken = take(whole, rows)
    taken.validate(full=True)
    assert taken.schema.equals(whole.schema, check_metadata=True)
    for name in columns:
        values = whole.column(name).to_pylist()
        assert taken.column(name).to_pylist() == [values[row] for row in rows]
    batch = whole.combine_chunks().to_batches()[0]
    assert isinstance(take(batch, rows), pa.RecordBatch)
    assert pa.Table.from_batches([take(batch, rows)]).equals(taken)
    assert isinstance(take(columns["view"], rows), pa.StringViewArray)
    assert isinstance(take(whole.column("time"), rows), pa.ChunkedArray)


def test_arrow_datasets_and_foreign_tables_become_arrow_tables(tmp_path):
    pq.write_table(table(), tmp_path / "x.parquet")
    assert take(pa.dataset.dataset(tmp_path / "x.parquet"), ROWS).to_pylist() == TAKEN

    class Streamed:
        def __arrow_c_stream__(self, requested_schema=None):
            return table().__arrow_c_stream__(requested_schema)

    class Interchanged:
        def __dataframe__(self, nan_as_null=False, allow_copy=True):
            return table().__dataframe__(nan_as_null, allow_copy)

    for odd in (Streamed(), Interchanged()):
        assert take(odd, ROWS).to_pylist() == TAKEN


def test_lists_and_dicts_of_tables_are_split_where_they_were():
    first, second = table().slice(0, 2), table().slice(2)
    taken = take([first, second], ROWS)
    assert [len(part) for part in taken] == [1, 3]
    assert pa.concat_tables(taken).to_pylist() == TAKEN
    splits = take({"train": first, "test": second}, np.array([2, 4]))
    assert [(name, len(part)) for name, part in splits.items()] == [("train", 0), ("test", 2)]


# Tables of other libraries


def test_pandas_keeps_index_and_dtypes():
    pd = pytest.importorskip("pandas")
    frame = pd.DataFrame(
        {"text": pd.Categorical(TEXTS), "number": pd.array([1, None, 3, 4, 5], "Int8")},
        index=pd.Index(list("vwxyz"), name="key"),
    )
    taken = take(frame, ROWS)
    pd.testing.assert_frame_equal(taken, frame.loc[["v", "x", "x", "y"]])
    assert taken.dtypes.equals(frame.dtypes)
    assert take(frame["number"], ROWS).index.tolist() == ["v", "x", "x", "y"]


def test_polars_gives_polars_lazy_or_not():
    pl = pytest.importorskip("polars")
    frame = pl.DataFrame({"text": TEXTS, "number": pl.Series(NUMBERS, dtype=pl.UInt8)})
    taken = take(frame, ROWS)
    assert taken.schema == frame.schema
    assert taken.to_dicts() == TAKEN
    lazy = take(frame.lazy(), ROWS)
    assert isinstance(lazy, pl.LazyFrame)
    assert lazy.collect().equals(taken)
    assert take(frame["number"], ROWS).to_list() == [1, 3, 3, 4]
    with pytest.raises(UnskewError, match=r"data\[1\] does not say .* or collect it"):
        check_takable([frame, frame.lazy()])


# Datasets


def test_hugging_face_datasets_are_selected_from():
    datasets = pytest.importorskip("datasets")
    dataset = datasets.Dataset(table()).with_format("numpy")
    taken = take(dataset, ROWS)
    assert isinstance(taken, datasets.Dataset)
    assert taken.features == dataset.features
    assert taken.format["type"] == "numpy"
    assert taken.with_format(None).to_list() == TAKEN
    splits = datasets.DatasetDict({"train": dataset, "test": dataset})
    taken = take(splits, np.array([4, 5, 5]))
    assert isinstance(taken, datasets.DatasetDict)
    assert {name: part["number"][:].tolist() for name, part in taken.items()} == {
        "train": [5],
        "test": [1, 1],
    }


def test_a_hugging_face_stream_stays_a_stream():
    datasets = pytest.importorskip("datasets")
    stream = datasets.Dataset(table()).to_iterable_dataset()
    taken = take(stream, ROWS)
    assert isinstance(taken, datasets.IterableDataset)
    assert list(taken) == list(taken) == TAKEN
    splits = datasets.IterableDatasetDict({"train": stream})
    with pytest.raises(UnskewError, match=r"data\['train'\] does not say how many rows"):
        check_takable(splits)


class Pair(NamedTuple):
    """An example of a dataset."""

    x: int
    y: str


def test_torch_datasets_go_into_a_loader():
    torch = pytest.importorskip("torch")
    data = torch.utils.data

    class Squares(data.Dataset):
        def __len__(self):
            return 5

        def __getitem__(self, row):
            return {"x": torch.tensor(row * row)}

    taken = take(Squares(), ROWS)
    assert isinstance(taken, data.Dataset)
    loader = data.DataLoader(taken, batch_size=2)
    assert [batch["x"].tolist() for batch in loader] == [[0, 4], [4, 9]]
    assert len(pickle.loads(pickle.dumps(take(data.TensorDataset(torch.arange(5)), ROWS)))) == 4  # noqa: S301
    assert take(torch.arange(5) * 2, ROWS).tolist() == [0, 4, 4, 6]

    class Passing(data.IterableDataset):
        def __iter__(self):
            return iter([Pair(row, str(row)) for row in range(5)])

    taken = take(Passing(), ROWS)
    assert taken == [Pair(0, "0"), Pair(2, "2"), Pair(2, "2"), Pair(3, "3")]
    assert [batch.x.tolist() for batch in data.DataLoader(taken, batch_size=4)] == [[0, 2, 2, 3]]
    with pytest.raises(UnskewError, match=r"pass its dataset: loader\.dataset"):
        check_takable(loader)


@pytest.mark.parametrize("once", [iter([1]), (x for x in "ab"), table().to_reader()])
def test_what_can_be_read_once_is_refused(once):
    with pytest.raises(UnskewError, match="can be read only once; pass a list"):
        check_takable(once)
