"""Chooses rows of an existing file or folder so that a variable is closer to uniform."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Hashable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from unskew.balance import allotment
from unskew.balance.codebook import Codebook
from unskew.balance.histogram import Histogram
from unskew.core.batch import Batch
from unskew.core.errors import UnskewError, check_count, check_range
from unskew.core.recipe import EPSILONS, Trust
from unskew.core.rng import generator
from unskew.core.tally import Tally
from unskew.core.variables.combine import joint
from unskew.core.variables.variable import By
from unskew.datasets.convert import check_apart, check_suffix, writer
from unskew.datasets.target import Target, column_names, open_target
from unskew.io.files import check_writable
from unskew.io.lookup import resolve

NAMED = 5  # values that an error names

Advance = Callable[[int], None]


@dataclass(frozen=True)
class Resampled:
    """What ``resample`` wrote: the number of rows, and how often each value came."""

    path: Path
    rows: int
    distinct: int  # different rows of the data that were taken
    possible: int  # rows that this ε allows without repeats
    tally: Tally  # "drawn" are the rows of the data, "kept" are the rows that were written

    def to_dict(self) -> dict[str, Any]:
        """Return plain data, ready for JSON."""
        return {
            "file": str(self.path),
            "rows": self.rows,
            "distinct": self.distinct,
            "possible": self.possible,
            "tally": self.tally.to_dict(),
        }


@dataclass(frozen=True)
class _Pool:
    """The code of every row, and how many rows have each value."""

    name: str
    values: Sequence[Hashable]
    codes: NDArray[np.int32]
    counts: NDArray[np.int64]


def resample(
    target: Any,
    path: str | Path,
    by: By | str | Sequence[str],
    n: int | None = None,
    *,
    epsilon: float = 0.025,
    seed: int = 0,
    replacement: bool = False,
    trust: Trust = False,
    advance: Advance = lambda _: None,
) -> Resampled:
    """Write ``n`` examples of ``target`` in which ``by`` is closer to uniform; return the counts.

    Rows stay in the order of the data. The data is read twice, and is never held in memory.

    Args:
        target: a Parquet or JSONL file, a folder of such files, a dataset, or a list of examples.
        path: the new file, .parquet or .jsonl.
        by: a variable, or several that are homogenized together.
        n: the number of rows. Without it, the most that ``epsilon`` allows without repeats; with
            ``replacement``, as many as in the data.
        epsilon: a smaller value gets closer to uniform and leaves fewer rows.
        seed: the same seed writes the same bytes.
        replacement: whether rows of rare values may be repeated. They are then repeated as evenly
            as possible.
        trust: whether code that a dataset names may be imported.
        advance: called with a number of examples each time that so many are done.
    """
    path = Path(path)
    check_suffix(path)
    check_range("epsilon", epsilon, 0, step=EPSILONS)
    if n is not None:
        check_count("n", n, "ask for at least one example")
    opened = _open(target, trust)
    write = writer(opened, path)
    check_apart(target, path)
    check_writable(path)
    pool = _measure(opened, by, advance)
    possible = allotment.most_possible(pool.counts, epsilon)
    if n is None:
        n = len(pool.codes) if replacement else possible
    if n > possible and not replacement:
        raise UnskewError(_too_few(opened.label, pool, n, possible, epsilon))
    rng = generator(seed, "resample")
    allotted = allotment.allot(pool.counts, n, epsilon, rng)
    if not replacement:
        allotted = allotment.within(allotted, pool.counts)
    times = allotment.choose(pool.codes, allotted, rng)
    rows = write(_taken(opened, times, advance))
    return Resampled(path, rows, int((times > 0).sum()), possible, _tally(pool, times))


def _open(target: Any, trust: Trust) -> Target:
    if isinstance(target, Iterator):
        raise UnskewError("the examples can be read only once; pass a list, a file or a folder")
    opened = open_target(target, trust=trust)
    if opened.endless:
        raise UnskewError(
            f"{opened.label} never ends, so it cannot be resampled; homogenize it: unskew generate"
        )
    return opened


def _measure(opened: Target, by: By | str | Sequence[str], advance: Advance) -> _Pool:
    """Read everything once and keep the code of each row."""
    histogram: Histogram | None = None
    codes: list[NDArray[np.int32]] = []
    for batch in opened.read(None):
        if histogram is None:
            variable = joint(resolve(by, opened.domain, column_names(batch)))
            histogram = Histogram(Codebook(variable))
        codes.append(histogram.add(batch).astype(np.int32))
        advance(len(batch))
    if histogram is None:
        raise UnskewError(f"{opened.label} gave no examples; there is nothing to resample")
    return _without_gaps(histogram, np.concatenate(codes))


def _without_gaps(histogram: Histogram, codes: NDArray[np.int32]) -> _Pool:
    """Return a pool of the values that occur: a declared value that never occurs has no rows."""
    counts, values = histogram.counts, histogram.codebook.values
    occurring = np.flatnonzero(counts)
    renumbered = np.zeros(len(values), dtype=np.int32)
    renumbered[occurring] = np.arange(len(occurring))
    return _Pool(
        histogram.codebook.variable.name,
        [values[code] for code in occurring],
        renumbered[codes],
        counts[occurring],
    )


def _taken(opened: Target, times: NDArray[np.int64], advance: Advance) -> Iterator[Batch]:
    """Read everything again and yield each row as often as it was chosen."""
    start = 0
    for batch in opened.read(None):
        here = times[start : start + len(batch)]
        if len(here) < len(batch):
            break
        start += len(batch)
        rows = np.repeat(np.arange(len(batch)), here)
        if len(rows):
            yield batch.take(rows)
        advance(len(batch))
    if start < len(times):
        raise UnskewError(f"{opened.label} changed while it was read; run the command again")


def _tally(pool: _Pool, times: NDArray[np.int64]) -> Tally:
    kept = np.bincount(pool.codes, weights=times).astype(np.int64)
    drawn_values, kept_values = (
        Counter(dict(zip(pool.values, counts.tolist(), strict=True)))
        for counts in (pool.counts, kept)
    )
    return Tally(
        len(pool.codes),
        int(times.sum()),
        drawn_values={pool.name: drawn_values},
        kept_values={pool.name: +kept_values},
    )


def _too_few(label: str, pool: _Pool, n: int, possible: int, epsilon: float) -> str:
    """Return an error's text: what is possible, which values are too rare, and what to do."""
    size = len(pool.codes)
    if n > size:
        return (
            f"n is {n}, but {label} has {size} examples, {possible} of them at epsilon "
            f"{epsilon:g}; ask for at most {possible}, or allow repeats: --replacement"
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
        "or allow repeats: --replacement"
    )
