"""SampledHomogenize over batches (section 3 and appendix B.1)."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from unskew.balance import theory
from unskew.balance.acceptance import AT_LEAST, accept
from unskew.balance.codebook import Codebook
from unskew.balance.histogram import FEWEST, Histogram, nothing_to_balance, restore, too_sparse
from unskew.balance.kept import PATIENCE, Health
from unskew.balance.saved import AGAIN, BalancerState, Counts, HomogenizerState
from unskew.core.errors import UnskewError, check_range, warn_user
from unskew.core.recipe import EPSILONS
from unskew.core.rng import at_state, state_of
from unskew.core.variables.variable import describe

if TYPE_CHECKING:
    from collections.abc import Hashable

    from unskew.core.batch import Batch
    from unskew.core.variables.variable import SalientVariable

FIRST_LOOK = 1_000  # draws before the cost of a run is judged


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

    def histograms(self) -> dict[str, tuple[Counter[Hashable], Counter[Hashable]]]:
        """Return by variable how often each value was drawn, and how often it was kept.

        A declared value that was never drawn has a count of zero.
        """
        drawn = Counter(self._drawn_values.by_value())
        kept = +Counter(self._kept_values.by_value())
        return {self.variable.name: (drawn if self._codebook.declared else +drawn, kept)}

    def identity(self) -> dict[str, Any]:
        """Return what decides which draws are kept."""
        support = self.variable.support
        return {
            "by": self.variable.name,
            "support": None if support is None else [repr(value) for value in support],
            "epsilon": self.epsilon,
        }

    @property
    def draws_to_look(self) -> int:
        """How many draws come before the health is judged for the next time."""
        return max(1, self._next_look - self.drawn)

    def state(self) -> HomogenizerState:
        """Return the counts and the generator as they are now."""
        drawn, kept = self._drawn_values.counts.copy(), self._kept_values.counts.copy()
        return HomogenizerState(
            Counts(self._codebook.values, drawn, kept),
            self._state.copy(),
            state_of(self._rng),
            self.drawn,
            self.kept,
            self._drought,
            self._next_look,
            frozenset(self._warned),
        )

    def go_on_from(self, state: HomogenizerState | BalancerState) -> None:
        """Set the counts and the generator."""
        if not isinstance(state, HomogenizerState):
            raise UnskewError(f"the state is that of a budget, not of epsilon; {AGAIN}")
        restore(state.counts, self._drawn_values, self._kept_values)
        self._state = state.kernel.copy()
        self._rng = at_state(self._rng, state.rng)
        self.drawn, self.kept = state.drawn, state.kept
        self._drought, self._next_look = state.drought, state.next_look
        self._warned = set(state.warned)

    def health(self) -> Health:
        """Judge the run so far; ``warnings`` is empty when all is well."""
        never = self._never_seen()
        cost = self.drawn / self.kept if self.kept else float("inf")
        messages: list[str] = []
        messages += nothing_to_balance(self.variable.name, self._drawn_values.counts)
        if self.drawn >= FIRST_LOOK and self.variable.parts and not messages:
            messages += too_sparse(self.variable.name, self._drawn_values.counts)
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
                    warn_user(warning)
