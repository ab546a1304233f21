"""Chooses rows of existing data so that a variable is closer to uniform."""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from unskew.audits.records import VariableAudit, kl_removed
from unskew.core.errors import UnskewError, brief
from unskew.core.recipe import Recipe, Trust
from unskew.core.rng import generator
from unskew.core.tally import Tally
from unskew.core.variables.variable import By
from unskew.datasets.convert import check_apart, check_suffix, writer
from unskew.datasets.engines.work import Engine
from unskew.datasets.resampling.choice import RowChoice, check_choice, choice
from unskew.datasets.resampling.pool import Advance, Pool, open_finite, read_pool
from unskew.datasets.resampling.rows import Rows, taken_batches
from unskew.datasets.target import Target
from unskew.io.dataset import Dataset
from unskew.io.files import check_writable
from unskew.io.location import ObjectPath
from unskew.io.taken import take

_NAMES = (str, Path, ObjectPath, Dataset, Recipe, Target)  # of data that is read as a stream


@dataclass(frozen=True, eq=False, repr=False)
class Resampled:
    """The rows that ``resample`` chose, and how often each value came before and after."""

    data: Any  # the chosen rows, as the kind of object that came in
    indices: NDArray[np.int64]  # the number of each chosen row in what came in, in order
    weights: NDArray[np.int64]  # how often each row of what came in was taken
    possible: int  # rows that this ε allows without repeats
    tally: Tally  # "drawn" are the rows that came in, "kept" are the rows that were chosen
    path: Path | None = None  # of the file, if one was asked for

    @property
    def rows(self) -> int:
        """Number of chosen rows, repeats included."""
        return len(self.indices)

    @property
    def distinct(self) -> int:
        """Number of different rows that were chosen."""
        return int(np.count_nonzero(self.weights))

    @property
    def before(self) -> VariableAudit:
        """The histogram of the variable in what came in."""
        return _histogram(self.tally.drawn_values, {})

    @property
    def after(self) -> VariableAudit:
        """The histogram of the variable in the chosen rows, over the same values."""
        return _histogram(self.tally.kept_values, self.before.counts)

    def __repr__(self) -> str:
        """Tell the counts, and how far the variable is from uniform before and after."""
        before, after = self.before, self.after
        repeats = self.rows - self.distinct
        removed = kl_removed(before, after)
        lines = [
            f"{self.rows:,} of {self.tally.drawn:,} examples"
            + (f", {repeats:,} of them repeats" if repeats else ""),
            f"{before.name}: KL {before.kl:.3f} → {after.kl:.3f}"
            + (f" ({removed:.1f} % removed)" if removed is not None and removed >= 0 else "")
            + f", TV {before.total_variation:.3f} → {after.total_variation:.3f}",
        ]
        return "\n".join([*lines, f"written to {self.path}"] if self.path else lines)

    def to_dict(self) -> dict[str, Any]:
        """Return plain data, ready for JSON."""
        return {
            "file": str(self.path) if self.path else None,
            "rows": self.rows,
            "distinct": self.distinct,
            "possible": self.possible,
            "tally": self.tally.to_dict(),
        }


def resample(
    target: Any,
    by: By | str | Sequence[str],
    n: int | None = None,
    *,
    path: str | Path | None = None,
    epsilon: float = 0.025,
    seed: int = 0,
    replacement: bool = False,
    trust: Trust = False,
    advance: Advance = lambda _: None,
    engine: Engine | None = None,
) -> Resampled:
    """Choose ``n`` rows of ``target`` in which ``by`` is closer to uniform.

    Rows stay in the order of the data. Files are read as a stream and are never held in memory:
    once to choose, and again each time that ``data`` is read or a file is written.

    Args:
        target: a table, a dataset of Hugging Face or PyTorch, an array, a list of examples, a
            dataset, a file, or a folder of files. ``data`` of the result is of the same kind. Of
            files and datasets it is an iterable of examples that is read when it is used.
        by: a variable, or several that are homogenized together.
        n: the number of rows. Without it, the most that ``epsilon`` allows without repeats; with
            ``replacement``, as many as in the data.
        path: a new file to write, .parquet or .jsonl. Without it, nothing is written.
        epsilon: a smaller value gets closer to uniform and leaves fewer rows.
        seed: the same seed chooses the same rows and writes the same bytes.
        replacement: whether rows of rare values may be repeated. They are then repeated as evenly
            as possible.
        trust: whether code that a dataset names may be imported.
        advance: called with a number of examples each time that so many are done.
        engine: who reads the files of ``target`` to choose (``unskew.datasets.engines``). The rows
            are the same whoever reads. Without it, this process. This process writes ``path``.
    """
    _check_order(by, n)
    path = None if path is None else Path(path)
    if path is not None:
        check_suffix(path)
    check_choice(n, epsilon)
    opened = open_finite(target, trust)
    if path is not None:
        write = writer(opened, path)
        check_apart(target, path)
        check_writable(path)
    pool = read_pool(opened, by, advance, engine)
    chosen = choice(pool, n, epsilon, replacement)
    times = chosen.times(generator(seed, "resample"))
    if path is not None:
        write(taken_batches(opened, times, advance))
    return _resampled(target, opened, chosen, times, path)


def _check_order(by: object, n: object) -> None:
    """Refuse the arguments of before: the file was the second, and the variable the third."""
    is_count = n is None or isinstance(n, (int, float, np.generic))
    if isinstance(by, Path) or not is_count:
        variable = n if isinstance(n, str) else "answer"
        raise UnskewError(
            f"by is {brief(by)}, and n is {brief(n)}; give the file by its name: "
            f"resample(data, by={variable!r}, path={str(by)!r})"
        )


def _resampled(
    target: Any, opened: Target, chosen: RowChoice, times: NDArray[np.int64], path: Path | None
) -> Resampled:
    indices = np.repeat(np.arange(len(times)), times)
    is_stream = isinstance(target, _NAMES)
    data = Rows(opened, times) if is_stream else take(target, indices)
    return Resampled(data, indices, times, chosen.possible, _tally(chosen.pool, times), path)


def _tally(pool: Pool, times: NDArray[np.int64]) -> Tally:
    kept = np.bincount(pool.codes, weights=times).astype(np.int64)
    drawn_values, kept_values = (
        Counter(dict(zip(pool.values, counts.tolist(), strict=True)))
        for counts in (pool.counts, kept)
    )
    return Tally(
        len(pool),
        int(times.sum()),
        drawn_values={pool.name: drawn_values},
        kept_values={pool.name: +kept_values},
    )


def _histogram(
    values: Mapping[str, Counter[Hashable]], support: Mapping[Hashable, int]
) -> VariableAudit:
    ((name, counts),) = values.items()
    return VariableAudit(name, {**dict.fromkeys(support, 0), **counts}, declared=False)
