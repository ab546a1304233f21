"""Draw worlds for programs until they are valid, at a low cost for the worlds thrown away.

The paper draws five worlds. It draws all five again if the program crashes on one of them, or
if none of them takes some branch (section 4.2). If no run crashes, the five are independent. So
each world may be drawn until its run does not crash: the distribution is the same, for a
fraction of the draws. Only coverage is a property of all five. Each world is drawn while the
program looks at it (``hidden``), and what the program does before its first test is checked
before the run (``prefix``).
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from unskew.core.arrays import Bytes, Ints
from unskew.core.compiled import compiled, compiled_inner
from unskew.domains.karel.language.compiler import Code
from unskew.domains.karel.running.chance import Chance, chance, uniform
from unskew.domains.karel.running.hidden import STATE, Hidden, Left, clear, reveal_all
from unskew.domains.karel.running.interpreter import MAX_TICKS, NESTED_REPEATS, run_one, with_branch
from unskew.domains.karel.sampling.prefix import SIZE, lets_begin, read_prefix
from unskew.domains.karel.sampling.worlds import ORIGINAL_WORLDS, Worlds, start_hidden
from unskew.domains.karel.world import BYTES, World

# The status of a program: its worlds were found; it crashes in every world; no valid world was
# found; too few were found; enough were found, but no set of them takes every branch.
MADE, CRASHES, NONE, FEW, UNCOVERED = range(5)
# For 99 % of 2,200 original programs, ORIGINAL_BUDGET draws of worlds like the original's give six
# valid worlds, and ORIGINAL_FIRST draws give the first of them.
ORIGINAL_BUDGET, ORIGINAL_FIRST = 1000, 250
DRAWS_PER_CALL = 20_000_000  # four seconds: Ctrl-C waits until the call ends


class Room(NamedTuple):
    """The arrays that drawing worlds for a program needs: those of a run, and its prefix."""

    counters: Ints
    coverage: NDArray[np.uint64]
    actions: NDArray[np.int32]
    prefix: Ints


@compiled
def make_room() -> Room:
    """Make the arrays that drawing worlds for a program needs."""
    return Room(
        np.empty(NESTED_REPEATS, dtype=np.int64),
        np.zeros(2, dtype=np.uint64),
        np.zeros(5, dtype=np.int32),
        np.empty(SIZE, dtype=np.int64),
    )


class Pairs(NamedTuple):
    """Worlds before and after, (n, k, 260), and of each program its status and its draws."""

    inputs: Bytes
    outputs: Bytes
    status: Bytes
    tries: Ints

    @classmethod
    def empty(cls, n: int, k: int) -> Pairs:
        """Return room for k pairs of worlds for each of n programs."""
        inputs, outputs = np.zeros((n, k, BYTES), np.uint8), np.zeros((n, k, BYTES), np.uint8)
        return cls(inputs, outputs, np.empty(n, np.uint8), np.zeros(n, np.int64))


def draw_pairs(
    rng: np.random.Generator, code: Code, worlds: Worlds, k: int, shown: int, budget: int
) -> Pairs:
    """Draw k worlds for each program, in at most ``budget`` draws.

    If the worlds are like the original's, each run must move and handle a marker. If ``shown``
    is not 0, the first ``shown`` worlds together must take every branch. A program without worlds
    gets a status other than MADE, and zeros.
    """
    pairs = Pairs.empty(len(code), k)
    inputs, outputs, status, tries = pairs
    state, step = chance(rng), max(1, DRAWS_PER_CALL // budget)
    for start in range(0, len(code), step):
        rows = slice(start, start + step)
        part = Pairs(inputs[rows], outputs[rows], status[rows], tries[rows])
        _draw_rows(state, code.instructions[rows], code.tests[rows], worlds, shown, budget, part)
    return pairs


@compiled
def _draw_rows(
    state: Chance, code: Ints, tests: Ints, worlds: Worlds, shown: int, budget: int, pairs: Pairs
) -> None:
    """Draw the worlds of each program, one after the other."""
    inputs, outputs, status, tries = pairs
    left = np.zeros((inputs.shape[1], STATE), dtype=np.int64)
    room = make_room()
    for row in range(len(code)):
        clear(inputs[row], outputs[row], left)
        status[row], tries[row] = CRASHES, 0
        if read_prefix(code[row], room.prefix, room.counters):
            status[row], tries[row] = draw_set(
                state, code[row], tests[row], worlds, shown, budget, budget,
                inputs[row], outputs[row], left, room,
            )  # fmt: skip
        if status[row] == MADE:
            for j in range(inputs.shape[1]):
                reveal_all(outputs[row, j], (state, left[j], inputs[row, j]))
        else:
            inputs[row], outputs[row] = 0, 0


@compiled_inner
def draw_set(
    state: Chance,
    code: Ints,
    tests: int,
    worlds: Worlds,
    shown: int,
    budget: int,
    first: int,
    before: World,
    after: World,
    left: Left,
    room: Room,
) -> tuple[int, int]:
    """Draw the worlds of one program; return its status and the number of draws.

    The first world must be found in ``first`` draws, all worlds in ``budget`` draws.
    """
    low, high = all_branches(tests)
    tries, sets = 0, 0
    while tries < budget:
        seen_low, seen_high = np.uint64(0), np.uint64(0)
        covered = True
        for j in range(len(before)):
            most = min(budget - tries, first) if j == 0 else budget - tries
            used = draw_valid(code, worlds, most, after[j], (state, left[j], before[j]), room)
            tries += abs(used)
            if used <= 0:
                return (UNCOVERED if sets > 0 else NONE if j == 0 else FEW), tries
            seen_low |= room.coverage[0]
            seen_high |= room.coverage[1]
            if j == shown - 1 and (seen_low != low or seen_high != high):
                sets += 1
                covered = False
                break
        if covered:
            return MADE, tries
    return UNCOVERED, tries


@compiled_inner
def draw_valid(
    code: Ints, worlds: Worlds, budget: int, world: World, hidden: Hidden, room: Room
) -> int:
    """Draw worlds until one is valid; return the number of draws, negated if none is valid."""
    for used in range(1, budget + 1):
        start_hidden(worlds, world, hidden)
        if lets_begin(room.prefix, world, hidden) and run_is_valid(
            code, world, hidden, room, worlds[0] == ORIGINAL_WORLDS
        ):
            return used
    return -max(budget, 0)


@compiled_inner
def run_is_valid(code: Ints, world: World, hidden: Hidden, room: Room, must_act: bool) -> bool:
    """Run a program on a hidden world, and return whether the run is valid.

    A valid run does not crash. If it ``must_act``, it also moves and handles a marker.
    """
    counters, coverage, actions, _ = room
    actions[:] = 0
    ended, _ = run_one(code, world, MAX_TICKS, counters, coverage, actions, hidden)
    return ended == 0 and (not must_act or (actions[0] > 0 and actions[3] + actions[4] > 0))


@compiled_inner
def all_branches(tests: int) -> tuple[np.uint64, np.uint64]:
    """Return the coverage in which every test has had both outcomes."""
    low, high = np.uint64(0), np.uint64(0)
    for bit in range(2 * tests):
        low, high = with_branch(low, high, bit)
    return low, high


def pick_pairs(rng: np.random.Generator, code: Code, pool: Bytes, k: int, budget: int) -> Pairs:
    """Pick k different worlds of a pool for each program on which it does not crash (section 4.3).

    Each pick is a random world among those of the pool that were not tried for the program.
    """
    pairs = Pairs.empty(len(code), k)
    _pick_rows(chance(rng), code.instructions, np.ascontiguousarray(pool), budget, pairs)
    return pairs


@compiled
def _pick_rows(state: Chance, code: Ints, pool: Bytes, budget: int, pairs: Pairs) -> None:
    inputs, outputs, status, tries = pairs
    counters, coverage, actions, _ = make_room()
    world = np.empty(BYTES, dtype=np.uint8)
    order = np.arange(len(pool))
    for row in range(len(code)):
        picked = 0
        while picked < inputs.shape[1] and tries[row] < min(budget, len(pool)):
            # One step of a shuffle of the pool. A shuffle may begin from any order.
            at = tries[row]
            other = at + int(uniform(state) * (len(pool) - at))
            order[at], order[other] = order[other], order[at]
            candidate = order[at]
            tries[row] += 1
            world[:] = pool[candidate]
            ended, _ = run_one(code[row], world, MAX_TICKS, counters, coverage, actions, None)
            if ended == 0:
                inputs[row, picked] = pool[candidate]
                outputs[row, picked] = world
                picked += 1
        status[row] = MADE if picked == inputs.shape[1] else FEW if picked > 0 else NONE
        if status[row] != MADE:
            inputs[row], outputs[row] = 0, 0
