"""A pool: the value of every row of existing data, as a code, and how many rows have each value."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from unskew.balance.codebook import Codebook
from unskew.balance.histogram import Histogram
from unskew.core.batch import Batch
from unskew.core.errors import UnskewError
from unskew.core.recipe import Trust
from unskew.core.variables.combine import joint
from unskew.core.variables.variable import By
from unskew.datasets.target import Target, column_names, open_target
from unskew.io.lookup import resolve
from unskew.io.taken import check_takable

Advance = Callable[[int], None]


@dataclass(frozen=True)
class Pool:
    """The code of every row, and how many rows have each value."""

    label: str  # of the data
    name: str  # of the variable
    values: Sequence[Hashable]
    codes: NDArray[np.int32]
    counts: NDArray[np.int64]

    def __len__(self) -> int:
        """Return the number of rows."""
        return len(self.codes)


def open_finite(target: Any, trust: Trust = False) -> Target:
    """Open data whose rows can be numbered: it ends, and reading it again gives the same rows."""
    check_takable(target)
    opened = open_target(target, trust=trust)
    if opened.endless:
        raise UnskewError(
            f"{opened.label} never ends, so it cannot be resampled; homogenize it: unskew generate"
        )
    return opened


def read_pool(opened: Target, by: By | str | Sequence[str], advance: Advance) -> Pool:
    """Read everything once and keep the code of each row."""
    histogram: Histogram | None = None
    codes: list[NDArray[np.int32]] = []
    for batch in _read_needed(opened, by):
        if histogram is None:
            variable = joint(resolve(by, opened.domain, column_names(batch)))
            histogram = Histogram(Codebook(variable))
        codes.append(histogram.add(batch).astype(np.int32))
        advance(len(batch))
    if histogram is None:
        raise UnskewError(f"{opened.label} gave no examples; there is nothing to resample")
    return _without_gaps(opened.label, histogram, np.concatenate(codes))


def _read_needed(opened: Target, by: object) -> Iterator[Batch]:
    """Yield all rows; leave out columns that the variables cannot use, where the reader can."""
    texts = _names(by)
    if opened.domain is not None or not texts:
        return opened.read(None)
    first = next(opened.read(1), None)
    columns = [] if first is None or first.is_plain else column_names(first)
    # A path or a measure holds the name of its column. One that is too many does no harm.
    needed = [column for column in columns if any(column in text for text in texts)]
    return opened.read(None, needed or None)


def _names(by: object) -> list[str]:
    """Return the variables that are named; nothing if one of them is code."""
    if isinstance(by, Mapping):
        by = list(by.values())
    names = [by] if isinstance(by, str) else by
    if not isinstance(names, Sequence):
        return []
    return list(names) if all(isinstance(x, str) and ":" not in x for x in names) else []


def _without_gaps(label: str, histogram: Histogram, codes: NDArray[np.int32]) -> Pool:
    """Return a pool of the values that occur: a declared value that never occurs has no rows."""
    counts, values = histogram.counts, histogram.codebook.values
    occurring = np.flatnonzero(counts)
    renumbered = np.zeros(len(values), dtype=np.int32)
    renumbered[occurring] = np.arange(len(occurring))
    return Pool(
        label,
        histogram.codebook.variable.name,
        [values[code] for code in occurring],
        codes if len(occurring) == len(values) else renumbered[codes],
        counts[occurring],
    )
