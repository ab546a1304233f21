"""Texts as vectors: counts of their tokens and pairs of tokens, hashed to a fixed number of places.

A place may stand for several tokens. A second bit of the hash is a sign, so that these tokens
cancel out on average.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from unskew.core.hashing.mixing import mixed
from unskew.core.hashing.objects import hash_objects

PLACES = 512
PAIR = 0.5  # weight of a pair of tokens: pairs repeat less than tokens, and share their places
_TOKEN = re.compile(r"\w+|[^\w\s]")
_ROWS = 8_192  # texts whose places are counted at a time

Floats = NDArray[np.float32]
Codes = NDArray[np.int64]


@dataclass(frozen=True)
class Tokens:
    """The tokens of some texts: ``distinct[codes[i]]``; text j begins at ``begins[j]``."""

    distinct: list[str]
    codes: Codes
    begins: Codes

    @property
    def owner(self) -> Codes:
        """The number of the text of each token."""
        return np.repeat(np.arange(len(self.begins) - 1), np.diff(self.begins))


def tokens_of(texts: Sequence[str]) -> Tokens:
    """Return the words, numbers and signs of each text, in small letters."""
    numbers: dict[str, int] = {}
    codes: list[int] = []
    begins = [0]
    for text in texts:
        found = _TOKEN.findall(text.lower())
        codes += [numbers.setdefault(token, len(numbers)) for token in found]
        begins.append(len(codes))
    return Tokens(list(numbers), np.array(codes, np.int64), np.array(begins, np.int64))


def text_vectors(texts: Sequence[str], weights: Floats | None = None) -> Floats:
    """Return a vector of length one for each text; of length zero where a text has no tokens.

    Args:
        texts: the texts.
        weights: the weight of each place (see ``place_weights``).
    """
    vectors = np.concatenate(
        [_counted(tokens_of(texts[at : at + _ROWS])) for at in range(0, len(texts), _ROWS)]
        or [np.zeros((0, PLACES), np.float32)]
    )
    if weights is not None:
        vectors *= weights
    lengths = np.linalg.norm(vectors, axis=1, keepdims=True)
    unit: Floats = np.divide(vectors, lengths, out=vectors, where=lengths > 0)
    return unit


def place_weights(texts: Sequence[str]) -> Floats:
    """Return the weight of each place: the rarer the texts that have it, the greater."""
    have = np.zeros(PLACES)
    for at in range(0, len(texts), _ROWS):
        have += (_counted(tokens_of(texts[at : at + _ROWS])) != 0).sum(axis=0)
    return (np.log((1 + len(texts)) / (1 + have)) + 0.1).astype(np.float32)


def _counted(tokens: Tokens) -> Floats:
    """Return the logarithm of how often each place comes in each text, as a token or a pair."""
    hashes, owner = hash_objects(tokens.distinct)[tokens.codes], tokens.owner
    pairs = mixed(hashes[:-1] * np.uint64(0x9E3779B97F4A7C15) + hashes[1:])
    inside = owner[:-1] == owner[1:]
    rows = len(tokens.begins) - 1
    counts = _placed(hashes, owner, rows)
    counts += PAIR * _placed(pairs[inside], owner[:-1][inside], rows)
    return counts


def _placed(hashes: NDArray[np.uint64], owner: Codes, rows: int) -> Floats:
    cells = owner * PLACES + (hashes % np.uint64(PLACES)).astype(np.int64)
    signs = np.where(hashes >> np.uint64(63), 1.0, -1.0)
    counts = np.bincount(cells, signs, minlength=rows * PLACES).reshape(rows, PLACES)
    return (np.sign(counts) * np.log1p(np.abs(counts))).astype(np.float32)
