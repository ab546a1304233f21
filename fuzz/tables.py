"""JSONL and Parquet files, of Karel, the Calculator and no domain, through audit and others."""

from __future__ import annotations

import io
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from fuzz.machinery import Reader, Rng, Target
from fuzz.mutate import BINARY, TEXTUAL, change_json, often, pick
from fuzz.records import examples
from unskew import audit, resample
from unskew.core.domain import example_data, example_text
from unskew.core.errors import UnskewError
from unskew.datasets.convert import convert
from unskew.datasets.open import open_target
from unskew.datasets.parts.splits import key_hashes
from unskew.datasets.target import column_names
from unskew.domains.karel import DOMAIN
from unskew.domains.karel.formats.records import numbered_record
from unskew.io.lookup import find_source

PLAIN: list[dict[str, Any]] = [
    {"question": "what?", "answer": "1", "level": 3, "share": 0.5, "good": True, "tags": ["a"]},
    {"question": "why?", "answer": "2", "level": 1, "share": -1.0, "good": False, "tags": []},
    {"question": "é😀", "answer": "2", "level": 2, "share": 2.5, "good": True, "tags": ["b", "c"]},
]


def use(path: Path, made: Path) -> Callable[[bytes], None]:
    """Return what writes an input to a file and reads that in every way there is.

    What refuses a file does not keep the others from it; the first refusal is what is told.
    """

    def read(data: bytes) -> None:
        path.write_bytes(data)
        refused: list[UnskewError] = []
        for job in (_audit, _show, _keys, _resample, _to_jsonl, _to_parquet):
            try:
                job(path, made)
            except UnskewError as error:
                refused.append(error)
        if refused:
            raise refused[0]

    return read


def _audit(path: Path, _: Path) -> None:
    result = audit(path)
    json.dumps(result.to_dict(), default=str)
    str(result)


def _show(path: Path, _: Path) -> None:
    opened = open_target(path)
    for batch in opened.read(5):
        for example in batch.examples():
            example_text(example, opened.domain)
            json.dumps(example_data(example, opened.domain), default=str)
    opened.where(0)


def _keys(path: Path, _: Path) -> None:
    opened = open_target(path)
    for batch in opened.read(None):
        key_hashes(batch, opened.domain.key if opened.domain else "")


def _resample(path: Path, made: Path) -> None:
    opened = open_target(path)
    columns = next((column_names(batch) for batch in opened.read(1)), [])
    by = "level" if "level" in columns else columns[-1] if columns else "level"
    if opened.domain is not None and opened.domain.variables:
        by = next(iter(opened.domain.variables))
    resample(path, by, path=made / "resampled.jsonl", replacement=True)


def _to_jsonl(path: Path, made: Path) -> None:
    convert(path, made / "converted.jsonl")


def _to_parquet(path: Path, made: Path) -> None:
    convert(path, made / "converted.parquet")


def _expressions() -> list[dict[str, Any]]:
    batch, _ = find_source("calculator/dcfg").draw(np.random.default_rng(0), 4)
    return list(batch.examples())


def jsonl(rows: list[dict[str, Any]]) -> bytes:
    """Return rows as JSON lines."""
    return b"\n".join(json.dumps(row).encode() for row in rows) + b"\n"


def _json_lines(folder: Path) -> Reader:
    karel = examples(3)
    seeds = [
        jsonl(PLAIN),
        jsonl(_expressions()),
        jsonl([example_data(row, DOMAIN) for row in karel]),
        jsonl([numbered_record(row, number) for number, row in enumerate(karel)]),
    ]

    def make(rng: Rng) -> bytes:
        lines = pick(rng, seeds).splitlines()
        for _ in range(pick(rng, (1, 1, 2))):
            at = int(rng.integers(len(lines)))
            lines[at] = change_json(rng, lines[at]) if lines[at][:1] == b"{" else b"null"
        data = b"\n".join(lines)
        return often(rng, data, TEXTUAL) if rng.random() < 0.2 else data

    return Reader(make, use(folder / "input.jsonl", folder / "made"))


def parquet(table: pa.Table, **options: Any) -> bytes:
    """Return a table as the bytes of a file."""
    sink = io.BytesIO()
    pq.write_table(table, sink, **options)
    return sink.getvalue()


def tables() -> list[pa.Table]:
    """Return a table of no domain, one of the Calculator and one of Karel."""
    karel = pa.Table.from_pylist(examples(3))
    return [pa.Table.from_pylist(PLAIN), pa.Table.from_pylist(_expressions()), karel]


def _damaged_parquet(folder: Path) -> Reader:
    """Files of valid tables whose bytes are changed, in the footer more often than not."""
    seeds = [parquet(table) for table in tables()]

    def make(rng: Rng) -> bytes:
        data: bytes = pick(rng, seeds)
        size = int.from_bytes(data[-8:-4], "little")
        if rng.random() < 0.3:
            return often(rng, data, BINARY)
        if rng.random() < 0.3:
            body = often(rng, data[: -8 - size], BINARY)
            return body + data[-8 - size :]
        footer = often(rng, data[-8 - size : -8], BINARY)
        return data[: -8 - size] + footer + len(footer).to_bytes(4, "little") + b"PAR1"

    return Reader(make, use(folder / "input.parquet", folder / "made"))


def column(rng: Rng, rows: int) -> pa.Array:
    """Return a column of some kind, with and without gaps."""
    big = [2**63 - 1, -(2**63), 0, 1, None]
    kinds: tuple[tuple[list[Any], Any], ...] = (
        ([None], pa.null()),
        (["DEF run m( move m)", "1+1", "", "é\u2028\n", None], pa.string()),
        (["DEF run m( move m)", "x"], pa.large_string()),
        (["a", "b", None], pa.string_view()),
        ([b"\xff\xfe", b"", None], pa.binary()),
        ([bytes(260), bytes(520), None], pa.large_binary()),
        ([bytes(260)], pa.binary(260)),
        (big, pa.int64()),
        ([0, 1, 9, 255], pa.uint8()),
        ([2**64 - 1, 0, None], pa.uint64()),
        ([0.5, float("nan"), float("inf"), -0.0, None], pa.float64()),
        ([0.5, 1.0], pa.float16()),
        ([True, False, None], pa.bool_()),
        ([1, 10**8, None], pa.decimal128(38, 2)),
        ([1, 10**8, None], pa.decimal256(70, -3)),
        (big, pa.timestamp("s")),
        (big, pa.timestamp("ns", "UTC")),
        (big, pa.timestamp("us", "Mars/Phobos")),
        ([0, 2**31 - 1, -(2**31)], pa.date32()),
        ([0, 86_400_000], pa.date64()),
        ([0, 86_399_999], pa.time32("ms")),
        (big, pa.duration("ns")),
        ([[1, None], [], None], pa.list_(pa.int32())),
        ([[b"a"], [None]], pa.large_list(pa.binary())),
        ([[1, 2], None], pa.list_(pa.int8(), 2)),
        ([{"a": 1, "b": "x"}, None], pa.struct([("a", pa.int8()), ("b", pa.string())])),
        ([[("k", 1)], [], None], pa.map_(pa.string(), pa.int8())),
        (["a", "b", None], pa.dictionary(pa.int8(), pa.string())),
        ([1, 2**40], pa.dictionary(pa.int32(), pa.int64())),
        ([[[["deep"]]], None], pa.list_(pa.list_(pa.list_(pa.string())))),
    )
    values, kind = pick(rng, kinds)
    chosen = [pick(rng, values) for _ in range(rows)]
    storage = kind.value_type if pa.types.is_dictionary(kind) else kind
    wide = pa.types.is_temporal(storage)
    integer = pa.int32() if wide and storage.bit_width == 32 else pa.int64()
    try:
        column = pa.array(chosen, integer).view(storage) if wide else pa.array(chosen, storage)
        return column.cast(kind)
    except (pa.ArrowException, TypeError, ValueError):
        return pa.nulls(rows)


def _other_columns(folder: Path) -> Reader:
    """Valid files in which columns have other types, names, orders and numbers of rows."""
    all_tables = tables()
    names = ("program", "inputs", "outputs", "expression", "value", "a", "", "example", "é.b")

    def make(rng: Rng) -> bytes:
        table: pa.Table = pick(rng, all_tables)
        table = table.slice(0, pick(rng, (0, 1, 2, 3, 3, 3)))
        columns = dict(zip(table.column_names, table.columns, strict=True))
        for _ in range(pick(rng, (1, 1, 1, 2, 4))):
            name = pick(rng, (*columns, *names))
            if rng.random() < 0.2 and len(columns) > 1:
                columns.pop(name, None)
            else:
                columns[name] = column(rng, len(table))
        chosen = list(columns.items())
        if rng.random() < 0.05:
            chosen.append(pick(rng, chosen))  # a name that stands twice
        if rng.random() < 0.05:
            chosen = []
        made = pa.Table.from_arrays([c for _, c in chosen], [n for n, _ in chosen])
        try:
            data = parquet(made, compression=pick(rng, ("none", "snappy", "zstd")))
        except (pa.ArrowException, TypeError, OSError):
            return parquet(table)
        return data

    return Reader(make, use(folder / "input.parquet", folder / "made"))


TARGETS = (
    Target("jsonl", _json_lines, 80),
    Target("parquet-damaged", _damaged_parquet, 100),
    Target("parquet-columns", _other_columns, 40),
)
