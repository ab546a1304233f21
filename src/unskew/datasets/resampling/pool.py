"""A pool: the value of every row of existing data, as a code, and how many rows have each value."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain
from typing import Any

import numpy as np
from numpy.typing import NDArray

from unskew.balance.codebook import Codebook
from unskew.balance.histogram import Histogram, nothing_to_balance
from unskew.core.batch import Batch
from unskew.core.errors import HealthWarning, RowError, UnskewError
from unskew.core.recipe import Trust
from unskew.core.values.value_data import value_of
from unskew.core.variables.combine import joint
from unskew.core.variables.variable import By, SalientVariable
from unskew.datasets.chosen import named_variables
from unskew.datasets.engines.shared import shared
from unskew.datasets.engines.work import Engine
from unskew.datasets.target import Target, column_names, open_target
from unskew.io.taken import check_takable

CODING = "unskew.datasets.workers.codes"  # the module of processes that code rows
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


def read_pool(
    opened: Target,
    by: By | str | Sequence[str],
    advance: Advance,
    engine: Engine | None = None,
) -> Pool:
    """Read everything once and keep the code of each row; ``engine`` says who reads the files."""
    with opened.rows_by_name():
        return _read_pool(opened, by, advance, engine)


def _read_pool(
    opened: Target, by: By | str | Sequence[str], advance: Advance, engine: Engine | None
) -> Pool:
    columns = needed_columns(opened, by)
    batches = opened.read(None, columns)
    first = next(batches, None)
    if first is None:
        raise UnskewError(f"{opened.label} gave no examples; there is nothing to resample")
    variable = joint(named_variables(by, opened, first))
    codes: list[NDArray[np.int32]] = []
    if engine is None:
        coder = Coder(variable)
        for batch in chain([first], batches):
            codes.append(coder.add(batch))
            advance(len(batch))
        return _pool(opened.label, coder.histogram, np.concatenate(codes))
    histogram = Histogram(Codebook(variable))
    for data, (theirs,) in shared(opened, engine, CODING, {"by": by}):
        values = list(map(value_of, data["values"]))
        ours = histogram.codebook.encode_objects(values)[theirs]
        histogram.add_codes(ours)
        codes.append(ours.astype(np.int32))
        advance(data["n"])
    return _pool(opened.label, histogram, np.concatenate(codes))


class Coder:
    """Turns rows into codes of a variable's values, batch after batch, and counts them."""

    def __init__(self, variable: SalientVariable) -> None:
        """Start with no row."""
        self.histogram, self.rows = Histogram(Codebook(variable)), 0

    def add(self, batch: Batch) -> NDArray[np.int32]:
        """Return the code of each row of a batch. An error names the row of the data."""
        try:
            codes = self.histogram.add(batch).astype(np.int32)
        except RowError as error:  # it counts rows from the start of the batch
            raise RowError(self.rows + error.row, error.problem) from error
        self.rows += len(batch)
        return codes


def needed_columns(opened: Target, by: object) -> Sequence[str] | None:
    """Return the columns that the variables can use; None if that is not known."""
    texts = _names(by)
    if opened.domain is not None or not texts:
        return None
    first = next(opened.read(1), None)
    columns = [] if first is None or first.is_plain else column_names(first)
    # A path or a measure holds the name of its column. One that is too many does no harm.
    return [column for column in columns if any(column in text for text in texts)] or None


def _names(by: object) -> list[str]:
    """Return the names of data that variables read; nothing if one of them is code."""
    variables = list(by.values()) if isinstance(by, Mapping) else by
    if isinstance(variables, (str, SalientVariable)) or not isinstance(variables, Sequence):
        variables = [variables]
    names = [x.reads if isinstance(x, SalientVariable) else x for x in variables]
    # Code has a colon, and a column in quotes may have a backslash that its name does not have.
    known = [x for x in names if isinstance(x, str) and x and not {":", "\\"} & set(x)]
    return known if len(known) == len(names) else []


def _pool(label: str, histogram: Histogram, codes: NDArray[np.int32]) -> Pool:
    """Return a pool of the values that occur; warn if there is nothing to choose from.

    A declared value that never occurs has no rows.
    """
    counts, values = histogram.counts, histogram.codebook.values
    for message in nothing_to_balance(histogram.codebook.variable.name, counts):
        warnings.warn(message, HealthWarning, stacklevel=5)
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
