"""Small files that stand for far more: they are read as a stream, or refused in one line."""

import gzip
import json
import resource
import subprocess
import sys
from collections.abc import Iterable
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from unskew import UnskewError, audit
from unskew.datasets.open import open_target
from unskew.io.readers import json_file, json_lines

PIECE = b" " * (1 << 20)
MEMORY = 3 << 30  # bytes of address space that a command may take


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def pack(name: str, pieces: Iterable[bytes]) -> str:
    with gzip.open(name, "wb", compresslevel=1) as file:
        for piece in pieces:
            file.write(piece)
    return name


def limited(*args: str) -> subprocess.CompletedProcess[str]:
    """Run a command that gets little memory."""
    return subprocess.run(
        [sys.executable, "-m", "unskew", *args],
        capture_output=True,
        text=True,
        check=False,
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY)),
    )


def refused(done: subprocess.CompletedProcess[str], words: str) -> None:
    assert (done.returncode, done.stdout) == (2, ""), done.stderr
    errors = [line for line in done.stderr.splitlines() if not line.startswith("auditing ")]
    assert len(errors) == 1, done.stderr
    assert errors[0].startswith("error: ")
    assert words in errors[0]


def test_json_that_is_packed_has_a_limit():
    refused(limited("audit", pack("x.json.gz", [PIECE] * 1100)), "once it is unpacked")


def test_a_line_has_a_limit():
    refused(limited("audit", pack("x.jsonl.gz", [PIECE] * 300)), "has a line of more than")


def test_json_that_is_far_too_large_is_one_line():
    with Path("x.json").open("wb") as file:
        file.truncate(20 << 30)
    refused(limited("audit", "x.json"), "x.json needs more memory than there is")


def test_one_value_that_many_rows_share_is_one_line():
    value = pa.array(["x" * (10 << 20)])
    many = pa.DictionaryArray.from_arrays(pa.array(np.zeros(10_000, np.int32)), value)
    pq.write_table(pa.table({"a": many}), "x.parquet", compression="zstd", store_schema=False)
    assert Path("x.parquet").stat().st_size < 10_000
    refused(limited("audit", "x.parquet"), "x.parquet needs more memory than there is")


@pytest.mark.parametrize("begin", [b"a,b\n", b'a,b\n"'], ids=["a field", "a quote"])
def test_a_csv_without_an_end_is_one_line_and_no_crash(begin):
    """A thread that still read the file ended Python with SIGABRT after the error was printed."""
    done = limited("audit", pack("x.csv.gz", [begin, *[b"x" * (1 << 20)] * 200]))
    refused(done, "longer than 16,777,216 bytes")


@pytest.mark.parametrize("name", ["x.jsonl.gz", "x.csv.gz"])
def test_many_rows_are_read_as_a_stream(name):
    head, row = (b"a\n", b"7\n") if ".csv" in name else (b"", b'{"a": 7}\n')
    pack(name, [head, *[row * (1 << 16)] * 40])
    assert sum(len(batch) for batch in open_target(name).read(None)) == 40 << 16


def test_long_lines_are_read_as_a_stream(monkeypatch):
    """The first batch is cut short where its lines are long."""
    monkeypatch.setattr(json_lines, "_LONGEST", 1 << 20)
    rows = [{"a": str(number % 10) * 50_000} for number in range(100)]
    Path("x.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    batches = list(open_target("x.jsonl").read(None))
    assert len(batches) == 2
    assert [row for batch in batches for row in batch.examples()] == rows
    Path("x.jsonl").write_text(json.dumps({"a": "x" * (2 << 20)}) + "\n")
    with pytest.raises(UnskewError, match="has a line of more than 1,048,576 bytes"):
        audit("x.jsonl")


def test_the_limit_is_of_packed_files_alone(monkeypatch):
    monkeypatch.setattr(json_file, "_MOST", 100)
    text = json.dumps([{"a": number} for number in range(100)])
    Path("x.json").write_text(text)
    assert audit("x.json").n == 100
    pack("y.json.gz", [text.encode()])
    with pytest.raises(UnskewError, match="has more than 100 bytes once it is unpacked"):
        audit("y.json.gz")


def test_large_rows_of_parquet_are_read_a_few_at_a_time():
    rng = np.random.default_rng(0)
    rows = [rng.bytes(1 << 20) for _ in range(200)]
    pq.write_table(pa.table({"image": pa.array(rows, pa.binary())}), "x.parquet")
    sizes = [len(batch) for batch in open_target("x.parquet").read(None)]
    assert sum(sizes) == 200
    assert max(sizes) <= 130  # 64 MiB, and those that were read beyond


def test_a_file_that_is_named_often_is_refused():
    Path("saved").mkdir()
    Path("saved/dataset_info.json").write_text("{}")
    Path("saved/state.json").write_text(json.dumps({"_data_files": ["state.json"] * 10_000}))
    with pytest.raises(UnskewError, match="names a file twice"):
        audit("saved")
