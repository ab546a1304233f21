"""Batches that all have the same mixture: in each, so many rows of each value."""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from unskew.core.errors import UnskewError, brief, check_count, check_range, check_whole, unknown
from unskew.core.recipe import Trust
from unskew.core.rng import generator
from unskew.core.variables.variable import By
from unskew.datasets.resampling.epochs import Epochs, Settings
from unskew.datasets.resampling.pool import Pool, open_finite, read_pool, warn_of_pool
from unskew.datasets.resampling.sampler import RankShare, checksum

_GOLDEN = (5**0.5 - 1) / 2  # its multiples are spread evenly between whole numbers
_ROUNDING = 1e-9  # floating point may lack this much of a whole row


class BatchSampler:
    """Gives batches of row numbers. Each batch has the same number of rows of each value.

    Give it to a loader: ``DataLoader(data, batch_sampler=BatchSampler(data, by="label"))``.
    If a share of a batch is no whole number, it is rounded up in some batches and down in others,
    so that over an epoch each value gets its share. The rows of a value come in random order, and
    again only after all others of that value came.

    Args:
        data: whatever ``resample`` takes.
        by: a variable, or several whose combinations are the values.
        batch: the rows of a batch.
        batches: the batches of an epoch, of all ranks together. Without it, as many as the
            rows of the data fill.
        shares: how much of a batch each value gets, in proportion. A value that is left out
            gets nothing. Without it, all values get the same.
        seed: the same seed gives the same batches.
        rank: the number of this process, from 0.
        ranks: how many processes share each epoch. They get different batches.
        trust: whether code that a dataset names may be imported.
    """

    def __init__(
        self,
        data: Any,
        by: By | str | Sequence[str],
        batch: int = 64,
        batches: int | None = None,
        *,
        shares: Mapping[Any, float] | None = None,
        seed: int = 0,
        rank: int = 0,
        ranks: int = 1,
        trust: Trust = False,
    ) -> None:
        """Read the variable of all rows."""
        check_count("batch", batch, "give the number of rows of a batch")
        if batches is not None:
            check_count("batches", batches, "give the number of batches of an epoch")
        check_whole("seed", seed, 0)
        self._share = RankShare(rank, ranks)
        self._pool = read_pool(open_finite(data, trust), by, lambda _: None)
        warn_of_pool(self._pool)
        self._quotas = batch * _shares(self._pool, shares)
        self._batch, self._seed = int(batch), seed
        self._batches = max(len(self._pool) // self._batch, 1) if batches is None else int(batches)
        length = self._share.of(self._batches, "batches")
        settings: Settings = {
            "batch": self._batch,
            "batches": self._batches,
            "shares": checksum(self._quotas),
            "seed": int(seed),
            "ranks": int(ranks),
            "data": checksum(self._pool.codes),
        }
        self._epochs = Epochs(length, settings)

    def __repr__(self) -> str:
        """Tell how long an epoch is."""
        return f"BatchSampler: {len(self):,} batches of {self._batch:,} rows in an epoch"

    @property
    def epoch(self) -> int:
        """The number of the epoch that is given out, or that was given out last."""
        return self._epochs.epoch

    def __len__(self) -> int:
        """Return the number of batches that each rank gets of an epoch."""
        return self._epochs.length

    def __iter__(self) -> Iterator[list[int]]:
        """Yield the batches of an epoch, or what is left of it after a state was loaded."""
        return self._epochs.items(self._rows)

    def set_epoch(self, epoch: int) -> None:
        """Let the next iteration give this epoch; without this, epochs follow each other."""
        self._epochs.begin(epoch)

    def state_dict(self, used: int | None = None) -> dict[str, Any]:
        """Return where this sampler is, ready for JSON. All ranks are at the same place.

        A loader with workers asks for batches before they are used. Then say how many batches of
        this epoch were ``used``: exactly the others are left.
        """
        return self._epochs.state(used)

    def load_state_dict(self, state: Mapping[str, Any]) -> None:
        """Go on where the state was saved: the next iteration gives the batches that were left."""
        self._epochs.load(state)

    def _rows(self, epoch: int) -> NDArray[np.int64]:
        """Return the batches of this rank, one in each row."""
        rng = generator(self._seed, "batch sampler", epoch)
        codes = _codes(self._quotas, self._batch, self._batches, rng)
        rows = _rows_of(codes, self._pool, rng).reshape(self._batches, self._batch)
        return self._share.part(rng.permuted(rows, axis=1))


def _shares(pool: Pool, shares: Mapping[Any, float] | None) -> NDArray[np.float64]:
    """Return the share of each value of a pool."""
    if shares is None:
        return np.full(len(pool.values), 1 / len(pool.values))
    if not isinstance(shares, Mapping):
        raise UnskewError(f"shares are {brief(shares)}; give a dict {{value: share}}")
    codes: dict[Hashable, int] = {value: code for code, value in enumerate(pool.values)}
    of_values = np.zeros(len(codes))
    for value, share in shares.items():
        if value not in codes:
            raise unknown(f"value of {pool.name}", str(value), map(str, codes))
        check_range(f"the share of {value}", share, 0)
        of_values[codes[value]] = share
    if of_values.sum() <= 0:
        raise UnskewError("shares are all 0; give at least one value a share")
    part: NDArray[np.float64] = of_values / of_values.sum()
    return part


def _codes(
    quotas: NDArray[np.float64], batch: int, batches: int, rng: np.random.Generator
) -> NDArray[np.int64]:
    """Return the codes of all batches, one batch after the other.

    A batch has the whole part of each quota. The parts that are left fill the rest by systematic
    rounding: they lie side by side on a line, and marks at a distance of 1 choose among them. The
    first mark moves by the golden ratio from batch to batch. So the marks are spread evenly, and
    the total of each value stays within a few rows of its share.
    """
    whole = np.floor(quotas + _ROUNDING).astype(np.int64)
    fixed = np.repeat(np.arange(len(quotas)), whole)
    left = batch - len(fixed)
    if not left:
        return np.tile(fixed, batches)
    order = rng.permutation(len(quotas))
    ends = np.cumsum(np.maximum(quotas - whole, 0)[order])
    ends *= left / ends[-1]
    first = (rng.random() + _GOLDEN * np.arange(batches)) % 1
    marks = first[:, None] + np.arange(left)
    rounded = order[np.minimum(np.searchsorted(ends, marks, side="right"), len(order) - 1)]
    every = np.concatenate([np.broadcast_to(fixed, (batches, len(fixed))), rounded], axis=1)
    return every.reshape(-1)


def _rows_of(codes: NDArray[np.int64], pool: Pool, rng: np.random.Generator) -> NDArray[np.int64]:
    """Return a row of each code: all rows of a value in random order, then all of them again."""
    order = np.argsort(pool.codes, kind="stable")
    ends = np.cumsum(pool.counts)
    wanted = np.bincount(codes, minlength=len(pool.counts))
    decks = [
        _deck(order[end - count : end], n, rng)
        for end, count, n in zip(ends.tolist(), pool.counts.tolist(), wanted.tolist(), strict=True)
        if n
    ]
    rows = np.empty(len(codes), dtype=np.int64)
    rows[np.argsort(codes, kind="stable")] = np.concatenate(decks)
    return rows


def _deck(rows: NDArray[np.int64], n: int, rng: np.random.Generator) -> NDArray[np.int64]:
    """Return ``n`` of the rows in random order; all are there once before one comes again."""
    passes = [rng.permutation(rows) for _ in range(-(-n // len(rows)))]
    return np.concatenate(passes)[:n]
