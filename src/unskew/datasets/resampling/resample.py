"""Chooses rows of existing data so that a variable is closer to uniform."""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from unskew.audits.records import VariableAudit, kl_removed
from unskew.balance.best.targets import Target as Shape
from unskew.core.errors import UnskewError, brief, check_count
from unskew.core.recipe import Recipe, Trust
from unskew.core.rng import generator
from unskew.core.tally import Tally
from unskew.core.variables.variable import By
from unskew.datasets.convert import check_apart, check_suffix, writer
from unskew.datasets.engines.work import Engine
from unskew.datasets.resampling.choice import RowChoice, about
from unskew.datasets.resampling.pool import Advance, Pool, open_finite
from unskew.datasets.resampling.rows import Rows, taken_batches
from unskew.datasets.resampling.wish import Wish
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
    possible: int  # rows that this rule allows without repeats
    tally: Tally  # "drawn" are the rows that came in, "kept" are the rows that were chosen
    path: Path | None = None  # of the file, if one was asked for
    # With a budget, a closeness or a target: what it costs, and how far the variables are from it.
    balance: Mapping[str, Any] = field(default_factory=dict)

    @property
    def rows(self) -> int:
        """Number of chosen rows, repeats included."""
        return len(self.indices)

    @property
    def distinct(self) -> int:
        """Number of different rows that were chosen."""
        return int(np.count_nonzero(self.weights))

    @property
    def variables(self) -> Mapping[str, tuple[VariableAudit, VariableAudit]]:
        """The histogram of each variable before and after, both over the same values."""
        after = self.tally.kept_values
        return {
            name: (_histogram(name, counts, {}), _histogram(name, after[name], counts))
            for name, counts in self.tally.drawn_values.items()
        }

    @property
    def before(self) -> VariableAudit:
        """The histogram of the one variable in what came in."""
        return self._only()[0]

    @property
    def after(self) -> VariableAudit:
        """The histogram of the one variable in the chosen rows, over the same values."""
        return self._only()[1]

    def _only(self) -> tuple[VariableAudit, VariableAudit]:
        if len(self.variables) > 1:
            raise UnskewError(f"there are {len(self.variables)} variables; use variables[name]")
        ((_, pair),) = self.variables.items()
        return pair

    def __repr__(self) -> str:
        """Tell the counts, and how far each variable is from uniform or its target."""
        repeats = self.rows - self.distinct
        lines = [
            f"{self.rows:,} of {self.tally.drawn:,} examples"
            + (f", {repeats:,} of them repeats" if repeats else ""),
            *(_from_target(self.balance) if self.balance else self._from_uniform()),
        ]
        return "\n".join([*lines, f"written to {self.path}"] if self.path else lines)

    def _from_uniform(self) -> list[str]:
        lines = []
        for before, after in self.variables.values():
            removed = kl_removed(before, after)
            lines.append(
                f"{before.name}: KL {before.kl:.3f} → {after.kl:.3f}"
                + (f" ({removed:.1f} % removed)" if removed is not None and removed >= 0 else "")
                + f", TV {before.total_variation:.3f} → {after.total_variation:.3f}"
            )
        return lines

    def to_dict(self) -> dict[str, Any]:
        """Return plain data, ready for JSON."""
        return {
            "file": str(self.path) if self.path else None,
            "rows": self.rows,
            "distinct": self.distinct,
            "possible": self.possible,
            "tally": self.tally.to_dict(),
            **({"balance": dict(self.balance)} if self.balance else {}),
        }


def _from_target(balance: Mapping[str, Any]) -> list[str]:
    """Say how far each variable was and is from its target."""
    return [
        f"{name}: TV from the target {before:.3f} → {after:.3f}"
        for name, (before, after) in balance["total_variation"].items()
    ]


def resample(
    data: Any,
    by: By | str | Sequence[str],
    n: int | None = None,
    *,
    path: str | Path | None = None,
    epsilon: float | None = None,
    budget: float | None = None,
    closeness: float | None = None,
    target: Shape | Mapping[str, Shape] | None = None,
    like: Any = None,
    jointly: bool = False,
    repeats: int | None = None,
    seed: int = 0,
    replacement: bool = False,
    trust: Trust = False,
    advance: Advance = lambda _: None,
    engine: Engine | None = None,
) -> Resampled:
    """Choose ``n`` rows of ``data`` in which ``by`` is closer to uniform, or to a target.

    Rows stay in the order of the data. Files are read as a stream and are never held in memory:
    once to choose, and again each time that ``data`` is read or a file is written.

    Args:
        data: a table, a dataset of Hugging Face or PyTorch, an array, a list of examples, a
            dataset, a file, or a folder of files. ``data`` of the result is of the same kind. Of
            files and datasets it is an iterable of examples that is read when it is used.
        by: a variable, or several. With ``epsilon`` several count jointly, as tuples.
        n: the number of rows. Without it, the most that are possible without repeats; with
            ``replacement`` or ``repeats``, as many as in the data.
        path: a new file to write: .parquet, .jsonl or .csv. Without it, nothing is written.
        epsilon: the paper's distribution. A smaller value gets closer to uniform and leaves fewer
            rows. Without it, and without all that follows, it is 0.025.
        budget: keep one row of so many. Each variable gets as close to its target as any choice
            of so many rows can bring it.
        closeness: the total variation that each variable may be away from its target. The largest
            number of rows is taken.
        target: see ``homogenize``. With ``n`` and no price, the ``n`` rows are as close as can be.
        like: data or a source whose shares are the target.
        jointly: balance the combinations of values, not each variable.
        repeats: how often a row may be taken. Each row is then taken 0 to ``repeats`` times.
        seed: the same seed chooses the same rows and writes the same bytes.
        replacement: whether rows of rare values may be repeated any number of times. They are then
            repeated as evenly as possible.
        trust: whether code that a dataset names may be imported.
        advance: called with a number of examples each time that so many are done.
        engine: who reads the files of ``data`` to choose (``unskew.datasets.engines``). The rows
            are the same whoever reads. Without it, this process. This process writes ``path``.
    """
    _check_order(by, n)
    path = None if path is None else Path(path)
    if path is not None:
        check_suffix(path)
    if n is not None:
        check_count("n", n, "ask for at least one example")
    wish = Wish(epsilon, budget, closeness, target, like, jointly, repeats)
    opened = open_finite(data, trust)
    if path is not None:
        write = writer(opened, path)
        check_apart(data, path)
        check_writable(path)
    pool = wish.pool(opened, by, advance, engine)
    chosen = wish.choice(pool, n, replacement)
    times = chosen.times(generator(seed, "resample"))
    if path is not None:
        write(taken_batches(opened, times, advance))
    return _resampled(data, opened, chosen, times, path)


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
    given: Any, opened: Target, chosen: RowChoice, times: NDArray[np.int64], path: Path | None
) -> Resampled:
    indices = np.repeat(np.arange(len(times)), times)
    is_stream = isinstance(given, _NAMES)
    data = Rows(opened, times) if is_stream else take(given, indices)
    return Resampled(
        data,
        indices,
        times,
        chosen.possible,
        _tally(chosen.pool, times),
        path,
        about(chosen, times),
    )


def _tally(pool: Pool, times: NDArray[np.int64]) -> Tally:
    """Count the values of each variable in all rows and in those that were taken."""
    cells = pool.cells
    taken = np.bincount(pool.codes, times, len(cells.shares)).astype(np.float64)
    tally = Tally(len(pool), int(times.sum()))
    sides = ((tally.drawn_values, pool.counts.astype(float)), (tally.kept_values, taken))
    for values, of_cells in sides:
        for variable, known, counts in zip(
            pool.variables, pool.known, cells.margins(of_cells), strict=True
        ):
            whole = np.rint(counts).astype(np.int64).tolist()
            values[variable.name] = +Counter(dict(zip(known, whole, strict=True)))
    return tally


def _histogram(
    name: str, counts: Mapping[Hashable, int], support: Mapping[Hashable, int]
) -> VariableAudit:
    return VariableAudit(name, {**dict.fromkeys(support, 0), **counts}, declared=False)
