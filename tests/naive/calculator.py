"""Naive twin of the Calculator task: samplers, printing, evaluation, parsing, salient variables.

A tree is a digit (an int 0..9) or a tuple (op, left, right) with op one of "+", "-", "*".
"""

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, TypeAlias

import numpy as np

Tree: TypeAlias = "int | tuple[str, Tree, Tree]"

OPERATIONS = "-*+"
DIGITS = "0123456789"


class Overrun(Exception):  # noqa: N818
    """A sampled tree would have more digits than it is allowed."""


@contextmanager
def _deep_recursion() -> Iterator[None]:
    """Let plain recursion go as deep as a tree of many digits can be; undone on the way out."""
    before = sys.getrecursionlimit()
    sys.setrecursionlimit(max(before, 20_000))
    try:
        yield
    finally:
        sys.setrecursionlimit(before)


# Samplers of trees.


class _DigitCount:
    """How many digits the tree under construction will have at the least."""

    def __init__(self, limit: int) -> None:
        self.limit = limit
        self.digits = 0
        self.add(1)  # the root gives at least one digit

    def add(self, more: int) -> None:
        """Add digits that the tree now has to have; raise Overrun past the limit."""
        self.digits += more
        if self.digits > self.limit:
            raise Overrun(f"more than {self.limit} digits")


def _digit(rng: np.random.Generator) -> int:
    """A digit, uniform on 0..9."""
    return int(rng.integers(0, 10))


def _operation(rng: np.random.Generator) -> str:
    """An operation, uniform over the three."""
    return OPERATIONS[int(rng.integers(0, 3))]


def _dcfg(rng: np.random.Generator, p: float, count: _DigitCount) -> Tree:
    if rng.random() >= p:
        return _digit(rng)
    op = _operation(rng)
    count.add(1)  # where one digit was due, two are
    left = _dcfg(rng, p, count)
    right = _dcfg(rng, p, count)
    return (op, left, right)


def dcfg(rng: np.random.Generator, p: float, max_digits: int = 1000) -> Tree:
    """Direct CFG sampling: a digit with probability 1-p, else -, *, + with p/3 each."""
    with _deep_recursion():
        return _dcfg(rng, p, _DigitCount(max_digits))


def _rcfg(rng: np.random.Generator, p: float, count: _DigitCount) -> Tree:
    if rng.random() >= p:
        return _digit(rng)
    op = _operation(rng)
    parts = 2
    if op != "-":
        parts = int(rng.integers(2, 5))  # 2, 3 or 4
    count.add(parts - 1)  # where one digit was due, `parts` are
    tree = _rcfg(rng, p, count)
    for _ in range(parts - 1):
        tree = (op, tree, _rcfg(rng, p, count))
    return tree


def rcfg(rng: np.random.Generator, p: float, max_digits: int = 1000) -> Tree:
    """As dcfg, but + and * join runs of 2, 3 or 4 subexpressions, folded to the left."""
    with _deep_recursion():
        return _rcfg(rng, p, _DigitCount(max_digits))


def t2t(rng: np.random.Generator, d: int) -> Tree:
    """A tree of depth exactly d: one random side of depth d-1, the other uniform on 0..d-1."""
    if d == 0:
        return _digit(rng)
    op = _operation(rng)
    other_depth = int(rng.integers(0, d))
    if rng.random() < 0.5:
        return (op, t2t(rng, d - 1), t2t(rng, other_depth))
    return (op, t2t(rng, other_depth), t2t(rng, d - 1))


def bal(rng: np.random.Generator, d: int) -> Tree:
    """A full balanced binary tree of depth d, with 2**d digits."""
    if d == 0:
        return _digit(rng)
    op = _operation(rng)
    return (op, bal(rng, d - 1), bal(rng, d - 1))


# Samplers of whole examples.


def _draw_by_p(
    rng: np.random.Generator,
    sampler: Callable[[np.random.Generator, float, int], Tree],
    *,
    p: float,
    max_length: int,
) -> tuple[str, int]:
    # The text of n digits has at least 2n-1 characters: a tree of more digits would be thrown away.
    max_digits = (max_length + 1) // 2
    while True:
        try:
            tree = sampler(rng, p, max_digits)
        except Overrun:
            continue
        text = to_text(tree)
        if len(text) <= max_length:
            return text, value(tree)


def _draw_by_depth(
    rng: np.random.Generator,
    sampler: Callable[[np.random.Generator, int], Tree],
    *,
    min_depth: int,
    max_depth: int,
    max_length: int,
) -> tuple[str, int]:
    while True:
        depth = int(rng.integers(min_depth, max_depth + 1))
        tree = sampler(rng, depth)
        text = to_text(tree)
        if len(text) <= max_length:
            return text, value(tree)


def draw(rng: np.random.Generator, source: str, **params: Any) -> tuple[str, int]:
    """One example: its text and its exact integer value.

    Parameters: p and max_length for "dcfg" and "rcfg"; min_depth, max_depth and max_length for
    "t2t" and "bal". A text longer than max_length is thrown away and all of it, the depth too,
    drawn again.
    """
    if source == "dcfg":
        return _draw_by_p(rng, dcfg, **params)
    if source == "rcfg":
        return _draw_by_p(rng, rcfg, **params)
    return _draw_by_depth(rng, {"t2t": t2t, "bal": bal}[source], **params)


# Printing and evaluation.


def _is_sum(tree: Tree) -> bool:
    """Whether the tree's top operation is + or -."""
    return isinstance(tree, tuple) and tree[0] in ("+", "-")


def _to_text(tree: Tree) -> str:
    if isinstance(tree, int):
        return str(tree)
    op, left, right = tree
    left_text = _to_text(left)
    right_text = _to_text(right)
    if op == "*" and _is_sum(left):
        left_text = "(" + left_text + ")"
    if op == "*" and _is_sum(right):
        right_text = "(" + right_text + ")"
    if op == "-" and _is_sum(right):
        right_text = "(" + right_text + ")"
    return left_text + op + right_text


def to_text(tree: Tree) -> str:
    """Print with parentheses only around a sum under * and a sum on the right of -."""
    with _deep_recursion():
        return _to_text(tree)


def _value(tree: Tree) -> int:
    if isinstance(tree, int):
        return tree
    op, left, right = tree
    if op == "+":
        return _value(left) + _value(right)
    if op == "-":
        return _value(left) - _value(right)
    return _value(left) * _value(right)


def value(tree: Tree) -> int:
    """The exact integer value."""
    with _deep_recursion():
        return _value(tree)


def value_mod10(tree: Tree) -> int:
    """The exact value modulo 10, in 0..9 also where the value is negative."""
    return value(tree) % 10


# Parsing. Each step returns the tree it read and the position after it.
#     sum = product (("+" | "-") product)*
#     product = atom ("*" atom)*
#     atom = digit | "(" sum ")"


def _malformed(text: str, position: int) -> ValueError:
    if position == len(text):
        return ValueError(f"unexpected end at position {position}")
    return ValueError(f"unexpected {text[position]!r} at position {position}")


def _parse_sum(text: str, position: int) -> tuple[Tree, int]:
    tree, position = _parse_product(text, position)
    while position < len(text) and text[position] in "+-":
        op = text[position]
        right, position = _parse_product(text, position + 1)
        tree = (op, tree, right)
    return tree, position


def _parse_product(text: str, position: int) -> tuple[Tree, int]:
    tree, position = _parse_atom(text, position)
    while position < len(text) and text[position] == "*":
        right, position = _parse_atom(text, position + 1)
        tree = ("*", tree, right)
    return tree, position


def _parse_atom(text: str, position: int) -> tuple[Tree, int]:
    if position == len(text):
        raise _malformed(text, position)
    if text[position] in DIGITS:
        return int(text[position]), position + 1
    if text[position] != "(":
        raise _malformed(text, position)
    tree, position = _parse_sum(text, position + 1)
    if position == len(text) or text[position] != ")":
        raise _malformed(text, position)
    return tree, position + 1


def parse(text: str) -> Tree:
    """The left-associative tree of a text; ValueError with the 0-based position if malformed."""
    with _deep_recursion():
        tree, position = _parse_sum(text, 0)
    if position < len(text):
        raise _malformed(text, position)
    return tree


# Salient variables.


def digit_depths(text: str) -> list[int]:
    """For each digit in order, the number of parentheses around it."""
    depths = []
    depth = 0
    for character in text:
        if character == "(":
            depth += 1
        elif character == ")":
            depth -= 1
        elif character in DIGITS:
            depths.append(depth)
    return depths


def measures(text: str) -> dict[str, int | float]:
    """The salient variables of a well-formed text (the length unrounded)."""
    depths = digit_depths(text)
    return {
        "length": len(text),
        "operations": text.count("+") + text.count("-") + text.count("*"),
        "parentheses": text.count("("),
        "mean_depth": sum(depths) / len(depths),
        "max_depth": max(depths),
    }


def rounded_length(n: int) -> int:
    """The even number nearest to n; an odd n is a tie, and goes up."""
    return n if n % 2 == 0 else n + 1
