"""Files read as batches of examples: any kind of file, and the rows of a domain in any form."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, Any

import numpy as np

from unskew.core.batch import Batch
from unskew.core.domain import Domain
from unskew.core.errors import UnskewError
from unskew.core.hashing.arrow import hash_column
from unskew.domains import domain_names, domains_with_columns, load_domain
from unskew.io.dataset import read_parquet
from unskew.io.layout import DataFile, kind_of
from unskew.io.location import Place, plain_errors
from unskew.io.readers.arrow_files import read_arrow
from unskew.io.readers.delimited import read_delimited
from unskew.io.readers.json_file import read_json
from unskew.io.readers.json_lines import read_json_lines
from unskew.io.tables import SPLIT, TABLE_ROWS, Columns, with_column

if TYPE_CHECKING:
    import pyarrow as pa

TEXT = ".txt"  # of a domain whose examples people write by hand


def read_files(
    files: Iterable[DataFile],
    domain: Domain | None,
    n: int | None,
    columns: Columns = None,
    first: tuple[Place, set[str]] | None = None,
) -> Iterator[Batch]:
    """Yield the batches of files one after the other, with the split of each if they have any.

    All have the same columns: those of ``first``, if other files were read before.
    """
    for file in files:
        for batch in read_file(file.path, domain, n, columns):
            if file.split and domain is None and (columns is None or SPLIT in columns):
                batch = with_column(batch, SPLIT, file.split)  # noqa: PLW2901 - the same rows
            if domain is None and not batch.is_plain:
                first = first or (file.path, set(batch.columns))
                _check_same_columns(file.path, set(batch.columns), *first)
            yield batch


def _check_same_columns(path: Place, columns: set[str], first: Place, wanted: set[str]) -> None:
    """Refuse a file whose columns are not those of the first file."""
    if columns == wanted:
        return
    odd = sorted(columns ^ wanted)[0]
    has, lacks = (path, first) if odd in columns else (first, path)
    raise UnskewError(
        f"{has} has a column {odd!r} and {lacks} has none; read them apart, or give both the "
        "same columns"
    )


def read_file(
    path: Place, domain: Domain | None, n: int | None, columns: Columns = None
) -> Iterator[Batch]:
    """Yield the batches of a file, at most as many rows as are wanted."""
    if domain is not None:
        return _as_examples(_batches(path, n, None), domain, path)
    return _batches(path, n, columns)


def _batches(path: Place, n: int | None, columns: Columns) -> Iterator[Batch]:
    kind, rows = kind_of(path), TABLE_ROWS if n is None else min(n, TABLE_ROWS)
    if kind == ".parquet":
        return read_parquet(path, rows, columns)
    if kind in (".arrow", ".feather"):
        return read_arrow(path, rows, columns)
    if kind in (".csv", ".tsv"):
        return read_delimited(path, "," if kind == ".csv" else "\t", columns)
    return read_json(path, n) if kind == ".json" else read_json_lines(path, n)


def domain_of_file(path: Place) -> Domain | None:
    """Return the domain that the first row of a file is an example of."""
    row = next(
        (row for batch in read_file(path, None, 1) for row in batch.head(1).examples()), None
    )
    if not isinstance(row, dict):
        return None
    for domain in map(load_domain, domains_with_columns(row)):
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
        cast = table.select(schema.names).cast(schema)
        cast.validate(full=True)  # see cast_column
    except (pa.ArrowException, KeyError) as error:
        raise _not_alike(str(error).splitlines()[0]) from error
    _check_unchanged(table, cast)
    return cast


def _check_unchanged(table: pa.Table, cast: pa.Table) -> None:
    """Refuse a cast that changed a value: Arrow makes 7 of "007", and drops fields of structs."""
    given, made = Batch.from_arrow(table).columns, Batch.from_arrow(cast).columns
    for name in cast.column_names:
        here, before = table.schema.field(name).type, cast.schema.field(name).type
        if here != before and not np.array_equal(hash_column(given[name]), hash_column(made[name])):
            raise _not_alike(f"column {name!r} is {here} here, and {before} before")


def _not_alike(reason: str) -> UnskewError:
    return UnskewError(f"the columns are not the same in all rows ({reason}); make them equal")


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


def read_text(path: Place) -> tuple[str, Batch, Domain]:
    """Read a text file of the domain whose examples people write by hand."""
    with plain_errors(path, reading=True), path.open("rb") as file:
        text = file.read().decode("utf-8-sig", "replace")
    for domain in map(load_domain, domain_names()):
        if domain.formats.read_text is not None:
            try:
                rows = domain.formats.read_text(text, str(path))
            except UnskewError as error:
                raise UnskewError(
                    f"{error} (a {TEXT} file holds examples of {domain.name}; give a file of data "
                    "the name that its content has, such as .csv)"
                ) from error
            return text, Batch.from_arrow(Batch.of(rows).to_arrow()), domain
    raise UnskewError(f"{path} is a text file, and no domain here reads it; point at data")
