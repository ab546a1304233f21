"""Draw programs like the original dataset's, alone or with their worlds, compiled.

A program that the grammar draws is kept with a probability that depends on its length, actions,
constructs, nesting and statements, so that their histograms are the original's. It must also be
like the known original programs in two more ways: valid runs take each of its branches, and six
valid worlds are found for it.
"""

from __future__ import annotations

from typing import NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from unskew.core.arrays import Bytes, Ints
from unskew.core.compiled import compiled, compiled_inner
from unskew.domains.karel.language.compiler import TESTS, compile_row
from unskew.domains.karel.measures import INSIDE, MOST_DEEP, PROGRAM_FACTS, count_program
from unskew.domains.karel.running import hidden as h
from unskew.domains.karel.running.chance import Chance, chance, uniform
from unskew.domains.karel.sampling import coverable
from unskew.domains.karel.sampling import grammar as g
from unskew.domains.karel.sampling import pairs as p
from unskew.domains.karel.sampling.grammar import MAX_DEPTH, MAX_LENGTH, Draft, Grammar
from unskew.domains.karel.sampling.prefix import read_prefix
from unskew.domains.karel.sampling.worlds import ORIGINAL
from unskew.domains.karel.world import BYTES, World

# Why a program is dropped. Programs without the wanted pairs of constructs are not counted.
BREAKS_RULE, TOO_COMMON, NOT_COVERABLE, NO_WORLD, FEW_WORLDS, REASONS = range(6)
WORLDS = 6  # worlds of a program in the original dataset
MOST_TRIES = 1 << 40


class Examples(NamedTuple):
    """Programs with their worlds before and after (n, k, 260), their draws, and the drops."""

    programs: Bytes
    inputs: Bytes
    outputs: Bytes
    tries: Ints
    dropped: Ints  # (reason, nesting, tens of tokens)


# A compiled program and room for looking at it: its code, the places of its statements,
# the stack and the state of compiling, its facts, its open constructs, what its paths do.
Candidate: TypeAlias = tuple[Ints, NDArray[np.int16], Ints, Ints, Ints, Ints, Bytes]
Kindly: TypeAlias = tuple[World, h.Hidden]  # the world of a kindly run, and what is hidden of it


def original_programs(
    rng: np.random.Generator, n: int, grammar: Grammar | None = None, inside: int = 0
) -> tuple[Bytes, int]:
    """Return ``n`` programs as rows of token ids, and how many programs were drawn for them."""
    examples = original_examples(rng, n, 0, grammar, inside)
    return examples.programs, n + int(examples.dropped.sum())


def original_examples(
    rng: np.random.Generator, n: int, k: int, grammar: Grammar | None = None, inside: int = 0
) -> Examples:
    """Draw ``n`` programs with k worlds each, valid as in the original dataset.

    For every k, a program is kept only if six worlds are found for it. ``inside`` has the bits
    of the pairs of constructs that a program must have (``measures.INSIDE``).
    """
    examples = Examples(
        np.zeros((n, MAX_LENGTH), np.uint8),
        np.full((n, k, BYTES), h.UNKNOWN, np.uint8),
        np.full((n, k, BYTES), h.UNKNOWN, np.uint8),
        np.zeros(n, np.int64),
        np.zeros((REASONS, MAX_DEPTH + 1, MAX_LENGTH // 10 + 1), np.int64),
    )
    _sample(chance(rng), grammar or g.original_grammar(), inside, examples)
    return examples


@compiled
def _sample(state: Chance, grammar: Grammar, inside: int, examples: Examples) -> None:
    """Draw programs, and their worlds if k is not 0; count the dropped programs."""
    programs, inputs, outputs, tries, dropped = examples
    n, k = len(programs), inputs.shape[1]
    program, facts = np.zeros(g.ROOM, np.uint8), np.zeros(g.FACTS, np.int64)
    draft = Draft(program, facts, np.zeros((MAX_DEPTH + 2, 6), np.int64), np.empty(8))
    code, now = np.zeros(g.ROOM + 1, np.int64), np.empty(5, np.int64)
    candidate = (
        code, np.zeros(g.ROOM + 1, np.int16), np.empty((g.ROOM + 1, 4), np.int64), now,
        np.zeros(PROGRAM_FACTS, np.int64), np.zeros(MOST_DEEP, np.int64),
        np.zeros((2, g.ROOM + 1), np.uint8),
    )  # fmt: skip
    before, after, left = h.hidden_rooms(max(k, WORLDS))
    kindly_before, kindly_after, kindly_left = h.hidden_rooms(1)
    kindly = (kindly_after[0], (state, kindly_left[0], kindly_before[0]))
    room = p.make_room()
    row = 0
    while row < n:
        _draw_candidate(grammar, inside, draft, candidate, kindly, room, dropped)
        if k >= WORLDS:
            before, after = inputs[row], outputs[row]
        status, tries[row] = p.draw_set(
            state, code, now[TESTS], ORIGINAL, 0, p.ORIGINAL_BUDGET,
            p.ORIGINAL_FIRST, before[:WORLDS], after[:WORLDS], left, room,
        )  # fmt: skip
        if status != p.MADE:
            _drop(dropped, NO_WORLD if status == p.NONE else FEW_WORLDS, facts)
            continue
        for j in range(WORLDS, k):  # these are found: six worlds took few draws
            hidden = (state, left[j], before[j])
            tries[row] += p.draw_valid(code, ORIGINAL, MOST_TRIES, after[j], hidden, room)
        for j in range(k):
            h.reveal_all(after[j], (state, left[j], before[j]))
            left[j, h.LOOKED] = 0
        if 0 < k < WORLDS:
            inputs[row], outputs[row] = before[:k], after[:k]
            h.clear(before, after, left)
        programs[row] = program[:MAX_LENGTH]
        row += 1


@compiled_inner
def _draw_candidate(
    grammar: Grammar,
    inside: int,
    draft: Draft,
    candidate: Candidate,
    kindly: Kindly,
    room: p.Room,
    dropped: Ints,
) -> None:
    """Draw programs until valid runs take each branch of one; count the dropped programs.

    The loop is in here, because a call passes some thirty arrays, and most programs are dropped.
    """
    code, places, stack, now, counted, deep, acts = candidate
    world, hidden = kindly
    state = hidden[0]
    while True:
        if not g.draw_program(state, grammar, draft):
            dropped[BREAKS_RULE, 0, 0] += 1
            continue
        if uniform(state) * grammar.largest >= _weight(grammar, draft.facts):
            _drop(dropped, TOO_COMMON, draft.facts)
            continue
        if inside:
            count_program(draft.program, counted, deep)
            if counted[INSIDE] & inside != inside:
                continue
        code[:] = 0
        compile_row(draft.program, code, places, stack, now)
        if (
            read_prefix(code, room.prefix, room.counters)
            and coverable.can_leave_loops(code)
            and coverable.can_act_everywhere(code, acts)
            and coverable.is_coverable(code, now[TESTS], world, hidden, room)
        ):
            return
        _drop(dropped, NOT_COVERABLE, draft.facts)


@compiled_inner
def _drop(dropped: Ints, reason: int, facts: Ints) -> None:
    """Count a dropped program."""
    dropped[reason, facts[g.NESTING], facts[g.LENGTH] // 10] += 1


@compiled_inner
def _weight(grammar: Grammar, facts: Ints) -> float:
    """Return the weight of a program with these counts."""
    weight: float = grammar.by_length[facts[g.LENGTH]] * grammar.by_actions[facts[g.ACTIONS]]
    weight *= grammar.by_constructs[facts[g.CONSTRUCTS]] * grammar.by_nesting[facts[g.NESTING]]
    weight *= grammar.by_statements[facts[g.STATEMENTS]]
    return weight
