"""Compile token ids to instructions, fast enough for the millions of candidates of a decoder.

Each instruction names the next one. So everything that is executed costs a tick, except the
start of a REPEAT. A row that is no program gets a status, not an exception.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from unskew.core.arrays import Bytes, Ints
from unskew.core.compiled import compiled, compiled_inner
from unskew.core.errors import UnskewError
from unskew.domains.karel.language import tokens as t

# Operations. The first five are the actions, in the order of the vocabulary.
MOVE, LEFT, RIGHT, PICK, PUT, TEST, LOOP, SET, END, JUMP = range(10)
# The bits of an instruction, from the lowest: 4 for the operation, 4 for the condition and its
# negation, 8 for the number of the test (TEST) or of the counter (LOOP, SET), 8 for the count
# (SET), 16 for the next instruction, 16 for the one after a test that fails or a loop that ends.
NEGATED = 8
DETAIL, NUMBER, COUNT, NEXT, ELSE = 4, 8, 16, 24, 40

NO_PROGRAM, FINE = 1, 0
MAX_TESTS = 64

# The state of compiling: the token to read, the open blocks, and the instructions, tests and
# counters so far. Of each open block: the token that closes it, the instruction at its head,
# whether an ELSE must follow, and whether a statement was read in it.
AT, TOP, SIZE, TESTS, COUNTERS = range(5)
CLOSES, HEAD, WANTS_ELSE, HAS_STATEMENT = range(4)

# What the steps of compiling share: the program, its instructions, the open blocks, the state.
Compiling: TypeAlias = tuple[Bytes, Ints, Ints, Ints]


@dataclass(frozen=True)
class Code:
    """Compiled programs: their instructions (n, width).

    ``places`` holds the index of the first token of each instruction's statement. ``tests`` is
    the number of IF, IFELSE and WHILE of each program, ``status`` whether it is a program.
    """

    instructions: Ints
    places: NDArray[np.int16]
    tests: Ints
    status: Bytes

    def __len__(self) -> int:
        """Return the number of programs."""
        return len(self.status)


def compile_programs(programs: Bytes) -> Code:
    """Return the compiled programs of rows of token ids (n, width), for ``run``.

    The ``status`` of a row is 0 if the row is a program. ``run`` refuses other rows.
    """
    if programs.ndim != 2 or programs.shape[1] > t.MAX_TOKENS:
        raise UnskewError(
            f"programs have the shape {programs.shape}; give (n, width), width <= {t.MAX_TOKENS}"
        )
    n, width = programs.shape
    instructions = np.zeros((n, width + 1), dtype=np.int64)
    places = np.zeros((n, width + 1), dtype=np.int16)
    tests = np.zeros(n, dtype=np.int64)
    status = np.empty(n, dtype=np.uint8)
    _compile_rows(np.ascontiguousarray(programs), instructions, places, tests, status)
    return Code(instructions, places, tests, status)


@compiled
def _compile_rows(
    programs: Bytes, instructions: Ints, places: NDArray[np.int16], tests: Ints, status: Bytes
) -> None:
    stack = np.empty((programs.shape[1] + 1, 4), dtype=np.int64)
    now = np.empty(5, dtype=np.int64)
    for row in range(len(programs)):
        fine = compile_row(programs[row], instructions[row], places[row], stack, now)
        tests[row] = now[TESTS]
        status[row] = FINE if fine else NO_PROGRAM


@compiled_inner
def decoded(instruction: int) -> tuple[int, int, int, int]:
    """Return the operation and number of an instruction, the next instruction, and the other."""
    return (
        instruction & 15,
        (instruction >> NUMBER) & 255,
        (instruction >> NEXT) & 0xFFFF,
        instruction >> ELSE,
    )


@compiled_inner
def compile_row(
    program: Bytes, code: Ints, places: NDArray[np.int16], stack: Ints, now: Ints
) -> bool:
    """Compile one program, and say whether it is one.

    ``stack`` has room for the open blocks, ``now`` for the state of compiling.
    """
    compiling = (program, code, stack, now)
    width = len(program)
    now[:] = 0
    if width < 5 or program[0] != t.DEF or program[1] != t.RUN or program[2] != t.OPEN_RUN:
        return False
    now[AT] = 3
    _push(stack, now, t.CLOSE_RUN, 0, 0)
    while now[TOP] > 0:
        if now[AT] >= width:
            return False
        token = program[now[AT]]
        block = stack[now[TOP] - 1]
        if token == block[CLOSES] and block[HAS_STATEMENT] == 1:
            if not _close(compiling):
                return False
            continue
        places[now[SIZE]] = now[AT]
        block[HAS_STATEMENT] = 1
        if t.FIRST_ACTION <= token < t.FIRST_ACTION + 5:
            code[now[SIZE]] = (token - t.FIRST_ACTION) | ((now[SIZE] + 1) << NEXT)
            now[SIZE] += 1
            now[AT] += 1
        elif token == t.REPEAT:
            places[now[SIZE] + 1] = now[AT]
            if not _open_repeat(compiling):
                return False
        elif not (token in (t.IF, t.IFELSE, t.WHILE) and _open_test(compiling)):
            return False
    for rest in range(now[AT], width):
        if program[rest] != t.PAD:
            return False
    code[now[SIZE]] = END
    _thread(code, now[SIZE])
    return True


@compiled_inner
def _push(stack: Ints, now: Ints, closes: int, head: int, els: int) -> None:
    block = stack[now[TOP]]
    block[CLOSES], block[HEAD], block[WANTS_ELSE], block[HAS_STATEMENT] = closes, head, els, 0
    now[TOP] += 1


@compiled_inner
def _open_test(compiling: Compiling) -> bool:
    """Read IF, IFELSE or WHILE up to its opening bracket."""
    program, code, stack, now = compiling
    token = program[now[AT]]
    condition, after = _condition(program, now[AT] + 1)
    opens = t.OPEN_WHILE if token == t.WHILE else t.OPEN_IF
    if now[TESTS] == MAX_TESTS or condition < 0 or after >= len(program):
        return False
    if program[after] != opens:
        return False
    size = now[SIZE]
    code[size] = TEST | (condition << DETAIL) | (now[TESTS] << NUMBER) | ((size + 1) << NEXT)
    closes = t.CLOSE_WHILE if token == t.WHILE else t.CLOSE_IF
    _push(stack, now, closes, size, token == t.IFELSE)
    now[TESTS] += 1
    now[SIZE] += 1
    now[AT] = after + 1
    return True


@compiled_inner
def _open_repeat(compiling: Compiling) -> bool:
    """Read REPEAT up to its opening bracket."""
    program, code, stack, now = compiling
    at, size = now[AT], now[SIZE]
    if at + 2 >= len(program) or program[at + 2] != t.OPEN_REPEAT:
        return False
    count = np.int64(program[at + 1]) - t.FIRST_COUNT
    if not 0 <= count <= t.MAX_REPEAT:
        return False
    counter = now[COUNTERS]
    code[size] = SET | (counter << NUMBER) | (count << COUNT) | ((size + 1) << NEXT)
    code[size + 1] = LOOP | (counter << NUMBER) | ((size + 2) << NEXT)
    _push(stack, now, t.CLOSE_REPEAT, size + 1, 0)
    now[COUNTERS] += 1
    now[SIZE] += 2
    now[AT] += 3
    return True


@compiled_inner
def _close(compiling: Compiling) -> bool:
    """Close the innermost block. After the first block of an IFELSE, open its else."""
    program, code, stack, now = compiling
    now[TOP] -= 1
    now[AT] += 1
    block = stack[now[TOP]]
    closes, head, wants_else = block[CLOSES], block[HEAD], block[WANTS_ELSE]
    size, at = now[SIZE], now[AT]
    if closes in (t.CLOSE_WHILE, t.CLOSE_REPEAT):
        code[size] = JUMP | (head << NEXT)
        code[head] |= (size + 1) << ELSE
        now[SIZE] += 1
        now[COUNTERS] -= closes == t.CLOSE_REPEAT
    elif wants_else:
        if at + 1 >= len(program) or program[at] != t.ELSE or program[at + 1] != t.OPEN_ELSE:
            return False
        code[size] = JUMP  # past the else; the place is known when the else closes
        code[head] |= (size + 1) << ELSE
        _push(stack, now, t.CLOSE_ELSE, size, 0)
        now[SIZE] += 1
        now[AT] += 2
    elif closes == t.CLOSE_IF:
        code[head] |= size << ELSE
    elif closes == t.CLOSE_ELSE:
        code[head] |= size << NEXT
    return True


@compiled_inner
def _condition(program: Bytes, at: int) -> tuple[int, int]:
    """Read `c( C c)` from ``at``; return the condition with its negation, and the place after it.

    C may be any number of `not c( … c)` around a condition. The condition is −1 if there is none.
    """
    width = len(program)
    depth, negated = 0, 0
    while True:
        if at >= width or program[at] != t.OPEN_CONDITION:
            return -1, at
        at += 1
        depth += 1
        if at < width and program[at] == t.NOT:
            negated = NEGATED - negated
            at += 1
        else:
            break
    if at >= width or not t.FIRST_CONDITION <= program[at] < t.FIRST_CONDITION + 5:
        return -1, at
    condition = program[at] - t.FIRST_CONDITION
    at += 1
    for _ in range(depth):
        if at >= width or program[at] != t.CLOSE_CONDITION:
            return -1, at
        at += 1
    return condition | negated, at


@compiled_inner
def _thread(code: Ints, size: int) -> None:
    """Let every instruction go straight to where the jumps after it lead, so no JUMP is run."""
    for i in range(size):
        instruction = code[i]
        operation, _, target, other = decoded(instruction)
        while code[target] & 15 == JUMP:
            target = (code[target] >> NEXT) & 0xFFFF
        if operation in (TEST, LOOP):
            while code[other] & 15 == JUMP:
                other = (code[other] >> NEXT) & 0xFFFF
        low = instruction & ((1 << NEXT) - 1)
        code[i] = low | (target << NEXT) | (other << ELSE)
