"""A sample of anything: the first draws of a source, and random rows of other data."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from unskew.core.batch import Batch
from unskew.io.tables import joined_rows


@dataclass(frozen=True)
class DrawnRows:
    """Some rows of data, in their order, and how many rows were read to choose them.

    ``numbers`` says where each row stands in the data, counted from 0.
    """

    rows: Batch
    read: int
    numbers: NDArray[np.int64]


def drawn_rows(batches: Iterator[Batch], n: int, rng: np.random.Generator) -> DrawnRows | None:
    """Return ``n`` random rows, or all if there are no more; None if there is no row.

    Each row has a random number, and the rows with the smallest numbers are kept. So memory holds
    about 2 × ``n`` rows, however many there are.
    """
    kept: list[_Kept] = []
    bound, held, read = 1.0, 0, 0
    for batch in batches:
        numbers = rng.random(len(batch))
        small = numbers < bound
        kept.append(_Kept(batch.filter(small), numbers[small], read + np.flatnonzero(small)))
        read += len(batch)
        held += int(small.sum())
        if held > 2 * n:
            kept, bound = _smallest(kept, n)
            held = n
    if not read:
        return None
    if held > n:
        kept, _ = _smallest(kept, n)
    pieces = [some for some in kept if len(some.rows)]
    rows = joined_rows(iter([some.rows for some in pieces]), 0, n)
    return DrawnRows(rows, read, np.concatenate([some.places for some in pieces]))


@dataclass(frozen=True)
class _Kept:
    """Rows with their random numbers and their places in the data."""

    rows: Batch
    numbers: NDArray[np.float64]
    places: NDArray[np.int64]

    def below(self, bound: float) -> _Kept:
        """Return the rows with numbers below this one."""
        small = self.numbers < bound
        return _Kept(self.rows.filter(small), self.numbers[small], self.places[small])


def _smallest(kept: list[_Kept], n: int) -> tuple[list[_Kept], float]:
    """Return the ``n`` rows with the smallest numbers, and the number that none of them reaches."""
    numbers = np.concatenate([some.numbers for some in kept])
    bound = float(np.partition(numbers, n)[n])
    return [some.below(bound) for some in kept], bound
