"""Arrow tables as batches: the columns that are wanted, in layouts that can be worked with."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Any, TypeAlias

from unskew.core.batch import Batch
from unskew.core.errors import UnskewError

if TYPE_CHECKING:
    import pyarrow as pa

TABLE_ROWS = 1 << 16  # in a batch

# The only top-level columns that will be used; None means all. A reader may give more.
Columns: TypeAlias = Sequence[str] | None


def wanted(names: Sequence[str], columns: Columns) -> list[str]:
    """Return the names that are wanted; all of them if none is there, so that errors name them."""
    if columns is None:
        return list(names)
    return [name for name in names if name in columns] or list(names)


def check_names(names: Sequence[Any], where: str) -> None:
    """Refuse a table without columns, or with two of one name."""
    twice = [name for name, times in Counter(names).items() if times > 1]
    if twice:
        raise UnskewError(f"{where} has two columns named {twice[0]!r}; rename one of them")
    if not names:
        raise UnskewError(f"{where} has no columns; there is nothing to measure")


def table_batches(
    tables: Iterable[pa.RecordBatch | pa.Table],
    where: str,
    columns: Columns = None,
    *,
    check: bool = False,
) -> Iterator[Batch]:
    """Yield tables as batches of at most ``TABLE_ROWS`` rows; ``check`` data of strangers."""
    for table in tables:
        names = list(table.schema.names)
        check_names(names, where)
        chosen = wanted(names, columns)
        part = table if chosen == names else table.select(chosen)
        for start in range(0, part.num_rows, TABLE_ROWS):
            rows = part.slice(start, TABLE_ROWS)
            if check:
                rows.validate(full=True)
            batch = Batch.from_arrow(rows)
            yield Batch({name: plain_layout(column) for name, column in batch.columns.items()})


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
    return column if kind.equals(column.type) else column.cast(kind)


def _plain_type(kind: pa.DataType) -> pa.DataType:
    import pyarrow as pa

    if isinstance(kind, pa.ExtensionType):
        return _plain_type(kind.storage_type)
    if kind == pa.string_view():
        return pa.large_string()
    if kind == pa.binary_view():
        return pa.large_binary()
    if pa.types.is_struct(kind):
        return pa.struct([_plain_field(kind.field(i)) for i in range(kind.num_fields)])
    if pa.types.is_fixed_size_list(kind):
        return pa.list_(_plain_field(kind.value_field), kind.list_size)
    if pa.types.is_large_list(kind):
        return pa.large_list(_plain_field(kind.value_field))
    if pa.types.is_list(kind):
        return pa.list_(_plain_field(kind.value_field))
    return kind


def _plain_field(field: pa.Field) -> pa.Field:
    return field.with_type(_plain_type(field.type))


def with_column(batch: Batch, name: str, value: str) -> Batch:
    """Return a batch in which each row also has this value; a column of that name stays."""
    import pyarrow as pa

    if batch.is_plain:
        rows = list(batch.examples())
        if not all(isinstance(row, dict) for row in rows):
            return batch
        return Batch.of([{name: value} | row | {name: row.get(name, value)} for row in rows])
    if name in batch.columns:
        return batch
    return Batch({**batch.columns, name: pa.repeat(value, len(batch))})
