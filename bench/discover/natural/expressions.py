"""Expressions as text: sums with their value, comparisons, and boolean formulas."""

from __future__ import annotations

import re
from collections.abc import Sequence

import numpy as np

from bench.discover.kinds import Row

NAMES = ("p", "q", "r", "s")


def tree(rng: np.random.Generator, leaves: Sequence[str], operators: Sequence[str]) -> str:
    """Return an expression over the leaves; every tree has a way of splitting that is even."""
    if len(leaves) == 1:
        return leaves[0]
    cut = int(rng.integers(1, len(leaves)))
    sides = [tree(rng, part, operators) for part in (leaves[:cut], leaves[cut:])]
    left, right = (f"({side})" if " " in side else side for side in sides)
    return f"{left} {operators[int(rng.integers(len(operators)))]} {right}"


def whole_numbers(rng: np.random.Generator, n: int) -> list[str]:
    """Return numbers of one or two digits, as many of each."""
    small = rng.random(n) < 0.5
    return [str(int(rng.integers(1, 10) if s else rng.integers(10, 100))) for s in small]


def value(text: str) -> int:
    """Return the value of an expression of whole numbers, brackets, plus, minus and times."""
    return int(eval(text, {"__builtins__": {}}))  # noqa: S307 - the text is ours


def arithmetic(rng: np.random.Generator, n: int) -> list[Row]:
    """Return sums and differences of two to six numbers, with their values."""
    rows = []
    for size in rng.integers(2, 7, n).tolist():
        text = tree(rng, whole_numbers(rng, size), "+-")
        rows.append({"expression": text, "answer": value(text)})
    return rows


def compare(rng: np.random.Generator, n: int) -> list[Row]:
    """Return comparisons of two expressions; which side is larger is even for each sign."""
    rows = []
    for holds, sign in zip(rng.random(n) < 0.5, rng.integers(0, 2, n), strict=True):
        sides = [tree(rng, whole_numbers(rng, int(rng.integers(1, 4))), "+-") for _ in "ab"]
        values = [value(side) for side in sides]
        if values[0] == values[1]:
            sides[0] += " + 1"
            values[0] += 1
        if (values[0] < values[1]) != (holds == (sign == 0)):
            sides.reverse()
        text = f"{sides[0]} {'<>'[sign]} {sides[1]}"
        rows.append({"expression": text, "answer": "yes" if holds else "no"})
    return rows


def boolean(rng: np.random.Generator, n: int) -> list[Row]:
    """Return formulas over four variables, each negated half of the time."""
    rows = []
    for size in rng.integers(2, 7, n).tolist():
        chosen = rng.integers(len(NAMES), size=size).tolist()
        signs = (rng.random(size) < 0.5).tolist()
        leaves = [f"not {NAMES[c]}" if s else NAMES[c] for c, s in zip(chosen, signs, strict=True)]
        rows.append({"expression": tree(rng, leaves, ("and", "or"))})
    return rows


def numbers(row: Row) -> list[int]:
    """Return the whole numbers of an expression, from left to right, without signs."""
    texts = re.findall(r"\d+|twelve", row["expression"])
    return [12 if text == "twelve" else int(text) for text in texts]


def operators(row: Row) -> list[str]:
    """Return the operators between numbers or variables, from left to right."""
    return re.findall(r"(?<= )(?:[+−*-]|and|or)(?= )", row["expression"])


def variables(row: Row) -> list[str]:
    """Return the variables of a formula, from left to right."""
    return re.findall(r"\b[pqrs]\b", row["expression"])


def heights(row: Row) -> list[int]:
    """Return the depth of brackets at each character."""
    steps = [(c == "(") - (c == ")") for c in row["expression"]]
    depths: list[int] = np.cumsum(steps).tolist()
    return depths


VARIANTS = {"arithmetic": arithmetic, "compare": compare, "boolean": boolean}
