"""Live objects as batches: tables of any library, datasets, arrays, and plain examples.

No library is imported: an object is known by the protocols and the methods that it has.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import chain, islice
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np

from unskew.core.batch import EXAMPLE, Batch
from unskew.core.errors import UnskewError, brief
from unskew.io.iterables import ROWS, check_iterable, chunked, kind_name
from unskew.io.layout import SPLIT
from unskew.io.tables import TABLE_ROWS, Columns, check_names, table_batches, wanted, with_column
from unskew.io.torch_data import (
    is_loader,
    is_torch_data,
    loaded_examples,
    plain_value,
    torch_examples,
)

if TYPE_CHECKING:
    import pyarrow as pa


class Read(Protocol):
    """Yields the first ``n`` examples, or all; ``columns`` are the only ones that will be used."""

    def __call__(self, n: int | None, columns: Columns = None, /) -> Iterator[Batch]:
        """Yield batches. The last may have more examples than are wanted."""
        ...


@dataclass(frozen=True)
class Readable:
    """An object that can be read; ``repeatable`` says whether it can be read more than once."""

    read: Read
    repeatable: bool = True


def readable_object(target: Any) -> Readable:
    """Return how to read an object; refuse what holds no examples."""
    if isinstance(target, Mapping):
        return _mapping(target)
    if _is_hugging_face(target):
        return Readable(lambda n, columns=None: _hugging_face(target, n, columns))
    if callable(getattr(target, "collect", None)) and hasattr(target, "collect_schema"):
        return Readable(lambda n, columns=None: _lazy_frame(target, n, columns))
    if hasattr(target, "__arrow_c_stream__"):
        read_once = hasattr(target, "read_next_batch")
        return _once(lambda _, columns=None: _stream(target, columns), target, read_once)
    if hasattr(target, "__arrow_c_array__"):
        return Readable(lambda _, columns=None: _arrow_array(target, columns))
    if hasattr(target, "to_batches") and hasattr(target, "schema"):  # a dataset of Arrow
        return Readable(lambda _, columns=None: _arrow_dataset(target, columns))
    if hasattr(target, "__dataframe__"):
        return Readable(lambda _, columns=None: _interchange(target, columns))
    if is_loader(target):
        return Readable(lambda n, columns=None: chunked(loaded_examples(target), *_rows(n)))
    if is_torch_data(target):
        return Readable(lambda n, columns=None: chunked(torch_examples(target), *_rows(n)))
    array = _as_array(target)
    if array is not None:
        return Readable(lambda _, columns=None: _array(array, columns))
    check_iterable(target)
    return _once(
        lambda n, columns=None: _examples(target, n, columns), target, isinstance(target, Iterator)
    )


def _rows(n: int | None) -> tuple[int, ...]:
    return () if n is None else (min(n, ROWS),)


def _once(read: Read, target: object, read_once: bool) -> Readable:
    """Return how to read an object, which may be gone after it has been read."""
    if not read_once:
        return Readable(read)
    begun: list[bool] = []

    def first_time(n: int | None, columns: Columns = None, /) -> Iterator[Batch]:
        if begun:
            raise UnskewError(
                f"{kind_name(target)} can be read only once; pass a list, a table or a file"
            )
        begun.append(True)
        return read(n, columns)

    return Readable(first_time, repeatable=False)


@contextmanager
def _foreign(target: object, step: str) -> Iterator[None]:
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
    with _foreign(target, step):
        iterator = iter(tables())
    while True:
        with _foreign(target, step):
            table = next(iterator, None)
        if table is None:
            return
        yield table


# Tables


def _stream(target: Any, columns: Columns) -> Iterator[Batch]:
    """Read an object with the Arrow C stream protocol: a table, or a column of values."""
    import pyarrow as pa

    if hasattr(target, "reset_index"):
        target = _without_index(target)
    where = kind_name(target)
    with _foreign(target, "give a table whose columns have one type each"):
        try:
            reader = pa.RecordBatchReader.from_stream(target)
        except (pa.ArrowTypeError, pa.ArrowInvalid, ValueError, TypeError) as error:
            values = _values(target, error)
            yield from (Batch({EXAMPLE: chunk}) for chunk in values.chunks if len(chunk))
            return
    tables = _guarded(lambda: reader, target, "mend it, or read less of it")
    yield from table_batches(map(_without_index_columns, tables), where, columns)


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
    with _foreign(frame, "rename the index: df.rename_axis(None)"):
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


def _arrow_array(target: Any, columns: Columns) -> Iterator[Batch]:
    import pyarrow as pa

    array = pa.array(target)
    if pa.types.is_struct(array.type):
        return table_batches([pa.RecordBatch.from_struct_array(array)], kind_name(target), columns)
    return iter([Batch({EXAMPLE: array})] if len(array) else [])


def _arrow_dataset(target: Any, columns: Columns) -> Iterator[Batch]:
    names = target.schema.names
    check_names(names, kind_name(target))
    chosen = wanted(names, columns)
    tables = _guarded(lambda: target.to_batches(columns=chosen), target, "check its files")
    return table_batches(tables, kind_name(target), columns)


def _interchange(target: Any, columns: Columns) -> Iterator[Batch]:
    from pyarrow.interchange import from_dataframe

    with _foreign(target, "pass an Arrow table of it"):
        table = from_dataframe(target)
    return table_batches([table], kind_name(target), columns)


def _lazy_frame(target: Any, n: int | None, columns: Columns) -> Iterator[Batch]:
    """Read a lazy frame in batches if it gives any, else all of it."""
    step = "mend the query: .collect() shows more"
    with _foreign(target, step):
        names = list(target.collect_schema().names())
        frame = target if columns is None else target.select(wanted(names, columns))
        frame = frame if n is None else frame.head(n)
    collect = getattr(frame, "collect_batches", None) or (lambda: [frame.collect()])
    for table in _guarded(collect, target, step):
        yield from _stream(table, columns)


# Datasets of Hugging Face


def _is_hugging_face(target: object) -> bool:
    return all(hasattr(target, name) for name in ("with_format", "features", "iter"))


def _hugging_face(target: Any, n: int | None, columns: Columns) -> Iterator[Batch]:
    """Read a dataset as tables; one whose columns are not known in advance, example by example."""
    step = "check what the dataset is made of"
    if target.features is None:
        examples = _guarded(lambda: map(dict, target.with_format(None)), target, step)
        return chunked(examples, *_rows(n))
    names = list(target.features)
    check_names(names, kind_name(target))
    part = target if columns is None else target.select_columns(wanted(names, columns))
    size = TABLE_ROWS if n is None else min(n, TABLE_ROWS)
    tables = _guarded(lambda: part.with_format("arrow").iter(batch_size=size), target, step)
    return table_batches(tables, kind_name(target), columns)


# Dicts


def _mapping(target: Mapping[Any, Any]) -> Readable:
    """Read a dict of splits, or a dict of columns."""
    if target and all(map(_is_table, target.values())):
        splits = {str(name): readable_object(value) for name, value in target.items()}
        return Readable(
            lambda n, columns=None: _splits(target, splits, n, columns),
            all(split.repeatable for split in splits.values()),
        )
    return Readable(lambda _, columns=None: _columns(target, columns))


def _is_table(value: object) -> bool:
    has_columns = hasattr(value, "columns") or hasattr(value, "column_names")
    streams = hasattr(value, "__arrow_c_stream__") or hasattr(value, "collect_schema")
    return _is_hugging_face(value) or (streams and has_columns)


def _splits(
    target: object, splits: Mapping[str, Readable], n: int | None, columns: Columns
) -> Iterator[Batch]:
    """Yield one split after the other, each row with the name of its split."""
    first: tuple[str, list[str]] | None = None
    for name, split in splits.items():
        for batch in split.read(n, columns):
            names = sorted(batch.columns)
            first = first or (name, names)
            if names != first[1]:
                odd = sorted(set(names) ^ set(first[1]))
                has = name if odd[0] in names else first[0]
                raise UnskewError(
                    f"{kind_name(target)} has a column {odd[0]!r} in split {has!r} alone; audit "
                    f"one split, data[{name!r}], or remove the column"
                )
            yield with_column(batch, SPLIT, name) if columns is None or SPLIT in columns else batch


def _columns(target: Mapping[Any, Any], columns: Columns) -> Iterator[Batch]:
    """Read a dict of columns."""
    lengths = {name: _length(value) for name, value in target.items()}
    odd = next((name for name, length in lengths.items() if length is None), None)
    if odd is not None or not target or len(set(lengths.values())) > 1:
        given = f"{odd!r} is {brief(target[odd])}" if odd is not None else f"lengths {lengths}"
        raise UnskewError(
            f"{kind_name(target)} cannot be read as columns ({given if target else 'it is empty'}); "
            "give a dict of columns of one length, or a list of examples"
        )
    check_names([str(name) for name in target], kind_name(target))
    chosen = wanted([str(name) for name in target], columns)
    made = {str(name): _column(value) for name, value in target.items() if str(name) in chosen}
    if not next(iter(lengths.values())):
        return
    if any(column is None for column in made.values()):  # of several types: examples keep them
        rows = zip(*(list(map(plain_value, value)) for value in target.values()), strict=True)
        yield from chunked(dict(zip(map(str, target), row, strict=True)) for row in rows)
        return
    yield from table_batches([_table(made)], kind_name(target))


def _table(columns: Mapping[str, Any]) -> pa.Table:
    import pyarrow as pa

    return pa.table(dict(columns))


def _length(value: object) -> int | None:
    if isinstance(value, (str, bytes, Mapping)) or not hasattr(value, "__len__"):
        return None
    try:
        return len(value)
    except TypeError:  # an array of no dimensions
        return None


def _column(value: Any) -> Any:
    """Return a column as Arrow; None if Arrow would change its values."""
    import pyarrow as pa

    try:
        if hasattr(value, "__arrow_c_stream__"):
            return pa.chunked_array(value)
        if hasattr(value, "__arrow_c_array__"):
            return pa.array(value)
        array = _as_array(value)
        if array is not None and array.ndim == 1:
            return pa.array(array)
        values = list(map(plain_value, value))
        if len({type(item) for item in values} - {type(None), int, float}) > 1:
            return None
        column = pa.array(values)
    except (pa.ArrowException, OverflowError, TypeError, ValueError):
        return None
    return column


# Arrays


def _as_array(target: object) -> np.ndarray[Any, Any] | None:
    """Return an array of any library as one of NumPy's; None if it is none."""
    if isinstance(target, np.ndarray):
        return target
    is_sequence = isinstance(target, (Sequence, Mapping, Iterator))
    if is_sequence or not hasattr(target, "shape") or not hasattr(target, "dtype"):
        return None
    value = plain_value(target)
    if isinstance(value, np.ndarray):
        return value
    if not hasattr(target, "__array__"):
        return None
    with _foreign(target, "pass a NumPy array"):
        return np.asarray(target)


def _array(array: np.ndarray[Any, Any], columns: Columns) -> Iterator[Batch]:
    """Read an array: its fields are columns; of more dimensions, each first index is an example."""
    if array.ndim == 0:
        raise UnskewError(f"{brief(array)} has no dimensions; pass a list of examples")
    if not len(array):
        return iter(())
    if array.dtype.names is not None and array.ndim == 1:
        fields = {
            name: array[name] if array[name].ndim == 1 else list(array[name])
            for name in wanted(array.dtype.names, columns)
        }
        return table_batches([_table(fields)], "the array")
    if array.ndim == 1 and array.dtype.kind in "iufbSUMm":
        import pyarrow as pa

        column = np.ascontiguousarray(array) if array.dtype.kind in "iufb" else pa.array(array)
        return iter(
            Batch({EXAMPLE: column[i : i + TABLE_ROWS]}) for i in range(0, len(array), TABLE_ROWS)
        )
    return chunked(array.tolist() if array.ndim == 1 else array)


# Examples


def _examples(target: Iterable[Any], n: int | None, columns: Columns) -> Iterator[Batch]:
    """Read examples one by one; if the first is a table, they all are tables."""
    iterator = iter(target)
    begin = list(islice(iterator, 1))
    if begin and _is_table(begin[0]):
        tables = chain(begin, iterator)
        return chain.from_iterable(readable_object(table).read(n, columns) for table in tables)
    return chunked(chain(begin, iterator), *_rows(n))
