"""Arrow tables as batches: the columns and the rows that are wanted, in layouts that work."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Any, TypeAlias

from unskew.core.batch import ENDLESS, Batch, concatenate
from unskew.core.errors import UnskewError, brief
from unskew.core.values.arrow_types import cast_column, with_types_inside

if TYPE_CHECKING:
    import pyarrow as pa

TABLE_ROWS = 1 << 16  # in a batch
MOST_BYTES = 1 << 26  # of small tables that are joined

SPLIT = "split"  # the column that is added to data of several splits
SPLITS = (  # names that files, folders and lists of splits have
    *("train", "training", "test", "testing", "validation", "valid", "val", "dev"),
    *("eval", "evaluation"),
)

# The only top-level columns that will be used; None means all. A reader may give more.
Columns: TypeAlias = Sequence[str] | None


def wanted(names: Sequence[str], columns: Columns) -> list[str]:
    """Return the names that are wanted; all of them if none is there, so that errors name them."""
    if columns is None:
        return list(names)
    return [name for name in names if name in columns] or list(names)


def check_names(names: Sequence[Any], where: str) -> None:
    """Refuse a table without columns, or with two of one name."""
    _refuse_twins(names, where, "columns")
    if not names:
        raise UnskewError(f"{where} has no columns; there is nothing to measure")


def _refuse_twins(names: Sequence[Any], where: str, kind: str) -> None:
    twice = [name for name, times in Counter(names).items() if times > 1]
    if twice:
        raise UnskewError(f"{where} has two {kind} named {brief(twice[0])}; rename one of them")


def _check_inside(field: pa.Field, where: str) -> None:
    """Refuse a struct with two fields of one name: no dict holds it."""
    import pyarrow as pa

    inner = [field.type.field(i) for i in range(field.type.num_fields)]
    if pa.types.is_struct(field.type):
        _refuse_twins([part.name for part in inner], f"{where}: {field.name!r}", "fields")
    for part in inner:
        _check_inside(part, where)


def table_batches(
    tables: Iterable[pa.RecordBatch | pa.Table],
    where: str,
    columns: Columns = None,
    *,
    rows: int = TABLE_ROWS,
    check: bool = False,
) -> Iterator[Batch]:
    """Yield tables as batches of ``rows`` rows; ``check`` data of strangers."""
    for table in _of_size(_selected(tables, where, columns, check), rows):
        batch = Batch.from_arrow(table)
        yield Batch({name: plain_layout(column) for name, column in batch.columns.items()})


def _selected(
    tables: Iterable[pa.RecordBatch | pa.Table], where: str, columns: Columns, check: bool
) -> Iterator[pa.Table]:
    """Yield the columns that are wanted; ``check`` them before anything else looks at them."""
    import pyarrow as pa

    for table in tables:
        try:
            names = list(table.schema.names)
            check_names(names, where)
            for field in table.schema:
                _check_inside(field, where)
        except UnicodeDecodeError as error:
            raise UnskewError(
                f"{where} has a column whose name is no text ({error.reason}); rename the column"
            ) from error
        chosen = wanted(names, columns)
        part = table if chosen == names else table.select(chosen)
        if check:  # of damaged data, Arrow cannot even tell the size: it ends Python
            part.validate(full=True)
        yield part if isinstance(part, pa.Table) else pa.Table.from_batches([part])


def _of_size(tables: Iterable[pa.Table], rows: int) -> Iterator[pa.Table]:
    """Join small tables and cut large ones: the first batch decides how values are counted."""
    import pyarrow as pa

    joined: list[pa.Table] = []
    size = 0  # in bytes
    length = 0
    for table in tables:
        if not len(table):
            continue
        if joined and not joined[0].schema.equals(table.schema):
            yield pa.concat_tables(joined)
            joined, size, length = [], 0, 0
        joined.append(table)
        size, length = size + table.nbytes, length + len(table)
        if length < rows and size < MOST_BYTES:
            continue
        whole = pa.concat_tables(joined)
        cuts = range(0, max(length - rows + 1, 1), rows)
        yield from (whole.slice(start, rows) for start in cuts)
        rest = whole.slice(cuts[-1] + rows)
        joined, size, length = [rest] if len(rest) else [], rest.nbytes, len(rest)
    if joined:
        yield pa.concat_tables(joined)


def plain_layout(column: pa.Array) -> pa.Array:
    """Return a column without views, extension types and run-lengths: Arrow cannot take their rows.

    Dictionaries stay.
    """
    import pyarrow as pa
    import pyarrow.compute as pc

    if isinstance(column, pa.ExtensionArray):
        column = column.storage
    if pa.types.is_run_end_encoded(column.type):
        column = pc.run_end_decode(column)
    if pa.types.is_dictionary(column.type):
        values = plain_layout(column.dictionary)
        if values.type.equals(column.type.value_type):
            return column
        return pa.DictionaryArray.from_arrays(column.indices, values)
    kind = _plain_type(column.type)
    return column if kind.equals(column.type) else cast_column(column, kind)


def _plain_type(kind: pa.DataType) -> pa.DataType:
    import pyarrow as pa

    if isinstance(kind, pa.ExtensionType):
        return _plain_type(kind.storage_type)
    if kind == pa.string_view():
        return pa.large_string()
    if kind == pa.binary_view():
        return pa.large_binary()
    return with_types_inside(kind, _plain_type)


def with_column(batch: Batch, name: str, value: str) -> Batch:
    """Return a batch in which each row also has this value; a column of that name stays."""
    import pyarrow as pa

    if batch.is_plain:
        rows = list(batch.examples())
        if not all(isinstance(row, dict) for row in rows):
            return batch
        return Batch.of([{name: value} | row for row in rows])
    if name in batch.columns:
        return batch
    return Batch({**batch.columns, name: pa.repeat(value, len(batch))})


def first_rows(batches: Iterator[Batch], n: int | None) -> Iterator[Batch]:
    """Yield the first ``n`` rows, or all, and read no more than these need."""
    left = ENDLESS if n is None else n
    for batch in batches:
        yield batch.head(left) if len(batch) > left else batch
        left -= len(batch)
        if left <= 0:
            return


def joined_rows(batches: Iterator[Batch], skip: int, n: int) -> Batch:
    """Join the ``n`` rows that come after the first ``skip``."""
    pieces: list[Batch] = []
    for batch in batches:
        if skip < len(batch) and n > 0:
            pieces.append(batch.slice(skip, n))
            n -= len(pieces[-1])
        skip = max(0, skip - len(batch))
        if n <= 0:
            break
    if not pieces:
        raise UnskewError("there are no examples to start from; check what is given")
    return concatenate(pieces) if len({_layout(piece) for piece in pieces}) == 1 else _mixed(pieces)


def _layout(batch: Batch) -> tuple[object, ...]:
    """Return what two batches must have in common to be joined as they are."""
    return tuple((name, str(getattr(c, "type", ""))) for name, c in batch.columns.items())


def _mixed(pieces: Sequence[Batch]) -> Batch:
    """Join batches whose columns have other types, or that Arrow could not read."""
    import pyarrow as pa

    try:
        tables = [piece.to_arrow() for piece in pieces]
        return Batch.from_arrow(pa.concat_tables(tables, promote_options="permissive"))
    except pa.ArrowException as error:
        reason = str(error).splitlines()[0]
        raise UnskewError(
            f"the columns are not the same in all rows ({reason}); make them equal"
        ) from error
