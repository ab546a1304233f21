"""SampledHomogenize over batches (section 3 and appendix B.1)."""

from __future__ import annotations

import warnings
from collections import Counter
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from unskew.balance import theory
from unskew.balance.acceptance import AT_LEAST, accept
from unskew.balance.codebook import Codebook
from unskew.balance.histogram import FEWEST, Histogram, nothing_to_balance
from unskew.core.errors import HealthWarning, UnskewError, check_range
from unskew.core.recipe import EPSILONS
from unskew.core.tally import Tally
from unskew.core.variables.variable import describe

if TYPE_CHECKING:
    from collections.abc import Hashable, Iterator

    from unskew.core.batch import Batch
    from unskew.core.source import Source
    from unskew.core.variables.variable import SalientVariable

FIRST_LOOK = 1_000  # draws before the cost of a run is judged
PATIENCE = 1_000_000  # draws in a row without a kept one before an error
ENDLESS = 2**62


@dataclass(frozen=True)
class Health:
    """The state of homogenizing: its cost next to the bound, and the values never seen."""

    drawn: int
    kept: int
    cost: float
    bound: float
    never_seen: tuple[Hashable, ...]
    warnings: tuple[str, ...]


class Homogenizer:
    """Keeps or drops each draw by the value of one variable; memory holds a count of each value."""

    def __init__(
        self,
        variable: SalientVariable,
        epsilon: float,
        rng: np.random.Generator,
        cost_limit: float = 100.0,
    ) -> None:
        """Start with nothing counted; ``cost_limit`` is in draws per kept example."""
        check_range("epsilon", epsilon, 0, step=EPSILONS)
        check_range("cost_limit", cost_limit, 1)
        self.variable, self.epsilon, self.cost_limit = variable, float(epsilon), cost_limit
        self.drawn = self.kept = 0
        self._rng = rng
        self._codebook = Codebook(variable)
        self._drawn_values = Histogram(self._codebook)
        self._kept_values = Histogram(self._codebook)
        self._state = np.zeros(3, dtype=np.int64)
        # Every declared value starts with the smallest count, which is zero.
        self._state[AT_LEAST] = len(self._codebook.values)
        self._drought = 0
        self._next_look = FEWEST
        self._warned: set[str] = set()

    def keep(self, batch: Batch, most: int) -> NDArray[np.bool_]:
        """Return which rows to keep, up to the row with which ``most`` are kept.

        Each draw uses one random number, so batch sizes change nothing.
        """
        codes = self._codebook.measure(batch)
        keep = np.empty(len(codes), dtype=np.bool_)
        uniforms = self._rng.random(len(codes))
        grown = not self._codebook.declared
        counts = self._drawn_values.counts  # the kernel adds to them: a decision needs them
        seen = accept(codes, uniforms, self.epsilon, grown, counts, self._state, keep, most)
        keep = keep[:seen]
        self._kept_values.add_codes(codes[:seen][keep])
        self._watch(seen, int(keep.sum()))
        return keep

    def values(self) -> tuple[Counter[Hashable], Counter[Hashable]]:
        """Return how often each value was drawn, and how often it was kept.

        A declared value that was never drawn has a count of zero.
        """
        drawn = Counter(self._drawn_values.by_value())
        return drawn if self._codebook.declared else +drawn, +Counter(self._kept_values.by_value())

    def health(self) -> Health:
        """Judge the run so far; ``warnings`` is empty when all is well."""
        never = self._never_seen()
        cost = self.drawn / self.kept if self.kept else float("inf")
        messages: list[str] = []
        messages += nothing_to_balance(self.variable.name, self._drawn_values.counts)
        if self.drawn >= FIRST_LOOK and never:
            messages.append(self._say_never_seen(never))
        if self.drawn >= FIRST_LOOK and cost > self.cost_limit:
            messages.append(
                f"homogenizing {self.variable.name!r} costs {cost:.1f} draws per kept example, "
                f"above the limit of {self.cost_limit:g}; raise epsilon ({self.epsilon:g}), "
                "or clip or bin the variable"
            )
        bound = theory.cost_bound(self.epsilon)
        return Health(self.drawn, self.kept, cost, bound, never, tuple(messages))

    def _never_seen(self) -> tuple[Hashable, ...]:
        """Return the declared values never drawn, also those of the parts of a joint variable."""
        counts = self._drawn_values.by_value()
        if self._codebook.declared:
            return tuple(value for value, count in counts.items() if count == 0)
        seen: list[Any] = [value for value, count in counts.items() if count]
        return tuple(
            f"{part.name} = {value}"
            for i, part in enumerate(self.variable.parts)
            for value in part.support or ()
            if value not in {combination[i] for combination in seen}
        )

    def _say_never_seen(self, never: tuple[Hashable, ...]) -> str:
        if not self._codebook.declared:  # parts of a joint variable cost nothing when unseen
            return f"{self.variable.name!r} never took {describe(never)} in {self.drawn} draws"
        p = self._drawn_values.counts / self.drawn
        now = theory.expected_cost(p, self.epsilon)
        without = theory.expected_cost(p[p > 0], self.epsilon)
        return (
            f"{self.variable.name!r} never took {describe(never)} in {self.drawn} draws; "
            f"leaving {'it' if len(never) == 1 else 'them'} out of the support would lower the "
            f"cost from {now:.1f} to {without:.1f} draws per kept example"
        )

    def _watch(self, drawn: int, kept: int) -> None:
        """Count draws; warn of bad health, and raise if nothing is kept any more."""
        self.drawn += drawn
        self.kept += kept
        self._drought = 0 if kept else self._drought + drawn
        if self._drought >= PATIENCE:
            reasons = self.health().warnings
            because = reasons[0] if reasons else "the values drawn are all too frequent"
            raise UnskewError(
                f"nothing kept in {self._drought} draws at epsilon {self.epsilon:g}: {because}; "
                "raise epsilon"
            )
        if self.drawn >= self._next_look:
            self._next_look = 2 * self.drawn if self.drawn >= FIRST_LOOK else FIRST_LOOK
            for warning in self.health().warnings:
                kind = warning.split(maxsplit=1)[0]
                if kind not in self._warned:
                    self._warned.add(kind)
                    warnings.warn(warning, HealthWarning, stacklevel=2)


class KeptBatches:
    """Draws from a source, yields what is kept, and counts both."""

    def __init__(
        self,
        source: Source,
        rng: np.random.Generator,
        homogenizer: Homogenizer | None = None,
        first_chunk: int | None = None,
    ) -> None:
        """Start with nothing drawn; without a homogenizer everything is kept.

        Chunks grow twofold from ``first_chunk`` to the source's own size, so that a slow source
        gives its first example soon.
        """
        self._source, self._rng, self._homogenizer = source, rng, homogenizer
        self._chunk = min(first_chunk or source.chunk, source.chunk)
        self._tally = Tally()

    def take(self, n: int | None = None) -> Iterator[Batch]:
        """Yield batches of kept examples, never an empty one, until ``n`` are kept or for ever."""
        left, tally = ENDLESS if n is None else n, self._tally
        while left > 0:
            draws = 1  # for one kept example, so that few are drawn in vain
            if self._homogenizer is not None:
                draws += tally.drawn // max(tally.kept, 1)
            batch, dropped = self._source.draw(self._rng, min(self._chunk, left * draws))
            if len(batch) == 0:
                raise UnskewError(f"source {self._source.name!r} gave nothing; it must draw")
            self._chunk = min(2 * self._chunk, self._source.chunk)
            tally.dropped += dropped
            if self._homogenizer is None:
                tally.drawn += len(batch)
            else:
                keep = self._homogenizer.keep(batch, left)
                tally.drawn += len(keep)
                batch = batch.head(len(keep)).filter(keep)
            tally.kept += len(batch)
            left -= len(batch)
            if len(batch):
                yield batch

    @property
    def tally(self) -> Tally:
        """Return what was drawn, dropped and kept so far."""
        tally = replace(self._tally, dropped=self._tally.dropped.copy())
        if self._homogenizer is not None:
            name = self._homogenizer.variable.name
            drawn_values, kept_values = self._homogenizer.values()
            tally.drawn_values, tally.kept_values = {name: drawn_values}, {name: kept_values}
        return tally
