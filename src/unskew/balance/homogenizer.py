"""SampledHomogenize over batches (section 3 and appendix B.1): state, health, kept batches."""

from __future__ import annotations

import warnings
from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from unskew.balance import theory
from unskew.balance.acceptance import AT_LEAST, accept
from unskew.balance.codebook import Codebook
from unskew.balance.histogram import FEWEST, Histogram
from unskew.core.errors import HealthWarning, UnskewError, check_range
from unskew.core.recipe import EPSILONS
from unskew.core.tally import Tally
from unskew.core.variable import describe

if TYPE_CHECKING:
    from collections.abc import Hashable, Iterator

    from unskew.core.batch import Batch
    from unskew.core.source import Source
    from unskew.core.variable import SalientVariable

FIRST_LOOK = 1_000  # draws before the cost of a run is judged
NEARLY_ALL = 0.9  # share of draws with a value of their own above which nothing is homogenized
PATIENCE = 1_000_000  # draws in a row without one kept before giving up
ENDLESS = 2**62


@dataclass(frozen=True)
class Health:
    """How homogenizing goes: its cost beside the bound, and what it never saw."""

    drawn: int
    kept: int
    cost: float
    bound: float
    never_seen: tuple[Hashable, ...]
    warnings: tuple[str, ...]


class Homogenizer:
    """Keeps or drops each draw by the code of one variable; memory is that of the support."""

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
        self.variable = variable
        self.epsilon = float(epsilon)
        self.cost_limit = cost_limit
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

        One uniform a draw, so that batch sizes change nothing.
        """
        codes = self._codebook.measure(batch)
        keep = np.empty(len(codes), dtype=np.bool_)
        uniforms = self._rng.random(len(codes))
        grown = not self._codebook.declared
        counts = (
            self._drawn_values.counts
        )  # the kernel counts: each decision needs the counts so far
        seen = accept(codes, uniforms, self.epsilon, grown, counts, self._state, keep, most)
        keep = keep[:seen]
        self._kept_values.add_codes(codes[:seen][keep])
        self._look_after(seen, int(keep.sum()))
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
        found = []
        singles = int((self._drawn_values.counts == 1).sum())
        if self.drawn >= FEWEST and singles >= NEARLY_ALL * self.drawn:
            found.append(
                f"hardly any value of {self.variable.name!r} repeats ({singles:,} of "
                f"{self.drawn:,} draws have a value of their own), so nearly all draws are kept "
                "and nothing is homogenized; bin or round it: unskew.bins, unskew.round_to"
            )
        if self.drawn >= FIRST_LOOK and never:
            found.append(self._say_never_seen(never))
        if self.drawn >= FIRST_LOOK and cost > self.cost_limit:
            found.append(
                f"homogenizing {self.variable.name!r} costs {cost:.1f} draws per kept example, "
                f"above the limit of {self.cost_limit:g}; raise epsilon ({self.epsilon:g}), "
                "or clip or bin the variable"
            )
        bound = theory.cost_bound(self.epsilon)
        return Health(self.drawn, self.kept, cost, bound, never, tuple(found))

    def _never_seen(self) -> tuple[Hashable, ...]:
        """Return the declared values that never came, those of a joint variable's parts too."""
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

    def _look_after(self, drawn: int, kept: int) -> None:
        self.drawn += drawn
        self.kept += kept
        self._drought = 0 if kept else self._drought + drawn
        if self._drought >= PATIENCE:
            reasons = self.health().warnings
            because = reasons[0] if reasons else "its commonest values are all too common"
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
    """Draws from a source and yields what is kept, with a tally of all of it."""

    def __init__(
        self,
        source: Source,
        rng: np.random.Generator,
        homogenizer: Homogenizer | None = None,
        first_chunk: int | None = None,
    ) -> None:
        """Keep everything where there is no homogenizer.

        Chunks double from ``first_chunk`` to the source's own, so that the first example of a
        slow sampler comes soon.
        """
        self._source = source
        self._rng = rng
        self._homogenizer = homogenizer
        self._chunk = min(first_chunk or source.chunk, source.chunk)
        self._drawn = self._kept = 0
        self._dropped: Counter[str] = Counter()

    def take(self, n: int | None = None) -> Iterator[Batch]:
        """Yield batches of kept examples, never an empty one, until ``n`` are kept or for ever."""
        left = ENDLESS if n is None else n
        while left > 0:
            wanted = left if self._homogenizer is None else left * self._guess()
            batch, dropped = self._source.draw(self._rng, min(self._chunk, wanted))
            if len(batch) == 0:
                raise UnskewError(f"source {self._source.name!r} gave nothing; it must draw")
            self._chunk = min(2 * self._chunk, self._source.chunk)
            self._dropped += dropped
            if self._homogenizer is None:
                self._drawn += len(batch)
            else:
                keep = self._homogenizer.keep(batch, left)
                self._drawn += len(keep)
                batch = batch.head(len(keep)).filter(keep)
            self._kept += len(batch)
            left -= len(batch)
            if len(batch):
                yield batch

    def _guess(self) -> int:
        """Guess how many draws one kept example takes, so that few are drawn in vain."""
        return 1 + self._drawn // max(self._kept, 1)

    @property
    def tally(self) -> Tally:
        """Return what was drawn, dropped and kept so far."""
        tally = Tally(self._drawn, self._kept, self._dropped.copy())
        if self._homogenizer is not None:
            name = self._homogenizer.variable.name
            tally.drawn_values[name], tally.kept_values[name] = self._homogenizer.values()
        return tally
