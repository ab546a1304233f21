"""Counts how often each value of a salient variable occurs."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    from collections.abc import Hashable, Iterable

    from unskew.balance.codebook import Codebook
    from unskew.balance.saved import Counts
    from unskew.core.batch import Batch

FEWEST = 100  # examples; in fewer, values may differ by chance
SPARSE = 5  # examples of a combination below which its share is mostly chance
NEARLY_ALL = 0.9  # share of examples with a value of their own above which nothing is homogenized


class Histogram:
    """Counts for the values of a codebook; there is always one count for each known value."""

    def __init__(self, codebook: Codebook) -> None:
        """Start with zero for every value that the codebook knows already."""
        self.codebook = codebook
        self._counts = np.zeros(len(codebook.values), dtype=np.int64)

    def add(self, batch: Batch) -> NDArray[np.int64]:
        """Measure a batch, count its values, and return the code of each row."""
        codes = self.codebook.measure(batch)
        self.add_codes(codes)
        return codes

    def add_codes(self, codes: NDArray[np.int64]) -> None:
        """Count values by their codes."""
        counts = self.counts
        counts += np.bincount(codes, minlength=len(counts))

    @property
    def counts(self) -> NDArray[np.int64]:
        """The counts by code; a change of this array changes the histogram."""
        new_values = len(self.codebook.values) - len(self._counts)
        if new_values:
            self._counts = np.concatenate([self._counts, np.zeros(new_values, dtype=np.int64)])
        return self._counts

    def by_value(self) -> dict[Hashable, int]:
        """Return the count of each value, in the order of the codes."""
        return dict(zip(self.codebook.values, self.counts.tolist(), strict=True))


def restore(counts: Counts, drawn: Histogram, kept: Histogram) -> None:
    """Set two histograms of one codebook to counts that were saved."""
    codebook, values = drawn.codebook, counts.values[: len(counts.drawn)]
    codebook.learn(values)
    numbers = {value: code for code, value in enumerate(codebook.values)}
    codes = [numbers[value] for value in values]
    for histogram, saved in ((drawn, counts.drawn), (kept, counts.kept)):
        histogram.counts[:] = 0
        histogram.counts[codes] = saved


def hardly_repeats(counts: Iterable[int]) -> bool:
    """Return whether, of at least 100 examples, more than half have a value of their own."""
    every = list(counts)
    examples = sum(every)
    return examples >= FEWEST and 2 * every.count(1) > examples


def nothing_to_balance(name: str, counts: NDArray[np.int64]) -> list[str]:
    """Return a warning if nearly all examples have a value of their own; else nothing."""
    examples, singles = int(counts.sum()), int((counts == 1).sum())
    if examples < FEWEST or singles < NEARLY_ALL * examples:
        return []
    return [
        f"hardly any value of {name!r} repeats ({singles:,} of {examples:,} examples have a value "
        "of their own), so nearly all are kept and nothing is homogenized; bin or round it: a "
        "function of your own, my_module:my_function (in Python: unskew.bins, unskew.round_to)"
    ]


def too_sparse(name: str, counts: NDArray[np.int64]) -> list[str]:
    """Return a warning if most combinations of several variables have hardly any examples."""
    occurring, rare = int((counts > 0).sum()), int(((counts > 0) & (counts < SPARSE)).sum())
    if not occurring or 2 * rare <= occurring:
        return []
    return [
        f"combinations of {name} are sparse: {rare:,} of {occurring:,} have fewer than {SPARSE} of "
        f"{int(counts.sum()):,} examples, so their shares are mostly chance, and each variable "
        "hardly gets closer; give a budget, which balances each variable: --budget (in Python: "
        "budget=)"
    ]
