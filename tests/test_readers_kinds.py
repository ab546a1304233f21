"""Each kind of object and file with the same data gives the same audit."""

from __future__ import annotations

import gzip
import json
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.csv
import pyarrow.dataset
import pyarrow.fs
import pyarrow.parquet as pq
import pytest

import unskew
from tests.packed_files import zst
from unskew.datasets.open import open_target
from unskew.domains import FILE_COLUMNS, domain_names, domains_with_columns, load_domain
from unskew.io.location import ObjectPath
from unskew.io.tables import MOST_BYTES

ROWS = [
    {"n": 3, "word": "apple", "tag": "x"},
    {"n": 1, "word": "pear", "tag": None},
    {"n": 3, "word": "a, b", "tag": "y"},
    {"n": -2, "word": "über", "tag": "x"},
    {"n": 3, "word": "apple", "tag": "x"},
]
BY = ["n", "word", "tag"]
COLUMNS = {name: [row[name] for row in ROWS] for name in BY}


def pandas() -> Any:
    return pytest.importorskip("pandas")


def polars() -> Any:
    return pytest.importorskip("polars")


def hugging_face() -> Any:
    return pytest.importorskip("datasets")


def torch() -> Any:
    return pytest.importorskip("torch")


def table() -> pa.Table:
    return pa.Table.from_pylist(ROWS)


class Stream:
    """An object that only has the Arrow C stream protocol."""

    def __arrow_c_stream__(self, requested_schema: object = None) -> object:
        return table().__arrow_c_stream__(requested_schema)


class ArrayOnly:
    """An object that only has the Arrow C array protocol."""

    def __arrow_c_array__(self, requested_schema: object = None) -> object:
        return table().to_batches()[0].__arrow_c_array__(requested_schema)


class Interchange:
    """An object that only has the dataframe interchange protocol."""

    def __dataframe__(self, **options: Any) -> object:
        return table().__dataframe__(**options)


def views() -> pa.Table:
    """A table in the layouts that Arrow can hardly work with."""
    made = table()
    for i, name in enumerate(BY[1:], start=1):
        made = made.set_column(i, name, made[name].cast(pa.string_view()))
    return pa.concat_tables([made.slice(0, 2), made.slice(2)])


def map_style() -> Any:
    class Rows(torch().utils.data.Dataset):
        def __len__(self) -> int:
            return len(ROWS)

        def __getitem__(self, row: int) -> dict[str, Any]:
            return {**ROWS[row], "n": torch().tensor(ROWS[row]["n"])}

    return Rows()


def iterable_style() -> Any:
    class Rows(torch().utils.data.IterableDataset):
        def __iter__(self) -> Iterator[dict[str, Any]]:
            return iter(ROWS)

    return Rows()


def loader() -> Any:
    def collate(rows: list[dict[str, Any]]) -> dict[str, Any]:
        columns = {name: [row[name] for row in rows] for name in BY}
        return {**columns, "n": torch().tensor(columns["n"])}

    return torch().utils.data.DataLoader(map_style(), batch_size=2, collate_fn=collate)


def frame() -> Any:
    return pandas().DataFrame(COLUMNS)


def other_types() -> Any:
    made = frame().astype({"n": "Int64", "word": "category", "tag": "string"})
    return made.set_index(np.array([9, 9, 1, 5, 4]))  # an index without a name is no column


def categories() -> Any:
    pl = polars()
    return pl.DataFrame(COLUMNS).with_columns(
        pl.col("word").cast(pl.Categorical), pl.col("tag").cast(pl.Enum(["x", "y"]))
    )


def generator() -> Iterator[dict[str, Any]]:
    yield from ROWS


OBJECTS: dict[str, Callable[[], Any]] = {
    "list": lambda: ROWS,
    "tuple": lambda: tuple(ROWS),
    "generator": generator,
    "dict of lists": lambda: COLUMNS,
    "dict of arrays": lambda: {**COLUMNS, "n": np.array(COLUMNS["n"])},
    "dict of Arrow": lambda: dict(zip(BY, table().columns, strict=True)),
    "table": table,
    "views": views,
    "dictionary": lambda: table().set_column(1, "word", table()["word"].dictionary_encode()),
    "record batch": lambda: table().to_batches()[0],
    "reader": lambda: table().to_reader(max_chunksize=2),
    "arrow dataset": lambda: pa.dataset.dataset(table()),
    "stream": Stream,
    "array protocol": ArrayOnly,
    "interchange": Interchange,
    "struct array": lambda: table().to_struct_array().combine_chunks(),
    "structured array": lambda: np.array(
        [tuple(row.values()) for row in ROWS], dtype=[("n", "i2"), ("word", "U9"), ("tag", "O")]
    ),
    "pandas": frame,
    "pandas types": other_types,
    "pandas index": lambda: frame().set_index("word"),
    "pandas chunks": lambda: iter([frame().iloc[:2], frame().iloc[2:]]),
    "polars": lambda: polars().DataFrame(COLUMNS),
    "polars types": categories,
    "lazy polars": lambda: polars().LazyFrame(COLUMNS),
    "hugging face": lambda: hugging_face().Dataset.from_list(ROWS),
    "chosen rows": lambda: hugging_face().Dataset.from_list(ROWS[::-1]).select([4, 3, 2, 1, 0]),
    "torch format": lambda: hugging_face().Dataset.from_list(ROWS).with_format("numpy"),
    "iterable": lambda: hugging_face().Dataset.from_list(ROWS).to_iterable_dataset(),
    "from generator": lambda: hugging_face().IterableDataset.from_generator(generator),
    "torch map": map_style,
    "torch iterable": iterable_style,
    "loader": loader,
}


def lines(end: str = "\n") -> bytes:
    return "".join(json.dumps(row) + end for row in ROWS).encode()


def csv(delimiter: str = ",") -> bytes:
    sink = pa.BufferOutputStream()
    options = pa.csv.WriteOptions(delimiter=delimiter)
    pa.csv.write_csv(table(), sink, options)
    return sink.getvalue().to_pybytes()


def arrow(new: Callable[..., Any]) -> bytes:
    sink = pa.BufferOutputStream()
    with new(sink, table().schema) as writer:
        writer.write_table(table(), max_chunksize=2)
    return sink.getvalue().to_pybytes()


FILES: dict[str, Callable[[], bytes]] = {
    "x.jsonl": lines,
    "x.ndjson": lambda: b"\xef\xbb\xbf" + lines("\r\n"),
    "x.jsonl.gz": lambda: gzip.compress(lines()),
    "two members.jsonl.gz": lambda: gzip.compress(lines()[:40]) + gzip.compress(lines()[40:]),
    "x.jsonl.zst": lambda: zst(lines()),
    "x.JSONL": lines,
    "lines.json": lines,
    "rows.json": lambda: json.dumps(ROWS).encode(),
    "indented.json": lambda: json.dumps(ROWS, indent=2).encode(),
    "object.json": lambda: json.dumps({"version": 1, "data": ROWS}).encode(),
    "columns.json": lambda: json.dumps(COLUMNS).encode(),
    "pandas.json": lambda: json.dumps(
        {name: {str(i): value for i, value in enumerate(COLUMNS[name])} for name in BY}
    ).encode(),
    "rows.json.gz": lambda: gzip.compress(json.dumps(ROWS).encode()),
    "x.csv": csv,
    "x.csv.gz": lambda: gzip.compress(csv()),
    "x.csv.zst": lambda: zst(csv()),
    "x.tsv": lambda: csv("\t"),
    "x.tsv.gz": lambda: gzip.compress(csv("\t")),
    "x.ndjson.zst": lambda: zst(lines()),
    "rows.json.zst": lambda: zst(json.dumps(ROWS).encode()),
    "semicolons.csv": lambda: csv(";"),
    "bom.csv": lambda: b"\xef\xbb\xbf" + csv().replace(b"\n", b"\r\n"),
    "file.arrow": lambda: arrow(pa.ipc.new_file),
    "stream.arrow": lambda: arrow(pa.ipc.new_stream),
    "x.feather": lambda: arrow(pa.ipc.new_file),
}


def check(target: Any, distinct: int = 4) -> None:
    made = unskew.audit(target, by=BY).to_dict()
    assert made["variables"] == unskew.audit(ROWS, by=BY).to_dict()["variables"]
    assert (made["n"], made["distinct"]) == (len(ROWS), distinct)


@pytest.mark.parametrize("kind", OBJECTS)
def test_an_object(kind: str) -> None:
    check(OBJECTS[kind]())


@pytest.mark.parametrize("name", FILES)
def test_a_file(name: str, tmp_path: Path) -> None:
    (tmp_path / name).write_bytes(FILES[name]())
    check(tmp_path / name)
    check(tmp_path)  # a folder with this file


def test_parquet(tmp_path: Path) -> None:
    pq.write_table(table(), tmp_path / "x.parquet", row_group_size=2)
    check(tmp_path / "x.parquet")


def test_several_files_of_several_kinds(tmp_path: Path) -> None:
    (tmp_path / "a").mkdir()
    (tmp_path / "a" / "1.csv").write_bytes(b"n,word,tag\n3,apple,x\n1,pear,\n")
    (tmp_path / "b.jsonl").write_text("".join(json.dumps(row) + "\n" for row in ROWS[2:4]))
    pq.write_table(table().slice(4), tmp_path / "c.parquet")
    (tmp_path / "config.json").write_text("{}")
    (tmp_path / ".hidden.csv").write_text("n,word,tag\n7,no,\n")
    check(tmp_path)
    check(f"{tmp_path}/**/*")
    check(f"{tmp_path}/*[!1]*")


def test_patterns_of_names(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("data/deep").mkdir(parents=True)
    for i, row in enumerate(ROWS):
        folder = Path("data/deep" if i == 2 else "data")
        (folder / f"{i}.jsonl").write_text(json.dumps(row))
    check("data/**/*.jsonl")
    assert unskew.audit("data/*.jsonl", by="n").n == 4
    assert unskew.audit("data/[12].jsonl", by="n").n == 1
    Path("data/a[1].jsonl").write_bytes(lines())
    check("data/a[1].jsonl")  # a name that is there is no pattern


def test_save_to_disk(tmp_path: Path) -> None:
    datasets = hugging_face()
    rows = datasets.Dataset.from_list(ROWS)
    rows.save_to_disk(tmp_path / "one", num_shards=2)
    (tmp_path / "one" / "cache-1.arrow").write_bytes(b"of another query")
    check(tmp_path / "one")
    both = datasets.DatasetDict(train=rows.select([0, 1]), test=rows.select([2, 3, 4]))
    both.save_to_disk(tmp_path / "both")
    for target in (both, tmp_path / "both", {"train": frame()[:2], "test": frame()[2:]}):
        check(target, distinct=5)  # the first and the last are equal, but of other splits
        counts = unskew.audit(target, by="split").variables["split"].counts
        assert counts == {"test": 3, "train": 2}


def test_the_layout_of_a_repository(tmp_path: Path) -> None:
    for folder, train, test in (
        ("a", "data/train-00000-of-00001.parquet", "data/test-00000-of-00001.parquet"),
        ("b", "train.parquet", "test.parquet"),
        ("c", "train/x.parquet", "test/x.parquet"),
        ("d", "first-00000-of-00001.parquet", "second-00000-of-00001.parquet"),
        ("e", "my_train.parquet", "my_test.parquet"),
    ):
        for name, part in ((train, table().slice(0, 2)), (test, table().slice(2))):
            (tmp_path / folder / name).parent.mkdir(parents=True, exist_ok=True)
            pq.write_table(part, tmp_path / folder / name)
        audit = unskew.audit(tmp_path / folder, by=[*BY, "split"])
        assert sorted(audit.variables["split"].counts.values()) == [2, 3]
        assert audit.variables["n"].counts == {-2: 1, 1: 1, 3: 3}
    assert "split" not in unskew.audit(tmp_path / "a/data/test-00000-of-00001.parquet").variables


def test_a_split_of_their_own_stays(tmp_path: Path) -> None:
    for name in ("train", "test"):
        (tmp_path / f"{name}.jsonl").write_text('{"split": "theirs"}\n')
    assert unskew.audit(tmp_path).variables["split"].counts == {"theirs": 2}
    datasets = hugging_face()
    rows = datasets.Dataset.from_list([{"split": "theirs"}])
    both = datasets.DatasetDict(train=rows, test=rows)
    assert unskew.audit(both).variables["split"].counts == {"theirs": 2}


def test_an_iterable_dataset_dict() -> None:
    datasets = hugging_face()
    streams = datasets.IterableDatasetDict(
        train=datasets.Dataset.from_list(ROWS[:2]).to_iterable_dataset(),
        test=datasets.Dataset.from_list(ROWS[2:]).to_iterable_dataset(),
    )
    check(streams, distinct=5)
    assert unskew.audit(streams, by="split").variables["split"].counts == {"test": 3, "train": 2}


def test_a_saved_folder_does_not_lead_out(tmp_path: Path) -> None:
    hugging_face().Dataset.from_list(ROWS).save_to_disk(tmp_path / "saved")
    state = tmp_path / "saved" / "state.json"
    (tmp_path / "secret.arrow").write_bytes(arrow(pa.ipc.new_stream))
    state.write_text(json.dumps({"_data_files": [{"filename": "../secret.arrow"}]}))
    with pytest.raises(unskew.UnskewError, match="which is not in it; do not use it"):
        open_target(tmp_path / "saved")


# Values without columns.


@pytest.mark.parametrize(
    "values",
    [
        lambda: np.array([2, 1, 2], np.int8),
        lambda: pa.array([2, 1, 2]),
        lambda: pa.chunked_array([[2], [1, 2]]),
        lambda: pandas().Series([2, 1, 2]),
        lambda: polars().Series([2, 1, 2]),
        lambda: torch().tensor([2, 1, 2]),
        lambda: torch().utils.data.DataLoader(torch().tensor([2, 1, 2]), batch_size=2),
    ],
)
def test_values(values: Callable[[], Any]) -> None:
    def value(example: Any) -> Any:
        return example

    assert unskew.audit(values(), by=value).variables["value"].counts == {1: 1, 2: 2}


@pytest.mark.parametrize("make", [np.array, lambda rows: torch().tensor(rows)])
def test_rows_of_an_array(make: Callable[..., Any]) -> None:
    def total(row: Any) -> int:
        return int(row.sum())

    audit = unskew.audit(make([[1, 2], [3, 0], [0, 0]]), by=total)
    assert audit.variables["total"].counts == {0: 1, 3: 2}
    assert unskew.audit(make([[[1], [2]], [[0], [5]]]), by=total).n == 2


def test_batches_of_a_loader_are_taken_apart() -> None:
    data = torch().utils.data
    x, y = torch().arange(6).reshape(3, 2), torch().tensor([1, 0, 1])

    def label(example: Any) -> int:
        return example[1]

    def shape(example: Any) -> tuple[int, ...]:
        return example[0].shape

    rows = data.TensorDataset(x, y)
    for target in (
        rows,
        data.DataLoader(rows, batch_size=2),
        data.DataLoader(rows, batch_size=None),
    ):
        audit = unskew.audit(target, by={"label": label, "shape": shape})
        assert audit.variables["label"].counts == {0: 1, 1: 2}
        assert audit.variables["shape"].counts == {(2,): 3}
    nested = [{"a": {"x": row}, "name": f"{row}"} for row in (1, 2, 2)]
    target = data.DataLoader(nested, batch_size=2)
    by = {"x": lambda row: row["a"]["x"], "name": lambda row: row["name"]}
    assert unskew.audit(target, by=by).variables["x"].counts == {1: 1, 2: 2}
    assert unskew.audit(target, by=by).variables["name"].counts == {"1": 1, "2": 2}
    texts = data.DataLoader(["a", "b", "b"], batch_size=2)
    assert unskew.audit(texts, by={"text": lambda text: text}).variables["text"].counts == {
        "a": 1,
        "b": 2,
    }
    as_lists = data.DataLoader(nested, batch_size=2, collate_fn=lambda rows: rows)
    assert unskew.audit(as_lists, by=by).variables["x"].counts == {1: 1, 2: 2}


# What a target knows.


@pytest.mark.parametrize("kind", OBJECTS)
def test_what_can_be_read_twice_says_so(kind: str) -> None:
    opened = open_target(OBJECTS[kind]())
    once = ("generator", "reader", "pandas chunks")
    assert opened.repeatable == (kind not in once)
    assert sum(len(batch) for batch in opened.read(None)) == len(ROWS)
    if kind in once:
        with pytest.raises(unskew.UnskewError, match="can be read only once; pass a list"):
            opened.read(None)
    else:
        assert sum(len(batch) for batch in opened.read(None)) == len(ROWS)


def test_no_more_is_read_of_a_generator_than_is_wanted() -> None:
    drawn = []

    def slow() -> Iterator[dict[str, int]]:
        for i in range(100):
            drawn.append(i)
            yield {"n": i % 2}

    assert unskew.audit(slow(), by="n", n=7).n == 7
    assert len(drawn) == 7


NAMES = ["x.parquet", "x.csv", "x.arrow", "x.feather"]


@pytest.mark.parametrize("name", NAMES)
def test_only_the_columns_that_are_wanted_are_read(name: str, tmp_path: Path) -> None:
    if name == "x.parquet":
        pq.write_table(table(), tmp_path / name)
    else:
        (tmp_path / name).write_bytes(FILES.get(name, FILES["file.arrow"])())
    for target in (tmp_path / name, table(), frame(), polars().LazyFrame(COLUMNS)):
        opened = open_target(target)
        (batch,) = opened.read(None, ["tag", "nothing"])
        assert list(batch.columns) == ["tag"]
        assert batch.columns["tag"].to_pylist() == COLUMNS["tag"]
        (batch,) = opened.read(2, ["nothing"])  # the error names what is there
        assert list(batch.columns) == BY
        assert len(batch) == 2


def test_the_index_of_pandas() -> None:
    named = frame().set_index("n").set_index(np.arange(5), append=True)
    assert list(next(open_target(named).read(None)).columns) == ["n", "word", "tag"]
    ranges = frame().rename_axis("place")
    assert list(next(open_target(ranges).read(None)).columns) == ["place", *BY]


def test_times_and_lists_of_pandas_and_polars() -> None:
    times = pandas().to_datetime(["2024-01-05", None])
    for made in (
        pandas().DataFrame({"t": times, "l": [["a"], []]}),
        polars().DataFrame({"t": [*times.to_pydatetime().tolist()[:1], None], "l": [["a"], []]}),
    ):
        rows = [row for batch in open_target(made).read(None) for row in batch.examples()]
        assert [str(row["t"])[:10] for row in rows] == ["2024-01-05", "None"]
        assert [list(row["l"]) for row in rows] == [["a"], []]


def test_a_file_of_a_domain_keeps_its_columns(tmp_path: Path) -> None:
    rows = next(open_target("karel/problems").read(3))
    pq.write_table(rows.to_arrow(), tmp_path / "train.parquet")
    pq.write_table(rows.to_arrow(), tmp_path / "test.parquet")
    opened = open_target(tmp_path)
    assert opened.domain is not None
    assert "split" not in next(opened.read(1)).columns


def test_rows_of_a_file_that_arrow_read_in_part(tmp_path: Path) -> None:
    lines = ['{"a": 1, "b": null}'] * 5000 + ['{"a": 2.5, "b": "x"}', '{"b": "y"}']
    (tmp_path / "x.jsonl").write_text("\n".join(lines))
    rows = open_target(tmp_path / "x.jsonl").rows(4998, 5002)
    assert rows.columns["a"].to_pylist() == [1, 1, 2.5, None]
    assert rows.columns["b"].to_pylist() == [None, None, "x", "y"]


def test_objects_in_a_store(tmp_path: Path) -> None:
    """A file system of Arrow takes the place of a store: patterns, kinds, splits are the same."""
    for name, part in (("train", table().slice(0, 2)), ("test", table().slice(2))):
        pq.write_table(part, tmp_path / f"{name}.parquet")
        (tmp_path / f"{name}.csv.gz").write_bytes(gzip.compress(csv()))
        (tmp_path / f"{name}.arrow").write_bytes(arrow(pa.ipc.new_stream))
    (tmp_path / "x.jsonl.zst").write_bytes(zst(lines()))
    store = pa.fs.SubTreeFileSystem(str(tmp_path.parent), pa.fs.LocalFileSystem())
    folder = ObjectPath("s3", tmp_path.name, "", store)
    check(folder / "x.jsonl.zst")
    check(folder / "test.csv.gz")
    check(folder / "test.arrow")
    check(folder / "*.parquet", distinct=5)
    assert unskew.audit(folder / "*.parquet").variables["split"].counts == {"test": 3, "train": 2}
    with pytest.raises(
        unskew.UnskewError, match=r"s3://.*/\*\.csv matches no file; .* has test\.csv"
    ):
        open_target(folder / "*.csv")


@pytest.mark.parametrize("where", ["a disk", "a store"])
def test_a_large_parquet_file_is_never_in_memory(tmp_path: Path, where: str) -> None:
    """Arrow keeps what it reads ahead until a file is closed: that would be all of the file."""
    rows, groups = 1 << 19, 24
    numbers = np.random.default_rng(0).integers(1 << 62, size=rows)
    with pq.ParquetWriter(tmp_path / "x.parquet", pa.schema({"n": pa.int64()})) as writer:
        for _ in range(groups):
            writer.write_table(pa.table({"n": numbers}), rows)
    files = pa.fs.SubTreeFileSystem(str(tmp_path.parent), pa.fs.LocalFileSystem())
    place = ObjectPath("s3", f"{tmp_path.name}/x.parquet", "", files)
    size = (tmp_path / "x.parquet").stat().st_size
    before, most, read = pa.total_allocated_bytes(), 0, 0
    for batch in open_target(tmp_path / "x.parquet" if where == "a disk" else place).read(None):
        read += len(batch)
        most = max(most, pa.total_allocated_bytes() - before)
    assert read == rows * groups
    assert most < (MOST_BYTES + (16 << 20) if where == "a store" else 16 << 20) < size


def test_reading_a_small_file_imports_nothing_heavy(tmp_path: Path) -> None:
    (tmp_path / "x.jsonl").write_bytes(lines())
    (tmp_path / "x.csv").write_bytes(csv())
    (tmp_path / "x.json").write_text(json.dumps(ROWS))
    code = (
        "import sys; from unskew.datasets.open import open_target\n"
        f"for name in ('x.jsonl', 'x.csv', 'x.json'):\n"
        f"    print(sum(map(len, open_target({str(tmp_path)!r} + '/' + name).read(None))))\n"
        "heavy = ('numba', 'scipy', 'pandas', 'torch', 'datasets', 'polars')\n"
        "print([m for m in sys.modules if m in heavy or m.startswith('unskew.domains.')])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.split("\n") == ["5", "5", "5", "[]", ""]


def test_every_domain_that_reads_rows_names_its_columns() -> None:
    """Else a file of its examples would be taken for one of no domain."""
    readers = {name for name in domain_names() if load_domain(name).formats.read_row is not None}
    assert set(FILE_COLUMNS) == readers
    assert domains_with_columns(["program", "x"]) == ["karel"]
    assert domains_with_columns(["question", "answer"]) == []
