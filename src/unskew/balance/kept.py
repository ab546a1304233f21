"""Draws from a source, and keeps what a chooser chooses: by ε, or by a frozen rule."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np
from numpy.typing import NDArray

from unskew.balance.saved import BalancerState, DrawState, HomogenizerState
from unskew.core.batch import ENDLESS
from unskew.core.errors import UnskewError
from unskew.core.rng import at_state, state_of
from unskew.core.tally import Tally

if TYPE_CHECKING:
    from collections.abc import Hashable, Iterator

    from unskew.core.batch import Batch
    from unskew.core.source import Source

PATIENCE = 1_000_000  # draws in a row without a kept one before an error


@dataclass(frozen=True)
class Health:
    """The state of homogenizing: its cost next to the bound, and the values never seen."""

    drawn: int
    kept: int
    cost: float
    bound: float
    never_seen: tuple[Hashable, ...]
    warnings: tuple[str, ...]


class Chooser(Protocol):
    """Decides which draws are kept, and counts them."""

    @property
    def draws_to_look(self) -> int:
        """How many draws come before the health is judged for the next time."""

    def keep(self, batch: Batch, most: int) -> NDArray[np.bool_]:
        """Return which rows to keep, up to the row with which ``most`` are kept."""

    def histograms(self) -> dict[str, tuple[Counter[Hashable], Counter[Hashable]]]:
        """Return by variable how often each value was drawn, and how often it was kept."""

    def identity(self) -> dict[str, Any]:
        """Return what decides which draws are kept, as plain data."""

    def health(self) -> Health:
        """Judge the run so far."""

    def state(self) -> HomogenizerState | BalancerState:
        """Return the counts and the generator as they are now."""

    def go_on_from(self, state: HomogenizerState | BalancerState) -> None:
        """Set the counts and the generator."""


class KeptBatches:
    """Draws from a source, yields what is kept, and counts both."""

    def __init__(
        self,
        source: Source,
        rng: np.random.Generator,
        chooser: Chooser | None = None,
        first_chunk: int | None = None,
    ) -> None:
        """Start with nothing drawn; without a chooser everything is kept.

        Chunks grow twofold from ``first_chunk`` to the source's own size, so that a slow source
        gives its first example soon.
        """
        self._source, self._rng, self._chooser = source, rng, chooser
        self._sampler = source.sampler
        self._chunk = min(first_chunk or source.chunk, source.chunk)
        self._tally = Tally()

    def take(self, n: int | None = None) -> Iterator[Batch]:
        """Yield batches of kept examples, never an empty one, until ``n`` are kept or for ever."""
        left = n
        while left is None or left > 0:
            batch = self.draw(left)
            if left is not None:
                left -= len(batch)
            if len(batch):
                yield batch

    def draw(self, needed: int | None = None) -> Batch:
        """Draw once; return what is kept of it, which may be nothing.

        ``needed`` says how many kept examples are needed, and is None if nobody knows. A user's
        sampler may be slow, so it draws no more than that.
        """
        left, tally, sampler = ENDLESS if needed is None else needed, self._tally, self._sampler
        if sampler is not None:
            batch, dropped = sampler.some(self._rng, needed, tally.drawn)
        else:
            draws = 1  # for one kept example, so that few are drawn in vain
            if self._chooser is not None:
                draws += tally.drawn // max(tally.kept, 1)
            batch, dropped = self._source.draw(self._rng, min(self._chunk, left * draws))
            if len(batch) == 0:
                raise UnskewError(f"source {self._source.name!r} gave nothing; it must draw")
            self._chunk = min(2 * self._chunk, self._source.chunk)
        tally.dropped += dropped
        self._last = batch
        return self._choose(batch, left)

    def _choose(self, batch: Batch, most: int) -> Batch:
        """Return what is kept of a batch, up to the example with which ``most`` are kept."""
        tally, chooser = self._tally, self._chooser
        if chooser is None:
            tally.drawn += len(batch)
        else:
            # Time decides where a sampler's batch ends, but not when the health is judged.
            first = chooser.draws_to_look if self._sampler is not None else len(batch)
            keep = chooser.keep(batch.head(first) if first < len(batch) else batch, most)
            more = most - int(keep.sum())
            if len(keep) == first < len(batch) and more:
                rest = chooser.keep(batch.slice(first, len(batch)), more)
                keep = np.concatenate([keep, rest])
            tally.drawn += len(keep)
            batch = batch.head(len(keep)).filter(keep)
        tally.kept += len(batch)
        return batch

    def health(self) -> Health:
        """Return the cost next to its bound, the values never seen, and warnings."""
        return self._required().health()

    def earlier(self, before: DrawState, kept: int) -> tuple[Tally, Health]:
        """Return the tally and the health as they were after ``kept`` examples of the last batch.

        ``before`` is where drawing stood before that batch.
        """
        now = self.state()
        homogenizer = replace(before.homogenizer, warned=now.homogenizer.warned)
        self.go_on_from(replace(before, homogenizer=homogenizer))
        self._choose(self._last, kept)
        result = self.tally, self.health()
        self.go_on_from(now)
        return result

    def state(self) -> DrawState:
        """Return where drawing stands; only with a chooser."""
        homogenizer = self._required().state()
        tally = replace(self._tally, dropped=self._tally.dropped.copy())
        return DrawState(state_of(self._rng), self._chunk, tally, homogenizer)

    def go_on_from(self, state: DrawState) -> None:
        """Set where drawing stands."""
        self._rng, self._chunk = at_state(self._rng, state.rng), state.chunk
        self._required().go_on_from(state.homogenizer)
        self._tally = replace(state.tally, dropped=state.tally.dropped.copy())

    def _required(self) -> Chooser:
        if self._chooser is None:
            raise UnskewError("nothing is homogenized, so there is no state; give a variable")
        return self._chooser

    @property
    def tally(self) -> Tally:
        """Return what was drawn, dropped and kept so far."""
        tally = replace(
            self._tally, dropped=self._tally.dropped.copy(), drawn_values={}, kept_values={}
        )
        if self._chooser is not None:
            for name, (drawn, kept) in self._chooser.histograms().items():
                tally.drawn_values[name], tally.kept_values[name] = drawn, kept
        return tally
