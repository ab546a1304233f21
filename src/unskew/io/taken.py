"""Rows of an object, given back as the kind of object that came in.

No library is imported for this but Arrow: an object is known by the methods that it has.
"""

from __future__ import annotations

import sys
from collections.abc import Iterable, Mapping, Sequence
from functools import partial
from itertools import chain
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from unskew.core.errors import UnskewError, brief
from unskew.io.iterables import is_read_once
from unskew.io.objects.known import is_hugging_face, is_loader, is_table, is_torch_data

if TYPE_CHECKING:
    import pyarrow as pa


def check_takable(target: Any) -> None:
    """Refuse an object whose rows cannot be numbered, before anything is read of it."""
    if is_read_once(target) or hasattr(target, "read_next_batch"):
        raise UnskewError("the examples can be read only once; pass a list, a file or a folder")
    if is_loader(target):
        raise UnskewError(
            "a torch DataLoader gives batches, whose order may change; pass its dataset: "
            "loader.dataset"
        )
    for name, table in _tables(target):
        if not hasattr(table, "__len__"):
            raise UnskewError(
                f"data[{name!r}] does not say how many rows it has; pass that table alone, or "
                "collect it"
            )


def take(target: Any, rows: NDArray[np.int64]) -> Any:
    """Return these rows of an object, as an object of the same kind.

    A table that cannot be indexed becomes an Arrow table, and an iterable a list.

    Args:
        target: a table of any library, a dataset of Hugging Face or PyTorch, an array, a dict of
            columns or of splits, a list, or another iterable that can be read again.
        rows: the numbers of the rows, in ascending order. A number may come more than once.
    """
    if isinstance(target, Mapping):
        if tables := _tables(target):
            return _same_mapping(target, _apart([table for _, table in tables], rows))
        return _same_mapping(target, [take(column, rows) for column in target.values()])
    if hasattr(target, "collect_schema") and hasattr(target, "lazy"):
        is_lazy = hasattr(target, "collect")
        return target.collect()[rows].lazy() if is_lazy else target[rows]
    if is_hugging_face(target):
        return _of_hugging_face(target, rows)
    if hasattr(target, "iloc"):
        return target.iloc[rows]
    if is_torch_data(target):
        return _of_torch(target, rows)
    if hasattr(target, "gather_every") or _is_array(target):
        return target[rows]
    if any(hasattr(target, f"__{name}__") for name in _PROTOCOLS) or _is_arrow_dataset(target):
        return _of_arrow(target, rows)
    return _of_examples(target, rows)


# Tables

_PROTOCOLS = ("arrow_c_stream", "arrow_c_array", "dataframe")


def _is_arrow_dataset(target: object) -> bool:
    return hasattr(target, "to_batches") and hasattr(target, "take")


def _of_arrow(target: Any, rows: NDArray[np.int64]) -> Any:
    """Return rows of an Arrow object as such an object, of any other table as an Arrow table."""
    import pyarrow as pa

    if isinstance(target, pa.RecordBatch):
        taken = _of_table(pa.Table.from_batches([target]), rows).combine_chunks().to_batches()
        return taken[0] if taken else target.slice(0, 0)
    if isinstance(target, pa.Table):
        return _of_table(target, rows)
    if isinstance(target, pa.ChunkedArray):
        return _of_chunks(target, rows)
    if isinstance(target, pa.Array):
        return _of_column(target, rows)
    if _is_arrow_dataset(target):
        return target.take(rows)
    if hasattr(target, "__arrow_c_stream__") or hasattr(target, "__arrow_c_array__"):
        return _of_table(pa.table(target), rows)
    from pyarrow.interchange import from_dataframe

    return _of_table(from_dataframe(target), rows)


def _of_table(table: pa.Table, rows: NDArray[np.int64]) -> pa.Table:
    import pyarrow as pa

    columns = [_of_chunks(column, rows) for column in table.columns]
    return pa.Table.from_arrays(columns, schema=table.schema)


def _of_chunks(column: pa.ChunkedArray, rows: NDArray[np.int64]) -> pa.ChunkedArray:
    """Take from each chunk separately: joined, their texts may be too long for Arrow's offsets."""
    import pyarrow as pa

    ends = np.cumsum([len(chunk) for chunk in column.chunks], dtype=np.int64)
    cuts = np.searchsorted(rows, ends)
    starts = zip(column.chunks, ends, np.concatenate([[0], cuts]), cuts, strict=False)
    taken = [
        _of_column(chunk, rows[first:last] - (end - len(chunk)))
        for chunk, end, first, last in starts
        if last > first
    ]
    return pa.chunked_array(taken, type=column.type)


def _of_column(column: pa.Array, rows: NDArray[np.int64]) -> pa.Array:
    """Return rows of a column; of a layout that Arrow cannot take from, as runs of rows."""
    import pyarrow as pa

    try:
        return column.take(pa.array(rows))
    except pa.ArrowNotImplementedError:
        if not len(rows):
            return column.slice(0, 0)
        begins = np.flatnonzero(np.diff(rows, prepend=rows[0] - 2) != 1)
        lengths = np.diff(begins, append=len(rows))
        runs = zip(rows[begins].tolist(), lengths.tolist(), strict=True)
        return pa.concat_arrays([column.slice(start, length) for start, length in runs])


# Datasets of other libraries


def _of_hugging_face(target: Any, rows: NDArray[np.int64]) -> Any:
    if hasattr(target, "select"):
        return target.select(rows)
    times = np.bincount(rows)  # a stream has no numbered rows, but tells the number of each
    return target.map(partial(_repeated, times), with_indices=True, batched=True)


def _repeated(
    times: NDArray[np.int64], columns: Mapping[str, Sequence[Any]], numbers: Sequence[int]
) -> dict[str, list[Any]]:
    """Return the columns of a part of a stream, each row as often as it was chosen."""
    here = [int(times[number]) if number < len(times) else 0 for number in numbers]
    return {
        name: [value for value, n in zip(values, here, strict=True) for _ in range(n)]
        for name, values in columns.items()
    }


def _of_torch(dataset: Any, rows: NDArray[np.int64]) -> Any:
    """Return PyTorch's ``Subset`` of a dataset; of one that is only iterable, a list."""
    if hasattr(type(dataset), "__iter__"):
        return _of_examples(dataset, rows)
    _check_length(len(dataset), rows)
    # Whoever has a dataset of PyTorch has loaded this module.
    return sys.modules["torch.utils.data"].Subset(dataset, rows.tolist())


# Arrays, and Python objects


def _is_array(target: object) -> bool:
    return hasattr(target, "shape") and hasattr(target, "dtype") and hasattr(target, "__getitem__")


def _tables(target: Any) -> list[tuple[Any, Any]]:
    """Return the tables in a dict of splits or a list of tables, by name or number."""
    if isinstance(target, Mapping):
        is_splits = all(map(is_table, target.values()))
        return list(target.items()) if is_splits else []
    is_list = isinstance(target, (list, tuple)) and len(target) > 0 and is_table(target[0])
    return list(enumerate(target)) if is_list else []


def _same_mapping(target: Mapping[Any, Any], values: Iterable[Any]) -> Any:
    """Return a dict of the class that came in, or a plain one if it is not made of pairs."""
    pairs = dict(zip(target, values, strict=True))
    made = type(target) if isinstance(target, dict) else dict
    try:
        return made(pairs)
    except TypeError:
        return pairs


def _apart(tables: Sequence[Any], rows: NDArray[np.int64]) -> list[Any]:
    """Return the rows of each of several tables, whose rows are numbered one after the other."""
    ends = np.cumsum([len(table) for table in tables], dtype=np.int64)
    cuts = np.searchsorted(rows, ends)
    parts = np.split(rows, cuts)[: len(tables)]
    starts = ends - [len(table) for table in tables]
    return [take(table, part - s) for table, part, s in zip(tables, parts, starts, strict=True)]


def _of_examples(target: Any, rows: NDArray[np.int64]) -> Any:
    """Return examples as a list, or as a tuple if they came in one."""
    if isinstance(target, Sequence):
        if tables := _tables(target):
            return type(target)(_apart([table for _, table in tables], rows))  # type: ignore[call-arg]
        _check_length(len(target), rows)
        taken: Iterable[Any] = (target[row] for row in rows.tolist())
    elif isinstance(target, Iterable):
        taken = _in_passing(target, rows)
    else:
        raise UnskewError(f"{brief(target)} has no rows; pass a list of examples")
    return tuple(taken) if isinstance(target, tuple) else list(taken)


def _in_passing(target: Iterable[Any], rows: NDArray[np.int64]) -> Iterable[Any]:
    """Return the rows of an iterable, which is read up to the last of them."""
    times = np.bincount(rows).tolist() if len(rows) else []
    examples = list(chain.from_iterable([x] * n for x, n in zip(target, times, strict=False)))
    _check_length(len(examples), np.arange(len(rows)))
    return examples


def _check_length(length: int, rows: NDArray[np.int64]) -> None:
    if len(rows) and rows[-1] >= length:
        raise UnskewError("the data changed while it was read; run it again")
