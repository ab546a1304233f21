"""Examples: a question, an answer, and the metadata as JSON; shown, checked, read and written."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from functools import cache
from typing import Any, TypeAlias

import numpy as np

from unskew.core.arrays import Flags
from unskew.core.batch import Batch, Column, is_text
from unskew.core.errors import UnskewError
from unskew.domains.reasoning_gym.library import factory, quiet

QUESTION, ANSWER, METADATA = "question", "answer", "metadata"
COLUMNS = (QUESTION, ANSWER, METADATA)
TASK = "source_dataset"  # where the metadata name the task
_POSITIONS = ("source_index", "source_idx")  # an item's place in the library's dataset

Row: TypeAlias = tuple[str, str | None, str]


def as_row(item: Mapping[str, Any]) -> Row:
    """Return an item of the library as a row.

    Where it stood is left out: equal questions are equal examples.
    """
    answer = item[ANSWER]
    metadata = {key: v for key, v in item[METADATA].items() if key not in _POSITIONS}
    text = json.dumps(metadata, ensure_ascii=False, default=_plain)
    return str(item[QUESTION]), None if answer is None else str(answer), text


def as_batch(rows: Sequence[Row]) -> Batch:
    """Return rows as three columns of text; a task without one right answer has none."""
    import pyarrow as pa

    columns = zip(*rows, strict=True) if rows else ((), (), ())
    return Batch(
        {name: pa.array(values, pa.string()) for name, values in zip(COLUMNS, columns, strict=True)}
    )


def read_row(row: Mapping[str, Any]) -> dict[str, Any] | None:
    """Read an example from our columns or from the library's own items; None of other rows."""
    if set(row) != set(COLUMNS) or not isinstance(row[QUESTION], str):
        return None
    metadata = row[METADATA]
    if isinstance(metadata, str):
        try:
            metadata = json.loads(metadata)
        except (ValueError, RecursionError):
            return None
    if not isinstance(metadata, dict) or TASK not in metadata:
        return None
    return dict(zip(COLUMNS, as_row({**row, METADATA: metadata}), strict=True))


def write_row(example: Mapping[str, Any]) -> dict[str, Any]:
    """Return an example as the library has it, with its metadata as an object."""
    return {**example, METADATA: json.loads(example[METADATA])}


def show(example: Mapping[str, Any]) -> str:
    """Draw a question and its answer."""
    answer = example[ANSWER]
    return f"{example[QUESTION]}\n→ {'(no single answer)' if answer is None else answer}"


def check(batch: Batch) -> Flags:
    """Say which answers get full marks from the library's own scorer.

    In a quarter of the tasks it works the answer out or looks at the metadata; in the others it
    compares the answer with itself. Where there is no single answer, a row is right.
    """
    answers = text_column(batch, ANSWER).to_pylist()
    questions = text_column(batch, QUESTION).to_pylist()
    right = np.ones(len(batch), dtype=np.bool_)
    with quiet():
        for i, fields in enumerate(metadata_rows(batch)):
            if answers[i] is not None:
                entry = {QUESTION: questions[i], ANSWER: answers[i], METADATA: fields}
                right[i] = _is_right(entry)
    return right


def metadata_rows(batch: Batch) -> list[dict[str, Any]]:
    """Return the metadata of each row."""
    return [json.loads(text) for text in text_column(batch, METADATA).to_pylist()]


def text_column(batch: Batch, name: str) -> Any:
    """Return a column of text, or say that there is none."""
    if batch.is_plain:
        batch = Batch.from_arrow(batch.to_arrow())
    column: Column | None = batch.columns.get(name)
    if column is None or not is_text(column):
        raise UnskewError(
            f"columns are {', '.join(batch.columns)}; reasoning-gym needs text columns "
            f"{', '.join(COLUMNS)}"
        )
    return column


def _is_right(entry: dict[str, Any]) -> bool:
    score = _scorer(entry[METADATA].get(TASK))
    if score is None:
        return False
    # Scorers of grids compare tuples, which JSON does not have.
    forms = (entry, {**entry, METADATA: _tuples(entry[METADATA])})
    return any(_full_marks(score, form) for form in forms)


def _full_marks(score: Callable[[str, dict[str, Any]], float], entry: dict[str, Any]) -> bool:
    try:
        return score(entry[ANSWER], entry) >= 1
    except Exception:  # a scorer may fail at what is no example of its task
        return False


@cache
def _scorer(task: Any) -> Callable[[str, dict[str, Any]], float] | None:
    if task not in factory().DATASETS:
        return None
    score: Callable[[str, dict[str, Any]], float]
    score = factory().create_dataset(task, seed=0, size=1).score_answer
    return score


def _tuples(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _tuples(inner) for key, inner in value.items()}
    return tuple(map(_tuples, value)) if isinstance(value, list) else value


def _plain(value: Any) -> Any:
    """Turn what JSON does not know into what it does."""
    if isinstance(value, (np.generic, np.ndarray)):
        return value.tolist()
    return sorted(map(str, value)) if isinstance(value, (set, frozenset)) else str(value)
