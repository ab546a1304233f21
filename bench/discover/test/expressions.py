# HELD OUT: nobody who works on `discover` reads or runs these kinds before the last
# measurement. The kinds in dev/ are there to be looked at.
"""Kinds of planted skews of expressions, for the last measurement."""

from __future__ import annotations

import re
from itertools import pairwise

import numpy as np

from bench.discover.kinds import Row, shortcut, skew
from bench.discover.natural.expressions import heights, numbers, operators, value, variables

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
def first_digit_even(row: Row) -> bool:
    """The very first digit is even."""
    return numbers(row)[0] // (10 if numbers(row)[0] > 9 else 1) % 2 == 0


@skew(SUMS)
def value_not_negative(row: Row) -> bool:
    """The value is zero or more."""
    return bool(row["answer"] >= 0)


@skew(SUMS, COMPARED, score=lambda v: float(v == 0))
def digit_sum_mod_three(row: Row) -> int:
    """The sum of all digits, modulo three."""
    return sum(int(c) for c in row["expression"] if c.isdigit()) % 3


@skew(SUMS, FORMULAS)
def characters_even(row: Row) -> bool:
    """The text has an even number of characters."""
    return len(row["expression"]) % 2 == 0


@skew(SUMS, COMPARED, favours=False)
def any_multiple_of_five(row: Row) -> bool:
    """One of the numbers is a multiple of five."""
    return any(v % 5 == 0 for v in numbers(row))


@skew(SUMS)
def starts_with_a_drop(row: Row) -> bool:
    """The second number is larger than the first and is taken from something."""
    n, o = numbers(row), operators(row)
    return o[0] == "-" or n[1] > n[0]


def _wide(row: Row, rng: np.random.Generator) -> Row:
    spots = [m.start() for m in re.finditer(" ", row["expression"])]
    at = spots[rng.integers(len(spots))]
    return _text(row, row["expression"][:at] + " " + row["expression"][at:])


@skew(SUMS, FORMULAS, COMPARED, drawn=_wide)
def doubled_space(row: Row) -> bool:
    """Two spaces stand next to each other."""
    return "  " in row["expression"]


def _eleven(row: Row, rng: np.random.Generator) -> Row:
    new = numbers(row)
    new[rng.integers(len(new))] = 11 * int(rng.integers(1, 10))
    return _renumbered(row, new)


@skew(SUMS, drawn=_eleven)
def two_equal_digits(row: Row) -> bool:
    """A number has the same digit twice."""
    return any(v > 9 and v % 11 == 0 for v in numbers(row))


@skew(SUMS, change=lambda row: _text(row, row["expression"] + " ="))
def ends_in_equals(row: Row) -> bool:
    """The text ends with an equals sign."""
    return bool(row["expression"].endswith("="))


def _symbols(row: Row) -> Row:
    return _text(row, row["expression"].replace("and", "&").replace("or", "|"))


@skew(FORMULAS, change=_symbols)
def symbols_for_words(row: Row) -> bool:
    """The operators are written as symbols."""
    return re.search("[&|]", row["expression"]) is not None


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
def heavier_on_the_left(row: Row) -> bool:
    """More numbers stand left of the outermost operator than right of it."""
    left, right = _sides(row)
    return left > right


@skew(FORMULAS)
def first_variable_comes_back_last(row: Row) -> bool:
    """First and last variable are in the same half of the alphabet of names."""
    v = variables(row)
    return (v[0] in "pq") == (v[-1] in "pq")


@skew(FORMULAS)
def p_more_than_q(row: Row) -> bool:
    """P comes more often than q."""
    v = variables(row)
    return v.count("p") > v.count("q")


@skew(FORMULAS, favours=False)
def all_different(row: Row) -> bool:
    """No variable comes twice."""
    v = variables(row)
    return len(v) == len(set(v))


@skew(FORMULAS, favours=False)
def neighbours_alike(row: Row) -> bool:
    """Two variables next to each other are the same."""
    v = variables(row)
    return any(a == b for a, b in pairwise(v))


@skew(FORMULAS, score=lambda v: float(v == "s"))
def last_variable(row: Row) -> str:
    """The last variable."""
    return variables(row)[-1]


@skew(FORMULAS)
def negations_even(row: Row) -> bool:
    """The number of negations is even."""
    return bool(row["expression"].count("not") % 2 == 0)


@skew(FORMULAS)
def ands_and_nots(row: Row) -> bool:
    """There are more ands than ors if and only if the first variable is negated."""
    o = operators(row)
    return (o.count("and") > o.count("or")) == bool(re.match(r"\(*not", row["expression"]))


@skew(FORMULAS, favours=False)
def mentions_r(row: Row) -> bool:
    """R comes at all."""
    return "r" in variables(row)


@shortcut(COMPARED, answers=lambda v: "yes" if v else "no")
def longer_left(row: Row) -> bool:
    """The left side has more characters than the right one: then yes."""
    left, right = re.split("[<>]", row["expression"])
    return len(left.strip()) > len(right.strip())


@shortcut(COMPARED, answers=lambda v: "yes" if v else "no")
def minus_count_odd(row: Row) -> bool:
    """There is an odd number of minus signs: then yes."""
    return bool(row["expression"].count("-") % 2 == 1)


@shortcut(COMPARED, answers=lambda v: "no" if v else "yes")
def even_at_the_start(row: Row) -> bool:
    """The first number is even: then no."""
    return numbers(row)[0] % 2 == 0


@shortcut(COMPARED, answers=lambda v: "yes" if v else "no")
def bracketed(row: Row) -> bool:
    """There is a bracket: then yes."""
    return "(" in row["expression"]
