"""A batch of examples as columns: one row, one example (the paper's S)."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from unskew.core.errors import RowError, UnskewError, brief
from unskew.core.values.arrow_types import cast_column, with_types_inside
from unskew.core.values.nesting import check_nesting

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    import pyarrow as pa

# An Arrow array (text, nested values) or a NumPy array whose first axis is the row.
Column: TypeAlias = "NDArray[Any] | pa.Array"
EXAMPLE = "example"  # the one column of a batch of plain Python objects
ENDLESS = 2**62  # rows: more than there ever are


@dataclass(frozen=True)
class Batch:
    """Many examples as columns of equal length. A batch never changes.

    ``memo`` keeps what was computed from the batch, by name, so that it is computed once.
    """

    columns: Mapping[str, Column]
    memo: dict[str, Any] = field(default_factory=dict, compare=False, repr=False)

    def __post_init__(self) -> None:
        """Refuse columns that do not line up."""
        lengths = {name: len(column) for name, column in self.columns.items()}
        if len(set(lengths.values())) != 1:
            raise UnskewError(f"columns of a batch have lengths {lengths}; make them equal")

    @classmethod
    def of(cls, examples: Sequence[object]) -> Batch:
        """Return a batch of any Python objects, in one column.

        An example that contains itself, or is nested too deeply, is refused here and nowhere else.
        """
        check_nesting(examples)
        column = np.empty(len(examples), dtype=object)
        for row, example in enumerate(examples):  # a slice would unpack lists and texts
            column[row] = example
        return cls({EXAMPLE: column})

    @classmethod
    def from_arrow(cls, table: pa.RecordBatch | pa.Table) -> Batch:
        """Return a batch with the columns of an Arrow table or record batch, without a copy."""
        import pyarrow as pa

        columns = {}
        for name in table.column_names:
            column = table.column(name)
            if isinstance(column, pa.ChunkedArray):
                column = column.combine_chunks()
            if column.type in (pa.string_view(), pa.binary_view()):  # Arrow cannot take rows of it
                text = pa.types.is_string_view(column.type)
                column = column.cast(pa.large_string() if text else pa.large_binary())
            columns[name] = column
        return cls(columns)

    @property
    def is_plain(self) -> bool:
        """Whether the examples are Python objects as a sampler returned them."""
        if tuple(self.columns) != (EXAMPLE,):
            return False
        column = self.columns[EXAMPLE]
        return isinstance(column, np.ndarray) and column.dtype == object

    def __len__(self) -> int:
        """Return the number of examples."""
        return len(next(iter(self.columns.values())))

    def filter(self, keep: NDArray[np.bool_]) -> Batch:
        """Return the rows where ``keep`` is true, in order."""
        return self._each(lambda c: c[keep] if isinstance(c, np.ndarray) else c.filter(keep))

    def take(self, rows: NDArray[np.int64]) -> Batch:
        """Return the rows with these numbers, in that order. A number may come twice."""
        return self._each(lambda c: c[rows] if isinstance(c, np.ndarray) else c.take(rows))

    def head(self, n: int) -> Batch:
        """Return the first ``n`` rows."""
        return self.slice(0, n)

    def slice(self, start: int, n: int) -> Batch:
        """Return ``n`` rows from row ``start`` on, or fewer if the batch ends before."""
        return self._each(lambda c: c[start : start + n])

    def examples(self) -> Iterator[Any]:
        """Yield the example of each row: the Python object itself, or a dict of the columns."""
        if tuple(self.columns) == (EXAMPLE,):
            yield from _values(self.columns[EXAMPLE])
            return
        names = tuple(self.columns)
        lists = [readable(column).tolist() for column in self.columns.values()]
        for row in zip(*lists, strict=True):
            yield dict(zip(names, row, strict=True))

    def to_arrow(self) -> pa.Table:
        """Return an Arrow table. If the examples are dicts, each key becomes a column."""
        import pyarrow as pa

        if not self.is_plain:
            return pa.table({name: pa.array(column) for name, column in self.columns.items()})
        rows = self.columns[EXAMPLE].tolist()
        if not all(isinstance(row, dict) for row in rows):
            return pa.table({EXAMPLE: _stored(rows, EXAMPLE)})
        names = dict.fromkeys(name for row in rows for name in row)
        if rows and not names:
            raise UnskewError(
                "examples are dicts without any key, which no table can hold; give them a key"
            )
        return pa.table({name: _stored([row.get(name) for row in rows], name) for name in names})

    def _each(self, change: Any) -> Batch:
        return Batch({name: change(column) for name, column in self.columns.items()})


def concatenate(batches: Sequence[Batch]) -> Batch:
    """Join batches that have the same columns, in order."""
    import pyarrow as pa

    first = batches[0]
    if len(batches) == 1:
        return first
    columns: dict[str, Column] = {}
    for name, column in first.columns.items():
        parts = [batch.columns[name] for batch in batches]
        joined = np.concatenate if isinstance(column, np.ndarray) else pa.concat_arrays
        columns[name] = joined(parts)
    return Batch(columns)


def _stored(values: Sequence[object], name: object) -> pa.Array:
    """Return values as an Arrow column, or say which of them cannot be stored, and why."""
    import pyarrow as pa

    if not isinstance(name, str):
        raise UnskewError(
            f"examples cannot be stored as columns: the key {brief(name)} is no text; name the "
            "columns with texts"
        )
    if not _is_whole(name):
        raise UnskewError(
            f"examples cannot be stored as columns: the key {brief(name)} has half of a character, "
            "a lone surrogate; mend the key"
        )
    try:
        column = pa.array(values)
    except (pa.ArrowException, OverflowError, TypeError, ValueError) as error:
        reason = f"cannot be stored as columns ({_why(error)}"
        for row, value in enumerate(values):
            if not _fits(value):
                raise RowError(row, f"{name!r} is {brief(value)}, examples {reason}") from error
        raise UnskewError(f"column {name!r}: examples {reason}") from error
    if _has_empty_struct(column.type):
        raise UnskewError(
            f"column {name!r} has dicts without any key, and Parquet cannot hold such a column; "
            "leave it out, or give it a key"
        )
    return column


def _is_whole(text: str) -> bool:
    """Whether a text has no half of a character, so that it can be written as UTF-8."""
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True


def _why(error: Exception) -> str:
    """Say why Arrow does not hold a value, and what to do."""
    if isinstance(error, UnicodeEncodeError):
        return "a text has half of a character, a lone surrogate); mend the text"
    if isinstance(error, OverflowError):
        return "a whole number has more than 64 bits); give it as text, or write a .jsonl file"
    return f"{str(error).splitlines()[0]}); return a dict of numbers, texts and lists"


def _fits(value: object) -> bool:
    """Whether Arrow holds a value by itself."""
    import pyarrow as pa

    try:
        pa.array([value])
    except (pa.ArrowException, OverflowError, TypeError, ValueError):
        return False
    return True


def _has_empty_struct(kind: pa.DataType) -> bool:
    import pyarrow as pa

    inner = [kind.field(i).type for i in range(kind.num_fields)]
    return (pa.types.is_struct(kind) and not inner) or any(map(_has_empty_struct, inner))


def _values(column: Column) -> list[Any]:
    """Return the values of a column that are examples themselves."""
    try:
        values: list[Any] = column.tolist()
    except (KeyError, OverflowError, ValueError):  # a zone or a time that Python does not have
        values = readable(column).tolist()
    return values


def readable(column: Column) -> Column:
    """Return a column that turns into Python values: times become text, to the nanosecond.

    Python has no times before the year 1 or after 9999, and none of nanoseconds.
    """
    import pyarrow as pa

    if isinstance(column, np.ndarray):
        return column
    wanted = _readable_type(column.type)
    if wanted.equals(column.type):
        return column
    try:
        return cast_column(column, wanted)
    except pa.ArrowException as error:
        raise unreadable(column.type, error) from error


def unreadable(kind: pa.DataType, error: Exception) -> UnskewError:
    """Return the error for a column whose values Arrow cannot read."""
    return UnskewError(
        f"a column of {kind} cannot be read ({str(error).splitlines()[0]}); store it as text, or "
        "leave it out"
    )


def _readable_type(kind: pa.DataType) -> pa.DataType:
    """Return a type without times: text instead, and whole numbers for lengths of time."""
    import pyarrow as pa

    if pa.types.is_dictionary(kind) and pa.types.is_temporal(kind.value_type):
        return _readable_type(kind.value_type)
    if pa.types.is_duration(kind):
        return pa.int64()
    if pa.types.is_temporal(kind):
        return pa.string()
    return with_types_inside(kind, _readable_type)


def is_text(column: Column) -> bool:
    """Whether a column is Arrow text, of whatever layout."""
    import pyarrow as pa

    if isinstance(column, np.ndarray):
        return False
    kind = column.type
    return bool(
        pa.types.is_string(kind) or pa.types.is_large_string(kind) or pa.types.is_string_view(kind)
    )


def text_bytes(column: pa.Array) -> tuple[NDArray[np.uint8], NDArray[np.int64]]:
    """Return the UTF-8 bytes of a text column end to end and its n + 1 row offsets."""
    import pyarrow as pa

    if not pa.types.is_string(column.type):
        column = column.cast(pa.string())
    _, offsets, data = column.buffers()
    ends = np.frombuffer(offsets, dtype=np.int32)[column.offset : column.offset + len(column) + 1]
    flat = np.empty(0, np.uint8) if data is None else np.frombuffer(data, dtype=np.uint8)
    return flat, ends.astype(np.int64)


def text_column(data: NDArray[np.uint8], offsets: NDArray[np.int64]) -> pa.Array:
    """Make a text column of UTF-8 bytes and n + 1 row offsets."""
    import pyarrow as pa

    ends = pa.py_buffer(offsets.astype(np.int32))
    return pa.StringArray.from_buffers(len(offsets) - 1, ends, pa.py_buffer(data))


def binary_column(rows: NDArray[np.uint8]) -> pa.Array:
    """Make a column of bytes, as many in each row, without copying them."""
    import pyarrow as pa

    rows = np.ascontiguousarray(rows)
    kind = pa.binary(rows.shape[1])
    return pa.FixedSizeBinaryArray.from_buffers(kind, len(rows), [None, pa.py_buffer(rows)])


def binary_rows(column: Column) -> tuple[NDArray[np.uint8], NDArray[np.int64]]:
    """Return the bytes of a binary column end to end and its n + 1 row offsets."""
    import pyarrow as pa

    if isinstance(column, np.ndarray) or not is_binary(column) or column.null_count:
        raise UnskewError("a column is not all bytes; give packed values")
    if pa.types.is_fixed_size_binary(column.type):
        size = column.type.byte_width
        data = np.frombuffer(column.buffers()[1] or b"", dtype=np.uint8)
        first = column.offset * size
        return data, first + size * np.arange(len(column) + 1, dtype=np.int64)
    column = column.cast(pa.large_binary())
    _, offsets, data = column.buffers()
    ends = np.frombuffer(offsets, dtype=np.int64)[column.offset : column.offset + len(column) + 1]
    return (np.empty(0, np.uint8) if data is None else np.frombuffer(data, np.uint8)), ends


def is_binary(column: Column) -> bool:
    """Whether a column is Arrow bytes, of whatever layout."""
    import pyarrow as pa

    kinds = pa.types
    return not isinstance(column, np.ndarray) and bool(
        kinds.is_binary(column.type)
        or kinds.is_large_binary(column.type)
        or kinds.is_fixed_size_binary(column.type)
    )
