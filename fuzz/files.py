"""CSV, JSON, packed and Arrow files, and folders that Hugging Face saved, in every way of reading.

Parquet and JSONL are in ``fuzz.tables``.
"""

from __future__ import annotations

import gzip
import io
import json
from functools import partial
from pathlib import Path

import pyarrow as pa
from pyarrow import ipc

from fuzz.machinery import Reader, Rng, Target
from fuzz.mutate import BINARY, TEXTUAL, change_json, often, pick, value
from fuzz.tables import PLAIN, column, jsonl, tables, use
from unskew import audit

FIELDS = (
    *("", "a", "b", "1", "2", "-1", "007", "0.5", "1e400", "nan", "NA", "None", "true", "FALSE"),
    *("9223372036854775808", "9" * 400, '"', '"x"', '""', "'", "é😀", "\ufeff", "\x00", "\x1b[31m"),
    *("<script>", "=1+1", "2024-01-01", "a b", "level", "split", "example", "has(a, b)"),
)


def _delimited(name: str, folder: Path) -> Reader:
    """Return a reader of lines of fields, of which some are strange."""

    def make(rng: Rng) -> bytes:
        sign = pick(rng, (",", ",", ",", "\t", ";"))
        end = pick(rng, ("\n", "\n", "\r\n", "\r"))
        width = int(rng.integers(1, 5))
        names = [f"c{i}" if rng.random() < 0.8 else pick(rng, FIELDS) for i in range(width)]
        same = [pick(rng, FIELDS) for _ in range(width)]  # so that some columns have a type
        rows = [names]
        for _ in range(int(rng.integers(8))):
            row = [pick(rng, FIELDS) if rng.random() < 0.2 else same[i] for i in range(width)]
            rows.append(row[:-1] if rng.random() < 0.03 else row)
        text = end.join(sign.join(row) for row in rows) + (end if rng.random() < 0.7 else "")
        data = text.encode()
        return often(rng, data, TEXTUAL) if rng.random() < 0.3 else data

    return Reader(make, use(folder / name, folder / "made"))


def _json(folder: Path) -> Reader:
    columns = {name: [row[name] for row in PLAIN] for name in PLAIN[0]}
    by_row = {name: dict(enumerate(values)) for name, values in columns.items()}
    trees = (PLAIN, {"data": PLAIN, "version": 1}, columns, by_row, [1, 2, 3], {"a": ["x", "y"]})
    seeds = [json.dumps(tree).encode() for tree in trees]

    def make(rng: Rng) -> bytes:
        if rng.random() < 0.05:
            return value(rng).encode("utf-8", "surrogatepass")
        data = change_json(rng, pick(rng, seeds))
        return often(rng, data, TEXTUAL) if rng.random() < 0.2 else data

    return Reader(make, use(folder / "input.json", folder / "made"))


def _packed(name: str, folder: Path) -> Reader:
    """Return a reader of packed files: what is packed is damaged, or the packing."""
    content = {
        ".jsonl": jsonl(PLAIN),
        ".json": json.dumps(PLAIN).encode(),
        ".csv": b"a,b\n1,x\n2,y\n",
    }
    plain = content[Path(name).suffixes[0]]

    def pack(data: bytes) -> bytes:
        if name.endswith(".gz"):
            return gzip.compress(data, mtime=0)
        packed: bytes = pa.compress(data, codec="zstd", asbytes=True)
        return packed

    valid = pack(plain)

    def make(rng: Rng) -> bytes:
        if rng.random() < 0.3:
            return pack(often(rng, plain, TEXTUAL))
        data = often(rng, valid, BINARY)
        return data + valid if rng.random() < 0.1 else data

    return Reader(make, use(folder / name, folder / "made"))


def _arrow(table: pa.Table, *, is_stream: bool, **options: object) -> bytes:
    sink = io.BytesIO()
    new = ipc.new_stream if is_stream else ipc.new_file
    with new(sink, table.schema, options=ipc.IpcWriteOptions(**options)) as file:
        file.write_table(table, max_chunksize=2)
    return sink.getvalue()


def _damaged_arrow(folder: Path) -> Reader:
    seeds = [
        _arrow(table, is_stream=is_stream, compression=codec)
        for table in tables()
        for is_stream in (False, True)
        for codec in (None, "zstd", "lz4")
    ]
    return Reader(
        lambda rng: often(rng, pick(rng, seeds), BINARY),
        use(folder / "input.arrow", folder / "made"),
    )


def _arrow_columns(folder: Path) -> Reader:
    """Return a reader of valid files with columns of all types."""
    names = ("a", "level", "", "example", "é.b", "split", "messages")

    def make(rng: Rng) -> bytes:
        rows = int(rng.integers(4))
        chosen = [(pick(rng, names), column(rng, rows)) for _ in range(pick(rng, (1, 2, 3)))]
        made = pa.Table.from_arrays([c for _, c in chosen], [name for name, _ in chosen])
        return _arrow(made, is_stream=bool(rng.integers(2)))

    return Reader(make, use(folder / "input.feather", folder / "made"))


def _saved_folder(folder: Path) -> Reader:
    """Return a reader of what ``save_to_disk`` says of its files; a few names are hostile."""
    saved = folder / "saved"
    (saved / "train").mkdir(parents=True)
    (saved / "dataset_info.json").write_text("{}")
    data = _arrow(pa.table({"a": [1, 2, 3]}), is_stream=True)
    for name in ("data-0.arrow", "data-1.arrow", "train/data-0.arrow"):
        (saved / name).write_bytes(data)
    seed = {"_data_files": [{"filename": f"data-{i}.arrow"} for i in range(2)], "_split": None}
    (saved / "train/state.json").write_text(json.dumps({"_data_files": seed["_data_files"][:1]}))
    hostile = (
        "../data-0.arrow",
        "/etc/passwd",
        ".",
        "",
        "s3://b/x",
        "a\x00b",
        "train",
        "state.json",
    )
    splits = json.dumps({"splits": ["train"]}).encode()

    def make(rng: Rng) -> bytes:
        if rng.random() < 0.3:
            return b"D" + change_json(rng, splits)
        made = change_json(rng, json.dumps(seed).encode())
        if rng.random() < 0.3:
            made = made.replace(b"data-0.arrow", json.dumps(pick(rng, hostile))[1:-1].encode())
        return b"S" + made

    def read(data: bytes) -> None:
        is_dict, text = data[:1] == b"D", data[1:]
        (saved / "dataset_dict.json").unlink(missing_ok=True)
        (saved / ("dataset_dict.json" if is_dict else "state.json")).write_bytes(text)
        audit(saved)

    return Reader(make, read)


TARGETS = (
    Target("csv", partial(_delimited, "input.csv"), 60),
    Target("tsv", partial(_delimited, "input.tsv"), 30),
    Target("json", _json, 80),
    Target("jsonl-gz", partial(_packed, "input.jsonl.gz"), 60),
    Target("json-zst", partial(_packed, "input.json.zst"), 60),
    Target("csv-gz", partial(_packed, "input.csv.gz"), 60),
    Target("arrow-damaged", _damaged_arrow, 60),
    Target("arrow-columns", _arrow_columns, 60),
    Target("saved-folder", _saved_folder, 200),
)
