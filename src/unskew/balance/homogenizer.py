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
from unskew.balance.histogram import FEWEST, Histogram
from unskew.balance.saved import DrawState, HomogenizerState
from unskew.core.errors import HealthWarning, UnskewError, check_range
from unskew.core.recipe import EPSILONS
from unskew.core.rng import at_state, state_of
from unskew.core.tally import Tally
from unskew.core.variables.variable import describe

if TYPE_CHECKING:
    from collections.abc import Hashable, Iterator

    from unskew.core.batch import Batch
    from unskew.core.source import Source
    from unskew.core.variables.variable import SalientVariable

FIRST_LOOK = 1_000  # draws before the cost of a run is judged
NEARLY_ALL = 0.9  # share of draws with a value of their own above which nothing is homogenized
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

    @property
    def draws_to_look(self) -> int:
        """How many draws come before the health is judged for the next time."""
        return max(1, self._next_look - self.drawn)

    def state(self) -> HomogenizerState:
        """Return the counts and the generator as they are now."""
        return HomogenizerState(
            self._codebook.values,
            self._drawn_values.counts.copy(),
            self._kept_values.counts.copy(),
            self._state.copy(),
            state_of(self._rng),
            self.drawn,
            self.kept,
            self._drought,
            self._next_look,
            frozenset(self._warned),
        )

    def go_on_from(self, state: HomogenizerState) -> None:
        """Set the counts and the generator."""
        values = state.values[: len(state.drawn_values)]
        self._codebook.learn(values)
        numbers = {value: code for code, value in enumerate(self._codebook.values)}
        codes = [numbers[value] for value in values]
        for histogram, counts in (
            (self._drawn_values, state.drawn_values),
            (self._kept_values, state.kept_values),
        ):
            histogram.counts[:] = 0
            histogram.counts[codes] = counts
        self._state = state.kernel.copy()
        self._rng = at_state(self._rng, state.rng)
        self.drawn, self.kept = state.drawn, state.kept
        self._drought, self._next_look = state.drought, state.next_look
        self._warned = set(state.warned)

    def health(self) -> Health:
        """Judge the run so far; ``warnings`` is empty when all is well."""
        never = self._never_seen()
        cost = self.drawn / self.kept if self.kept else float("inf")
        messages = []
        singles = int((self._drawn_values.counts == 1).sum())
        if self.drawn >= FEWEST and singles >= NEARLY_ALL * self.drawn:
            messages.append(
                f"hardly any value of {self.variable.name!r} repeats ({singles:,} of "
                f"{self.drawn:,} draws have a value of their own), so nearly all draws are kept "
                "and nothing is homogenized; bin or round it: unskew.bins, unskew.round_to"
            )
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
            if self._homogenizer is not None:
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
        tally, homogenizer = self._tally, self._homogenizer
        if homogenizer is None:
            tally.drawn += len(batch)
        else:
            # Time decides where a sampler's batch ends, but not when the health is judged.
            first = homogenizer.draws_to_look if self._sampler is not None else len(batch)
            keep = homogenizer.keep(batch.head(first) if first < len(batch) else batch, most)
            more = most - int(keep.sum())
            if len(keep) == first < len(batch) and more:
                rest = homogenizer.keep(batch.slice(first, len(batch)), more)
                keep = np.concatenate([keep, rest])
            tally.drawn += len(keep)
            batch = batch.head(len(keep)).filter(keep)
        tally.kept += len(batch)
        return batch

    def health(self) -> Health:
        """Return the cost next to its bound, the values never seen, and warnings."""
        return self._chooser().health()

    def earlier(self, before: DrawState, kept: int) -> tuple[Tally, Health]:
        """Return the tally and the health at a place in the last batch: where so many were kept.

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
        """Return where drawing stands; only with a homogenizer."""
        homogenizer = self._chooser().state()
        tally = replace(self._tally, dropped=self._tally.dropped.copy())
        return DrawState(state_of(self._rng), self._chunk, tally, homogenizer)

    def go_on_from(self, state: DrawState) -> None:
        """Set where drawing stands."""
        self._rng, self._chunk = at_state(self._rng, state.rng), state.chunk
        self._chooser().go_on_from(state.homogenizer)
        self._tally = replace(state.tally, dropped=state.tally.dropped.copy())

    def _chooser(self) -> Homogenizer:
        if self._homogenizer is None:
            raise UnskewError("nothing is homogenized, so there is no state; give a variable")
        return self._homogenizer

    @property
    def tally(self) -> Tally:
        """Return what was drawn, dropped and kept so far."""
        tally = replace(self._tally, dropped=self._tally.dropped.copy())
        if self._homogenizer is not None:
            name = self._homogenizer.variable.name
            drawn_values, kept_values = self._homogenizer.values()
            tally.drawn_values, tally.kept_values = {name: drawn_values}, {name: kept_values}
        return tally
