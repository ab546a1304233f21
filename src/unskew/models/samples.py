"""Examples to score a model on: data, all or some evenly spaced rows, or draws of a source."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from unskew.core.batch import Batch, Column, concatenate, is_binary
from unskew.core.errors import UnskewError, check_count
from unskew.datasets.target import Target

DRAWS = 10_000  # examples of a source, if no number is given


@dataclass(frozen=True)
class Sample:
    """Examples, and how many there are in all: None of a source, which never ends."""

    examples: Batch
    of: int | None

    @property
    def is_cut(self) -> bool:
        """Whether there are more than these."""
        return self.of is not None and len(self.examples) < self.of


def read_sample(target: Target, n: int | None) -> Sample:
    """Read all examples of a target, or ``n`` of them that are evenly spaced.

    Data is often in some order, by length or by source. So its first rows are unlike the rest.
    """
    if n is not None:
        check_count("n", n, "score at least one example")
    batches = list(target.read((n or DRAWS) if target.endless else None))
    if not batches:
        raise UnskewError(f"{target.label} gave no examples; there is nothing to read")
    whole = join(batches)
    if target.endless:
        return Sample(whole, None)
    if n is None or n >= len(whole):
        return Sample(whole, len(whole))
    rows = np.linspace(0, len(whole) - 1, n).astype(np.int64)
    return Sample(whole.take(rows), len(whole))


def join(batches: Sequence[Batch]) -> Batch:
    """Join batches of several files. Columns that some files lack, or have of another type, go."""
    if len({tuple(_types(batch).items()) for batch in batches}) == 1:
        return concatenate(batches)
    loose = [Batch({name: _loose(c) for name, c in b.columns.items()}) for b in batches]
    types = [_types(batch) for batch in loose]
    shared = [name for name, kind in types[0].items() if all(t.get(name) == kind for t in types)]
    if not shared:
        raise UnskewError("the files have no column in common; keep them apart")
    return concatenate([Batch({name: b.columns[name] for name in shared}) for b in loose])


def _types(batch: Batch) -> dict[str, str]:
    """Return the type of each column."""
    columns = batch.columns.items()
    return {n: str(c.dtype if isinstance(c, np.ndarray) else c.type) for n, c in columns}


def _loose(column: Column) -> Column:
    """Return a column of bytes with rows of any length: another file may have longer ones."""
    import pyarrow as pa

    if isinstance(column, np.ndarray) or not is_binary(column):
        return column
    return column.cast(pa.large_binary())
