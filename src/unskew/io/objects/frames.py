"""Tables and datasets of any library as batches: by protocols, and by methods that they have."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from unskew.core.batch import EXAMPLE, Batch
from unskew.core.errors import UnskewError, brief
from unskew.io.iterables import batch_rows, chunked, kind_name
from unskew.io.tables import TABLE_ROWS, Columns, check_names, table_batches, wanted

if TYPE_CHECKING:
    import pyarrow as pa


@contextmanager
def plain_failures(target: object, step: str) -> Iterator[None]:
    """Turn any failure in the code of another library into one line."""
    try:
        yield
    except (UnskewError, MemoryError):
        raise
    except Exception as error:
        reason = next(iter(str(error).splitlines()), "")
        raise UnskewError(
            f"{kind_name(target)} failed ({type(error).__name__}: {reason}); {step}"
        ) from error


def _guarded(tables: Callable[[], Iterable[Any]], target: object, step: str) -> Iterator[Any]:
    """Yield the tables of another library, whose failures become one line."""
    with plain_failures(target, step):
        iterator = iter(tables())
    while True:
        with plain_failures(target, step):
            table = next(iterator, None)
        if table is None:
            return
        yield table


def read_stream(target: Any, columns: Columns) -> Iterator[Batch]:
    """Read an object with the Arrow C stream protocol: a table, or a column of values."""
    import pyarrow as pa

    if hasattr(target, "reset_index"):
        target = _without_index(target)
    _refuse_addresses(target)
    where = kind_name(target)
    with plain_failures(target, "give a table whose columns have one type each"):
        try:
            reader = pa.RecordBatchReader.from_stream(target)
        except (pa.ArrowTypeError, pa.ArrowInvalid, ValueError, TypeError) as error:
            values = _values(target, error)
            yield from (Batch({EXAMPLE: chunk}) for chunk in values.chunks if len(chunk))
            return
    tables = _guarded(lambda: reader, target, "mend it, or read less of it")
    yield from table_batches(map(_without_index_columns, tables), where, columns)


def _refuse_addresses(target: Any) -> None:
    """Refuse a column of Python objects in a Polars frame: as Arrow, it has their addresses."""
    kinds = getattr(target, "dtypes", None)
    if not isinstance(kinds, list):
        return
    for name, kind in zip(target.columns, kinds, strict=True):
        if str(kind) == "Object":
            raise UnskewError(
                f"column {name!r} of {kind_name(target)} holds Python objects, which other "
                f"libraries cannot read; drop it, or pass the rows: df.to_dicts()"
            )


def _values(target: Any, error: Exception) -> pa.ChunkedArray:
    """Return a stream of values that is no table; say which column cannot be one."""
    import pyarrow as pa

    if hasattr(target, "columns"):
        raise _mixed_column(target, error) from error
    return pa.chunked_array(target)


def _without_index(frame: Any) -> Any:
    """Return a pandas object with the named levels of its index as columns.

    Levels without a name are dropped with the columns that Arrow makes of them.
    """
    names = list(getattr(frame.index, "names", []))
    levels = [level for level, name in enumerate(names) if name is not None]
    if not levels or not hasattr(frame, "columns"):
        return frame
    with plain_failures(frame, "rename the index: df.rename_axis(None)"):
        return frame.reset_index(level=levels)


def _without_index_columns(table: pa.RecordBatch) -> pa.RecordBatch:
    names = [name for name in table.schema.names if not name.startswith("__index_level_")]
    return table if len(names) == len(table.schema.names) else table.select(names)


def _mixed_column(frame: Any, error: Exception) -> UnskewError:
    """Name the first value of a pandas column that is not like those before it."""
    import pyarrow as pa

    check_names([str(name) for name in frame.columns], kind_name(frame))
    for name in frame.columns:
        values = list(frame[name])
        if _is_one_type(values, pa):
            continue
        if not _is_one_type(values[:1], pa):
            return UnskewError(
                f"row 1: column {str(name)!r} is {brief(values[0])}, which is of no type of Arrow; "
                f"leave it out, or make it lists, numbers or texts: df[{name!r}].map(…)"
            )
        low, high = 0, len(values)  # all before low go together; not all before high
        while high - low > 1:
            middle = (low + high) // 2
            low, high = (middle, high) if _is_one_type(values[:middle], pa) else (low, middle)
        return UnskewError(
            f"row {high}: column {str(name)!r} is {brief(values[high - 1])}, which is not of the "
            f"type of the rows before; make them one type: df[{name!r}].astype(str)"
        )
    reason = str(error).splitlines()[0]
    return UnskewError(f"{kind_name(frame)} cannot be read ({reason}); pass df.to_dict('records')")


def _is_one_type(values: list[Any], pa: Any) -> bool:
    try:
        pa.array(values, from_pandas=True)
    except (pa.ArrowException, OverflowError, TypeError, ValueError):
        return False
    return True


def read_array(target: Any, columns: Columns) -> Iterator[Batch]:
    """Read an object with the Arrow C array protocol: a record batch, or values."""
    import pyarrow as pa

    array = pa.array(target)
    if pa.types.is_struct(array.type):
        return table_batches([pa.RecordBatch.from_struct_array(array)], kind_name(target), columns)
    return iter([Batch({EXAMPLE: array})] if len(array) else [])


def read_arrow_dataset(target: Any, columns: Columns) -> Iterator[Batch]:
    """Read a dataset of Arrow, which may be many files."""
    names = target.schema.names
    check_names(names, kind_name(target))
    chosen = wanted(names, columns)
    tables = _guarded(lambda: target.to_batches(columns=chosen), target, "check its files")
    return table_batches(tables, kind_name(target), columns)


def read_interchange(target: Any, columns: Columns) -> Iterator[Batch]:
    """Read an object with the dataframe interchange protocol."""
    from pyarrow.interchange import from_dataframe

    with plain_failures(target, "pass an Arrow table of it"):
        table = from_dataframe(target)
    return table_batches([table], kind_name(target), columns)


def read_lazy_frame(target: Any, n: int | None, columns: Columns) -> Iterator[Batch]:
    """Read a lazy frame in batches if it gives any, else all of it."""
    step = "mend the query: .collect() shows more"
    with plain_failures(target, step):
        names = list(target.collect_schema().names())
        frame = target if columns is None else target.select(wanted(names, columns))
        frame = frame if n is None else frame.head(n)
    collect = getattr(frame, "collect_batches", None) or (lambda: [frame.collect()])
    for table in _guarded(collect, target, step):
        yield from read_stream(table, columns)


def read_hugging_face(target: Any, n: int | None, columns: Columns) -> Iterator[Batch]:
    """Read a dataset as tables; one whose columns are not known in advance, example by example."""
    step = "check what the dataset is made of"
    if target.features is None:
        examples = _guarded(lambda: map(dict, target.with_format(None)), target, step)
        return chunked(examples, batch_rows(n))
    names = list(target.features)
    check_names(names, kind_name(target))
    part = target if columns is None else target.select_columns(wanted(names, columns))
    size = TABLE_ROWS if n is None else min(n, TABLE_ROWS)
    tables = _guarded(lambda: part.with_format("arrow").iter(batch_size=size), target, step)
    return table_batches(tables, kind_name(target), columns)
