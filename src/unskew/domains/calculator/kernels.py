"""Compiled Calculator: sample, print, evaluate and measure expressions as bytes.

An expression is written from left to right while it is sampled: a stack holds what is still to
come, either a character to write or a subexpression to expand. Whether a subexpression needs
parentheses is known before it is sampled: it is "guarded" under a * and on the right of a −. So
the text has no parentheses that are redundant.
"""

import numpy as np

from unskew.core.arrays import Bytes, Ints
from unskew.core.compiled import compiled, compiled_inner

PLUS, MINUS, TIMES, OPEN, CLOSE, ZERO = 43, 45, 42, 40, 41, 48
OPERATORS = np.array([MINUS, TIMES, PLUS], dtype=np.int64)
LONGEST_RUN = 4
MALFORMED = 255
PATIENCE = 1_000_000  # overlong expressions in a row before the samplers give up
LENGTH, OPERATIONS, PARENTHESES, DEPTH_SUM, MAX_DEPTH = 0, 1, 2, 3, 4

# Stack items: a character as it is, a subexpression as BARE or GUARDED plus its depth budget.
BARE, GUARDED = 256, 512


@compiled
def sample_texts(
    rng: np.random.Generator, n: int, shape: tuple[float, int, int, int], max_length: int
) -> tuple[Bytes, Ints, int]:
    """Sample ``n`` expressions of at most ``max_length`` characters; count the longer ones.

    ``shape`` is (p, longest run, 0, 0) for the grammar, DCFG or, where runs of + and * may be
    longer than two, RCFG; (−1, smallest depth, largest depth, balanced) for T2T and BAL. Fewer
    than ``n`` rows mean that PATIENCE expressions in a row were too long.
    """
    data = np.empty(n * max_length, dtype=np.uint8)
    offsets = np.zeros(n + 1, dtype=np.int64)
    stack = np.empty(max_length + 2 * LONGEST_RUN + 2, dtype=np.int64)
    row, overlong, in_vain = 0, 0, 0
    p, first, second, third = shape
    while row < n and in_vain < PATIENCE:
        start = offsets[row]
        text = data[start : start + max_length]
        if p >= 0:
            length = _write_grammar(rng, p, first, text, stack)
        else:
            depth = first + int(rng.random() * (second - first + 1))
            length = _write_tree(rng, depth, third == 1, text, stack)
        if length < 0:
            overlong += 1
            in_vain += 1
        else:
            in_vain = 0
            row += 1
            offsets[row] = start + length
    return data[: offsets[row]].copy(), offsets[: row + 1], overlong


@compiled_inner
def _write_grammar(
    rng: np.random.Generator, p: float, longest_run: int, text: Bytes, stack: Ints
) -> int:
    """Write one expression of the grammar; return its length, or −1 where it does not fit.

    A node is a digit with probability 1 − p, else − * + with p/3 each. One uniform
    number decides both whether it is a digit, and which digit or operation it is: after the first
    decision, the rest of the number is uniform again.
    """
    at, top = 0, 1
    stack[0] = BARE
    # Every item on the stack writes at least one character, so this bounds the stack too.
    while top > 0 and at + top <= len(text):
        top -= 1
        item = stack[top]
        if item < BARE:
            text[at] = item
            at += 1
            continue
        u = rng.random()
        if u >= p:
            text[at] = ZERO + min(9, int((u - p) / (1 - p) * 10))
            at += 1
            continue
        operator = OPERATORS[min(2, int(u / p * 3))]
        run = 2
        if longest_run > 2 and operator != MINUS:
            run = 2 + int(rng.random() * (longest_run - 1))
        if item >= GUARDED and operator != TIMES:
            text[at] = OPEN
            at += 1
            stack[top] = CLOSE
            top += 1
        for _ in range(run - 1):
            stack[top] = BARE if operator == PLUS else GUARDED
            stack[top + 1] = operator
            top += 2
        stack[top] = GUARDED if operator == TIMES else BARE
        top += 1
    return -1 if top > 0 else at


# Measured: trees are drawn 7 % slower by one loop for both, and 3 % slower with compiled_inner.
@compiled
def _write_tree(
    rng: np.random.Generator, tree_depth: int, balanced: bool, text: Bytes, stack: Ints
) -> int:
    """Write one tree of a depth; return the length of its text, or −1 where it does not fit.

    In T2T one side, chosen by a coin, has depth d − 1 and the other U{0..d−1}; in a balanced
    tree both have d − 1.
    """
    at, top = 0, 1
    stack[0] = BARE + tree_depth
    while top > 0 and at + top <= len(text):
        top -= 1
        item = stack[top]
        if item < BARE:
            text[at] = item
            at += 1
            continue
        guarded = item >= GUARDED
        depth = item - (GUARDED if guarded else BARE)
        if depth == 0:
            text[at] = ZERO + int(rng.random() * 10)
            at += 1
            continue
        operator = OPERATORS[int(rng.random() * 3)]
        left, right = depth - 1, depth - 1
        if not balanced:
            u = 2 * rng.random()
            if u < 1:
                right = int(u * depth)
            else:
                left = int((u - 1) * depth)
        if guarded and operator != TIMES:
            text[at] = OPEN
            at += 1
            stack[top] = CLOSE
            top += 1
        stack[top] = (BARE if operator == PLUS else GUARDED) + right
        stack[top + 1] = operator
        stack[top + 2] = (GUARDED if operator == TIMES else BARE) + left
        top += 3
    return -1 if top > 0 else at


@compiled
def evaluate_texts(data: Bytes, offsets: Ints) -> tuple[Bytes, int]:
    """Evaluate each row modulo 10 in one pass; also return the first malformed row, or −1.

    A malformed row gets MALFORMED.
    Inside each bracket the pass holds the sum of the finished terms, the sign of the present
    term, and the present term. An opening bracket puts these three on a stack.
    """
    n = len(offsets) - 1
    values = np.zeros(n, dtype=np.uint8)
    longest = 0
    for row in range(n):
        longest = max(longest, offsets[row + 1] - offsets[row])
    held = np.empty((longest + 1, 3), dtype=np.int64)
    first_malformed = -1
    for row in range(n):
        depth, total, sign, term = 0, 0, 1, 1
        wants_operand = True
        for i in range(offsets[row], offsets[row + 1]):
            c = data[i]
            if wants_operand and ZERO <= c <= ZERO + 9:
                term = term * (c - ZERO) % 10
                wants_operand = False
            elif wants_operand and c == OPEN:
                held[depth, 0], held[depth, 1], held[depth, 2] = total, sign, term
                depth += 1
                total, sign, term = 0, 1, 1
            elif not wants_operand and c == CLOSE and depth > 0:
                inner = (total + sign * term) % 10
                depth -= 1
                total, sign = held[depth, 0], held[depth, 1]
                term = held[depth, 2] * inner % 10
            elif not wants_operand and c == TIMES:
                wants_operand = True
            elif not wants_operand and c in (PLUS, MINUS):
                total = (total + sign * term) % 10
                sign = 1 if c == PLUS else -1
                term = 1
                wants_operand = True
            else:
                wants_operand = True
                break
        if wants_operand or depth > 0:
            values[row] = MALFORMED
            if first_malformed < 0:
                first_malformed = row
        else:
            values[row] = (total + sign * term) % 10
    return values, first_malformed


@compiled
def measure_texts(data: Bytes, offsets: Ints, what: int) -> Ints:
    """Return one measure of each row: length, operations, pairs, sum or maximum of depths."""
    n = len(offsets) - 1
    measures = np.zeros(n, dtype=np.int64)
    for row in range(n):
        operations, pairs, depth, deepest, depth_sum = 0, 0, 0, 0, 0
        for i in range(offsets[row], offsets[row + 1]):
            c = data[i]
            if c == OPEN:
                depth += 1
                pairs += 1
            elif c == CLOSE:
                depth -= 1
            elif c >= ZERO:
                depth_sum += depth
                deepest = max(deepest, depth)
            else:
                operations += 1
        length = offsets[row + 1] - offsets[row]
        measures[row] = (length, operations, pairs, depth_sum, deepest)[what]
    return measures


@compiled
def token_rows(data: Bytes, offsets: Ints, ids: Bytes, width: int) -> tuple[Bytes, Ints]:
    """Return each text as a row of token ids, zeros to the right, and the lengths.

    A text longer than ``width`` is cut in its row but keeps its length, so the caller can tell.
    """
    n = len(offsets) - 1
    rows = np.zeros((n, width), dtype=np.uint8)
    lengths = np.empty(n, dtype=np.int64)
    for row in range(n):
        start = offsets[row]
        lengths[row] = offsets[row + 1] - start
        for i in range(min(lengths[row], width)):
            rows[row, i] = ids[data[start + i]]
    return rows, lengths
