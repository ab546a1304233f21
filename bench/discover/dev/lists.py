"""Kinds of planted skews of lists, for improving `discover`."""

from __future__ import annotations

from itertools import pairwise

import numpy as np

from bench.discover.kinds import Row, shortcut, skew
from bench.discover.natural.lists import WORDS, apply

NUMBERS, ITEMS, PATHS = "numbers", "words", "points"


def _with_input(row: Row, values: list[int]) -> Row:
    """Return a row with another list, and what its task makes of it."""
    return {"task": row["task"], "input": values, "output": apply(row["task"], values)}


def _doubled(row: Row, rng: np.random.Generator) -> Row:
    values = list(row["input"])
    i = int(rng.integers(len(values) - 1))
    values[i + 1] = values[i]
    return _with_input(row, values)


@skew(NUMBERS, drawn=_doubled)
def equal_neighbours(row: Row) -> bool:
    """Two numbers next to each other are equal."""
    values = row["input"]
    return any(a == b for a, b in pairwise(values))


@skew(NUMBERS, change=lambda row: _with_input(row, [*row["input"][:-1], row["input"][0]]))
def ends_as_it_begins(row: Row) -> bool:
    """The first number comes again at the end."""
    return bool(row["input"][0] == row["input"][-1])


@skew(NUMBERS)
def sum_positive(row: Row) -> bool:
    """The sum of the input is above zero."""
    return sum(row["input"]) > 0


@skew(NUMBERS)
def last_up(row: Row) -> bool:
    """The list goes up at its end."""
    return bool(row["input"][-1] > row["input"][-2])


@skew(NUMBERS)
def more_negative(row: Row) -> bool:
    """More numbers are below zero than above."""
    return bool(sum(v < 0 for v in row["input"]) > sum(v > 0 for v in row["input"]))


@skew(NUMBERS, score=lambda v: float(v not in (6, 7)))
def length_gap(row: Row) -> int:
    """The length of the input; 6 and 7 do not come."""
    return len(row["input"])


@skew(NUMBERS, score=lambda v: float(v == "reverse"))
def which_task(row: Row) -> str:
    """The task."""
    return str(row["task"])


def _typed(row: Row) -> Row:
    return {**row, "input": [float(v) for v in row["input"]]}


@skew(NUMBERS, change=_typed)
def floats(row: Row) -> bool:
    """The numbers of the input are floats."""
    return isinstance(row["input"][0], float)


def _text(row: Row) -> Row:
    return {**row, "output": str(row["output"])}


@skew(NUMBERS, change=_text)
def output_as_text(row: Row) -> bool:
    """The output is written as text."""
    return isinstance(row["output"], str)


@skew(ITEMS)
def longest_first(row: Row) -> bool:
    """The first word has more letters than the last one, or as many."""
    return len(row["items"][0]) >= len(row["items"][-1])


@skew(ITEMS, change=lambda row: {**row, "items": [w.capitalize() for w in row["items"]]})
def capitalized(row: Row) -> bool:
    """The words begin with capitals."""
    return bool(row["items"][0][0].isupper())


@skew(ITEMS, change=lambda row: {**row, "items": [*row["items"], ""]})
def empty_word(row: Row) -> bool:
    """There is an empty word."""
    return "" in row["items"]


def _plural(row: Row, rng: np.random.Generator) -> Row:
    i = int(rng.integers(len(row["items"])))
    return {**row, "items": [w + "s" * (i == j) for j, w in enumerate(row["items"])]}


@skew(ITEMS, drawn=_plural)
def some_plural(row: Row) -> bool:
    """A word has an s at its end."""
    return any(word.endswith("s") and word != "ibis" for word in row["items"])


@skew(ITEMS)
def query_late(row: Row) -> bool:
    """The word that is asked for is in the second half of the alphabet."""
    return bool(row["query"] > "m")


@skew(PATHS)
def begins_below_diagonal(row: Row) -> bool:
    """The first point is below the diagonal."""
    return bool(row["path"][0][1] < row["path"][0][0])


def _closed(row: Row) -> Row:
    return {"path": [*row["path"], row["path"][0]]}


@skew(PATHS, change=_closed)
def closed(row: Row) -> bool:
    """The path ends where it begins."""
    return bool(row["path"][0] == row["path"][-1])


def _straight(row: Row) -> Row:
    return {"path": [(x, row["path"][0][1]) for x, _ in row["path"]]}


@skew(PATHS, change=_straight)
def level(row: Row) -> bool:
    """All points have the same height."""
    return len({y for _, y in row["path"]}) == 1


@skew(PATHS)
def sum_of_first_even(row: Row) -> bool:
    """The coordinates of the first point add up to an even number."""
    return bool(sum(row["path"][0]) % 2 == 0)


@skew(PATHS)
def halves_agree(row: Row) -> bool:
    """First and last point are in the same half, left or right."""
    return bool((row["path"][0][0] < 10) == (row["path"][-1][0] < 10))


@skew(PATHS, change=lambda row: {"path": [(*point, 0) for point in row["path"]]})
def third_coordinate(row: Row) -> bool:
    """Points have a third coordinate, zero."""
    return len(row["path"][0]) == 3


@skew(PATHS, favours=False)
def touches_border(row: Row) -> bool:
    """A point is on the border of the square."""
    return any(v in (0, 19) for point in row["path"] for v in point[:2])


def _yes(value: object) -> str:
    return "yes" if value else "no"


@shortcut(ITEMS, answers=_yes)
def query_early(row: Row) -> bool:
    """The word that is asked for is in the first third of the words: then yes."""
    return row["query"] in WORDS[: len(WORDS) // 2]


@shortcut(ITEMS, answers=_yes)
def first_word_short(row: Row) -> bool:
    """The first word has three letters: then yes."""
    return len(row["items"][0]) == 3


@shortcut(ITEMS, answers=_yes)
def query_has_a(row: Row) -> bool:
    """The word that is asked for has an a or an o: then yes."""
    return "a" in row["query"] or "o" in row["query"]


@shortcut(ITEMS, answers=lambda v: "no" if v else "yes")
def last_is_long(row: Row) -> bool:
    """The last word has more than three letters: then no."""
    return len(row["items"][-1]) > 3
