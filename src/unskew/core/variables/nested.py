"""Nested Arrow columns: what is inside each row, without making Python objects of the rows."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from unskew.core.arrays import Flags, Ints
from unskew.core.arrow_numbers import arrow_of, numpy_of
from unskew.core.variables.path import Path

if TYPE_CHECKING:
    import pyarrow as pa


@dataclass(frozen=True)
class Reached:
    """Where a path came to: row i has ``column[rows[i]]``; a negative number is a null.

    ``step`` is the first step that was not made. A text is not opened here, so it may be one
    before the end.
    """

    column: pa.Array
    rows: Ints | None  # None: row i has column[i]
    step: int

    @property
    def somewhere(self) -> bool:
        """Whether the path leads somewhere in some row; there it may be null."""
        return self.rows is None or bool((self.rows >= 0).any())

    def taken(self) -> pa.Array:
        """Return the column with one value for each row."""

        if self.rows is None:
            return self.column
        return self.column.take(arrow_of(self.rows, self.rows >= 0))


def reach(column: pa.Array, path: Path, start: int) -> Reached | None:
    """Follow a path from a step on through nested types; None if the types have no such path."""
    import pyarrow as pa

    here = Reached(usual(column), None, start)
    while here.step < len(path.keys):
        kind, key = here.column.type, path.keys[here.step]
        if pa.types.is_dictionary(kind):
            here = Reached(usual(here.column.dictionary_decode()), here.rows, here.step)
        elif is_text_type(kind) or pa.types.is_null(kind):
            return here
        elif isinstance(key, int):
            if not is_list_type(kind):
                return None
            here = _item(here, key)
        elif pa.types.is_struct(kind):
            fields = [(kind.get_field_index(name), after) for name, after in path.names[here.step]]
            fields = [(field, after) for field, after in fields if field >= 0]
            if not fields:
                return None
            here = _field(here, *fields[0])
        elif pa.types.is_map(kind):
            entries = [(_entry(here, name), after) for name, after in path.names[here.step]]
            entries = [(rows, after) for rows, after in entries if (rows >= 0).any()]
            if not entries:
                return None
            here = Reached(usual(Spans.of(here.column).items), *entries[0])
        else:
            return None
    return here


def usual(column: pa.Array) -> pa.Array:
    """Return a column in a layout that every function of Arrow takes."""
    import pyarrow as pa
    import pyarrow.compute as pc

    kind = column.type
    if isinstance(kind, pa.BaseExtensionType):
        return usual(column.storage)
    if pa.types.is_run_end_encoded(kind):
        return usual(pc.run_end_decode(column))
    if pa.types.is_string_view(kind):
        return column.cast(pa.large_string())
    if pa.types.is_binary_view(kind):
        return column.cast(pa.large_binary())
    if pa.types.is_list_view(kind) or pa.types.is_large_list_view(kind):
        return column.cast(pa.large_list(kind.value_field))
    return column


def _field(here: Reached, index: int, step: int) -> Reached:
    import pyarrow.compute as pc

    column = here.column
    if here.rows is None:
        return Reached(usual(pc.struct_field(column, [index])), None, step)
    rows = here.rows
    if column.null_count:
        rows = np.where(present(column)[rows], rows, -1)  # a negative row is any row, and stays one
        rows[here.rows < 0] = -1
    return Reached(usual(column.field(index)), rows, step)


def _item(here: Reached, index: int) -> Reached:
    spans = Spans.of(here.column)
    place = spans.starts + index if index >= 0 else spans.ends + index
    inside = (place < spans.ends) & (place >= spans.starts)
    places = _at(np.where(inside, place, -1), here.rows)
    return Reached(usual(spans.items), places, here.step + 1)


def _entry(here: Reached, name: str) -> Ints:
    """Return for each row the place of the entry of a map; the last one of that name counts."""
    import pyarrow.compute as pc

    spans = Spans.of(here.column)
    places = np.full(len(here.column), -1)
    keys = here.column.keys[spans.first :]
    if not is_text_type(keys.type):
        return _at(places, here.rows)
    same = np.flatnonzero(present(pc.equal(keys, name), true=True))
    owners = spans.owner(same)
    places[owners[owners >= 0]] = same[owners >= 0]
    return _at(places, here.rows)


def _at(places: Ints, rows: Ints | None) -> Ints:
    if rows is None:
        return places
    return np.where(rows >= 0, places[rows], -1) if len(places) else rows


@dataclass(frozen=True)
class Spans:
    """The items of all rows of a list column end to end, and where those of each row are."""

    items: Any
    starts: Ints
    ends: Ints  # a missing list ends where it starts
    there: Flags  # whether a row has a list
    first: int  # items of the column before those of its first row

    @classmethod
    def of(cls, column: pa.Array) -> Spans:
        """Return the spans of a list, large list, fixed-size list or map."""
        import pyarrow as pa

        kind, there = column.type, present(column)
        items = column.items if _is_map(kind) else column.values
        if pa.types.is_fixed_size_list(kind):
            offsets = (np.arange(len(column) + 1) + column.offset) * kind.list_size
        else:
            offsets = numpy_of(column.offsets).astype(np.int64, copy=False)
        first = int(offsets[0]) if len(offsets) else 0  # of a slice, only its own items are read
        last = int(offsets[-1]) if len(offsets) else 0
        starts, ends = offsets[:-1] - first, offsets[1:] - first
        return cls(items[first:last], starts, np.where(there, ends, starts), there, first)

    @property
    def lengths(self) -> Ints:
        """The number of items in each row."""
        return self.ends - self.starts

    def owner(self, places: Ints) -> Ints:
        """Return the row that each item belongs to; -1 for an item of no row."""
        if not len(self.starts):
            return np.full(len(places), -1)
        rows = np.searchsorted(self.starts, places, side="right") - 1
        # Rows without items start where the next row does, so the last of them is the owner.
        inside = (rows >= 0) & (places < self.ends[rows])
        return np.where(inside, rows, -1)

    def add(self, of_items: NDArray[Any]) -> Ints:
        """Return the sum over the items of each row."""
        total = np.concatenate([[0], np.cumsum(of_items, dtype=np.int64)])
        sums: Ints = total[self.ends] - total[self.starts]
        return sums


def present(column: pa.Array, *, true: bool = False) -> Flags:
    """Return which rows have a value, or the value true."""
    flags: Flags = numpy_of(column, False) if true else numpy_of(column.is_valid())
    return flags


def is_text_type(kind: pa.DataType) -> bool:
    """Return whether a type is text, of whatever layout."""
    import pyarrow as pa

    return bool(
        pa.types.is_string(kind) or pa.types.is_large_string(kind) or pa.types.is_string_view(kind)
    )


def is_list_type(kind: pa.DataType) -> bool:
    """Return whether a type is a list, large list or fixed-size list; a map is none."""
    import pyarrow as pa

    kinds = pa.types
    return bool(kinds.is_list(kind) or kinds.is_large_list(kind) or kinds.is_fixed_size_list(kind))


def _is_map(kind: pa.DataType) -> bool:
    import pyarrow as pa

    return bool(pa.types.is_map(kind))
