"""Anyone's files in an object store: every kind is read there as on disk, by every verb."""

from __future__ import annotations

import gzip
import zlib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import unskew
from tests.test_readers_kinds import BY, FILES, ROWS, check, csv, lines, table, zst
from unskew import UnskewError
from unskew.audits.saved import audit_text
from unskew.datasets.convert import convert
from unskew.datasets.engines import processes

store = pytest.importorskip("tests.test_store")  # it needs moto
s3 = store.s3
pytestmark = pytest.mark.usefixtures("engines_at_once")
Put = Callable[[str, bytes], str]


@pytest.fixture
def put(request: pytest.FixtureRequest) -> Put:
    """Put a file into a bucket, under a prefix of the test's own; return its address."""
    client: Any = request.getfixturevalue("s3")
    prefix = f"s3://{store.BUCKET}/{zlib.crc32(request.node.name.encode())}"

    def put(name: str, data: bytes) -> str:
        store.put(client, f"{prefix}/{name}", data)
        return f"{prefix}/{name}"

    return put


def parquet(rows: pa.Table) -> bytes:
    sink = pa.BufferOutputStream()
    pq.write_table(rows, sink)
    return sink.getvalue().to_pybytes()


KINDS = {**FILES, "x.parquet": lambda: parquet(table())}


@pytest.mark.parametrize("name", KINDS)
def test_every_kind_of_file_is_read(put: Put, name: str, tmp_path: Path) -> None:
    address = put(name, KINDS[name]())
    check(address)
    check(address.rpartition("/")[0])  # a folder with this file
    chosen = unskew.resample(address, "n", epsilon=1, seed=2)
    same = unskew.resample(ROWS, "n", epsilon=1, seed=2)
    assert chosen.indices.tolist() == same.indices.tolist()
    assert [row["word"] for row in chosen.data] == [row["word"] for row in same.data]
    weights = [unskew.weights(rows, "n").weights.tolist() for rows in (address, ROWS)]
    assert weights[0] == weights[1]
    assert convert(address, tmp_path / "out.parquet") == len(ROWS)
    check(tmp_path / "out.parquet")


def test_folders_with_splits_and_patterns(put: Put) -> None:
    put("data/train-00000-of-00002.parquet", parquet(table().slice(0, 2)))
    put("data/train-00001-of-00002.parquet", parquet(table().slice(2, 1)))
    put("data/test-00000-of-00001.parquet", parquet(table().slice(3)))
    folder = put(".hidden/x.parquet", b"no data").partition("/.hidden")[0]
    audited = unskew.audit(folder, by=[*BY, "split"])
    assert audited.variables["split"].counts == {"test": 2, "train": 3}
    for pattern, rows in (("data/train*", 3), ("**/*.parquet", 5), ("*/te[s]t-*.parquet", 2)):
        assert unskew.audit(f"{folder}/{pattern}", by="n").n == rows
    with pytest.raises(UnskewError, match=r"/data/none\* matches no file; .*/data has "):
        unskew.audit(f"{folder}/data/none*")


def test_a_folder_that_hugging_face_saved(put: Put, tmp_path: Path) -> None:
    datasets = pytest.importorskip("datasets")
    rows = datasets.Dataset.from_list(ROWS)
    both = datasets.DatasetDict(train=rows.select([0, 1]), test=rows.select([2, 3, 4]))
    both.save_to_disk(tmp_path)
    for path in tmp_path.rglob("*"):
        if path.is_file():
            put(str(path.relative_to(tmp_path)), path.read_bytes())
    folder = put("notes.txt", b"").rpartition("/")[0]
    check(folder, distinct=5)
    assert unskew.audit(folder, by="split").variables["split"].counts == {"test": 3, "train": 2}


def test_files_of_a_store_are_shared_out(put: Put, tmp_path: Path) -> None:
    for number in range(3):
        folder = put(f"{number}.jsonl.gz", gzip.compress(lines())).rpartition("/")[0]
    assert audit_text(unskew.audit(folder, engine=processes(2))) == audit_text(unskew.audit(folder))
    paths = [tmp_path / name for name in ("a.jsonl", "b.jsonl")]
    unskew.resample(folder, "n", path=paths[0])
    unskew.resample(folder, "n", path=paths[1], engine=processes(2))
    assert paths[0].read_bytes() == paths[1].read_bytes()


@pytest.mark.parametrize(
    ("name", "data", "error"),
    [
        ("x.jsonl.gz", gzip.compress(lines() * 99)[:-20], "is cut off: its gzip data has no end"),
        ("x.jsonl.zst", zst(lines() * 99)[:-9], "is cut off: its zstd data has no end"),
        ("x.csv", csv() + b"1,2,3,4\n", "row 6 has 4 fields, and the first line names 3 columns"),
        ("x.jsonl", b'{"a": "\xff"}\n', "line 1 is no UTF-8 text"),
        ("x.json", b'{"a":', r"x\.json is no JSON"),
        ("x.parquet", parquet(table())[:99], r"cannot be read as Parquet .*make it again"),
        ("x.arrow", b"ARROW1\0\0nothing", r"cannot be read as Arrow .*make it again"),
    ],
    ids=["gzip", "zstd", "csv", "not UTF-8", "json", "parquet", "arrow"],
)
def test_damaged_files_are_one_line(put: Put, name: str, data: bytes, error: str) -> None:
    address = put(name, data)
    with pytest.raises(UnskewError, match=error) as raised:
        unskew.audit(address)
    assert address in str(raised.value)
