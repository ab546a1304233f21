"""Examples: a question, an answer, and the metadata as JSON; shown, checked, read and written."""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Mapping, Sequence
from functools import cache
from typing import Any, TypeAlias, cast

import numpy as np

from unskew.core.arrays import Flags
from unskew.core.batch import Batch
from unskew.domains.columns import needed_text
from unskew.domains.reasoning_gym.library import factory, quiet

QUESTION, ANSWER, METADATA = "question", "answer", "metadata"
COLUMNS = (QUESTION, ANSWER, METADATA)
TASK = "source_dataset"  # where the metadata name the task
_POSITIONS = ("source_index", "source_idx")  # an item's place in the library's dataset

Row: TypeAlias = tuple[str, str | None, str]
Score: TypeAlias = Callable[[str, dict[str, Any]], float]


def as_row(item: Mapping[str, Any]) -> Row:
    """Return an item of the library as a row.

    The row has no position, so that equal questions are equal examples.
    """
    answer = item[ANSWER]
    metadata = {key: v for key, v in item[METADATA].items() if key not in _POSITIONS}
    return str(item[QUESTION]), None if answer is None else str(answer), _WRITER.encode(metadata)


def as_batch(rows: Sequence[Row]) -> Batch:
    """Return rows as three columns of text; an answer is missing if a task has no single one."""
    import pyarrow as pa

    return Batch(
        {name: pa.array([row[i] for row in rows], pa.string()) for i, name in enumerate(COLUMNS)}
    )


def read_row(row: Mapping[str, Any]) -> dict[str, Any] | None:
    """Read an example from our columns or from the library's own items; else return None."""
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
    """Write a question and its answer."""
    answer = example[ANSWER]
    return f"{example[QUESTION]}\n→ {'(no single answer)' if answer is None else answer}"


def check(batch: Batch) -> Flags:
    """Return which answers get full marks from the library's own scorer.

    In a quarter of the tasks the scorer works out the answer or looks at the metadata. In the
    others it compares the answer with itself. A row without a single answer is right.
    """
    questions, answers = (text_column(batch, name).to_pylist() for name in (QUESTION, ANSWER))
    rows = zip(questions, answers, metadata_rows(batch), strict=True)
    entries = [dict(zip(COLUMNS, row, strict=True)) for row in rows]
    with quiet():
        return np.array([e[ANSWER] is None or _is_right(e) for e in entries], dtype=np.bool_)


def score(example: Mapping[str, Any], answer: str) -> float:
    """Return the library's score of an answer to the question of an example, from 0 to 1."""
    metadata = json.loads(example[METADATA])
    scorer = _scorer(metadata.get(TASK))
    if scorer is None:
        return float(answer == example[ANSWER])
    with quiet():
        forms = (metadata, _tuples(metadata))
        return max(_mark(scorer, answer, {**example, METADATA: form}) for form in forms)


def metadata_rows(batch: Batch) -> list[dict[str, Any]]:
    """Return the metadata of each row."""
    return [json.loads(text) for text in text_column(batch, METADATA).to_pylist()]


def text_column(batch: Batch, name: str) -> Any:
    """Return a column of text; refuse a batch without it."""
    return needed_text(batch, name, f"reasoning-gym needs text columns {', '.join(COLUMNS)}")


def _is_right(entry: dict[str, Any]) -> bool:
    score = _scorer(entry[METADATA].get(TASK))
    if score is None:
        return False
    # Scorers of grids compare tuples, which JSON does not have.
    forms = (entry, {**entry, METADATA: _tuples(entry[METADATA])})
    return any(_mark(score, entry[ANSWER], form) >= 1 for form in forms)


def _mark(score: Score, answer: str, entry: dict[str, Any]) -> float:
    """Return the score of an answer; 0 where the scorer fails, as at another task's example."""
    try:
        mark = float(score(answer, entry))
    except Exception:
        return 0.0
    return min(1.0, max(0.0, mark)) if math.isfinite(mark) else 0.0


@cache
def _scorer(task: Any) -> Score | None:
    if task not in factory().DATASETS:
        return None
    dataset = factory().create_dataset(task, seed=0, size=1)
    return cast("Score", dataset.score_answer)


def _tuples(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _tuples(inner) for key, inner in value.items()}
    return tuple(map(_tuples, value)) if isinstance(value, list) else value


def _plain(value: Any) -> Any:
    """Turn a value that JSON does not know into one that it knows."""
    if isinstance(value, (np.generic, np.ndarray)):
        return value.tolist()
    return sorted(map(str, value)) if isinstance(value, (set, frozenset)) else str(value)


_WRITER = json.JSONEncoder(ensure_ascii=False, default=_plain)
