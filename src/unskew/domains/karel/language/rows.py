"""Program text to rows of token ids and back, compiled: datasets hold text, kernels ids."""

from __future__ import annotations

import numpy as np

from unskew.core.arrays import Bytes, Ints
from unskew.core.compiled import compiled_inner
from unskew.domains.karel.language import tokens as t

_PRIME = np.uint64(0x100000001B3)
_OFFSET = np.uint64(0xCBF29CE484222325)
_SLOTS = 1024
_SPACE = 32
MOST_BYTES = max(map(len, t.VOCABULARY))
UNKNOWN, TOO_LONG = -1, -2

# The bytes of each token of the vocabulary, and how many.
SPELLED = np.zeros((len(t.VOCABULARY), MOST_BYTES), dtype=np.uint8)
LENGTHS = np.array([len(token) for token in t.VOCABULARY], dtype=np.int64)
for _row, _token in zip(SPELLED, t.VOCABULARY, strict=True):
    _row[: len(_token)] = np.frombuffer(_token.encode(), dtype=np.uint8)


def _slot_of(token: str) -> int:
    value = int(_OFFSET)
    for byte in token.encode():
        value = (value ^ byte) * int(_PRIME) % 2**64
    return value >> 20 & _SLOTS - 1


def _slots() -> Ints:
    """Return the token of each slot, 0 where there is none; those that share one follow it."""
    slots = np.zeros(_SLOTS, dtype=np.int64)
    for number, token in enumerate(t.VOCABULARY[1:], start=1):
        slot = _slot_of(token)
        while slots[slot]:
            slot = (slot + 1) % _SLOTS
        slots[slot] = number
    return slots


SLOTS = _slots()


@compiled_inner
def read_texts(data: Bytes, offsets: Ints, rows: Bytes) -> tuple[int, int]:
    """Write the ids of each text's tokens; return the first row that fails, and why, or (−1, 0)."""
    for row in range(len(rows)):
        at, end, size = offsets[row], offsets[row + 1], 0
        while at < end:
            if data[at] == _SPACE:
                at += 1
                continue
            start, value = at, _OFFSET
            while at < end and data[at] != _SPACE:
                value = (value ^ np.uint64(data[at])) * _PRIME
                at += 1
            token = _look_up(data[start:at], value)
            if token == 0:
                return row, UNKNOWN
            if size == rows.shape[1]:
                return row, TOO_LONG
            rows[row, size] = token
            size += 1
    return -1, 0


@compiled_inner
def _look_up(word: Bytes, value: np.uint64) -> int:
    slot = np.int64((value >> np.uint64(20)) & np.uint64(_SLOTS - 1))
    while SLOTS[slot] != 0:
        token = SLOTS[slot]
        same = LENGTHS[token] == len(word)
        for i in range(len(word)):
            if not same:
                break
            same = SPELLED[token, i] == word[i]
        if same:
            return int(token)
        slot = (slot + 1) % _SLOTS
    return 0


@compiled_inner
def write_texts(rows: Bytes, data: Bytes, offsets: Ints) -> int:
    """Write each row's tokens, a space between them; return how many bytes that took."""
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
