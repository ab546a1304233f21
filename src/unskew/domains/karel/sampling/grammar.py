"""The grammar of programs like the original dataset's, and drawing from it, compiled.

The original's generator is lost, but its programs were measured. A program is drawn block by
block, each choice by the block it stands in, under the rules that hold without exception
(docs/karel.md lists them). The numbers come from `bench/fit_msr.py`.
"""

from __future__ import annotations

import json
from functools import cache
from importlib.resources import files
from typing import Any, NamedTuple

import numpy as np

from unskew.core.arrays import Bytes, Floats, Ints
from unskew.core.compiled import compiled_inner
from unskew.domains.karel.language import tokens as t
from unskew.domains.karel.running.chance import Chance, uniform

MAX_LENGTH = 65  # tokens: the longest program of the original test set
ROOM = MAX_LENGTH + 8  # the head of a construct may be written past the end
MAX_DEPTH = 5
SIZES = 6  # blocks of more statements are like those of six
# Blocks and constructs.
IN_RUN, IN_WHILE, IN_REPEAT, IN_IF, IN_THEN, IN_ELSE = range(6)
CLOSING = (t.CLOSE_RUN, t.CLOSE_WHILE, t.CLOSE_REPEAT, t.CLOSE_IF, t.CLOSE_IF, t.CLOSE_ELSE)
REPEAT, WHILE, IFELSE, IF = range(4)
MARKERS, NO_MARKERS, LEFT, RIGHT, FRONT, NOT_LEFT, NOT_RIGHT, NOT_FRONT = range(8)
# What stood before in the block: an action 0 to 4, nothing, or a construct.
START, AFTER = 5, 6
NOTHING = -1
# Of each open block: its kind, how many statements are still to come and how many it has in all,
# its condition, and what stood before. Then, after an action, how often it stood there; after a
# WHILE, its condition.
KIND, TO_COME, STATEMENTS_IN_ALL, CONDITION, BEFORE, DETAIL = range(6)
# The counts of a program. Whole programs are weighed by them.
LENGTH, ACTIONS, CONSTRUCTS, NESTING, STATEMENTS, FACTS = range(6)


class Grammar(NamedTuple):
    """Probabilities of the choices, and weights of whole programs by five of their counts."""

    sizes: Floats  # (block, depth, statements)
    control: Floats  # (block, depth, statements): one of them is a construct
    constructs: Floats  # (block, construct)
    conditions: Floats  # (construct, condition)
    actions: Floats  # (what stood before, action)
    counts: Floats  # (count − 2,) of REPEAT
    by_length: Floats  # weights: tokens,
    by_actions: Floats  # action tokens,
    by_constructs: Floats  # constructs,
    by_nesting: Floats  # nesting depth,
    by_statements: Floats  # statements of the program's own block
    largest: float  # weight that is kept for certain


class Draft(NamedTuple):
    """The arrays that drawing a program needs."""

    program: Bytes  # (ROOM,)
    facts: Ints  # (FACTS,)
    blocks: Ints  # (MAX_DEPTH + 2, 6), the open ones
    weights: Floats  # (8,), of the options of a choice


@cache
def original_grammar() -> Grammar:
    """Return the grammar that was fitted to the original programs."""
    text = files(__package__).joinpath("msr.json").read_text(encoding="utf-8")
    numbers: dict[str, Any] = json.loads(text)
    values: dict[str, Any] = {name: np.array(v, dtype=float) for name, v in numbers.items()}
    return Grammar(**{**values, "largest": float(numbers["largest"])})


@compiled_inner
def _topic(condition: int) -> int:
    """Return what a condition asks about: 0 markers, 1 left, 2 right, 3 front."""
    return max(0, condition - 1) if condition <= FRONT else condition - 4


@compiled_inner
def _is_negative(condition: int) -> bool:
    """Return whether a condition says that something is not there."""
    return condition == NO_MARKERS or condition > FRONT


@compiled_inner
def _pick(state: Chance, weights: Floats) -> int:
    """Choose by weight; return −1 if all weights are zero."""
    total = weights.sum()
    if total <= 0:
        return -1
    left = uniform(state) * total
    last = -1
    for i in range(len(weights)):
        if weights[i] > 0:
            last = i
            left -= weights[i]
            if left < 0:
                return i
    return last


@compiled_inner
def draw_program(state: Chance, grammar: Grammar, draft: Draft) -> bool:
    """Draw one program of at most ROOM tokens; return False if it is too long or breaks a rule."""
    program, facts, blocks, weights = draft
    program[:], facts[:] = 0, 0
    program[0], program[1], program[2] = t.DEF, t.RUN, t.OPEN_RUN
    at, depth = 3, 0
    moves, marks = 0, 0
    _open(state, grammar.sizes, blocks[0], 0, IN_RUN, NOTHING)
    facts[STATEMENTS] = blocks[0, STATEMENTS_IN_ALL]
    while depth >= 0:
        block = blocks[depth]
        if at >= MAX_LENGTH:  # at least one token more follows
            return False
        if block[TO_COME] == 0:
            at = _write_end(program, at, block[KIND])
            if block[KIND] == IN_THEN:
                _open(state, grammar.sizes, block, depth, IN_ELSE, block[CONDITION])
            else:
                depth -= 1
            continue
        block[TO_COME] -= 1
        size = min(block[STATEMENTS_IN_ALL], SIZES)
        if depth < MAX_DEPTH and uniform(state) < grammar.control[block[KIND], depth, size - 1]:
            chosen, condition = _construct(
                state, grammar.constructs, grammar.conditions, block, weights
            )
            if chosen < 0:
                return False
            at = _write_head(state, grammar.counts, program, at, chosen, condition)
            facts[CONSTRUCTS] += 1
            block[BEFORE] = AFTER
            block[DETAIL] = condition if chosen == WHILE else NOTHING
            depth += 1
            facts[NESTING] = max(facts[NESTING], depth)
            inner = (IN_REPEAT, IN_WHILE, IN_THEN, IN_IF)[chosen]
            _open(state, grammar.sizes, blocks[depth], depth, inner, condition)
        else:
            action = _action(state, grammar.actions, block, weights)
            if action < 0:
                return False
            program[at] = t.FIRST_ACTION + action
            at += 1
            facts[ACTIONS] += 1
            moves += action == 0
            marks += action >= 3
            block[DETAIL] = block[DETAIL] + 1 if block[BEFORE] == action else 1
            block[BEFORE] = action
    facts[LENGTH] = at
    return moves > 0 and marks > 0 and facts[ACTIONS] < 18 and facts[CONSTRUCTS] < 8


@compiled_inner
def _open(state: Chance, sizes: Floats, block: Ints, depth: int, kind: int, condition: int) -> None:
    size = 1 + _pick(state, sizes[kind, depth])
    block[KIND], block[TO_COME], block[STATEMENTS_IN_ALL] = kind, size, size
    block[CONDITION], block[BEFORE], block[DETAIL] = condition, START, NOTHING


@compiled_inner
def _known(block: Ints) -> tuple[int, bool]:
    """Return the condition that is known here, and whether it holds; NOTHING if none is."""
    if block[BEFORE] == START and block[CONDITION] != NOTHING:
        return block[CONDITION], block[KIND] != IN_ELSE
    if block[BEFORE] == AFTER and block[DETAIL] != NOTHING:
        return block[DETAIL], False
    return NOTHING, False


@compiled_inner
def _construct(
    state: Chance, constructs: Floats, conditions: Floats, block: Ints, weights: Floats
) -> tuple[int, int]:
    """Choose a construct and its condition; −1 if none fits. A REPEAT has the condition NOTHING.

    A condition asks nothing that is known already, but a WHILE may ask it again.
    """
    for i in range(4):
        weights[i] = constructs[block[KIND], i]
    if block[KIND] == IN_WHILE and block[STATEMENTS_IN_ALL] == 1:
        weights[IF] = 0  # a WHILE is never just an IF
    construct = _pick(state, weights[:4])
    if construct < 0 or construct == REPEAT:
        return construct, NOTHING
    known, _ = _known(block)
    for i in range(8):
        weights[i] = conditions[construct, i]
        if construct != WHILE and known != NOTHING and _topic(i) == _topic(known):
            weights[i] = 0
        if block[BEFORE] == 4 and _topic(i) == 0 and (construct != WHILE or i == NO_MARKERS):
            weights[i] = 0  # after putMarker a marker is there
    condition = _pick(state, weights)
    return (construct if condition >= 0 else -1), condition


@compiled_inner
def _action(state: Chance, actions: Floats, block: Ints, weights: Floats) -> int:
    """Choose an action that may stand here; return −1 if none may."""
    before = block[BEFORE]
    known, holds = _known(block)
    for i in range(5):
        weights[i] = actions[before, i]
    if before < START and block[DETAIL] >= 2:
        weights[before] = 0  # never three times in a row
    if known != NOTHING and holds == _is_negative(known):
        if _topic(known) == 3:
            weights[0] = 0  # the front is blocked
        elif _topic(known) == 0:
            weights[3] = 0  # there is no marker
    if block[KIND] == IN_WHILE and block[TO_COME] == 0 and block[CONDITION] == MARKERS:
        weights[4] = 0  # WHILE markersPresent never ends in putMarker
    return _pick(state, weights[:5])


@compiled_inner
def _write_head(
    state: Chance, counts: Floats, program: Bytes, at: int, construct: int, condition: int
) -> int:
    """Write a construct up to its opening bracket; return the place after it."""
    program[at] = (t.REPEAT, t.WHILE, t.IFELSE, t.IF)[construct]
    if construct == REPEAT:
        program[at + 1] = t.FIRST_COUNT + 2 + _pick(state, counts)
        program[at + 2] = t.OPEN_REPEAT
        return at + 3
    program[at + 1] = t.OPEN_CONDITION
    at += 2
    if condition > FRONT:
        program[at], program[at + 1] = t.NOT, t.OPEN_CONDITION
        program[at + 2] = t.FIRST_CONDITION + condition - 3
        program[at + 3] = t.CLOSE_CONDITION
        at += 4
    else:
        program[at] = t.FIRST_CONDITION + condition
        at += 1
    program[at] = t.CLOSE_CONDITION
    program[at + 1] = t.OPEN_WHILE if construct == WHILE else t.OPEN_IF
    return at + 2


@compiled_inner
def _write_end(program: Bytes, at: int, kind: int) -> int:
    """Write the end of a block, and the ELSE that may follow; return the place after it."""
    program[at] = CLOSING[kind]
    if kind != IN_THEN:
        return at + 1
    program[at + 1], program[at + 2] = t.ELSE, t.OPEN_ELSE
    return at + 3
