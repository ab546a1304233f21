"""A pool: the value of every row of existing data, as a code, and how many rows have each value."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import chain
from typing import Any, TypeGuard

import numpy as np
from numpy.typing import NDArray

from unskew.audits.binning import in_usual_bins
from unskew.balance.best.cells import Cells, grouped
from unskew.balance.best.population import Population
from unskew.balance.best.targets import Target as Shape
from unskew.balance.codebook import Codebook
from unskew.balance.histogram import nothing_to_balance, too_sparse
from unskew.core.batch import Batch
from unskew.core.errors import RowError, UnskewError
from unskew.core.recipe import Trust
from unskew.core.values.value_data import value_of
from unskew.core.variables.combine import joint
from unskew.core.variables.variable import By, SalientVariable
from unskew.datasets.chosen import named_variables
from unskew.datasets.engines.shared import shared
from unskew.datasets.engines.work import Engine
from unskew.datasets.open import open_target
from unskew.datasets.parts.pilots import balanced_variables, warn
from unskew.datasets.target import Target, column_names
from unskew.io.taken import check_takable

CODING = "unskew.datasets.workers.codes"  # the module of processes that code rows
Advance = Callable[[int], None]


@dataclass(frozen=True)
class Pool:
    """The combination of values that every row has, and how many rows have each combination."""

    label: str  # of the data
    variables: tuple[SalientVariable, ...]
    known: tuple[Sequence[Hashable], ...]  # the values of each variable
    cells: Cells
    codes: NDArray[np.int32]  # the number of the combination of each row
    counts: NDArray[np.int64]  # rows with each combination

    def __len__(self) -> int:
        """Return the number of rows."""
        return len(self.codes)

    @property
    def name(self) -> str:
        """The name of the variable, or of all variables."""
        return " × ".join(variable.name for variable in self.variables)

    @cached_property
    def values(self) -> Sequence[Hashable]:
        """The value of each combination; with several variables it is a tuple."""
        columns = [
            [known[code] for code in column]
            for known, column in zip(self.known, self.cells.codes.T.tolist(), strict=True)
        ]
        return columns[0] if len(columns) == 1 else list(zip(*columns, strict=True))

    def population(self, targets: Mapping[str, Shape]) -> Population:
        """Return the rows as what a rule is fitted to. It also knows values that no row has."""
        names = tuple(variable.name for variable in self.variables)
        values = []
        for name, known in zip(names, self.known, strict=True):
            target = targets.get(name)
            wanted = [v for v, share in target.items() if share] if _is_shares(target) else []
            values.append(list(dict.fromkeys([*known, *wanted])))
        cells = replace(self.cells, sizes=tuple(map(len, values)))
        return Population(names, tuple(values), cells, len(self), are_rows=True)


def _is_shares(target: object) -> TypeGuard[Mapping[Hashable, float]]:
    return isinstance(target, Mapping)


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
    *,
    apart: bool = False,
    jointly: bool = False,
) -> Pool:
    """Read everything once and keep the code of each row; ``engine`` says who reads the files.

    Several variables count jointly, as for ε. If they count ``apart``, each has codes of its own,
    unless they are to be balanced ``jointly``, and numbers that hardly repeat are in bins.
    """
    with opened.rows_by_name():
        return _read_pool(opened, by, advance, engine, apart, jointly)


def _read_pool(
    opened: Target,
    by: By | str | Sequence[str],
    advance: Advance,
    engine: Engine | None,
    apart: bool,
    jointly: bool,
) -> Pool:
    columns = needed_columns(opened, by)
    batches = opened.read(None, columns)
    first = next(batches, None)
    if first is None:
        raise UnskewError(f"{opened.label} gave no examples; there is nothing to resample")
    variables = pool_variables(opened, by, first, apart, jointly)
    codes: list[Sequence[NDArray[np.int32]]] = []
    if engine is None:
        coder = Coder(variables)
        for batch in chain([first], batches):
            codes.append(coder.add(batch))
            advance(len(batch))
        return _pool(opened.label, coder.codebooks, codes)
    codebooks = tuple(map(Codebook, variables))
    task = {"by": by, "apart": apart, "jointly": jointly}
    for data, arrays in shared(opened, engine, CODING, task):
        ours = []
        for codebook, values, theirs in zip(codebooks, data["values"], arrays, strict=True):
            numbers = codebook.encode_objects(list(map(value_of, values)))
            ours.append(numbers[theirs].astype(np.int32))
        codes.append(ours)
        advance(data["n"])
    return _pool(opened.label, codebooks, codes)


def pool_variables(
    opened: Target, by: By | str | Sequence[str], first: Batch, apart: bool, jointly: bool
) -> tuple[SalientVariable, ...]:
    """Return the variables whose values are coded; the first batch says which are in bins."""
    named = named_variables(by, opened, first)
    if not apart:
        return (joint(named),)
    return balanced_variables([in_usual_bins(variable, first) for variable in named], jointly)


class Coder:
    """Turns rows into codes of the variables' values, batch after batch."""

    def __init__(self, variables: Sequence[SalientVariable]) -> None:
        """Start with no row."""
        self.codebooks, self.rows = tuple(map(Codebook, variables)), 0

    def add(self, batch: Batch) -> list[NDArray[np.int32]]:
        """Return the code of each row, for each variable. An error names the row of the data."""
        try:
            codes = [codebook.measure(batch).astype(np.int32) for codebook in self.codebooks]
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
    if not all(any(column in text for column in columns) for text in texts):
        return None  # the error names all columns
    return [column for column in columns if any(column in text for text in texts)]


def _names(by: object) -> list[str]:
    """Return the names of data that variables read; nothing if one of them is code."""
    variables = list(by.values()) if isinstance(by, Mapping) else by
    if isinstance(variables, (str, SalientVariable)) or not isinstance(variables, Sequence):
        variables = [variables]
    names = [x.reads if isinstance(x, SalientVariable) else x for x in variables]
    # Code has a colon, and a column in quotes may have a backslash that its name does not have.
    known = [x for x in names if isinstance(x, str) and x and not {":", "\\"} & set(x)]
    return known if len(known) == len(names) else []


def _pool(
    label: str, codebooks: Sequence[Codebook], codes: Sequence[Sequence[NDArray[np.int32]]]
) -> Pool:
    """Return a pool of the combinations that occur."""
    columns = [np.concatenate(column) for column in zip(*codes, strict=True)]
    cells, places = grouped(columns, [len(codebook.values) for codebook in codebooks])
    counts = np.bincount(places, minlength=len(cells.shares))
    variables = tuple(codebook.variable for codebook in codebooks)
    known = tuple(list(codebook.values) for codebook in codebooks)
    return Pool(label, variables, known, cells, places, counts)


def warn_of_pool(pool: Pool) -> None:
    """Warn if there is nothing to choose from, or if combinations of several are too sparse."""
    notes = nothing_to_balance(pool.name, pool.counts)
    if not notes and any(variable.parts for variable in pool.variables):
        notes = too_sparse(pool.name, pool.counts)
    warn(notes)
