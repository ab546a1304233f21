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
    """Some rows of data, in their order, and how many rows were read to choose them."""

    rows: Batch
    read: int


def drawn_rows(batches: Iterator[Batch], n: int, rng: np.random.Generator) -> DrawnRows | None:
    """Return ``n`` random rows, or all if there are no more; None if there is no row.

    Each row has a random number, and the rows with the smallest numbers are kept. So memory holds
    about 2 × ``n`` rows, however many there are.
    """
    kept: list[tuple[Batch, NDArray[np.float64]]] = []
    bound, held, read = 1.0, 0, 0
    for batch in batches:
        read += len(batch)
        numbers = rng.random(len(batch))
        small = numbers < bound
        kept.append((batch.filter(small), numbers[small]))
        held += int(small.sum())
        if held > 2 * n:
            kept, bound = _smallest(kept, n)
            held = n
    if not read:
        return None
    if held > n:
        kept, _ = _smallest(kept, n)
    pieces = [batch for batch, _ in kept if len(batch)]
    return DrawnRows(joined_rows(iter(pieces), 0, n), read)


def _smallest(
    kept: list[tuple[Batch, NDArray[np.float64]]], n: int
) -> tuple[list[tuple[Batch, NDArray[np.float64]]], float]:
    """Return the ``n`` rows with the smallest numbers, and the number that none of them reaches."""
    numbers = np.concatenate([numbers for _, numbers in kept])
    bound = float(np.partition(numbers, n)[n])
    chosen = [(batch.filter(own < bound), own[own < bound]) for batch, own in kept]
    return chosen, bound
