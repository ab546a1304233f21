"""Variables of data by name: a column, a path into it, or a measure of a path.

``path`` has the grammar of these names, ``measures`` says what each measure returns.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from unskew.core.batch import EXAMPLE, Batch, readable
from unskew.core.errors import RowError, UnskewError, brief, unknown
from unskew.core.values.json_text import json_text
from unskew.core.values.missing import is_missing
from unskew.core.variables.measures import (
    HAS,
    VALUE,
    Measure,
    measured,
    parse_measure,
    wrong_kind,
)
from unskew.core.variables.packed import Packed, pack, python_rows, spread
from unskew.core.variables.path import ABSENT, Path, follow, no_such_path, parse_path, whole_name
from unskew.core.variables.variable import SalientVariable

if TYPE_CHECKING:
    import pyarrow as pa

_SHOWN = 100  # rows that are searched for names to suggest in an error


def column_variable(name: str, *, known: bool = True) -> SalientVariable:
    """Return the variable that a name of data means: a column, a path, or a measure of a path.

    A row that does not have it counts as None. Unless the name is known to be right, the first
    batch must have a row that has it.
    """
    return SalientVariable(name, _Reader(name, known).values, doc=about(name), reads=name)


def about(name: str) -> str:
    """Return how a name is measured, for a person."""
    try:
        measure, path = parse_measure(name)
    except UnskewError:  # the whole text may be the name of a column
        return VALUE.doc
    return f"yes or no: does {path} hold {measure.label!r}" if measure.name == HAS else measure.doc


class _Reader:
    """Reads one name from batch after batch.

    The first batch must have a row that has the name, and a value of the kind that is measured:
    otherwise the name is probably wrong. In later batches, other values only count as None.
    """

    def __init__(self, name: str, known: bool) -> None:
        self.name, self.known = name, known
        self.checked = False  # whether the first batch was read

    def values(self, batch: Batch) -> Packed:
        """Return the value of each row."""
        if batch.is_plain:
            rows = _dicts(batch.columns[EXAMPLE].tolist(), self.name)
            measure, path = self._parsed(lambda name: any(name in row for row in rows))
            leaves = follow(rows, path)
            return pack(self._measured(leaves, measure, path, lambda: no_such_path(rows, path)))
        columns = batch.columns
        measure, path = self._parsed(lambda name: name in columns)
        top = next(((name, after) for name, after in path.names[0] if name in columns), None)
        if top is None:
            raise unknown("column", path.text, columns)
        column, start = columns[top[0]], top[1]
        if not isinstance(column, np.ndarray):
            return self._of_arrow(column, measure, path, start)
        if measure is VALUE and start == len(path.keys) and _is_plain_numbers(column):
            return column
        rows = readable(column).tolist()
        leaves = follow(rows, path, start)
        lost = lambda: no_such_path(rows, path, start)  # noqa: E731
        return pack(self._measured(leaves, measure, path, lost))

    def _parsed(self, is_there: Callable[[str], bool]) -> tuple[Measure, Path]:
        """Return what the name means; ``is_there`` tells which whole names the data has."""
        if is_there(self.name):
            return VALUE, whole_name(self.name)
        measure, path = parse_measure(self.name)
        return measure, whole_name(path) if is_there(path) else parse_path(path)

    def _of_arrow(self, column: pa.Array, measure: Measure, path: Path, start: int) -> Packed:
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
        if measure is VALUE:
            values = [None if leaf is ABSENT else leaf for leaf in leaves]
            others = [value for value in values if _is_countable(value)]
        else:
            values = [None if leaf is ABSENT else measured(measure, leaf) for leaf in leaves]
            others = [value for value in values if value is not None]
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
