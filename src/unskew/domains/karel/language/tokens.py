"""The vocabulary of Karel programs: the original dataset's tokens, in its order.

A program is a row of token ids; 0, which stands in no program, pads it to the right.
"""

from __future__ import annotations

import numpy as np

from unskew.core.arrays import Bytes
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
