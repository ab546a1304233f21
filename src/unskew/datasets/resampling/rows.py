"""Chosen rows of files and of anything else that is read as a stream: read when they are used."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from unskew.core.batch import Batch, concatenate
from unskew.core.errors import UnskewError
from unskew.datasets.resampling.pool import Advance
from unskew.datasets.target import Target
from unskew.io.reading import alike

if TYPE_CHECKING:
    import pyarrow as pa


# A file of few rows from each batch has tables of this size nevertheless: they are read faster.
_MOST_ROWS = 1 << 16
_MOST_BYTES = 1 << 26


class Rows:
    """Examples that are read again each time they are iterated, and never held in memory.

    Polars, pandas, DuckDB and Arrow read them as a table: ``pyarrow.table(rows)``.
    """

    def __init__(self, opened: Target, times: NDArray[np.int64]) -> None:
        """Read nothing yet; row i of the target comes ``times[i]`` times."""
        self._opened, self._times = opened, times
        self._length = int(times.sum())

    def __len__(self) -> int:
        """Return the number of examples."""
        return self._length

    def __iter__(self) -> Iterator[Any]:
        """Yield the examples, in the order of the data."""
        for batch in self.batches():
            yield from batch.examples()

    def __repr__(self) -> str:
        """Say how many rows of what these are."""
        return f"<{len(self):,} rows of {self._opened.label}, read when they are used>"

    def batches(self) -> Iterator[Batch]:
        """Yield the examples in batches."""
        return taken_batches(self._opened, self._times)

    def to_arrow(self) -> pa.Table:
        """Return all rows as an Arrow table, in memory."""
        import pyarrow as pa

        return pa.table(self)

    def __arrow_c_stream__(self, requested_schema: object | None = None) -> object:
        """Return the rows as a stream of Arrow tables, which most table libraries take."""
        import pyarrow as pa

        tables = (batch.to_arrow() for batch in self.batches())
        first = next(tables)
        parts = _parts(first, tables)
        reader = pa.RecordBatchReader.from_batches(first.schema, parts)
        return reader.__arrow_c_stream__(requested_schema)


def _parts(first: pa.Table, tables: Iterator[pa.Table]) -> Iterator[pa.RecordBatch]:
    """Yield tables as record batches, all of the columns of the first."""
    yield from first.to_batches()
    for table in tables:
        yield from alike(table, first.schema).to_batches()


def taken_batches(
    opened: Target, times: NDArray[np.int64], advance: Advance = lambda _: None
) -> Iterator[Batch]:
    """Read everything again and yield each row as often as it was chosen."""
    waiting: list[Batch] = []
    for batch in _taken(opened, times, advance):
        if waiting and not (_size(batch) and _are_alike(waiting[0], batch)):
            joined, waiting = concatenate(waiting), []  # the parts are freed before it is used
            yield joined
        waiting.append(batch)
        sizes = [_size(part) for part in waiting]
        if not all(sizes) or sum(sizes) >= _MOST_BYTES or sum(map(len, waiting)) >= _MOST_ROWS:
            joined, waiting = concatenate(waiting), []
            yield joined
    if waiting:
        yield concatenate(waiting)


def _taken(opened: Target, times: NDArray[np.int64], advance: Advance) -> Iterator[Batch]:
    """Yield the chosen rows of each batch."""
    start = 0
    for batch in opened.read(None):
        here = times[start : start + len(batch)]
        if len(here) < len(batch):
            break
        start += len(batch)
        rows = np.repeat(np.arange(len(batch)), here)
        if len(rows):
            yield batch.take(rows)
        advance(len(batch))
    if start < len(times):
        raise UnskewError(f"{opened.label} changed while it was read; run the command again")


def _size(batch: Batch) -> int:
    """Return the bytes of a table; 0 for Python objects, whose size nobody knows."""
    return 0 if batch.is_plain else sum(column.nbytes for column in batch.columns.values())


def _are_alike(first: Batch, second: Batch) -> bool:
    """Whether two batches have the same columns, of the same types."""
    return _types(first) == _types(second)


def _types(batch: Batch) -> list[tuple[str, object]]:
    return [
        (name, column.dtype if isinstance(column, np.ndarray) else column.type)
        for name, column in batch.columns.items()
    ]
