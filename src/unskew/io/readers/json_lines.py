"""JSONL files: Arrow reads the lines if it gives exactly what Python gives, else Python does.

Python reads the first lines and so learns their types. Arrow reads the others with these types
given, which it must not change. Where Arrow fails, or its values may differ, Python reads the block
again: it gives the right values, or says which line is wrong.
"""

from __future__ import annotations

import io
import json
from collections import Counter
from collections.abc import Iterator
from itertools import chain
from typing import TYPE_CHECKING, Any

import numpy as np

from unskew.core.arrow_numbers import numpy_of
from unskew.core.batch import Batch
from unskew.core.errors import RowError, UnskewError
from unskew.core.values.json_text import json_fault
from unskew.core.variables.values import EXACT
from unskew.io.iterables import ROWS, batch_rows
from unskew.io.location import Place
from unskew.io.readers.streams import no_text, open_bytes

if TYPE_CHECKING:
    import pyarrow as pa

_BOM = b"\xef\xbb\xbf"
_FIRST_BYTES, _BYTES = 1 << 18, 1 << 23  # that are read at once: before, and after ROWS lines
_LONGEST = 1 << 27  # bytes of a line, and of lines that are read at once
_PART = 1 << 20  # bytes of a block that one thread of Arrow reads
_TRIES = 4  # blocks that Arrow may fail to read before only Python reads


def read_json_lines(path: Place, n: int | None = None) -> Iterator[Batch]:
    """Yield the rows of a JSONL file; ``n`` says how many are wanted."""
    with open_bytes(path) as file:
        parser = _Parser(path)
        for block in _blocks(file, n, path):
            for batch in parser.batches(block):
                yield batch
                if n is not None:
                    n -= len(batch)
            if n is not None and n <= 0:
                return


def rows_batch(rows: list[Any], path: Place, before: int = 0) -> Batch:
    """Return a batch of rows; ``before`` says how many rows of the file were before them."""
    try:
        return Batch.of(rows)
    except RowError as error:
        raise error.at(f"{path} row {before + error.row + 1}") from error


def typed_batch(rows: list[Any]) -> Batch | None:
    """Return rows as Arrow columns; None if these would change a value."""
    schema = learned(rows)
    if schema is None:
        return None
    table = arrow_rows("\n".join(map(json.dumps, rows)).encode(), schema)
    return None if table is None else Batch.from_arrow(table)


def _blocks(file: Any, n: int | None, path: Place) -> Iterator[bytes]:
    """Yield the bytes in blocks of whole lines; the first has the lines of one batch or more.

    A small packed file may hold endless lines, so no more than ``_LONGEST`` bytes are held.
    """
    size, wanted = _FIRST_BYTES, batch_rows(n)
    pieces: list[bytes] = []
    lines, held = 0, 0
    while data := file.read(size):
        pieces.append(data)
        lines += data.count(b"\n")
        held += len(data)
        if lines < wanted and held < _LONGEST:
            continue
        if not lines:
            raise UnskewError(
                f"{path} has a line of more than {_LONGEST:,} bytes; put each row on a line of "
                "its own"
            )
        block = b"".join(pieces)
        cut = size == _FIRST_BYTES and lines >= wanted
        end = _end_of_lines(block, wanted) if cut else block.rfind(b"\n") + 1
        yield block[:end]
        pieces, lines, wanted, size = [block[end:]], 0, 1, _BYTES
        held = len(pieces[0])
    rest = b"".join(pieces)
    if rest:
        yield rest


def _end_of_lines(block: bytes, lines: int) -> int:
    """Return where a number of lines end."""
    end = 0
    for _ in range(lines):
        end = block.index(b"\n", end) + 1
    return end


class _Parser:
    """Turns blocks of lines into batches. It knows the types, and how many lines were before."""

    def __init__(self, path: Place) -> None:
        self._path = path
        self._schema: pa.Schema | None = None
        self._tries = _TRIES
        self._lines = self._rows = 0

    def batches(self, block: bytes) -> Iterator[Batch]:
        """Yield the rows of a block."""
        if not self._lines:
            block = block.removeprefix(_BOM)
        table = arrow_rows(block, self._schema) if self._schema is not None else None
        if table is not None:
            self._lines += block.count(b"\n")
        else:
            rows = self._python_rows(block)
            plain = rows_batch(rows, self._path, self._rows)
            table = self._learn(block, rows)
            if table is None:
                self._rows += len(rows)
                yield from (plain.slice(i, ROWS) for i in range(0, len(rows), ROWS))
                return
        self._rows += table.num_rows
        if table.num_rows:
            yield Batch.from_arrow(table)

    def _learn(self, block: bytes, rows: list[Any]) -> pa.Table | None:
        """Learn the types of rows, and read them with Arrow; None if Arrow would change them."""
        if not self._tries or not rows:
            return None
        schema = learned(rows, self._schema)
        table = None if schema is None else arrow_rows(block, schema)
        if table is None:
            self._tries = self._tries - 1 if self._schema is not None else 0
        else:
            self._schema = schema
        return table

    def _python_rows(self, block: bytes) -> list[Any]:
        rows, path = [], self._path
        try:
            text = block.decode()
        except UnicodeDecodeError as error:
            line = self._lines + block[: error.start].count(b"\n") + 1
            raise no_text(path, line, error.reason) from error
        try:
            for text_line in io.StringIO(text, newline=None):
                self._lines += 1
                if text_line.strip():
                    rows.append(json.loads(text_line))
        except (ValueError, RecursionError) as error:
            raise UnskewError(
                f"{path} line {self._lines} {json_fault(error, 'mend that line')}"
            ) from error
        return rows


def learned(rows: list[Any], known: pa.Schema | None = None) -> pa.Schema | None:
    """Return the types of rows, and of the rows before; None if Arrow has no types for them."""
    import pyarrow as pa

    kind = _type_of(rows)
    if kind is None or not pa.types.is_struct(kind):
        return None
    try:
        schemas = [*([known] if known is not None else []), pa.schema(list(kind))]
        return pa.unify_schemas(schemas, promote_options="permissive")
    except pa.ArrowException:
        return None


def _type_of(values: list[Any]) -> pa.DataType | None:
    """Return the type of values of JSON; None if Arrow would change one of them.

    All dicts at one place must have the same keys: a struct gives each of them all keys. (Arrow's
    own inference sorts the keys, and it imports pandas.)
    """
    import pyarrow as pa

    kinds = set(map(type, values)) - {type(None)}
    if kinds == {dict}:
        dicts = [value for value in values if value is not None]
        keys = dicts[0].keys()
        odd = any(set('"\\') & set(key) for key in keys)  # it can be written in several ways
        if odd or not keys or any(value.keys() != keys for value in dicts):
            return None
        fields = {key: _type_of([value[key] for value in dicts]) for key in keys}
        return None if None in fields.values() else pa.struct(list(fields.items()))
    if kinds == {list}:
        items = _type_of(list(chain.from_iterable(value for value in values if value is not None)))
        return None if items is None else pa.list_(items)
    if kinds in ({float}, {int, float}):
        return pa.float64()
    simple = {str: pa.string(), bool: pa.bool_(), int: pa.int64()}
    return simple.get(kinds.pop()) if len(kinds) == 1 else None if kinds else pa.null()


def arrow_rows(block: bytes, schema: pa.Schema) -> pa.Table | None:
    """Return the rows of a block by Arrow; None unless they are surely what Python reads.

    The types are given. So Arrow fails at a value of another type, at a key without a type, and at
    a key that comes twice. The rest is checked here.
    """
    import pyarrow as pa
    from pyarrow import json as arrow_json

    lines, longest = _lines_of_objects(block)
    if not lines:
        return None
    try:
        table = arrow_json.read_json(
            pa.BufferReader(block),
            arrow_json.ReadOptions(block_size=min(max(longest + 2, _PART), 2**31 - 1)),
            arrow_json.ParseOptions(explicit_schema=schema, unexpected_field_behavior="error"),
        )
        if table.num_rows != lines:  # two objects in one line
            return None
        table.validate(full=True)  # the texts may not be UTF-8
    except pa.ArrowException:
        return None
    return table if _keeps_numbers(table) and _has_all_keys(table, block) else None


def _lines_of_objects(block: bytes) -> tuple[int, int]:
    """Return the number of lines and the longest if each begins with { and ends with }; else 0.

    Arrow also reads objects of several lines, and it crashes at a line ``null``.
    """
    end = len(block)
    while end and block[end - 1] in b"\r\n":
        end -= 1
    if not end:
        return 0, 0
    data = np.frombuffer(block, np.uint8, end)
    breaks = np.flatnonzero(data == ord("\n"))
    first, last = np.append(0, breaks + 1), np.append(breaks - 1, len(data) - 1)
    if b"\r" in block:
        returns = data[last] == ord("\r")
        if np.count_nonzero(returns) != np.count_nonzero(data == ord("\r")):
            return 0, 0  # it also ends a line where no line feed follows
        last = last - returns
    whole = (data[first] == ord("{")) & (data[last] == ord("}"))
    return (len(first), int((last - first).max()) + 2) if whole.all() else (0, 0)


def _keeps_numbers(table: pa.Table) -> bool:
    """Whether no float may have been a whole number that floats do not have."""
    import pyarrow as pa

    def keeps(column: pa.Array) -> bool:
        if pa.types.is_floating(column.type):
            return bool((np.abs(numpy_of(column, 0)) < EXACT).all())
        if pa.types.is_struct(column.type) or pa.types.is_list(column.type):
            inner = column.flatten()
            return all(map(keeps, inner if isinstance(inner, list) else [inner]))
        return True

    return all(keeps(chunk) for column in table.columns for chunk in column.chunks)


def _has_all_keys(table: pa.Table, block: bytes) -> bool:
    """Whether every null is written as one: Arrow also gives null for a key that is not there.

    A key between quotes, with a colon after it, is in no text: a quote in a text is escaped. So
    they are counted, and compared with the objects that should have the key.
    """
    expected: Counter[str] = Counter()
    with_gaps: set[str] = set()
    for name, column in zip(table.column_names, table.columns, strict=True):
        for chunk in column.chunks:
            _count_keys(chunk, name, chunk.null_count, len(chunk), expected, with_gaps)
    return all(_written(name, block) == expected[name] for name in with_gaps)


def _count_keys(
    column: pa.Array,
    name: str,
    gaps: int,
    objects: int,
    expected: Counter[str],
    with_gaps: set[str],
) -> None:
    """Count how many ``objects`` should have each key, and note the keys that may be lacking."""
    import pyarrow as pa

    expected[name] += objects
    if gaps:
        with_gaps.add(name)
    while pa.types.is_list(column.type):
        column = column.flatten()
    if not pa.types.is_struct(column.type):
        return
    absent = column.null_count
    for field, inner in zip(column.type, column.flatten(), strict=True):
        gaps_inside = inner.null_count - absent
        _count_keys(inner, field.name, gaps_inside, len(column) - absent, expected, with_gaps)


def _written(name: str, block: bytes) -> int:
    """Return how often a key is written."""
    spellings = {json.dumps(name, ensure_ascii=ascii_only) for ascii_only in (True, False)}
    return sum(block.count(f"{spelling}:".encode()) for spelling in spellings)
