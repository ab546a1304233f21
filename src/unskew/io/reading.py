"""Files read as batches of examples: Parquet, JSONL, and the text files of a domain."""

from __future__ import annotations

import io
import json
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import numpy as np

from unskew.core.batch import Batch
from unskew.core.domain import Domain
from unskew.core.errors import UnskewError
from unskew.domains import domain_names, load_domain
from unskew.io.dataset import read_parquet
from unskew.io.iterables import ROWS, chunked
from unskew.io.location import Place, plain_errors

if TYPE_CHECKING:
    import pyarrow as pa

_TABLE_ROWS = 1 << 16  # in a batch
FILES = (".parquet", ".jsonl")
TEXT = ".txt"  # of a domain whose examples people write by hand


def read_file(path: Place, domain: Domain | None, n: int | None) -> Iterator[Batch]:
    """Yield the batches of a file, none larger than what is wanted of it."""
    if path.suffix == ".parquet":
        batches = read_parquet(path, _TABLE_ROWS if n is None else min(n, _TABLE_ROWS))
    else:
        rows = ROWS if n is None else min(n, ROWS)
        batches = chunked(_read_jsonl(path), rows, lambda row: f"{path} row {row + 1}")
    return batches if domain is None else _as_examples(batches, domain, path)


def domain_of_file(path: Place) -> Domain | None:
    """Return the domain whose examples the first row of a file is one of."""
    row = next((row for batch in read_file(path, None, 1) for row in batch.examples()), None)
    if not isinstance(row, dict):
        return None
    for domain in map(load_domain, domain_names()):
        try:
            if domain.formats.read_row is not None and domain.formats.read_row(row) is not None:
                return domain
        except UnskewError:
            return domain  # meant as one; reading it will say what is wrong, and where
    return None


def _as_examples(batches: Iterator[Batch], domain: Domain, path: Place) -> Iterator[Batch]:
    """Turn the rows of a file into the domain's columns, where they are not that already."""
    number, schema = 0, None
    for batch in batches:
        if _is_read(batch, domain, path, number):
            number += len(batch)
            yield batch
            continue
        rows, where = [], f"{path} from row {number + 1} on"
        for row in batch.examples():
            number += 1
            rows.append(_read_row(row, domain, f"{path} row {number}"))
        try:
            table = alike(Batch.of(rows).to_arrow(), schema)
        except UnskewError as error:
            raise UnskewError(f"{where}: {error}") from error
        schema = table.schema
        yield Batch.from_arrow(table)


def _is_read(batch: Batch, domain: Domain, path: Place, number: int) -> bool:
    """Whether a batch is examples in the domain's columns; ``number`` rows were before it."""
    if batch.is_plain:
        return False
    if domain.formats.are_examples is not None:
        return domain.formats.are_examples(batch)
    first = next(batch.head(1).examples())
    if _read_row(first, domain, f"{path} row {number + 1}") != first:
        return False
    _refuse_gaps(batch, domain, path, number)
    return True


def alike(table: pa.Table, schema: pa.Schema | None) -> pa.Table:
    """Give a table the columns of an earlier one, empty where it has none, or refuse it."""
    import pyarrow as pa

    if schema is None or table.schema.equals(schema):
        return table
    try:
        if not set(table.column_names) <= set(schema.names):
            raise KeyError(*set(table.column_names).difference(schema.names))
        for name in set(schema.names).difference(table.column_names):
            table = table.append_column(name, pa.nulls(len(table)))
        return table.select(schema.names).cast(schema)
    except (pa.ArrowException, KeyError) as error:
        reason = str(error).splitlines()[0]
        raise UnskewError(
            f"the columns are not the same in all rows ({reason}); make them equal"
        ) from error


def _read_row(row: Any, domain: Domain, where: str) -> dict[str, Any]:
    try:
        read = (
            domain.formats.read_row(row)
            if domain.formats.read_row and isinstance(row, dict)
            else None
        )
    except UnskewError as error:
        raise UnskewError(f"{where}: {error}") from error
    if read is None:
        if isinstance(row, dict) and domain.key in row and row[domain.key] is None:
            raise UnskewError(f"{where}: there is no {domain.key}; leave the row out")
        raise UnskewError(
            f"{where} is no example of {domain.name}, though the first row is; keep them apart"
        )
    return read


def _refuse_gaps(batch: Batch, domain: Domain, path: Place, before: int) -> None:
    for name, column in batch.columns.items():
        if name in domain.formats.may_lack or isinstance(column, np.ndarray):
            continue
        if column.null_count:
            first = int(np.flatnonzero(column.is_null().to_numpy(zero_copy_only=False))[0])
            raise UnskewError(
                f"{path}: column {name!r} has {column.null_count} rows without a value, the first "
                f"is row {before + first + 1}; leave them out"
            )


def _read_jsonl(path: Place) -> Iterator[Any]:
    with (
        plain_errors(path, reading=True),
        io.TextIOWrapper(path.open("rb"), encoding="utf-8-sig") as lines,
    ):
        number = 0
        try:
            for line in lines:
                number += 1
                if line.strip():
                    yield json.loads(line)
        except UnicodeDecodeError as error:
            raise UnskewError(f"{path} is no UTF-8 text ({error.reason}); convert it") from error
        except (ValueError, RecursionError) as error:
            raise UnskewError(
                f"{path} line {number} is no JSON ({error}); it may be truncated: mend that line"
            ) from error


def read_text(path: Place) -> tuple[str, Batch, Domain]:
    """Read a text file of the domain whose examples people write by hand."""
    with plain_errors(path, reading=True), path.open("rb") as file:
        text = file.read().decode("utf-8-sig", "replace")
    for domain in map(load_domain, domain_names()):
        if domain.formats.read_text is not None:
            rows = domain.formats.read_text(text, str(path))
            return text, Batch.from_arrow(Batch.of(rows).to_arrow()), domain
    raise UnskewError(f"{path} is a text file, and no domain here reads it; point at data")
