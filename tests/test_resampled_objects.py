"""Tables and datasets of other libraries are resampled and come back as what they were."""

import numpy as np
import pyarrow as pa
import pytest

import unskew
from unskew.core.rng import generator

pytest.importorskip("unskew.io.objects")  # reads these objects

ANSWERS = np.minimum(generator(0, "rows").geometric(0.5, 2000), 6).tolist()
ROWS = [{"id": row, "answer": answer} for row, answer in enumerate(ANSWERS)]
EXPECTED = [(row["id"], row["answer"]) for row in unskew.resample(ROWS, "answer").data]


def pairs(columns) -> list[tuple]:
    return list(zip(*(list(columns[name]) for name in ("id", "answer")), strict=True))


def test_a_pandas_frame_comes_back_as_one():
    pd = pytest.importorskip("pandas")
    frame = pd.DataFrame(ROWS).astype({"answer": "int8"}).set_axis(range(5000, 7000))
    made = unskew.resample(frame, "answer")
    pd.testing.assert_frame_equal(made.data, frame.iloc[made.indices])
    assert pairs(made.data) == EXPECTED
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
    assert pairs(made.data.lazy().collect()) == EXPECTED


def test_arrow_arrays_and_columns_come_back_as_they_were():
    table = pa.Table.from_pylist(ROWS)
    made = unskew.resample(table, "answer").data
    assert isinstance(made, pa.Table)
    assert made.schema == table.schema
    assert made.to_pylist() == [{"id": i, "answer": a} for i, a in EXPECTED]
    columns = unskew.resample({"id": list(range(2000)), "answer": np.array(ANSWERS)}, "answer").data
    assert isinstance(columns["id"], list)
    assert isinstance(columns["answer"], np.ndarray)
    assert pairs(columns) == EXPECTED
    array = unskew.resample(np.array(ANSWERS), lambda x: x).data
    assert array.tolist() == [answer for _, answer in EXPECTED]


def test_hugging_face_datasets_come_back_as_they_were():
    datasets = pytest.importorskip("datasets")
    dataset = datasets.Dataset.from_list(ROWS)
    made = unskew.resample(dataset, "answer").data
    assert isinstance(made, datasets.Dataset)
    assert pairs(made) == EXPECTED
    splits = datasets.DatasetDict(
        {"train": dataset.select(range(1500)), "test": dataset.select(range(1500, 2000))}
    )
    made = unskew.resample(splits, "answer").data
    assert isinstance(made, datasets.DatasetDict)
    assert pairs(made["train"]) + pairs(made["test"]) == EXPECTED
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
