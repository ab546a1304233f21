"""The four distributions of section 6.1, as sources of (expression, value)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from typing import Annotated, Any, TypeAlias

import numpy as np

from unskew.core.arrays import Bytes, Flags, Ints
from unskew.core.batch import Batch, text_bytes, text_column
from unskew.core.domain import Range
from unskew.core.errors import UnskewError
from unskew.core.source import Source
from unskew.domains.calculator import kernels
from unskew.domains.calculator.syntax import evaluate as evaluate_tree
from unskew.domains.calculator.syntax import print_tree
from unskew.domains.columns import needed_text

EXPRESSION, VALUE = "expression", "value"
OVERLONG = "longer than max_length"
LONGEST_TREE = 200  # characters

MaxLength: TypeAlias = Annotated[
    int, Range(1, 4096, "characters; a longer expression is dropped, counted and drawn again")
]
Probability: TypeAlias = Annotated[
    float, Range(0.0, 0.9, "probability that a node is an operation")
]
MinDepth: TypeAlias = Annotated[int, Range(0, 12, "smallest depth of the tree")]
MaxDepth: TypeAlias = Annotated[int, Range(0, 12, "largest depth; depths are uniform")]


def dcfg(p: Probability = 0.4, max_length: MaxLength = 64) -> Source:
    """Sample the grammar directly: a digit, or two subexpressions under − * +."""
    return _source((p, 2, 0, 0), max_length)


def rcfg(p: Probability = 0.3, max_length: MaxLength = 64) -> Source:
    """Sample the grammar where + and * join runs of 2, 3 or 4 subexpressions."""
    return _source((p, kernels.LONGEST_RUN, 0, 0), max_length)


def t2t(min_depth: MinDepth = 0, max_depth: MaxDepth = 4, max_length: MaxLength = 64) -> Source:
    """Force one random side of each operation to depth d − 1, draw the other from U{0..d−1}."""
    return _trees("t2t", min_depth, max_depth, 2 * min_depth + 1, max_length)


def bal(min_depth: MinDepth = 0, max_depth: MaxDepth = 4, max_length: MaxLength = 64) -> Source:
    """Draw a depth, then a balanced tree of that depth."""
    return _trees("bal", min_depth, max_depth, 2 ** (min_depth + 1) - 1, max_length)


SOURCES = (dcfg, t2t, rcfg, bal)


def show(example: Mapping[str, Any]) -> str:
    """Write an expression, its value and, if it fits a screen, its tree."""
    line = f"{example[EXPRESSION]} = {example[VALUE]} (mod 10)"
    if len(example[EXPRESSION]) > LONGEST_TREE:
        return line
    return f"{line}\n{print_tree(example[EXPRESSION])}"


def check(batch: Batch) -> Flags:
    """Return which rows hold a well-formed expression and its value."""
    values, _ = kernels.evaluate_texts(*expressions(batch))
    right: Flags = values == np.asarray(batch.columns[VALUE])
    right &= values != kernels.MALFORMED
    return right


def recheck(example: Mapping[str, Any]) -> bool:
    """Return whether the value is that of the expression, evaluated as a tree."""
    return bool(evaluate_tree(example[EXPRESSION]) == example[VALUE])


def expressions(batch: Batch) -> tuple[Bytes, Ints]:
    """Return the bytes and row offsets of a batch's expressions."""
    needs = f"the calculator needs a text column {EXPRESSION!r}"
    return text_bytes(needed_text(batch, EXPRESSION, needs))


def evaluate(batch: Batch) -> Bytes:
    """Return the value of each expression modulo 10; refuse a text that is no expression."""
    data, offsets = expressions(batch)
    values, malformed = kernels.evaluate_texts(data, offsets)
    if malformed >= 0:
        text = data[offsets[malformed] : offsets[malformed + 1]].tobytes().decode()
        raise UnskewError(f"row {malformed} is {text!r}, which is no expression; use 0-9 + - * ( )")
    return values


def _source(shape: tuple[float, int, int, int], max_length: int) -> Source:
    def draw(rng: np.random.Generator, n: int) -> tuple[Batch, Counter[str]]:
        data, offsets, overlong = kernels.sample_texts(rng, n, shape, max_length)
        if len(offsets) <= n:
            raise UnskewError(
                f"{kernels.PATIENCE:,} expressions in a row were longer than max_length; "
                "raise max_length, or lower p or the depths"
            )
        values, _ = kernels.evaluate_texts(data, offsets)
        batch = Batch({EXPRESSION: text_column(data, offsets), VALUE: values})
        return batch, Counter({OVERLONG: overlong} if overlong else {})

    return Source("calculator", draw)


def _trees(name: str, min_depth: int, max_depth: int, shortest: int, max_length: int) -> Source:
    """Return the source of random trees, T2T or BAL; ``shortest`` is the shortest text of one."""
    if min_depth > max_depth:
        raise UnskewError(
            f"calculator/{name} min_depth is {min_depth}, above max_depth {max_depth}; "
            "give min_depth <= max_depth"
        )
    if shortest > max_length:
        raise UnskewError(
            f"calculator/{name} max_length is {max_length}; trees of depth {min_depth} need at "
            f"least {shortest} characters: raise max_length or lower min_depth"
        )
    return _source((-1.0, min_depth, max_depth, int(name == "bal")), max_length)
