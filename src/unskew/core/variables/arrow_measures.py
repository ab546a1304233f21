"""The measures of whole Arrow columns; ``measures`` has the same ones for single values."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from unskew.core.arrays import Flags, Ints
from unskew.core.arrow_numbers import arrow_of, numpy_of, texts_of
from unskew.core.batch import unreadable
from unskew.core.variables.arrow_texts import text_lengths, text_words
from unskew.core.variables.measures.basic import HAS, ROLES, TEXTS
from unskew.core.variables.measures.measure import VALUE, Measure, measured
from unskew.core.variables.measures.nested import MISSING
from unskew.core.variables.nested import Spans, is_list_type, is_text_type, present, usual
from unskew.core.variables.packed import Packed, pack, packed, python_rows, spread

if TYPE_CHECKING:
    import pyarrow as pa

_MOST_ROLES = 15  # the order in which up to this many roles first come fits into 64 bits


def measure_column(column: pa.Array, measure: Measure) -> Packed | None:
    """Return the measure of each row; None if the type of the column cannot have it.

    A row whose value is of another kind has None.
    """
    import pyarrow as pa

    column = usual(column)
    kind = column.type
    if pa.types.is_dictionary(kind):
        distinct = measure_column(column.dictionary, measure)
        return None if distinct is None else spread(distinct, column.indices)
    if pa.types.is_null(kind):
        return packed(column)
    if measure is VALUE:
        return None if pa.types.is_nested(kind) else packed(column)
    if is_text_type(kind) and measure.name not in _OF_TEXT:
        return _of_distinct(column, measure)
    function = _FUNCTIONS.get(measure.name)
    label = str(measure.arguments[0]) if measure.arguments else ""
    result = function(column, label) if function is not None else None
    if result is not None:
        return packed(result)
    return (_of_rows if pa.types.is_nested(kind) else _of_distinct)(column, measure)


def _of_distinct(column: pa.Array, measure: Measure) -> Packed | None:
    """Measure each different value once."""
    import pyarrow as pa

    try:
        encoded = column.dictionary_encode()
    except pa.ArrowNotImplementedError:  # a rare type
        return _of_rows(column, measure)
    values = [measured(measure, value) for value in python_rows(encoded.dictionary)]
    if values and all(value is None for value in values):
        return None
    return spread(pack(values), encoded.indices)


def _of_rows(column: pa.Array, measure: Measure) -> Packed | None:
    rows = python_rows(column)
    values = [measured(measure, row) for row in rows]
    if any(row is not None for row in rows) and all(value is None for value in values):
        return None
    return pack(values)


def _characters(column: pa.Array, _: str) -> pa.Array | None:
    return _totals(column, text_lengths)


def _words(column: pa.Array, _: str) -> pa.Array | None:
    return _totals(column, text_words)


def _totals(column: pa.Array, of_text: Callable[[pa.Array], Ints]) -> pa.Array | None:
    import pyarrow as pa

    if not (is_text_type(column.type) or pa.types.is_nested(column.type)):
        return None
    totals, known = _total(column, of_text)
    if not known.any() and column.null_count < len(column):
        return None
    return arrow_of(totals, known)


def _total(column: pa.Array, of_text: Callable[[pa.Array], Ints]) -> tuple[Ints, Flags]:
    """Return the sum over all texts in each row, and which rows can hold a text."""
    import pyarrow as pa

    column = usual(column)
    kind, there = column.type, present(column)
    if pa.types.is_dictionary(kind):
        return _total(usual(column.dictionary_decode()), of_text)
    if is_text_type(kind):
        return np.where(there, of_text(column), 0), there
    none = np.zeros(len(column), dtype=np.int64)
    if pa.types.is_struct(kind):
        left, totals, known = there, none, np.zeros(len(column), dtype=np.bool_)
        for child in _children(column, TEXTS):
            here = left & present(child)
            child_totals, child_known = _total(child, of_text)
            totals, known = np.where(here, child_totals, totals), known | (here & child_known)
            left = left & ~here
        return np.where(known, totals, 0), known
    if is_list_type(kind):
        spans = Spans.of(column)
        totals, item_known = _total(spans.items, of_text)
        empty = np.ones(len(column), dtype=np.bool_)
        if not pa.types.is_struct(usual(spans.items).type):
            empty = spans.add(present(spans.items)) == 0
        return spans.add(np.where(item_known, totals, 0)), there & (
            empty | (spans.add(item_known) > 0)
        )
    return none, none.astype(np.bool_)


def _children(column: pa.Array, names: Sequence[str]) -> list[pa.Array]:
    """Return the fields of a struct that have one of these names, in the order of the names."""
    places = [column.type.get_field_index(name) for name in names]
    return [usual(column.field(place)) for place in places if place >= 0]


def _count(column: pa.Array, _: str) -> pa.Array | None:
    import pyarrow as pa
    import pyarrow.compute as pc

    if pa.types.is_binary(column.type) or pa.types.is_large_binary(column.type):
        return pc.binary_length(column)
    if not is_list_type(column.type):
        return None
    spans = Spans.of(column)
    return arrow_of(spans.lengths, spans.there)


def _messages(column: pa.Array) -> tuple[Spans, list[pa.Array], Flags] | None:
    """Return the items of lists, their roles (text columns), and which rows are messages.

    Return None if there are lists, and none of them is messages.
    """
    import pyarrow as pa

    if not is_list_type(column.type):
        return None
    spans = Spans.of(column)
    items = usual(spans.items)
    valid = present(items)
    children = _children(items, ROLES) if pa.types.is_struct(items.type) else []
    if not all(is_text_type(child.type) or pa.types.is_null(child.type) for child in children):
        return None
    with_role = np.zeros(len(items), dtype=np.bool_)
    for child in children:
        with_role |= valid & present(child)
    fine = (spans.add(valid) == 0) | (spans.add(with_role) > 0)
    are_messages = spans.there & fine
    return (spans, children, are_messages) if are_messages.any() or not spans.there.any() else None


def _turns(column: pa.Array, _label: str) -> pa.Array | None:
    messages = _messages(column)
    if messages is None:
        return None
    spans, _, are_messages = messages
    return arrow_of(spans.lengths, are_messages)


def _role_codes(spans: Spans, children: Sequence[pa.Array]) -> tuple[list[str], Ints]:
    """Return the different roles, and the number of each item's role; -1 for no role."""
    import pyarrow as pa
    import pyarrow.compute as pc

    items = usual(spans.items)
    if not children:
        return [], np.full(len(items), -1)
    same = [child.cast(pa.large_string()) for child in children]
    encoded = pc.coalesce(*same).dictionary_encode()
    codes = numpy_of(encoded.indices, -1).astype(np.int64)
    return encoded.dictionary.to_pylist(), np.where(present(items), codes, -1)


def _last_role(column: pa.Array, _: str) -> pa.Array | None:
    import pyarrow as pa

    messages = _messages(column)
    if messages is None:
        return None
    spans, children, are_messages = messages
    names, codes = _role_codes(spans, children)
    last = np.full(len(column), -1)
    filled = are_messages & (spans.lengths > 0)
    last[filled] = codes[spans.ends[filled] - 1]
    indices = arrow_of(last, last >= 0)
    return pa.DictionaryArray.from_arrays(indices, texts_of(names))


def _roles(column: pa.Array, _: str) -> pa.Array | None:
    """Return the different roles of each row; all rows are walked at once, turn by turn."""
    import pyarrow as pa

    messages = _messages(column)
    if messages is None:
        return None
    spans, children, are_messages = messages
    names, codes = _role_codes(spans, children)
    if len(names) > _MOST_ROLES:
        return None
    used = np.array([bool(name) for name in names], dtype=np.bool_)
    order = np.zeros(len(column), dtype=np.int64)  # the roles so far, a digit for each
    rows, turn = np.flatnonzero(are_messages & (spans.lengths > 0)), 0
    seen = np.zeros(len(column), dtype=np.int64)  # a bit for each role
    while len(rows):
        code = codes[spans.starts[rows] + turn]
        new = (code >= 0) & (seen[rows] >> np.maximum(code, 0) & 1 == 0)
        new[new] = used[code[new]]
        fresh, code = rows[new], code[new]
        order[fresh] = order[fresh] * (len(names) + 1) + code + 1
        seen[fresh] |= np.int64(1) << code
        turn += 1
        rows = rows[spans.lengths[rows] > turn]
    encoded = arrow_of(order, are_messages).dictionary_encode()
    texts = [_spelt(number, names) for number in encoded.dictionary.to_pylist()]
    return pa.DictionaryArray.from_arrays(encoded.indices, texts_of(texts))


def _spelt(number: int, names: Sequence[str]) -> str:
    """Return the roles that the digits of a number stand for."""
    parts: list[str] = []
    while number:
        number, digit = divmod(number, len(names) + 1)
        parts.append(names[digit - 1])
    return " ".join(reversed(parts))


def _has(column: pa.Array, label: str) -> pa.Array | None:
    """Return whether lists of text hold a label; other lists are looked at one by one."""
    import pyarrow.compute as pc

    if not is_list_type(column.type):
        return None
    spans = Spans.of(column)
    items = usual(spans.items)
    if not is_text_type(items.type):
        return None
    same = present(pc.equal(items, label), true=True)
    return arrow_of(spans.add(same) > 0, spans.there)


def _missing(column: pa.Array, _: str) -> pa.Array:
    import pyarrow.compute as pc

    return pc.is_null(column, nan_is_null=True)


def _part(name: str) -> Callable[[pa.Array, str], pa.Array | None]:
    """Return the measure of a part of dates, for columns of times."""

    def part(column: pa.Array, _: str) -> pa.Array | None:
        import pyarrow as pa
        import pyarrow.compute as pc

        kind = column.type
        if pa.types.is_date(kind) and name in ("hour", "minute"):
            return None
        if not (pa.types.is_timestamp(kind) or pa.types.is_date(kind)):
            return None
        try:
            if name == "weekday":
                return pc.day_of_week(column, count_from_zero=False)
            return getattr(pc, name)(column)
        except pa.ArrowException as error:
            raise unreadable(kind, error) from error

    return part


_OF_TEXT = frozenset({"characters", "words", MISSING})
_FUNCTIONS: dict[str, Callable[[Any, str], Any]] = {
    "characters": _characters,
    "words": _words,
    "count": _count,
    "turns": _turns,
    "roles": _roles,
    "last_role": _last_role,
    HAS: _has,
    MISSING: _missing,
    **{name: _part(name) for name in ("year", "month", "weekday", "day", "hour", "minute")},
}
