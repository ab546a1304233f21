"""The grammar of programs like the original dataset's, and drawing from it, compiled.

The original's generator is lost; what it made was measured. A program is drawn block by block,
each choice by the block it stands in, under the rules that hold without exception (docs/karel.md
lists them). The numbers come from `bench/fit_msr.py`.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, fields
from functools import cache
from importlib.resources import files
from typing import Any

import numpy as np
from numpy.typing import NDArray

from unskew.core.compiled import compiled_inner
from unskew.domains.karel.language import tokens as t
from unskew.domains.karel.running.chance import uniform

MAX_LENGTH = 65  # tokens: the longest program of the original test set
ROOM = MAX_LENGTH + 8  # the longest beginning of a construct is past the end at most
MAX_DEPTH = 5
SIZES = 6  # blocks of more statements are like those of six
# Blocks and constructs.
IN_RUN, IN_WHILE, IN_REPEAT, IN_IF, IN_THEN, IN_ELSE = range(6)
REPEAT, WHILE, IFELSE, IF = range(4)
MARKERS, NO_MARKERS, LEFT, RIGHT, FRONT, NOT_LEFT, NOT_RIGHT, NOT_FRONT = range(8)
# What stood before in the block: an action 0 to 4, nothing, or a construct.
START, AFTER = 5, 6
NOTHING = -1
# What is counted of a program, and weighed.
LENGTH, ACTIONS, CONSTRUCTS, NESTING, STATEMENTS, FACTS = range(6)


@dataclass(frozen=True)
class Grammar:
    """Probabilities of the choices, and weights of whole programs by five of their counts."""

    sizes: NDArray[np.float64]  # (block, depth, statements)
    control: NDArray[np.float64]  # (block, depth, statements): one of them is a construct
    constructs: NDArray[np.float64]  # (block, construct)
    conditions: NDArray[np.float64]  # (construct, condition)
    actions: NDArray[np.float64]  # (what stood before, action)
    counts: NDArray[np.float64]  # (count − 2,) of REPEAT
    by_length: NDArray[np.float64]  # weights: tokens,
    by_actions: NDArray[np.float64]  # action tokens,
    by_constructs: NDArray[np.float64]  # constructs,
    by_nesting: NDArray[np.float64]  # nesting depth,
    by_statements: NDArray[np.float64]  # statements of the program's own block
    largest: float  # weight that is kept for certain

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> Grammar:
        """Read what ``to_dict`` wrote."""
        values: dict[str, Any] = {name: np.array(v, dtype=float) for name, v in data.items()}
        values["largest"] = float(data["largest"])
        return cls(**values)

    def to_dict(self) -> dict[str, object]:
        """Return plain data."""
        return {f.name: np.asarray(getattr(self, f.name)).round(5).tolist() for f in fields(self)}


@cache
def original_grammar() -> Grammar:
    """Return the grammar that was fitted to the original programs."""
    text = files(__package__).joinpath("msr.json").read_text(encoding="utf-8")
    return Grammar.from_dict(json.loads(text))


@compiled_inner
def topic(condition: int) -> int:
    """Return what a condition asks about: 0 markers, 1 left, 2 right, 3 front."""
    return max(0, condition - 1) if condition <= FRONT else condition - 4


@compiled_inner
def is_negative(condition: int) -> bool:
    """Whether a condition says that something is not there."""
    return condition == NO_MARKERS or condition > FRONT


@compiled_inner
def _pick(state: NDArray[np.uint64], weights: NDArray[np.float64]) -> int:
    """Choose by weight; −1 where all are zero."""
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
def draw_program(  # noqa: PLR0915 - one pass over the stack of blocks
    state: NDArray[np.uint64],
    grammar: tuple[Any, ...],
    program: NDArray[np.uint8],
    blocks: NDArray[np.int64],
    facts: NDArray[np.int64],
    weights: NDArray[np.float64],
) -> bool:
    """Draw one program of at most ROOM tokens; False where it breaks a rule or gets too long.

    A block is its kind, statements left, statements in all, its condition, what stood before in
    it (an action, START or AFTER), and how often or, after a WHILE, that one's condition.
    """
    sizes, control, constructs, conditions, actions, counts = grammar[:6]
    program[:] = 0
    program[0], program[1], program[2] = t.DEF, t.RUN, t.OPEN_RUN
    at, depth, deepest, done, made = 3, 0, 0, 0, 0
    moves, marks = 0, 0
    _open(state, sizes, blocks, 0, IN_RUN, NOTHING)
    statements = blocks[0, 2]
    while depth >= 0:
        block = blocks[depth]
        if at >= MAX_LENGTH:  # one token more is to come at least
            return False
        if block[1] == 0:
            kind = block[0]
            if kind == IN_THEN:
                program[at], program[at + 1], program[at + 2] = t.CLOSE_IF, t.ELSE, t.OPEN_ELSE
                at += 3
                _open(state, sizes, blocks, depth, IN_ELSE, block[3])
                continue
            program[at] = _closing(kind)
            at += 1
            depth -= 1
            continue
        block[1] -= 1
        if (
            depth < MAX_DEPTH
            and uniform(state) < control[block[0], depth, min(block[2], SIZES) - 1]
        ):
            chosen = _construct(state, constructs, block, weights)
            if chosen < 0:
                return False
            made += 1
            condition = NOTHING
            if chosen == REPEAT:
                program[at] = t.REPEAT
                program[at + 1] = t.FIRST_COUNT + 2 + _pick(state, counts)
                program[at + 2] = t.OPEN_REPEAT
                at += 3
            else:
                condition = _condition(state, conditions, chosen, block, weights)
                if condition < 0:
                    return False
                at = _write_test(program, at, chosen, condition)
            block[4] = AFTER
            block[5] = condition if chosen == WHILE else NOTHING
            depth += 1
            deepest = max(deepest, depth)
            inner = (IN_REPEAT, IN_WHILE, IN_THEN, IN_IF)[chosen]
            _open(state, sizes, blocks, depth, inner, condition)
        else:
            action = _action(state, actions, block, weights)
            if action < 0:
                return False
            program[at] = t.FIRST_ACTION + action
            at += 1
            done += 1
            moves += action == 0
            marks += action >= 3
            block[5] = block[5] + 1 if block[4] == action else 1
            block[4] = action
    if moves == 0 or marks == 0:
        return False
    facts[LENGTH], facts[ACTIONS], facts[CONSTRUCTS] = at, done, made
    facts[NESTING], facts[STATEMENTS] = deepest, statements
    return done < 18 and made < 8


@compiled_inner
def _open(
    state: NDArray[np.uint64],
    sizes: NDArray[np.float64],
    blocks: NDArray[np.int64],
    depth: int,
    kind: int,
    condition: int,
) -> None:
    size = 1 + _pick(state, sizes[kind, depth])
    blocks[depth, 0], blocks[depth, 1], blocks[depth, 2] = kind, size, size
    blocks[depth, 3], blocks[depth, 4], blocks[depth, 5] = condition, START, NOTHING


@compiled_inner
def _closing(kind: int) -> int:
    if kind == IN_RUN:
        return t.CLOSE_RUN
    if kind == IN_WHILE:
        return t.CLOSE_WHILE
    if kind == IN_REPEAT:
        return t.CLOSE_REPEAT
    return t.CLOSE_IF if kind == IN_IF else t.CLOSE_ELSE


@compiled_inner
def _known(block: NDArray[np.int64]) -> tuple[int, bool]:
    """Return the condition that is known here, and whether it holds; NOTHING where none is."""
    if block[4] == START and block[3] != NOTHING:
        return block[3], block[0] != IN_ELSE
    if block[4] == AFTER and block[5] != NOTHING:
        return block[5], False
    return NOTHING, False


@compiled_inner
def _construct(
    state: NDArray[np.uint64],
    constructs: NDArray[np.float64],
    block: NDArray[np.int64],
    weights: NDArray[np.float64],
) -> int:
    for i in range(4):
        weights[i] = constructs[block[0], i]
    if block[0] == IN_WHILE and block[2] == 1:
        weights[IF] = 0  # a WHILE is never just an IF
    return _pick(state, weights[:4])


@compiled_inner
def _condition(
    state: NDArray[np.uint64],
    conditions: NDArray[np.float64],
    construct: int,
    block: NDArray[np.int64],
    weights: NDArray[np.float64],
) -> int:
    """Choose what is asked: nothing that is known already, but a WHILE may ask it again."""
    known, _ = _known(block)
    for i in range(8):
        weights[i] = conditions[construct, i]
        if construct != WHILE and known != NOTHING and topic(i) == topic(known):
            weights[i] = 0
        if block[4] == 4 and topic(i) == 0 and (construct != WHILE or i == NO_MARKERS):
            weights[i] = 0  # after putMarker a marker is there
    return _pick(state, weights)


@compiled_inner
def _action(
    state: NDArray[np.uint64],
    actions: NDArray[np.float64],
    block: NDArray[np.int64],
    weights: NDArray[np.float64],
) -> int:
    """Choose an action that may stand here."""
    before = block[4]
    known, holds = _known(block)
    for i in range(5):
        weights[i] = actions[before, i]
    if before < START and block[5] >= 2:
        weights[before] = 0  # never three times in a row
    if known != NOTHING and holds == is_negative(known):
        if topic(known) == 3:
            weights[0] = 0  # the front is blocked
        elif topic(known) == 0:
            weights[3] = 0  # there is no marker
    if block[0] == IN_WHILE and block[1] == 0 and block[3] == MARKERS:
        weights[4] = 0  # WHILE markersPresent never ends in putMarker
    return _pick(state, weights[:5])


@compiled_inner
def _write_test(program: NDArray[np.uint8], at: int, construct: int, condition: int) -> int:
    program[at] = (t.REPEAT, t.WHILE, t.IFELSE, t.IF)[construct]
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
