"""Some of the rows of an audit, spread evenly over all, by the codes of their values."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

Codes = NDArray[np.int64]
MOST = 1 << 16  # rows that are held


class ThinnedRows:
    """Holds every n-th row, with n = 1, 2, 4 and so on, as few as the number of rows allows.

    The size of the batches changes nothing.
    """

    def __init__(self, columns: int, most: int = MOST) -> None:
        """Hold no row yet."""
        self.every = 1
        self._most, self._rows = most, 0
        self._held = [np.empty((0, columns), dtype=np.int64)]

    def add(self, columns: Sequence[Codes]) -> None:
        """Take the codes of some more rows, an array for each variable."""
        first = -self._rows % self.every
        self._held.append(np.stack([column[first :: self.every] for column in columns], axis=1))
        self._rows += len(columns[0])
        self._thin()

    def codes(self) -> Codes:
        """Return the codes of the rows that are held, a row for each."""
        self._held = [np.concatenate(self._held)]
        return self._held[0]

    def merge(self, codes: Codes, every: int) -> None:
        """Add rows that others hold, who held every n-th row of theirs."""
        while self.every < every:
            self._halve()
        self._held.append(codes[:: self.every // every])
        self._thin()

    def _thin(self) -> None:
        while sum(map(len, self._held)) > self._most:
            self._halve()

    def _halve(self) -> None:
        self._held = [self.codes()[::2]]
        self.every *= 2
