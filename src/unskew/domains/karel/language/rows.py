"""Program text to rows of token ids and back, compiled: datasets hold text, kernels ids."""

from __future__ import annotations

from functools import reduce

import numpy as np

from unskew.core.arrays import Bytes, Ints
from unskew.core.compiled import compiled_inner
from unskew.domains.karel.language import tokens as t

# A token is found by its slot, a small hash of its bytes. No two tokens share a slot.
_FIRST_SLOT, _FACTOR, _SLOTS = 805, 435, 1024
_SPACE = 32
UNKNOWN, TOO_LONG = -1, -2

_ENCODED = [token.encode() for token in t.VOCABULARY]
LENGTHS = np.array([len(token) for token in _ENCODED], dtype=np.int64)
SPELLED = np.array([list(token.ljust(LENGTHS.max())) for token in _ENCODED], dtype=np.uint8)
SLOTS = np.zeros(_SLOTS, dtype=np.int64)  # 0 where there is no token
for _number, _token in enumerate(_ENCODED[1:], start=1):
    _slot = reduce(lambda slot, byte: (slot ^ byte) * _FACTOR % _SLOTS, _token, _FIRST_SLOT)
    SLOTS[_slot] = _number


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
            if token == t.PAD:
                break
            if i > 0:
                data[at] = _SPACE
                at += 1
            for j in range(LENGTHS[token]):
                data[at + j] = SPELLED[token, j]
            at += LENGTHS[token]
    offsets[len(rows)] = at
    return at
