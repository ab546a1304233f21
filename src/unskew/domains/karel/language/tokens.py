"""The vocabulary of Karel programs: the original dataset's tokens, in its order.

A program is a row of token ids; 0, which stands in no program, pads it to the right. Datasets hold
text and kernels take ids, so compiled functions read and write the text of many programs.
"""

from __future__ import annotations

from functools import reduce

import numpy as np

from unskew.core.arrays import Bytes, Ints
from unskew.core.compiled import compiled_inner
from unskew.core.errors import UnskewError, unknown

MAX_TOKENS = 256  # the longest program that is parsed, compiled or run
MAX_REPEAT = 19

ACTIONS = ("move", "turnLeft", "turnRight", "pickMarker", "putMarker")
CONDITIONS = ("markersPresent", "noMarkersPresent", "leftIsClear", "rightIsClear", "frontIsClear")
VOCABULARY = (
    *("<s>", "not", "DEF", "run", "REPEAT", "WHILE", "IF", "IFELSE", "ELSE"),
    *CONDITIONS,
    *ACTIONS,
    *("m(", "m)", "c(", "c)", "r(", "r)", "w(", "w)", "i(", "i)", "e(", "e)"),
    *(f"R={n}" for n in range(MAX_REPEAT + 1)),
)
IDS = {token: number for number, token in enumerate(VOCABULARY)}

PAD, NOT, DEF, RUN, REPEAT, WHILE, IF, IFELSE, ELSE = range(9)
FIRST_CONDITION, FIRST_ACTION = IDS["markersPresent"], IDS["move"]
OPEN_RUN, CLOSE_RUN, OPEN_CONDITION, CLOSE_CONDITION = range(IDS["m("], IDS["m("] + 4)
OPEN_REPEAT, CLOSE_REPEAT, OPEN_WHILE, CLOSE_WHILE = range(IDS["r("], IDS["r("] + 4)
OPEN_IF, CLOSE_IF, OPEN_ELSE, CLOSE_ELSE = range(IDS["i("], IDS["i("] + 4)
FIRST_COUNT = IDS["R=0"]

# A token is found by its slot, a small hash of its bytes. No two tokens share a slot.
_FIRST_SLOT, _FACTOR, _SLOTS = 805, 435, 1024
_SPACE = 32
UNKNOWN, TOO_LONG = -1, -2

_ENCODED = [token.encode() for token in VOCABULARY]
LENGTHS = np.array([len(token) for token in _ENCODED], dtype=np.int64)
SPELLED = np.array([list(token.ljust(LENGTHS.max())) for token in _ENCODED], dtype=np.uint8)
SLOTS = np.zeros(_SLOTS, dtype=np.int64)  # 0 where there is no token
for _number, _token in enumerate(_ENCODED[1:], start=1):
    _slot = reduce(lambda slot, byte: (slot ^ byte) * _FACTOR % _SLOTS, _token, _FIRST_SLOT)
    SLOTS[_slot] = _number


def to_ids(tokens: list[str]) -> Bytes:
    """Return the ids of tokens."""
    for token in tokens:
        if token not in IDS or token == VOCABULARY[PAD]:
            raise unknown("token", token, VOCABULARY[1:])
    return np.array([IDS[token] for token in tokens], dtype=np.uint8)


def to_texts(ids: Bytes) -> list[str]:
    """Return the tokens of a program, without its padding."""
    return [VOCABULARY[number] for number in ids.tolist() if number != PAD]


def stacked(programs: list[Bytes]) -> Bytes:
    """Return programs as the rows of one array (n, width), padded with zeros."""
    width = max(len(program) for program in programs)
    if width > MAX_TOKENS:
        raise UnskewError(f"a program has {width} tokens; allowed are at most {MAX_TOKENS}")
    rows = np.zeros((len(programs), width), dtype=np.uint8)
    for row, program in zip(rows, programs, strict=True):
        row[: len(program)] = program
    return rows


@compiled_inner
def read_texts(data: Bytes, offsets: Ints, rows: Bytes) -> tuple[int, int]:
    """Write the ids of each text's tokens; return the first row that fails, and why, or (−1, 0)."""
    for row in range(len(rows)):
        at, end, size = offsets[row], offsets[row + 1], 0
        while at < end:
            if data[at] == _SPACE:
                at += 1
                continue
            start, slot = at, _FIRST_SLOT
            while at < end and data[at] != _SPACE:
                slot = (slot ^ data[at]) * _FACTOR & (_SLOTS - 1)
                at += 1
            token = SLOTS[slot]
            if token == 0 or not _is_token(data[start:at], token):
                return row, UNKNOWN
            if size == rows.shape[1]:
                return row, TOO_LONG
            rows[row, size] = token
            size += 1
    return -1, 0


@compiled_inner
def _is_token(word: Bytes, token: int) -> bool:
    same, i = len(word) == LENGTHS[token], 0
    while same and i < len(word):
        same = word[i] == SPELLED[token, i]
        i += 1
    return bool(same)


@compiled_inner
def write_texts(rows: Bytes, data: Bytes, offsets: Ints) -> int:
    """Write each row's tokens, a space between them; return the number of bytes."""
    at = 0
    for row in range(len(rows)):
        offsets[row] = at
        for i in range(rows.shape[1]):
            token = rows[row, i]
            if token == PAD:
                break
            if i > 0:
                data[at] = _SPACE
                at += 1
            for j in range(LENGTHS[token]):
                data[at + j] = SPELLED[token, j]
            at += LENGTHS[token]
    offsets[len(rows)] = at
    return at
