"""Reads a path, or one measure of it, from batches of any kind."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from unskew.core.batch import EXAMPLE, Batch, Column, readable
from unskew.core.errors import RowError, UnskewError, brief, unknown
from unskew.core.values.json_text import json_text
from unskew.core.values.missing import is_missing
from unskew.core.variables.coded import as_coded
from unskew.core.variables.measures.measure import VALUE, Measure, itself, viewed
from unskew.core.variables.measures.names import parse_name
from unskew.core.variables.measures.refusals import wrong_kind
from unskew.core.variables.packed import Packed, pack, python_rows, spread
from unskew.core.variables.path import ABSENT, Path, follow, no_such_path, parse_path, whole_name

if TYPE_CHECKING:
    import pyarrow as pa

_SHOWN = 100  # rows that are searched for names to suggest in an error


class Reader:
    """Reads one name from batch after batch.

    The first batch must have a row that has the name, and a value of the kind that is measured:
    otherwise the name is probably wrong. In later batches, other values only count as None.
    """

    def __init__(self, name: str, known: bool) -> None:
        """Take a name; ``known`` says that it is right, so the first batch may lack it."""
        self.name, self.known = name, known
        self.checked = False  # whether the first batch was read

    def is_column(self, batch: Batch) -> bool:
        """Return whether the whole name is that of a column, or of a key of the examples."""
        if not batch.is_plain:
            return self.name in batch.columns
        rows = batch.columns[EXAMPLE].tolist()
        return any(isinstance(row, dict) and self.name in row for row in rows)

    def leaves(self, batch: Batch) -> list[Any]:
        """Return what each row has at the path, as Python values; None where it has nothing."""
        rows, path, start, _ = self._rows(batch)
        values = follow(rows, path, start)
        lost = all(value is ABSENT for value in values)
        if values and lost and not (self.known or self.checked):
            raise no_such_path(rows, path, start)
        self.checked = self.checked or bool(values)
        return [None if value is ABSENT else value for value in values]

    def values(self, batch: Batch) -> Packed:
        """Return the value of each row."""
        if not batch.is_plain:
            column, start, measure, path = self._column(batch.columns)
            if not isinstance(column, np.ndarray):
                return self._of_arrow(column, measure, path, start)
            if measure is VALUE and start == len(path.keys) and _is_plain_numbers(column):
                return column
        rows, path, start, measure = self._rows(batch)
        leaves = follow(rows, path, start)
        lost = lambda: no_such_path(rows, path, start)  # noqa: E731
        return pack(self._measured(leaves, measure, path, lost))

    def _rows(self, batch: Batch) -> tuple[Sequence[Any], Path, int, Measure]:
        """Return what the path starts from in each row, the path, its first step, the measure."""
        if batch.is_plain:
            rows = _dicts(batch.columns[EXAMPLE].tolist(), self.name)
            measure, path = self._parsed(lambda name: any(name in row for row in rows))
            return rows, path, 0, measure
        column, start, measure, path = self._column(batch.columns)
        if isinstance(column, np.ndarray):
            return readable(column).tolist(), path, start, measure
        return python_rows(column), path, start, measure

    def _column(self, columns: Mapping[str, Column]) -> tuple[Column, int, Measure, Path]:
        """Return the column, the first step of the path inside it, the measure and the path."""
        measure, path = self._parsed(lambda name: name in columns)
        top = next(((name, after) for name, after in path.names[0] if name in columns), None)
        if top is None:
            raise unknown("column", path.text, columns)
        return columns[top[0]], top[1], measure, path

    def _parsed(self, is_there: Callable[[str], bool]) -> tuple[Measure, Path]:
        """Return what the name means; ``is_there`` tells which whole names the data has."""
        if is_there(self.name):
            return VALUE, whole_name(self.name)
        meaning = parse_name(self.name)
        path = meaning.paths[0]
        return meaning.measure, whole_name(path) if is_there(path) else parse_path(path)

    def _of_arrow(self, column: pa.Array, measure: Measure, path: Path, start: int) -> Packed:
        values = self._in_arrow(column, measure, path, start)
        if not measure.on_missing:
            return values
        return as_coded(values).change(lambda there: [v is None or v for v in there])

    def _in_arrow(self, column: pa.Array, measure: Measure, path: Path, start: int) -> Packed:
        from unskew.core.variables.arrow_measures import measure_column
        from unskew.core.variables.nested import is_text_type, reach

        def lost() -> UnskewError:
            return no_such_path(python_rows(column.drop_null()[:_SHOWN]), path, start)

        reached = reach(column, path, start)
        if reached is None or not reached.somewhere:
            return pack(self._measured([ABSENT] * len(column), measure, path, lost))
        taken = reached.taken()
        if reached.step < len(path.keys) and is_text_type(taken.type):
            encoded = taken.dictionary_encode()
            leaves = follow(encoded.dictionary.to_pylist(), path, reached.step)
            return spread(pack(self._measured(leaves, measure, path, lost)), encoded.indices)
        values = measure_column(taken, measure)
        if values is None:  # the type is of another kind
            if not self.checked:
                self._measured(python_rows(taken.drop_null()[:_SHOWN]), measure, path, lost)
            values = pack(self._measured(python_rows(taken), measure, path, lost))
        self.checked = self.checked or len(taken) > 0
        return values

    def _measured(
        self,
        leaves: Sequence[Any],
        measure: Measure,
        path: Path,
        lost: Callable[[], UnskewError],
    ) -> list[Any]:
        """Return the measure of what each row has; refuse a name that no row has so far."""
        there = [value for value in leaves if value is not ABSENT]
        if leaves and not there and not (self.known or self.checked):
            raise lost()
        values = [None if leaf is ABSENT else leaf for leaf in leaves]
        if measure is VALUE:
            others = [value for value in values if _is_countable(value)]
        else:
            views = [viewed(measure, value) for value in values]
            values = [measure.of_view(view) for view in views]
            right = values if measure.view is itself else views
            others = [value for value in right if value is not None]
        odd = [value for value in there if not is_missing(value)]
        if odd and not others and not self.checked:
            raise wrong_kind(measure, path.text, odd)
        self.checked = self.checked or bool(leaves)
        return [value if _is_hashable(value) else json_text(value) for value in values]


def _is_plain_numbers(column: np.ndarray[Any, Any]) -> bool:
    return column.ndim == 1 and column.dtype.kind in "iub"


def _is_hashable(value: object) -> bool:
    return type(value).__hash__ is not None


def _is_countable(value: object) -> bool:
    return not is_missing(value) and _is_hashable(value)


def _dicts(rows: Sequence[Any], name: str) -> Sequence[Mapping[Any, Any]]:
    """Return examples that are dicts. Where none is, each one is the value of ``example``."""
    if all(isinstance(row, dict) for row in rows):
        return rows
    at, row = next((at, row) for at, row in enumerate(rows) if not isinstance(row, dict))
    if EXAMPLE in name and not any(isinstance(row, dict) for row in rows):
        return [{EXAMPLE: row} for row in rows]
    raise RowError(
        at,
        f"an example is {brief(row)}, which has no {name!r}; name a function of it: "
        "my_module:my_function",
    )
