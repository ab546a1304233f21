"""Salient variables: the answer, lengths, and every field of the metadata by its name."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

from unskew.core.batch import Batch
from unskew.core.variables.column import column_variable
from unskew.core.variables.values import as_values
from unskew.core.variables.variable import SalientVariable, Values, many_values
from unskew.domains.reasoning_gym.examples import (
    ANSWER,
    METADATA,
    QUESTION,
    TASK,
    metadata_rows,
    text_column,
)

PREFIX = f"{METADATA}."
LOOK = 1024  # rows in which the fields of the metadata are found
SHORT = 40  # characters of a text that may be a value
FEW = 20  # a histogram shows this many values, even of few rows


def _answers(batch: Batch) -> Values:
    return as_values([_number(answer) for answer in text_column(batch, ANSWER).to_pylist()])


def _number(answer: str | None) -> int | str | None:
    """Return a whole number as int, so that answers can be sorted."""
    digits = answer.removeprefix("-") if answer else ""
    if answer and digits.isdecimal() and digits.isascii() and len(digits) <= 18:
        number = int(answer)
        return number if str(number) == answer else answer
    return answer


def _lengths(name: str) -> SalientVariable:
    def measure(batch: Batch) -> Values:
        return as_values([len(text or "") for text in text_column(batch, name).to_pylist()])

    return SalientVariable(f"{name}_length", measure, doc=f"characters of the {name}")


FIXED = (
    SalientVariable(ANSWER, _answers, doc="the answer; a whole number as a number"),
    _lengths(ANSWER),
    _lengths(QUESTION),
)


class Variables(Mapping[str, SalientVariable]):
    """The fixed variables, and ``metadata.FIELD`` for each field of a task's metadata."""

    _fixed = {variable.name: variable for variable in FIXED}  # noqa: RUF012

    def __getitem__(self, name: str) -> SalientVariable:
        """Return a variable by name."""
        if name.startswith(PREFIX) and len(name) > len(PREFIX):
            return metadata_variable(name.removeprefix(PREFIX))
        return self._fixed[name]

    def __iter__(self) -> Iterator[str]:
        """Yield the names that every task has."""
        return iter(self._fixed)

    def __len__(self) -> int:
        """Return the number of variables that every task has."""
        return len(self._fixed)


def metadata_variable(path: str) -> SalientVariable:
    """Return the variable of one field; ``difficulty.level`` is a field in a field."""

    return replace(column_variable(PREFIX + path, known=False), doc="of the metadata")


def find_variables(batch: Batch) -> tuple[Sequence[SalientVariable], dict[str, str]]:
    """Return the variables that an audit shows by default, and why others are left out.

    A field counts if every row has it as a number or a short text. It may not always be the same,
    and may not be the answer again. A variable whose values hardly repeat is left out: it makes no
    histogram.
    """
    first = batch.head(LOOK)
    rows = [dict(_fields(row)) for row in metadata_rows(first)]
    shared = [key for key in rows[0] if all(key in row for row in rows) and key != TASK]
    answers = text_column(first, ANSWER).to_pylist()
    columns = {key: [row[key] for row in rows] for key in shared}
    fields = [k for k, v in columns.items() if _varies(v) and list(map(str, v)) != answers]
    candidates = [*FIXED, *map(metadata_variable, fields)]
    measured = {v.name: v.measure(first).tolist() for v in candidates}
    shown = [v for v in candidates if _repeats(measured[v.name])] or [FIXED[-1]]
    names = {variable.name for variable in shown}
    return shown, {name: many_values(v) for name, v in measured.items() if name not in names}


def _varies(values: Sequence[Any]) -> bool:
    if any(isinstance(value, (list, dict)) for value in values):
        return False
    short = all(not isinstance(value, str) or len(value) <= SHORT for value in values)
    return short and len(set(values)) > 1


def _repeats(values: Sequence[Any]) -> bool:
    return len(set(values)) <= max(FEW, len(values) // 2)


def _fields(row: Mapping[str, Any], prefix: str = "") -> Iterator[tuple[str, Any]]:
    """Yield every field with its path, and after it the fields inside it."""
    for key, value in row.items():
        yield prefix + key, value
        if isinstance(value, dict):
            yield from _fields(value, f"{prefix}{key}.")
