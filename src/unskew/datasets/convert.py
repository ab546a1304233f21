"""One file of examples from anything that can be read: Parquet, JSONL, CSV, or another form."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from unskew.core.batch import Batch
from unskew.core.domain import Domain, domain_code, example_data
from unskew.core.errors import RowError, UnskewError, brief, check_count, unknown
from unskew.core.recipe import Trust
from unskew.datasets.open import open_target
from unskew.datasets.target import Target
from unskew.io.dataset import Dataset
from unskew.io.files import check_writable, write_by
from unskew.io.layout import data_files, is_pattern
from unskew.io.object_store import is_address
from unskew.io.reading import alike

if TYPE_CHECKING:
    import pyarrow as pa


FILES = (".parquet", ".jsonl", ".csv")  # that are written
_DAYS = (-12_687_428, 11_248_738)  # since 1970 of the years -32767 to 32767, which Arrow prints
_UNITS = {"day": 1, "s": 86_400, "ms": 86_400_000, "us": 86_400_000_000, "ns": 86_400_000_000_000}


def convert(
    target: Any,
    path: str | Path,
    form: str | None = None,
    n: int | None = None,
    *,
    seed: int = 0,
    settings: Mapping[str, Any] | None = None,
    trust: Trust = False,
    advance: Callable[[int], None] = lambda _: None,
) -> int:
    """Write the examples of ``target`` as one .parquet, .jsonl or .csv file.

    Returns the number of examples. ``target`` is what ``audit`` takes. If it is endless, it needs
    ``n``, the number of examples to write. ``form`` names a form of other programs (``records``:
    the JSONL of the original Karel dataset). Code that a dataset names is imported only with
    ``trust``.
    """
    path = Path(path)
    check_suffix(path)
    opened = open_target(target, settings, seed, trust)
    if n is not None:
        check_count("n", n, "convert at least one example")
    elif opened.endless:
        raise UnskewError(f"{opened.label} does not end; say how many examples: n, in a shell -n")
    write = writer(opened, path, form)
    check_apart(target, path)
    check_writable(path)
    return write(_counted(opened, n, advance))


def check_suffix(path: Path) -> None:
    """Refuse a file of a kind that is not written."""
    if path.suffix not in FILES:
        raise UnskewError(
            f"{path} has the suffix {path.suffix!r}; allowed are {', '.join(FILES)}: "
            "rename the file"
        )


def check_apart(target: Any, path: Path) -> None:
    """Refuse an output that is the input, or lies in its folder."""
    place = target.folder if isinstance(target, Dataset) else target
    if not isinstance(place, (str, Path)) or is_address(place):
        return
    if not Path(place).exists():  # a name that is no file of this machine, or a pattern
        for file in data_files(Path(place)) if is_pattern(Path(place)) else ():
            check_apart(file.path, path)
        return
    read, written = Path(place).resolve(), path.resolve()
    if read == written or (written.exists() and written.samefile(read)):
        raise UnskewError(f"{path} is also the input; name another file to write")
    if read in written.parents:
        raise UnskewError(f"{path} would lie in {place}, which is read; write it elsewhere")


def writer(opened: Target, path: Path, form: str | None = None) -> Callable[[Iterator[Batch]], int]:
    """Return the function that writes batches of a target to a file and says how many rows."""
    if form is None and path.suffix == ".parquet":
        return lambda batches: _write_tables(batches, path, _parquet)
    if form is None and path.suffix == ".csv":
        return lambda batches: _write_tables(batches, path, _csv)
    domain = opened.domain
    if form is None:
        return lambda batches: _write_jsonl(batches, path, lambda row, _: example_data(row, domain))
    if path.suffix != ".jsonl":
        raise UnskewError(f"{path} cannot hold {form!r}; it is JSON: name a .jsonl file")
    made = _form(opened.label, domain, form)
    return lambda batches: _write_jsonl(batches, path, made)


def _form(label: str, domain: Domain | None, form: str) -> Callable[[Any, int], Any]:
    if domain is None:
        raise UnskewError(
            f"{label} is of no domain, so it has no form {form!r}; leave out the form"
        )
    forms = domain.formats.others
    if form not in forms:
        raise unknown(f"form of {domain.name}", form, forms)
    chosen = forms[form]

    def made(example: Any, number: int) -> Any:
        with domain_code(domain, form):
            return chosen(example, number)

    return made


def _counted(opened: Target, n: int | None, advance: Callable[[int], None]) -> Iterator[Batch]:
    """Read the batches, refusing a target that has none."""
    seen = 0
    for batch in opened.read(n):
        yield batch
        seen += len(batch)
        advance(len(batch))
    if not seen:
        raise UnskewError(f"{opened.label} gave no examples; there is nothing to convert")


def _write_tables(
    batches: Iterator[Batch], path: Path, opened: Callable[[Path, pa.Schema], Any]
) -> int:
    """Write batches as tables of one schema; ``opened`` makes what writes them."""
    rows = 0

    def write(beside: Path) -> None:
        nonlocal rows
        writer: Any = None
        schema: pa.Schema = None
        try:
            for batch in batches:
                table = _table(batch, rows)
                with _table_errors(rows, path.suffix):
                    if schema is None:
                        schema = table.schema
                        writer = opened(beside, schema)
                    writer.write_table(_alike(table, schema, rows))
                rows += len(table)
        finally:
            if writer is not None:
                writer.close()

    write_by(path, write)
    return rows


def _parquet(path: Path, schema: pa.Schema) -> Any:
    import pyarrow.parquet as pq

    return pq.ParquetWriter(path, schema, compression="zstd")


def _csv(path: Path, schema: pa.Schema) -> Any:
    """Return a writer of CSV, which has no place for lists and dicts."""
    import pyarrow as pa
    from pyarrow import csv

    for field in schema:
        if pa.types.is_nested(field.type):
            raise UnskewError(
                f"column {field.name!r} holds lists or dicts, which CSV cannot hold; write a "
                ".jsonl or .parquet file"
            )
    return csv.CSVWriter(path, schema)


@contextmanager
def _table_errors(rows: int, suffix: str) -> Iterator[None]:
    """Turn an error of Arrow into one line: no file has a form for all times and types."""
    import pyarrow as pa

    try:
        yield
    except pa.ArrowException as error:
        raise UnskewError(
            f"from row {rows + 1} on: the examples cannot be written as {suffix} "
            f"({str(error).splitlines()[0]}); correct that value, or leave the column out"
        ) from error


def _table(batch: Batch, rows: int) -> pa.Table:
    """Return a batch as a table, or say which row of the file it cannot be for."""
    try:
        return batch.to_arrow()
    except RowError as error:
        raise error.at(f"row {rows + error.row + 1}") from error


def _alike(table: pa.Table, schema: pa.Schema, rows: int) -> pa.Table:
    try:
        return alike(table, schema)
    except UnskewError as error:
        raise UnskewError(f"from row {rows + 1} on: {error}, or write a .jsonl file") from error


def _write_jsonl(batches: Iterator[Batch], path: Path, made: Callable[[Any, int], Any]) -> int:
    rows = 0

    def write(beside: Path) -> None:
        nonlocal rows
        with beside.open("wb") as file:
            for batch in batches:
                _refuse_odd_times(batch, rows)
                for example in batch.examples():
                    file.write(_line(example, rows, made) + b"\n")
                    rows += 1

    write_by(path, write)
    return rows


def _refuse_odd_times(batch: Batch, rows: int) -> None:
    """Refuse a time of a year that Arrow does not print."""
    for name, column in batch.columns.items():
        if isinstance(column, np.ndarray):
            continue
        if odd := _odd_times(column):
            raise UnskewError(
                f"row {rows + min(odd) + 1}: column {name!r} has a time out of range "
                f"({column.type}), which has no text; leave the row out, or write a .parquet file"
            )


def _odd_times(column: pa.Array) -> list[int]:
    """Return the rows of a column that hold a time without a text."""
    import pyarrow as pa
    import pyarrow.compute as pc

    kind, kinds = column.type, pa.types
    if kinds.is_dictionary(kind):
        return _odd_times(column.dictionary_decode())
    if kinds.is_struct(kind):
        fields = (column.field(i) for i in range(kind.num_fields))
        return [row for field in fields for row in _odd_times(field)]
    if kinds.is_map(kind):
        column = column.cast(pa.list_(pa.struct([kind.key_field, kind.item_field])))
    lists = kinds.is_list, kinds.is_large_list, kinds.is_fixed_size_list, kinds.is_map
    if any(is_list(kind) for is_list in lists):
        rows = pc.list_parent_indices(column)
        return [rows[i].as_py() for i in _odd_times(pc.list_flatten(column))]
    if not (kinds.is_date(kind) or kinds.is_timestamp(kind)):
        return []
    units = "day" if kinds.is_date32(kind) else "ms" if kinds.is_date64(kind) else kind.unit
    values = column.view(pa.int32() if kind.bit_width == 32 else pa.int64()).cast(pa.int64())
    first = max(_DAYS[0] * _UNITS[units], -(2**63))
    last = min(_DAYS[1] * _UNITS[units] - 1, 2**63 - 1)
    outside = pc.or_(pc.less(values, first), pc.greater(values, last))
    rows_outside: list[int] = np.flatnonzero(pc.fill_null(outside, False)).tolist()
    return rows_outside


def _line(example: Any, number: int, made: Callable[[Any, int], Any]) -> bytes:
    try:
        text = json.dumps(made(example, number), ensure_ascii=False, allow_nan=False, default=_data)
        return text.encode()
    except UnskewError as error:
        raise UnskewError(f"row {number + 1}: {error}") from error
    except UnicodeEncodeError as error:
        raise UnskewError(
            f"row {number + 1} is {brief(example)}: a text has half of a character, a lone "
            "surrogate; mend the text"
        ) from error
    except (TypeError, ValueError, RecursionError) as error:
        raise UnskewError(
            f"row {number + 1} cannot be JSON ({error}); {_instead(example)}"
        ) from error


def _instead(example: Any) -> str:
    """Say what to do with an example that JSON cannot hold."""
    try:
        Batch.of([example]).to_arrow()
    except UnskewError:
        return "return a dict of numbers, texts and lists"
    return "write a .parquet file"


def _data(value: Any) -> Any:
    """Turn what NumPy holds into what JSON can hold."""
    if isinstance(value, (np.generic, np.ndarray)):
        return value.tolist()
    raise TypeError(f"it holds {type(value).__name__}")
