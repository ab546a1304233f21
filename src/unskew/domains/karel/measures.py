"""Counts in programs and worlds, compiled: the numbers behind the salient variables."""

from __future__ import annotations

import numpy as np

from unskew.core.arrays import Bytes, Ints
from unskew.core.compiled import compiled_inner
from unskew.domains.karel.language import tokens as t
from unskew.domains.karel.world import CELLS, HEIGHT, WALL, WIDTH

# Of a program: tokens, statements, actions, moves, marker actions, constructs, the depth of the
# deepest one, and a bit for each pair of constructs, one directly inside the other.
SIZE, STATEMENTS, ACTIONS, MOVES, MARKS, CONSTRUCTS, NESTING, INSIDE, PROGRAM_FACTS = range(9)
# Of a world: rows, columns, cells, walls, cells with markers, markers of the first such cell,
# markers of all of them.
ROWS, COLUMNS, AREA, WALLS, MARKED, COUNT, MARKERS, WORLD_FACTS = range(8)

KINDS = ("repeat", "while", "ifelse", "if")
# For each token id: the number in KINDS of the construct that it begins, or −1.
KIND_OF = np.full(256, -1)
KIND_OF[[t.REPEAT, t.WHILE, t.IFELSE, t.IF]] = range(len(KINDS))
MOST_DEEP = 64  # blocks that a program of MAX_TOKENS tokens can have open


def pair_bit(inner: str, outer: str) -> int:
    """Return the bit of INSIDE for one construct directly inside another."""
    return 4 * KINDS.index(outer) + KINDS.index(inner)


def program_facts(programs: Bytes) -> Ints:
    """Count in each row of token ids, (n, PROGRAM_FACTS)."""
    facts = np.zeros((len(programs), PROGRAM_FACTS), dtype=np.int64)
    _program_rows(programs, facts, np.zeros(MOST_DEEP, dtype=np.int64))
    return facts


def world_facts(worlds: Bytes) -> Ints:
    """Count in each packed world, (n, WORLD_FACTS)."""
    facts = np.zeros((len(worlds), WORLD_FACTS), dtype=np.int64)
    _world_rows(worlds, facts)
    return facts


@compiled_inner
def _program_rows(programs: Bytes, facts: Ints, stack: Ints) -> None:
    for row in range(len(programs)):
        count_program(programs[row], facts[row], stack)


@compiled_inner
def count_program(program: Bytes, facts: Ints, stack: Ints) -> None:
    """Count in one program; ``stack`` is room for the constructs that are open."""
    facts[:] = 0
    depth = 0
    for at in range(len(program)):
        token = program[at]
        if token == t.PAD:
            break
        facts[SIZE] += 1
        if t.FIRST_ACTION <= token < t.FIRST_ACTION + 5:
            facts[STATEMENTS] += 1
            facts[ACTIONS] += 1
            facts[MOVES] += token == t.FIRST_ACTION
            facts[MARKS] += token >= t.FIRST_ACTION + 3
            continue
        kind = KIND_OF[token]
        if kind >= 0 and depth < len(stack):  # a row that opens more is no program
            facts[STATEMENTS] += 1
            facts[CONSTRUCTS] += 1
            if depth > 0:
                facts[INSIDE] |= 1 << (4 * stack[depth - 1] + kind)
            stack[depth] = kind
            depth += 1
            facts[NESTING] = max(facts[NESTING], depth)
        elif token in (t.CLOSE_WHILE, t.CLOSE_REPEAT, t.CLOSE_ELSE) or (
            token == t.CLOSE_IF and depth > 0 and stack[depth - 1] == 3  # an IF without an else
        ):
            depth = max(depth - 1, 0)


@compiled_inner
def _world_rows(worlds: Bytes, facts: Ints) -> None:
    for row in range(len(worlds)):
        height, width = int(worlds[row, HEIGHT]), int(worlds[row, WIDTH])
        walls, marked, count, markers = 0, 0, 0, 0
        for cell in range(CELLS):
            value = int(worlds[row, cell])
            wall = value == WALL
            walls += wall
            if value > 0 and not wall:
                marked += 1
                markers += value
                count = value if marked == 1 else count
        facts[row, ROWS], facts[row, COLUMNS], facts[row, AREA] = height, width, height * width
        facts[row, WALLS] = walls - (CELLS - height * width)  # outside the grid all is wall
        facts[row, MARKED], facts[row, COUNT], facts[row, MARKERS] = marked, count, markers
