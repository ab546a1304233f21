"""Lists: what a program makes of a list of numbers, lists of words, and pairs of tuples."""

from __future__ import annotations

import numpy as np

from bench.discover.kinds import Row

TEXT = (
    "ant bee cat dog eel fox gnu hen ibis jay kiwi lynx moth newt owl pig quail ram seal toad "
    "urchin vole wasp yak zebra crane heron tapir otter bison"
)
WORDS = TEXT.split()
TASKS = ("sort", "reverse", "double", "drop_first", "keep_even", "running_sum")


def apply(task: str, values: list[int]) -> list[int]:
    """Return what a task makes of a list."""
    if task == "sort":
        return sorted(values)
    if task == "reverse":
        return values[::-1]
    if task == "double":
        return [2 * v for v in values]
    if task == "drop_first":
        return values[1:]
    if task == "keep_even":
        return [v for v in values if v % 2 == 0]
    return np.cumsum(values).tolist() if values else []


def numbers(rng: np.random.Generator, n: int) -> list[Row]:
    """Return lists of 3 to 12 numbers with the output of one of six tasks."""
    rows = []
    for size in rng.integers(3, 13, n).tolist():
        values = rng.integers(-50, 51, size).tolist()
        task = TASKS[rng.integers(len(TASKS))]
        rows.append({"task": task, "input": values, "output": apply(task, values)})
    return rows


def words(rng: np.random.Generator, n: int) -> list[Row]:
    """Return lists of 2 to 9 words, and a word that is in half of the lists."""
    rows = []
    for size in rng.integers(2, 10, n).tolist():
        items = [WORDS[i] for i in rng.integers(len(WORDS), size=size)]
        inside = bool(rng.random() < 0.5)
        others = [word for word in WORDS if word not in items]
        pool = items if inside else others
        query = pool[rng.integers(len(pool))]
        rows.append({"items": items, "query": query, "answer": "yes" if inside else "no"})
    return rows


def points(rng: np.random.Generator, n: int) -> list[Row]:
    """Return paths of 2 to 8 points of a square, as pairs of numbers."""
    return [
        {"path": [tuple(p) for p in rng.integers(0, 20, (size, 2)).tolist()]}
        for size in rng.integers(2, 9, n).tolist()
    ]


VARIANTS = {"numbers": numbers, "words": words, "points": points}
