"""How much of a feature other features say: shared information, for hundreds of features."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from unskew.core.rng import generator
from unskew.core.variables.coded import Coded

ROWS = 8_000  # random rows that are looked at
_ENOUGH = 5  # rows for each combination of values, above which the bias of a sample is known

Codes = NDArray[np.int64]


class Overlaps:
    """Answers how much of one feature another one says, for features of the same rows.

    Args:
        features: the values of each feature.
        about: if given, only what a feature says about these values counts, as an answer.
    """

    def __init__(self, features: list[Coded], about: Coded | None = None) -> None:
        """Take the same random rows of all features."""
        rows = len(features[0]) if features else 0
        rng = generator(0, "discover", "overlap", rows)
        chosen = rng.choice(rows, ROWS, replace=False) if rows > ROWS else np.arange(rows)
        self.n = len(chosen)
        self._shuffle = rng.permutation(self.n)
        self._codes = [_dense(feature.codes[chosen]) for feature in features]
        self._sizes = [int(codes.max(initial=-1)) + 1 for codes in self._codes]
        self.entropies = [_entropy(codes, self.n) for codes in self._codes]
        self._about = None if about is None else _dense(about.codes[chosen])

    @property
    def is_about_others(self) -> bool:
        """Whether only what a feature says about other values counts."""
        return self._about is not None

    def shared(self, a: int, b: int) -> float:
        """Return the mutual information of two features in nats, the bias of a sample off."""
        return self._information(self._codes[a], self._codes[b])

    def said(self, a: int, by: int) -> float:
        """Return the share of what a feature says that another one says too, from 0 to 1."""
        if self._about is None:
            whole, rest = self.entropies[a], self.entropies[a] - self.shared(a, by)
        else:
            both = _dense(self._codes[a] * self._sizes[by] + self._codes[by])
            whole = self._information(self._codes[a], self._about)
            known = self._information(self._codes[by], self._about)
            rest = self._information(both, self._about) - known
        return min(1.0, max(0.0, 1 - rest / whole)) if whole > 1e-9 else 1.0

    def follows(self, a: int, by: int, share: float) -> bool:
        """Return whether another feature tells at least this share of the entropy of one."""
        if self._sizes[by] * 2 > self.n or self.entropies[by] < share * self.entropies[a] - 0.01:
            return False
        return self.shared(a, by) >= share * self.entropies[a]

    def alike(self, a: int, b: int, share: float) -> bool:
        """Return whether each of two features tells at least this share of the other's entropy."""
        low, high = sorted((self.entropies[a], self.entropies[b]))
        if high == 0:
            return False  # all rows are alike in both, which says nothing
        return low >= share * high - 1e-12 and self.shared(a, b) >= share * high

    def _information(self, a: Codes, b: Codes) -> float:
        sizes = int(a.max(initial=0)) + 1, int(b.max(initial=0)) + 1
        raw = self._raw(a, b, sizes[1])
        if sizes[0] * sizes[1] * _ENOUGH <= self.n:
            noise = (sizes[0] - 1) * (sizes[1] - 1) / (2 * self.n)
            return max(0.0, raw - noise)
        # Independent features with as many values show this much information. What they cannot
        # show is what is left of the entropy, so it is stretched to the whole.
        noise = self._raw(a, b[self._shuffle], sizes[1])
        most = min(_entropy(a, self.n), _entropy(b, self.n))
        room = most - noise
        return max(0.0, most * (raw - noise) / room) if room > 0.05 * most else 0.0

    def _raw(self, a: Codes, b: Codes, size: int) -> float:
        both = _entropy(a * size + b, self.n)
        return _entropy(a, self.n) + _entropy(b, self.n) - both


def _dense(codes: Codes) -> Codes:
    """Return the same codes numbered from 0, without numbers that no row has."""
    numbers: Codes = np.unique(codes, return_inverse=True)[1].astype(np.int64)
    return numbers


def _entropy(codes: Codes, n: int) -> float:
    """Return the entropy of codes in nats."""
    if not n:
        return 0.0
    if int(codes.max()) < 16 * n:
        counts = np.bincount(codes)
        counts = counts[counts > 0]
    else:
        counts = np.unique(codes, return_counts=True)[1]
    return max(0.0, float(np.log(n) - (counts * np.log(counts)).sum() / n))
