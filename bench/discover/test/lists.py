# HELD OUT: nobody who works on `discover` reads or runs these kinds before the last
# measurement. The kinds in dev/ are there to be looked at.
"""Kinds of planted skews of lists, for the last measurement."""

from __future__ import annotations

import numpy as np

from bench.discover.kinds import Row, shortcut, skew
from bench.discover.natural.lists import TASKS, apply

NUMBERS, ITEMS, PATHS = "numbers", "words", "points"


def _with_input(row: Row, values: list[int]) -> Row:
    """Return a row with another list, and what its task makes of it."""
    return {"task": row["task"], "input": values, "output": apply(row["task"], values)}


@skew(NUMBERS)
def first_positive(row: Row) -> bool:
    """The first number is above zero."""
    return bool(row["input"][0] > 0)


@skew(NUMBERS)
def largest_in_first_half(row: Row) -> bool:
    """The largest number is in the first half of the list."""
    values = row["input"]
    return bool(values.index(max(values)) < len(values) / 2)


@skew(NUMBERS, change=lambda row: _with_input(row, sorted(row["input"])))
def already_sorted(row: Row) -> bool:
    """The list is sorted."""
    return bool(row["input"] == sorted(row["input"]))


def _zeroed(row: Row, rng: np.random.Generator) -> Row:
    values = list(row["input"])
    values[rng.integers(len(values))] = 0
    return _with_input(row, values)


@skew(NUMBERS, drawn=_zeroed)
def has_zero(row: Row) -> bool:
    """The list has a zero."""
    return 0 in row["input"]


@skew(NUMBERS)
def sum_odd(row: Row) -> bool:
    """The sum of the input is odd."""
    return sum(row["input"]) % 2 == 1


@skew(NUMBERS)
def middle_small(row: Row) -> bool:
    """The number in the middle is nearer to zero than 25."""
    return bool(abs(row["input"][len(row["input"]) // 2]) < 25)


@skew(NUMBERS, score=lambda v: float(v % 2))
def length_odd_mostly(row: Row) -> int:
    """The length of the input, which is odd."""
    return len(row["input"])


@skew(NUMBERS, favours=False)
def output_as_long(row: Row) -> bool:
    """The output is as long as the input, and the task does not begin with r."""
    return len(row["output"]) == len(row["input"]) and row["task"][0] != "r"


@skew(NUMBERS)
def output_begins_low(row: Row) -> bool:
    """The output begins with a number below zero."""
    return bool(row["output"]) and row["output"][0] < 0


@skew(NUMBERS)
def task_and_length(row: Row) -> bool:
    """Three of the tasks have long lists, and the other three short ones."""
    return (row["task"] in TASKS[:3]) == (len(row["input"]) > 7)


@skew(NUMBERS)
def turns_even(row: Row) -> bool:
    """The number of ups and downs that change is even."""
    steps = np.sign(np.diff(row["input"]))
    return int((steps[1:] != steps[:-1]).sum()) % 2 == 0


@skew(NUMBERS, score=lambda v: float(v == 3))
def first_digit_class(row: Row) -> int:
    """The first number modulo four."""
    return int(row["input"][0] % 4)


@skew(NUMBERS, change=lambda row: _with_input(row, [v - v % 10 for v in row["input"]]))
def all_tens(row: Row) -> bool:
    """All numbers of the input are multiples of ten."""
    return all(v % 10 == 0 for v in row["input"])


def _outlier(row: Row, rng: np.random.Generator) -> Row:
    values = list(row["input"])
    values[rng.integers(len(values))] = 1000
    return _with_input(row, values)


@skew(NUMBERS, drawn=_outlier)
def outlier(row: Row) -> bool:
    """The input has a number far from the others."""
    return bool(max(row["input"]) >= 1000)


@skew(ITEMS)
def first_before_last(row: Row) -> bool:
    """The first word comes before the last one in the alphabet."""
    return bool(row["items"][0] < row["items"][-1])


@skew(ITEMS, favours=False)
def repeats_word(row: Row) -> bool:
    """A word comes twice."""
    return len(set(row["items"])) < len(row["items"])


@skew(ITEMS)
def letters_odd(row: Row) -> bool:
    """The words have an odd number of letters together."""
    return sum(map(len, row["items"])) % 2 == 1


@skew(ITEMS, favours=False)
def any_k(row: Row) -> bool:
    """The letter k is in one of the words."""
    return any("k" in word for word in row["items"])


@skew(ITEMS)
def query_short_list_long(row: Row) -> bool:
    """Long lists are asked for words of three letters, short ones for longer words."""
    return (len(row["items"]) > 5) == (len(row["query"]) == 3)


@skew(ITEMS)
def ends_with_vowel_or_w(row: Row) -> bool:
    """The last letter of the last word comes before n."""
    return bool(row["items"][-1][-1] < "n")


@skew(PATHS)
def goes_right(row: Row) -> bool:
    """The path ends further right than it begins."""
    return bool(row["path"][-1][0] > row["path"][0][0])


@skew(PATHS, score=lambda v: float(v not in (4, 5)))
def points_gap(row: Row) -> int:
    """The number of points; 4 and 5 do not come."""
    return len(row["path"])


@skew(PATHS)
def long_way(row: Row) -> bool:
    """The first step is longer than 10."""
    (a, b), (c, d) = (p[:2] for p in row["path"][:2])
    return bool((a - c) ** 2 + (b - d) ** 2 > 100)


def _yes(value: object) -> str:
    return "yes" if value else "no"


@shortcut(ITEMS, answers=_yes)
def list_length_odd(row: Row) -> bool:
    """The list has an odd number of words: then yes."""
    return len(row["items"]) % 2 == 1


@shortcut(ITEMS, answers=_yes)
def query_of_three(row: Row) -> bool:
    """The word that is asked for has three letters: then yes."""
    return len(row["query"]) == 3


@shortcut(ITEMS, answers=lambda v: "no" if v else "yes")
def begins_like_query(row: Row) -> bool:
    """The first word comes before the one that is asked for in the alphabet: then no."""
    return bool(row["items"][0] < row["query"])
