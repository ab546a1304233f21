"""Draw programs like the original dataset's, alone or with their worlds, compiled.

A program that the grammar draws is kept with a probability that depends on its length, actions,
constructs, nesting and statements, so that their histograms are the original's. It must also be
like the known original programs in two more ways: valid runs take each of its branches, and six
valid worlds are found for it.
"""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import Any

import numpy as np
from numpy.typing import NDArray

from unskew.core.compiled import compiled, compiled_inner
from unskew.domains.karel.language.compiler import TESTS, compile_row
from unskew.domains.karel.measures import INSIDE, MOST_DEEP, PROGRAM_FACTS, count_program
from unskew.domains.karel.running.chance import Chance, chance, uniform
from unskew.domains.karel.running.hidden import LOOKED, UNKNOWN, clear, hidden_rooms, reveal_all
from unskew.domains.karel.sampling import grammar as g
from unskew.domains.karel.sampling.coverable import (
    can_act_everywhere,
    can_leave_loops,
    is_coverable,
)
from unskew.domains.karel.sampling.grammar import MAX_DEPTH, MAX_LENGTH, Grammar, draw_program
from unskew.domains.karel.sampling.pairs import (
    MADE,
    NONE,
    ORIGINAL,
    ORIGINAL_BUDGET,
    ORIGINAL_FIRST,
    draw_set,
    draw_valid,
    run_room,
)
from unskew.domains.karel.sampling.prefix import SIZE, read_prefix
from unskew.domains.karel.world import BYTES

# Why a program is dropped.
BREAKS_RULE, TOO_COMMON, NOT_COVERABLE, NO_WORLD, FEW_WORLDS, REASONS = range(6)
WORLDS = 6  # worlds of a program in the original dataset
MOST_TRIES = 1 << 40


@dataclass(frozen=True)
class Examples:
    """Programs with their worlds before and after (n, k, 260), their draws, and the drops."""

    programs: NDArray[np.uint8]
    inputs: NDArray[np.uint8]
    outputs: NDArray[np.uint8]
    tries: NDArray[np.int64]
    dropped: NDArray[np.int64]  # (reason, nesting, tens of tokens)


def original_programs(
    rng: np.random.Generator, n: int, grammar: Grammar | None = None, inside: int = 0
) -> tuple[NDArray[np.uint8], int]:
    """Return ``n`` programs as rows of token ids, and how many programs were drawn for them."""
    made = original_examples(rng, n, 0, grammar, inside)
    return made.programs, n + int(made.dropped.sum())


def original_examples(
    rng: np.random.Generator, n: int, k: int, grammar: Grammar | None = None, inside: int = 0
) -> Examples:
    """Draw ``n`` programs with k worlds each, valid as in the original dataset.

    For every k, a program is kept only if six worlds are found for it. ``inside`` has the bits
    of the pairs of constructs that a program must have (``measures.INSIDE``).
    """
    chosen = grammar or g.original_grammar()
    tables = tuple(getattr(chosen, field.name) for field in fields(chosen))
    made = Examples(
        np.zeros((n, MAX_LENGTH), np.uint8),
        np.full((n, k, BYTES), UNKNOWN, np.uint8),
        np.full((n, k, BYTES), UNKNOWN, np.uint8),
        np.zeros(n, np.int64),
        np.zeros((REASONS, MAX_DEPTH + 1, MAX_LENGTH // 10 + 1), np.int64),
    )
    _sample(
        chance(rng), tables, inside,
        made.programs, made.inputs, made.outputs, made.tries, made.dropped,
    )  # fmt: skip
    return made


@compiled
def _sample(
    state: Chance,
    grammar: tuple[Any, ...],
    inside: int,
    programs: NDArray[np.uint8],
    inputs: NDArray[np.uint8],
    outputs: NDArray[np.uint8],
    tries: NDArray[np.int64],
    dropped: NDArray[np.int64],
) -> None:
    """Draw programs, and their worlds if k is not 0; count the dropped programs."""
    n, k = len(programs), inputs.shape[1]
    program = np.zeros(g.ROOM, dtype=np.uint8)
    blocks, weights = np.zeros((MAX_DEPTH + 2, 6), dtype=np.int64), np.empty(8)
    facts = np.zeros(g.FACTS, dtype=np.int64)
    code = np.zeros(g.ROOM + 1, dtype=np.int64)
    places = np.zeros(g.ROOM + 1, dtype=np.int16)
    stack, now = np.empty((g.ROOM + 1, 4), dtype=np.int64), np.empty(5, dtype=np.int64)
    counted, deep = np.zeros(PROGRAM_FACTS, np.int64), np.zeros(MOST_DEEP, np.int64)
    prefix = np.empty(SIZE, dtype=np.int64)
    acts = np.zeros((2, g.ROOM + 1), dtype=np.uint8)
    before, after, left = hidden_rooms(max(k, WORLDS))
    cover_before, cover_after, cover_left = hidden_rooms(1)
    cover_hidden = (state, cover_left[0], cover_before[0])
    room = run_room()
    row = 0
    while row < n:
        if not draw_program(state, grammar, program, blocks, facts, weights):
            dropped[BREAKS_RULE, 0, 0] += 1
            continue
        nesting, tens = facts[g.NESTING], facts[g.LENGTH] // 10
        if uniform(state) * grammar[-1] >= _weight(grammar, facts):
            dropped[TOO_COMMON, nesting, tens] += 1
            continue
        if inside:
            count_program(program, counted, deep)
            if counted[INSIDE] & inside != inside:
                continue
        code[:] = 0
        compile_row(program, code, places, stack, now)
        if not (
            read_prefix(code, prefix, room[0])
            and can_leave_loops(code)
            and can_act_everywhere(code, acts)
            and is_coverable(code, now[TESTS], cover_after[0], cover_hidden, room)
        ):
            dropped[NOT_COVERABLE, nesting, tens] += 1
            continue
        if k >= WORLDS:
            before, after = inputs[row], outputs[row]
        status, tries[row] = draw_set(
            state, code, now[TESTS], ORIGINAL, 0, ORIGINAL_BUDGET, ORIGINAL_FIRST,
            before[:WORLDS], after[:WORLDS], left, prefix, room,
        )  # fmt: skip
        if status != MADE:
            dropped[NO_WORLD if status == NONE else FEW_WORLDS, nesting, tens] += 1
            continue
        for j in range(WORLDS, k):  # these are found: six worlds took few draws
            hidden = (state, left[j], before[j])
            tries[row] += draw_valid(code, ORIGINAL, MOST_TRIES, after[j], hidden, prefix, room)
        for j in range(k):
            reveal_all(after[j], (state, left[j], before[j]))
            left[j, LOOKED] = 0
        if 0 < k < WORLDS:
            inputs[row], outputs[row] = before[:k], after[:k]
            clear(before, after, left)
        programs[row] = program[:MAX_LENGTH]
        row += 1


@compiled_inner
def _weight(grammar: tuple[Any, ...], facts: NDArray[np.int64]) -> float:
    """Return the weight of a program with these counts."""
    by_length, by_actions, by_constructs, by_nesting, by_statements = grammar[6:11]
    weight: float = by_length[facts[g.LENGTH]] * by_actions[facts[g.ACTIONS]]
    weight *= by_constructs[facts[g.CONSTRUCTS]] * by_nesting[facts[g.NESTING]]
    weight *= by_statements[facts[g.STATEMENTS]]
    return weight
