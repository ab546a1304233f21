"""Samplers for the loader of PyTorch, which is not imported: they give the numbers of rows."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from unskew.balance.allotment import most_of_weights
from unskew.balance.best.targets import Target as Shape
from unskew.balance.weighting import systematic
from unskew.core.errors import UnskewError, brief, check_count, check_whole
from unskew.core.recipe import Trust
from unskew.core.rng import generator
from unskew.core.variables.variable import By
from unskew.datasets.resampling.epochs import Epochs, Settings
from unskew.datasets.resampling.pool import open_finite
from unskew.datasets.resampling.weights import Weights
from unskew.datasets.resampling.wish import Wish

DIGITS = 9  # of shares in a state: two machines may differ in the last ones


class Sampler:
    """Gives the numbers of rows in which a variable is closer to uniform, shuffled.

    Give it to a loader: ``DataLoader(data, batch_size=64, sampler=Sampler(data, by="label"))``.
    Each iteration is an epoch, and each epoch chooses anew. After an iteration that was left before
    its end, the next one gives the same epoch again. All ranks choose the same rows and give
    disjoint parts of them, all of one length.

    Args:
        data: whatever ``resample`` takes; or, without ``by``, a weight for each row.
        by: a variable, or several. With ``epsilon`` several count jointly, as tuples.
        n: the rows of an epoch, of all ranks together. Without it, as many as are possible
            without repeats; with ``replacement`` or ``repeats``, as many as in the data.
        epsilon: a smaller value gets closer to uniform. Weights do not need it.
        budget: see ``resample``, as for the next five.
        closeness: see ``resample``.
        target: see ``resample``.
        like: see ``resample``.
        jointly: see ``resample``.
        repeats: see ``resample``.
        seed: the same seed gives the same numbers.
        replacement: whether a row may come more than once in an epoch.
        rank: the number of this process, from 0.
        ranks: how many processes share each epoch.
        trust: whether code that a dataset names may be imported.
    """

    def __init__(
        self,
        data: Any,
        by: By | str | Sequence[str] | None = None,
        n: int | None = None,
        *,
        epsilon: float | None = None,
        budget: float | None = None,
        closeness: float | None = None,
        target: Shape | Mapping[str, Shape] | None = None,
        like: Any = None,
        jointly: bool = False,
        repeats: int | None = None,
        seed: int = 0,
        replacement: bool = False,
        rank: int = 0,
        ranks: int = 1,
        trust: Trust = False,
    ) -> None:
        """Read the variable of all rows; weights are taken as they are."""
        if n is not None:
            check_count("n", n, "ask for at least one example")
        wish = Wish(epsilon, budget, closeness, target, like, jointly, repeats)
        check_whole("seed", seed, 0)
        self._share = RankShare(rank, ranks)
        if by is None:
            if wish.has_goal:
                raise UnskewError("there is a price or a target without a variable; give by")
            self._times, size, content = _by_weights(data, n, replacement)
        else:
            pool = wish.pool(open_finite(data, trust), by, lambda _: None)
            chosen = wish.choice(pool, n, replacement)
            self._times, size, content = chosen.times, chosen.n, checksum(pool.codes)
            if wish.has_goal:
                content += checksum(chosen.shares.round(DIGITS))
        self._seed = seed
        settings: Settings = {
            "n": size,
            "epsilon": float(wish.at),
            "seed": int(seed),
            "replacement": bool(replacement),
            "ranks": int(ranks),
            "data": content,
        }
        self._epochs = Epochs(self._share.of(size, "n"), settings)

    def __repr__(self) -> str:
        """Tell how long an epoch is."""
        return f"Sampler: {len(self):,} rows in an epoch"

    @property
    def epoch(self) -> int:
        """The number of the epoch that is given out, or that was given out last."""
        return self._epochs.epoch

    def __len__(self) -> int:
        """Return the number of rows that each rank gets of an epoch."""
        return self._epochs.length

    def __iter__(self) -> Iterator[int]:
        """Yield the numbers of rows of an epoch, or what is left of it after a state was loaded."""
        return self._epochs.items(self._rows)

    def set_epoch(self, epoch: int) -> None:
        """Let the next iteration give this epoch; without this, epochs follow each other."""
        self._epochs.begin(epoch)

    def state_dict(self, used: int | None = None) -> dict[str, Any]:
        """Return where this sampler is, ready for JSON. All ranks are at the same place.

        A loader with workers asks for rows before they are used. Then say how many rows of this
        epoch were ``used``, as batches times batch size: exactly the others are left.
        """
        return self._epochs.state(used)

    def load_state_dict(self, state: Mapping[str, Any]) -> None:
        """Go on where the state was saved: the next iteration gives the rows that were left."""
        self._epochs.load(state)

    def _rows(self, epoch: int) -> NDArray[np.int64]:
        rng = generator(self._seed, "sampler", epoch)
        times = self._times(rng)
        return self._share.part(rng.permutation(np.repeat(np.arange(len(times)), times)))


class RankShare:
    """The part of an epoch that is of one rank: every n-th item of n ranks."""

    def __init__(self, rank: int, ranks: int) -> None:
        """Refuse a rank that is not there."""
        check_count("ranks", ranks, "give the number of processes")
        check_whole("rank", rank, 0, "ranks are numbered from 0")
        if rank >= ranks:
            raise UnskewError(f"rank is {rank}; allowed is 0 to {ranks - 1}: ranks is {ranks}")
        self._rank, self._ranks = int(rank), int(ranks)

    def of(self, size: int, name: str) -> int:
        """Return how many of ``size`` items each rank gets; what is left over is dropped."""
        if size < self._ranks:
            raise UnskewError(
                f"{name} is {size}, and there are {self._ranks} ranks; ask for at least one each"
            )
        return size // self._ranks

    def part(self, items: NDArray[np.int64]) -> NDArray[np.int64]:
        """Return the items of this rank."""
        return items[self._rank :: self._ranks]


def checksum(codes: NDArray[Any]) -> str:
    """Return a short checksum of the data that a sampler chooses from."""
    return hashlib.blake2b(codes.tobytes(), digest_size=8).hexdigest()


def _by_weights(
    target: Any, n: int | None, replacement: bool
) -> tuple[Callable[[np.random.Generator], NDArray[np.int64]], int, str]:
    """Return what chooses rows in proportion to their weights, how many, and a checksum."""
    weights = _checked_weights(target)
    possible = most_of_weights(weights)
    if n is None:
        n = len(weights) if replacement else possible
    if n > possible and not replacement:
        raise UnskewError(
            f"n is {n}, but the weights give {possible} rows without repeats; ask for at most "
            f"{possible}, or allow repeats: replacement=True"
        )
    size = int(n)
    return partial(systematic, weights, size), size, checksum(weights)


def _checked_weights(target: Any) -> NDArray[np.float64]:
    """Return weights as an array; refuse what is no weights."""
    step = "give by=, or a weight for each row: unskew.weights(data, by=…)"
    if isinstance(target, Weights):
        return target.weights
    try:
        weights = np.array(target, dtype=np.float64)
    except Exception as error:  # an object of any library
        raise UnskewError(f"{brief(target)} is no array of weights; {step}") from error
    if weights.ndim != 1 or not len(weights):
        raise UnskewError(f"{brief(target)} is no array of weights; {step}")
    if not (np.isfinite(weights).all() and weights.min() >= 0 and weights.sum() > 0):
        raise UnskewError(
            f"weights are from {weights.min()} to {weights.max()}; each must be a finite number of "
            "at least 0, their sum above 0"
        )
    return weights
