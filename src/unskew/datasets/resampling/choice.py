"""Which rows of a pool are taken, and how often: the same for a file, an object and an epoch."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from unskew.balance import allotment
from unskew.core.errors import UnskewError, check_count, check_range
from unskew.core.recipe import EPSILONS
from unskew.datasets.resampling.pool import Pool

NAMED = 5  # values that an error names
REPEATS = "allow repeats: --replacement (in Python: replacement=True)"


@dataclass(frozen=True)
class RowChoice:
    """How many rows to take of a pool, how even, and whether a row may be taken again."""

    pool: Pool
    n: int
    epsilon: float
    replacement: bool
    possible: int  # rows that this ε allows without repeats

    def times(self, rng: np.random.Generator) -> NDArray[np.int64]:
        """Return how often each row is taken; another generator chooses other rows."""
        allotted = allotment.allot(self.pool.counts, self.n, self.epsilon, rng)
        if not self.replacement:
            allotted = allotment.within(allotted, self.pool.counts)
        return allotment.choose(self.pool.codes, allotted, rng)


def check_choice(n: int | None, epsilon: float) -> None:
    """Refuse a number of rows or an ε that no data allows."""
    check_range("epsilon", epsilon, 0, step=EPSILONS)
    if n is not None:
        check_count("n", n, "ask for at least one example")


def choice(pool: Pool, n: int | None, epsilon: float, replacement: bool) -> RowChoice:
    """Return the choice of ``n`` rows, without ``n`` of as many as there can be."""
    possible = allotment.most_possible(pool.counts, epsilon)
    if n is None:
        n = len(pool) if replacement else possible
    if n > possible and not replacement:
        raise UnskewError(_too_few(pool, n, possible, epsilon))
    return RowChoice(pool, int(n), epsilon, replacement, possible)


def _too_few(pool: Pool, n: int, possible: int, epsilon: float) -> str:
    """Return an error's text: what is possible, which values are too rare, and what to do."""
    label, size = pool.label, len(pool)
    if n > size:
        return (
            f"n is {n}, but {label} has {size} examples, {possible} of them at epsilon "
            f"{epsilon:g}; ask for at most {possible}, or {REPEATS}"
        )
    needed = n * allotment.target_shares(pool.counts, epsilon)
    short = np.flatnonzero(needed > pool.counts + 0.5).tolist()
    short.sort(key=lambda x: pool.counts[x])
    named = [f"{pool.values[x]} ({pool.counts[x]} of {needed[x]:.0f})" for x in short[:NAMED]]
    more = f", … ({len(short) - NAMED} more values)" if len(short) > NAMED else ""
    enough = allotment.epsilon_for(pool.counts, n)
    raised = f"raise epsilon to {enough:g}, " if enough is not None else ""
    return (
        f"n is {n}, but {label} gives {possible} at epsilon {epsilon:g} without repeats: too few "
        f"have {pool.name} = {', '.join(named)}{more}; ask for at most {possible}, {raised}"
        f"or {REPEATS}"
    )
