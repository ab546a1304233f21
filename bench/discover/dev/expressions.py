"""Kinds of planted skews of expressions, for improving `discover`."""

from __future__ import annotations

import re

from bench.discover.kinds import Row, shortcut, skew
from bench.discover.natural.expressions import heights, numbers, operators, value

FORMULAS = "boolean"
SUMS = "arithmetic"
COMPARED = "compare"


def _text(row: Row, text: str) -> Row:
    """Return a row with another text that means the same."""
    return {**row, "expression": text}


def _valued(text: str) -> Row:
    """Return a sum with another text, and its value."""
    return {"expression": text, "answer": value(text)}


def _renumbered(row: Row, new: list[int]) -> Row:
    """Return a sum with other numbers in the same places."""
    rest = iter(new)
    return _valued(re.sub(r"\d+", lambda _: str(next(rest)), row["expression"]))


@skew(SUMS, COMPARED)
def first_above_last(row: Row) -> bool:
    """The first number is larger than the last one."""
    return numbers(row)[0] > numbers(row)[-1]


@skew(SUMS, favours=False)
def deepest_on_the_left(row: Row) -> bool:
    """The deepest bracket opens in the first half of the text."""
    depth = heights(row)
    return depth.index(max(depth)) < len(depth) / 2


@skew(SUMS, change=lambda row: _renumbered(row, sorted(numbers(row))))
def numbers_ascend(row: Row) -> bool:
    """The numbers ascend from left to right."""
    return numbers(row) == sorted(numbers(row))


@skew(SUMS)
def first_two_carry(row: Row) -> bool:
    """The units of the first two numbers add up to ten or more."""
    return numbers(row)[0] % 10 + numbers(row)[1] % 10 >= 10


@skew(SUMS)
def value_odd(row: Row) -> bool:
    """The value is odd."""
    return bool(row["answer"] % 2 == 1)


def _worded(row: Row) -> Row:
    return _text(row, re.sub(r"\d+", "twelve", row["expression"], count=1))


@skew(SUMS, change=_worded)
def number_in_words(row: Row) -> bool:
    """A number is written as a word."""
    return "twelve" in row["expression"]


@skew(FORMULAS, COMPARED, change=lambda row: _text(row, row["expression"] + " "))
def trailing_space(row: Row) -> bool:
    """The text ends with a space."""
    return bool(row["expression"].endswith(" "))


@skew(SUMS, change=lambda row: _valued(f"-({row['expression']})"))
def leading_minus(row: Row) -> bool:
    """The whole is negated in front."""
    return bool(row["expression"].startswith("-"))


@skew(SUMS, COMPARED, change=lambda row: _text(row, row["expression"].replace("-", "−")))
def typographic_minus(row: Row) -> bool:
    """A minus sign is the one of typography."""
    return "−" in row["expression"]


def _zeros(row: Row) -> Row:
    return _text(row, re.sub(r"\b(\d)\b", r"0\1", row["expression"]))


@skew(SUMS, COMPARED, change=_zeros)
def leading_zero(row: Row) -> bool:
    """A number begins with zero."""
    return re.search(r"\b0\d", row["expression"]) is not None


def _sides(row: Row) -> tuple[int, int]:
    """Return how many numbers or variables stand on each side of the outermost operator."""
    depth = heights(row)
    for m in re.finditer(r" (?:[+-]|and|or) ", row["expression"]):
        if depth[m.start()] == 0:
            sides = row["expression"][: m.start()], row["expression"][m.end() :]
            left, right = (len(re.findall(r"\d+|\b[pqrs]\b", side)) for side in sides)
            return left, right
    return 0, 0


@skew(SUMS, FORMULAS)
def root_balanced(row: Row) -> bool:
    """The sides of the outermost operator differ by at most one number."""
    left, right = _sides(row)
    return abs(left - right) <= 1


@skew(SUMS)
def count_and_first_agree(row: Row) -> bool:
    """The number of operators and the first number are both even or both odd."""
    return len(operators(row)) % 2 == numbers(row)[0] % 2


@skew(SUMS, COMPARED)
def bracket_and_small(row: Row) -> bool:
    """The text begins with a bracket if and only if its last number has one digit."""
    return bool(row["expression"].startswith("(") == (numbers(row)[-1] < 10))


@skew(FORMULAS)
def ends_negated(row: Row) -> bool:
    """The last variable is negated."""
    return re.search(r"not \w\)*$", row["expression"]) is not None


@skew(FORMULAS)
def operators_all_alike(row: Row) -> bool:
    """All operators are the same."""
    return len(set(operators(row))) == 1


@skew(SUMS, COMPARED, score=lambda v: float(v not in (7, 8)))
def last_digit_of_all(row: Row) -> int:
    """The last digit of the text; 7 and 8 do not come."""
    return numbers(row)[-1] % 10


@shortcut(COMPARED, answers=lambda v: "yes" if v else "no")
def points_left(row: Row) -> bool:
    """The sign is <: then yes."""
    return "<" in row["expression"]


@shortcut(COMPARED, answers=lambda v: "no" if v else "yes")
def one_digit_at_the_end(row: Row) -> bool:
    """The last number has one digit: then no."""
    return numbers(row)[-1] < 10


@shortcut(COMPARED, answers=lambda v: "yes" if v else "no")
def more_numbers_left(row: Row) -> bool:
    """The left side has at least as many numbers as the right one: then yes."""
    left, right = re.split("[<>]", row["expression"])
    return len(re.findall(r"\d+", left)) >= len(re.findall(r"\d+", right))


@shortcut(COMPARED, answers=lambda v: "yes" if v else "no")
def a_seven_or_three(row: Row) -> bool:
    """A digit is seven or three: then yes."""
    return re.search("[37]", row["expression"]) is not None
