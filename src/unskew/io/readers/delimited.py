"""CSV and TSV files. The values of the first block decide the type of each column.

A column holds whole numbers, numbers, true and false, or texts; dates are texts. An empty field is
missing, and so is NA in a column of numbers. A number with zeros before it is a text: it is a name.
A later value of another type is refused: the values before it were counted as numbers.
"""

from __future__ import annotations

import csv
import io
import re
from bisect import bisect_left
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import numpy as np

from unskew.core.batch import Batch, text_column
from unskew.core.errors import UnskewError, brief
from unskew.core.variables.values import EXACT
from unskew.io.location import Place
from unskew.io.readers.streams import no_text, open_bytes
from unskew.io.tables import Columns, check_names, table_batches, wanted

if TYPE_CHECKING:
    import pyarrow as pa

_BLOCK = 1 << 24  # bytes; the first block decides the types
_MISSING = ("", "NA", "N/A", "n/a", "#N/A", "NaN", "nan", "NULL", "null", "None")
_TRUE, _FALSE = ("true", "True", "TRUE"), ("false", "False", "FALSE")
_WHOLE = r"^-?(0|[1-9]\d*)$"
_NAMES = r"^[-+]?0\d"  # a number would not keep their zeros
_TYPES = {"int64": "whole numbers", "double": "numbers", "bool": "true and false"}


def read_delimited(path: Place, delimiter: str, columns: Columns = None) -> Iterator[Batch]:
    """Yield the rows of a CSV or TSV file."""
    import pyarrow as pa

    with open_bytes(path) as file:
        begin = file.read(_BLOCK)
    if not begin.strip():
        return
    names, delimiter = _header(begin, delimiter, path)
    check_names(names, str(path))
    chosen = wanted(names, columns)
    types: dict[str, pa.DataType] = {}
    rows = 0
    with _from_beginning(path, begin) as file:
        try:
            for texts in _texts(file, names, chosen, delimiter):
                table = pa.table(
                    {name: _typed(texts.column(name), name, types, path, rows) for name in chosen}
                )
                rows += len(table)
                yield from table_batches([table], str(path))
        except pa.ArrowException as error:
            raise UnskewError(f"{path} {_reason(error, rows)}") from error


@contextmanager
def _from_beginning(path: Place, begin: bytes) -> Iterator[Any]:
    """Open a file again; Arrow needs an end of line after the names of the columns."""
    import pyarrow as pa

    if b"\n" in begin or len(begin) == _BLOCK:
        with open_bytes(path) as file:
            yield file
    else:
        yield pa.BufferReader(begin + b"\n")


def _header(begin: bytes, delimiter: str, path: Place) -> tuple[list[str], str]:
    """Return the names of the columns and what is between them; a semicolon may be."""
    end = begin.rfind(b"\n") + 1 or len(begin)
    try:
        text = begin[: min(end, 1 << 20)].decode(
            "utf-8-sig", "ignore" if end > 1 << 20 else "strict"
        )
    except UnicodeDecodeError as error:
        line = begin[: error.start].count(b"\n") + 1
        raise no_text(path, line, error.reason) from error
    first = text.lstrip("\r\n").partition("\n")[0]
    if delimiter not in first:
        delimiter = next((other for other in (";", "\t") if other in first), delimiter)
    try:
        lines = io.StringIO(text.lstrip("\r\n"), newline="")  # splitlines ends lines at U+2028 too
        return next(csv.reader(lines, delimiter=delimiter)), delimiter
    except (csv.Error, StopIteration) as error:
        raise UnskewError(f"{path} has no line of column names ({error}); add one") from error


def _texts(
    file: Any, names: list[str], chosen: list[str], delimiter: str
) -> Iterator[pa.RecordBatch]:
    """Yield the fields as texts."""
    import pyarrow as pa
    from pyarrow import csv as arrow_csv

    reader = arrow_csv.open_csv(
        file,
        arrow_csv.ReadOptions(block_size=_BLOCK, use_threads=False),  # threads forget the row
        arrow_csv.ParseOptions(delimiter=delimiter, newlines_in_values=True),
        arrow_csv.ConvertOptions(
            column_types=dict.fromkeys(names, pa.string()), include_columns=chosen
        ),
    )
    yield from reader


def _typed(
    texts: pa.Array, name: str, types: dict[str, pa.DataType], path: Place, before: int
) -> pa.Array:
    """Return a column with the type that the first block had, or decide the type now."""
    import pyarrow as pa

    known = types.get(name)
    column = _column(texts, known)
    if known is None and column.type != pa.null():
        types[name] = column.type
    elif known is not None and not _agree(column.type, known):
        # The first rows that do not fit together: each of two numbers may fit alone.
        row = bisect_left(range(len(texts)), True, key=lambda i: not _fits(texts[: i + 1], known))
        raise UnskewError(
            f"{path} row {before + row + 1}: column {name!r} is {brief(texts[row].as_py())}, but "
            f"it holds {_TYPES[str(known)]} in the rows before; leave the field empty, or give a "
            "table in which the column is text"
        )
    return column


def _fits(texts: pa.Array, known: pa.DataType) -> bool:
    return _agree(_column(texts, known).type, known)


def _agree(kind: pa.DataType, known: pa.DataType) -> bool:
    """Whether values of a type are equal to those of the type that was known."""
    return bool(kind == known) or {str(kind), str(known)} == {"int64", "double"}


def _column(texts: pa.Array, known: pa.DataType | None) -> pa.Array:
    """Return texts as whole numbers, numbers, or true and false, if all are; else as texts."""
    import pyarrow as pa
    import pyarrow.compute as pc

    missing = pa.nulls(1, pa.string())[0]
    as_text = pc.if_else(pc.is_in(texts, _set(("",))), missing, texts)
    if known == pa.string():
        return as_text
    given = pc.if_else(pc.is_in(texts, _set(_MISSING)), missing, texts)
    if given.null_count == len(given):
        is_empty = as_text.null_count == len(texts)
        return pa.nulls(len(texts), known) if known is not None or is_empty else as_text
    if pc.all(pc.is_in(given.drop_null(), _set((*_TRUE, *_FALSE)))).as_py():
        truths = pc.is_in(given, _set(_TRUE))
        return pc.if_else(pc.is_valid(given), truths, pa.nulls(1, pa.bool_())[0])
    try:
        are_whole = pc.match_substring_regex(given, _WHOLE)
        if pc.all(are_whole).as_py():
            return given.cast(pa.int64())
        if not pc.any(pc.match_substring_regex(given, _NAMES)).as_py() and _fit_floats(
            given.filter(are_whole)
        ):
            return given.cast(pa.float64())
    except pa.ArrowException:  # a text, or a whole number of more than 64 bits
        pass
    return as_text


def _fit_floats(whole: pa.Array) -> bool:
    """Whether floats keep the digits of whole numbers."""
    import pyarrow as pa
    import pyarrow.compute as pc

    ends = pc.min_max(whole.cast(pa.int64())).as_py()
    return all(abs(end) <= EXACT for end in ends.values() if end is not None)


def _set(texts: Sequence[str]) -> pa.Array:
    """Return texts as a column. Arrow imports pandas to convert values of Python, even None."""
    data = [text.encode() for text in texts]
    ends = np.cumsum([0, *map(len, data)])
    return text_column(np.frombuffer(b"".join(data), np.uint8), ends)


def _reason(error: Exception, rows: int) -> str:
    """Return where Arrow could not go on, and the next step."""
    text = str(error).splitlines()[0]
    row = re.search(r"Row #(\d+)", text)
    where = f"row {int(row[1]) - 1}" if row else f"after row {rows}"
    counts = re.search(r"Expected (\d+) columns, got (\d+)", text)
    if counts:
        return (
            f"{where} has {counts[2]} fields, and the first line names {counts[1]} columns; "
            "correct that row, or put a field with a comma between quotes"
        )
    if "UTF8" in text:
        return f"{where} is no UTF-8 text; convert the file to UTF-8"
    if "straddling" in text:
        return f"{where} is longer than {_BLOCK:,} bytes; a quote may be missing"
    return f"{where} cannot be read ({text}); correct that row"
