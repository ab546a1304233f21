"""Keeps or drops draws by a frozen rule, and counts what it saw and kept."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from unskew.balance.best.deciding import decide
from unskew.balance.histogram import Histogram, restore
from unskew.balance.kept import PATIENCE, Health
from unskew.balance.saved import AGAIN, BalancerState, Counts, HomogenizerState
from unskew.core.errors import UnskewError, warn_user
from unskew.core.rng import at_state, state_of

if TYPE_CHECKING:
    from collections.abc import Hashable

    from unskew.balance.best.rule import Rule
    from unskew.core.batch import Batch

FIRST_LOOK = 10_000  # draws before the cost is compared with what was expected
OFF = 1.5  # times the expected cost above which there is a warning


class Balancer:
    """Keeps each draw with the probability that a rule gives it.

    Nothing that it has seen changes the rule, so the order of the draws does not matter.
    """

    def __init__(self, rule: Rule, rng: np.random.Generator) -> None:
        """Start with nothing counted."""
        self._rule, self._expected, self._rng = rule, rule.draws, rng
        self._drawn = [Histogram(codebook) for codebook in rule.codebooks]
        self._kept = [Histogram(codebook) for codebook in rule.codebooks]
        self._tables = rule.matrix()
        self.drawn = self.kept = 0
        self._drought = 0
        self._warned: set[str] = set()

    def keep(self, batch: Batch, most: int) -> NDArray[np.bool_]:
        """Return which rows to keep, up to the row with which ``most`` are kept.

        Each draw uses one random number, so batch sizes change nothing.
        """
        codes = np.stack(self._rule.codes(batch))
        uniforms = self._rng.random(len(batch))
        keep = np.empty(len(batch), dtype=np.bool_)
        longest = max(len(histogram.counts) for histogram in self._drawn)
        drawn, kept = np.zeros((2, len(codes), longest), dtype=np.int64)
        tables, sizes = self._tables
        keep = keep[: decide(codes, uniforms, tables, sizes, drawn, kept, keep, most)]
        for matrix, histograms in ((drawn, self._drawn), (kept, self._kept)):
            for row, histogram in zip(matrix, histograms, strict=True):
                counts = histogram.counts
                counts += row[: len(counts)]
        self._watch(len(keep), int(keep.sum()))
        return keep

    def histograms(self) -> dict[str, tuple[Counter[Hashable], Counter[Hashable]]]:
        """Return by variable how often each value was drawn, and how often it was kept."""
        return {
            variable.name: (+Counter(drawn.by_value()), +Counter(kept.by_value()))
            for variable, drawn, kept in zip(
                self._rule.variables, self._drawn, self._kept, strict=True
            )
        }

    def identity(self) -> dict[str, Any]:
        """Return what decides which draws are kept."""
        return {"rule": self._rule.to_dict()}

    @property
    def draws_to_look(self) -> int:
        """How many draws come before the health is judged for the next time."""
        return max(1, int(FIRST_LOOK * self._expected) - self.drawn)

    def health(self) -> Health:
        """Compare the cost with what the pilot sample said."""
        cost = self.drawn / self.kept if self.kept else float("inf")
        messages = []
        looked = self.drawn >= FIRST_LOOK * self._expected
        if looked and not self._expected / OFF <= cost <= self._expected * OFF:
            messages.append(
                f"it costs {cost:.3g} draws per kept example, and the pilot sample said "
                f"{self._expected:.3g}; the source changes as it draws, or the pilot is too small: "
                "draw a larger one"
            )
        return Health(self.drawn, self.kept, cost, self._expected, (), tuple(messages))

    def state(self) -> BalancerState:
        """Return the counts and the generator as they are now."""
        counts = [
            Counts(codebook.values, drawn.counts.copy(), kept.counts.copy())
            for codebook, drawn, kept in zip(
                self._rule.codebooks, self._drawn, self._kept, strict=True
            )
        ]
        rng = state_of(self._rng)
        return BalancerState(
            counts, rng, self.drawn, self.kept, self._drought, frozenset(self._warned)
        )

    def go_on_from(self, state: HomogenizerState | BalancerState) -> None:
        """Set the counts and the generator."""
        if not isinstance(state, BalancerState) or len(state.counts) != len(self._drawn):
            raise UnskewError(f"the state is not that of these variables with a budget; {AGAIN}")
        for counts, drawn, kept in zip(state.counts, self._drawn, self._kept, strict=True):
            restore(counts, drawn, kept)
        self._rng = at_state(self._rng, state.rng)
        self.drawn, self.kept, self._drought = state.drawn, state.kept, state.drought
        self._warned = set(state.warned)

    def _watch(self, drawn: int, kept: int) -> None:
        """Count draws; raise if nothing is kept, and warn if the pilot was not like the source."""
        self.drawn += drawn
        self.kept += kept
        self._drought = 0 if kept else self._drought + drawn
        if self._drought >= PATIENCE:
            raise UnskewError(
                f"nothing kept in {self._drought:,} draws, though one in {self._expected:.3g} was "
                "expected; the source changes as it draws: fit a new rule"
            )
        for message in self.health().warnings:
            if "cost" not in self._warned:
                self._warned.add("cost")
                warn_user(message)
