"""What a program cannot help doing, whatever the world: found before it is run.

A state says what is known at a place: whether front, left, back and right are clear and a marker
is there, each yes, no or not known. States flow through the instructions until nothing new
comes. No program of the original dataset moves where every way there says that the front is
blocked, picks where there is no marker, tests what is known, or loops for ever.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from unskew.compiled import compiled
from unskew.domains.karel import compiler as c
from unskew.domains.karel.compiler import Code

STATES = 3**5
UNKNOWN, YES, NO = range(3)
FRONT, LEFT, BACK, RIGHT, MARKER = range(5)
# Where each condition of the vocabulary looks; markersPresent and its opposite look at one place.
PLACES = np.array([MARKER, MARKER, LEFT, RIGHT, FRONT])


def _digits() -> NDArray[np.int64]:
    """Return the five digits of every state, (243, 5)."""
    return np.array([[state // 3**place % 3 for place in range(5)] for state in range(STATES)])


def _numbers(digits: NDArray[np.int64]) -> NDArray[np.int64]:
    found: NDArray[np.int64] = digits @ 3 ** np.arange(5)
    return found


def _after() -> NDArray[np.int64]:
    """Return the state after each action that did not crash, (5, 243)."""
    now = _digits()
    moved = np.zeros_like(now)
    moved[:, BACK] = YES
    left = now[:, [LEFT, BACK, RIGHT, FRONT, MARKER]]
    right = now[:, [RIGHT, FRONT, LEFT, BACK, MARKER]]
    picked, put = now.copy(), now.copy()
    picked[:, MARKER], put[:, MARKER] = UNKNOWN, YES
    return np.stack([_numbers(state) for state in (moved, left, right, picked, put)])


def _told() -> NDArray[np.int64]:
    """Return the state that a place's being so or not so makes of each, (place, answer, 243)."""
    made = np.empty((5, 3, STATES), dtype=np.int64)
    for place in range(5):
        for answer in range(3):
            now = _digits()
            now[:, place] = answer
            made[place, answer] = _numbers(now)
    return made


KNOWN = _digits()
AFTER, TOLD = _after(), _told()


def foregone(code: Code) -> NDArray[np.bool_]:
    """Say of each compiled program whether it does what it cannot help (see above)."""
    found = np.zeros(len(code), dtype=np.bool_)
    _foregone_rows(code.instructions, code.status, found)
    return found


@compiled
def _foregone_rows(
    code: NDArray[np.int64], status: NDArray[np.uint8], found: NDArray[np.bool_]
) -> None:
    reach = np.zeros((2, code.shape[1], STATES), dtype=np.bool_)
    for row in range(len(code)):
        if status[row] == c.FINE:
            found[row] = is_foregone(code[row], reach)


@compiled
def is_foregone(code: NDArray[np.int64], reach: NDArray[np.bool_]) -> bool:
    """Say it of one program; ``reach`` is room for the states by first arrival and by return."""
    size = 0
    while code[size] & 15 != c.END:
        size += 1
    reach[:, : size + 1] = False
    reach[0, 0, 0] = True
    _settle(code, size, reach)
    # A branch that no state takes, or an action that crashes on every way, is then read as if
    # it were not so: the first of them, until nothing new comes.
    at = 0
    while at < size:
        if code[at] & 15 != c.JUMP and _flow(code, at, reach, True):
            _settle(code, size, reach)
            at = 0
        else:
            at += 1
    bad = False
    for at in range(size):
        bad |= _is_bad(code, at, size, reach)
    return bad


@compiled
def _settle(code: NDArray[np.int64], size: int, reach: NDArray[np.bool_]) -> None:
    """Let states flow until nothing new comes."""
    changed = True
    while changed:
        changed = False
        for at in range(size):
            if code[at] & 15 != c.JUMP:
                changed |= _flow(code, at, reach, False)


@compiled
def _flow(code: NDArray[np.int64], at: int, reach: NDArray[np.bool_], as_if: bool) -> bool:
    """Send the states at an instruction on; say whether anything new arrived."""
    instruction = code[at]
    operation = instruction & 15
    onward, other = (instruction >> c.NEXT) & 0xFFFF, instruction >> c.ELSE
    changed = False
    place = -1
    if operation == c.TEST:
        place = PLACES[(instruction >> c.DETAIL) & 7]
    elif operation in (c.MOVE, c.PICK):
        place = FRONT if operation == c.MOVE else MARKER
    yes = not as_if or _any(reach, at, place, NO)
    no = not as_if or _any(reach, at, place, YES)
    for state in range(STATES):
        if not (reach[0, at, state] or reach[1, at, state]):
            continue
        if operation == c.TEST:
            positive = _is_positive(instruction)
            if KNOWN[state, place] != NO or not yes:
                target = onward if positive else other
                changed |= _arrive(reach, at, target, TOLD[place, YES, state])
            if KNOWN[state, place] != YES or not no:
                target = other if positive else onward
                changed |= _arrive(reach, at, target, TOLD[place, NO, state])
        elif operation < c.TEST:
            # A way on which an action crashes goes no further, unless they all do.
            if place < 0 or KNOWN[state, place] != NO or not yes:
                changed |= _arrive(reach, at, onward, AFTER[operation, state])
        else:
            changed |= _arrive(reach, at, onward, state)
            if operation == c.LOOP and _has_returned(reach, at):
                changed |= reach[1, at, state] and _arrive(reach, at, other, state)
    return changed


@compiled
def _has_returned(reach: NDArray[np.bool_], at: int) -> bool:
    return bool(reach[1, at].any())


@compiled
def _any(reach: NDArray[np.bool_], at: int, place: int, other_than: int) -> bool:
    """Whether some state at an instruction does not say ``other_than`` of a place."""
    if place < 0:
        return True
    for state in range(STATES):
        if (reach[0, at, state] or reach[1, at, state]) and KNOWN[state, place] != other_than:
            return True
    return False


@compiled
def _arrive(reach: NDArray[np.bool_], source: int, target: int, state: int) -> bool:
    """Add a state to an instruction's, by return where it lies before the source."""
    back = 1 if target <= source else 0
    if reach[back, target, state]:
        return False
    reach[back, target, state] = True
    return True


@compiled
def _is_positive(instruction: int) -> bool:
    """Whether a test asks for yes: noMarkersPresent and an odd number of nots ask for no."""
    asks_no = (instruction >> c.DETAIL) & 7 == 1
    negated = (instruction >> c.DETAIL) & c.NEGATED != 0
    return asks_no == negated


@compiled
def _is_bad(code: NDArray[np.int64], at: int, size: int, reach: NDArray[np.bool_]) -> bool:
    instruction = code[at]
    operation = instruction & 15
    if operation == c.MOVE:
        return _all(reach, at, 2, FRONT, NO)
    if operation == c.PICK:
        return _all(reach, at, 2, MARKER, NO)
    if operation == c.SET:
        first = at
        while code[first] & 15 in (c.SET, c.LOOP):
            first = (code[first] >> c.NEXT) & 0xFFFF
        begins = code[first] & 15
        if begins == c.MOVE:
            return _all(reach, at, 2, FRONT, NO)
        return begins == c.PICK and _all(reach, at, 2, MARKER, NO)
    if operation != c.TEST:
        return False
    place = PLACES[(instruction >> c.DETAIL) & 7]
    holds, fails = (YES, NO) if _is_positive(instruction) else (NO, YES)
    if _is_while(code, at, size):
        return _all(reach, at, 0, place, fails) or _all(reach, at, 1, place, holds)
    return _all(reach, at, 2, place, holds) or _all(reach, at, 2, place, fails)


@compiled
def _is_while(code: NDArray[np.int64], at: int, size: int) -> bool:
    """Whether a test is that of a WHILE: a later jump leads back to it."""
    for later in range(at + 1, size):
        if code[later] & 15 == c.JUMP and (code[later] >> c.NEXT) & 0xFFFF == at:
            return True
    return False


@compiled
def _all(reach: NDArray[np.bool_], at: int, how: int, place: int, answer: int) -> bool:
    """Whether there are states and all say ``answer``; of first arrival, of return, or of both."""
    some = False
    for state in range(STATES):
        here = (how != 1 and reach[0, at, state]) or (how != 0 and reach[1, at, state])
        if here and KNOWN[state, place] != answer:
            return False
        some |= here
    return some
