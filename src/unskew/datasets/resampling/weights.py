"""Weights of the rows of existing data: nothing is left out, and a variable counts as uniform."""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from unskew.balance.best.targets import Target as Shape
from unskew.balance.weighting import effective_size, value_weights
from unskew.core.errors import UnskewError, brief, check_range
from unskew.core.recipe import Trust
from unskew.core.variables.variable import By
from unskew.datasets.parts.pilots import warn
from unskew.datasets.resampling.choice import apart_of, ratios_of
from unskew.datasets.resampling.pool import Advance, Pool, open_finite
from unskew.datasets.resampling.wish import Wish

COLLAPSED = 0.02  # share of the rows below which an effective size is told


@dataclass(frozen=True, eq=False, repr=False)
class Weights:
    """One weight for each row of the data; their mean is 1. NumPy takes it as an array."""

    weights: NDArray[np.float64]
    effective_size: float  # (Σw)²/Σw²: so many unweighted rows tell as much
    # Of each variable, the total variation from its target before and after; nothing for ε.
    apart: Mapping[str, tuple[float, float]]
    pool: Pool
    of_combinations: NDArray[np.float64]

    @cached_property
    def by_value(self) -> Mapping[Hashable, float]:
        """The weight of the rows of each value. With several variables, a value is a tuple."""
        return dict(zip(self.pool.values, self.of_combinations.tolist(), strict=True))

    def __len__(self) -> int:
        """Return the number of rows."""
        return len(self.weights)

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> NDArray[Any]:
        """Return the weights as NumPy asks for them."""
        return np.array(self.weights, dtype=dtype, copy=copy)

    def __repr__(self) -> str:
        """Tell the range of the weights, the effective size, and how close the variables are."""
        low, high = self.of_combinations.min(), self.of_combinations.max()
        share = 100 * self.effective_size / len(self)
        line = (
            f"{len(self):,} weights from {low:.3g} to {high:.3g}, mean 1; effective sample size "
            f"{self.effective_size:,.0f} ({share:.1f} %)"
        )
        return "\n".join(
            [line]
            + [
                f"{name}: TV from the target {before:.3f} → {after:.3f}"
                for name, (before, after) in self.apart.items()
            ]
        )


def weights(
    data: Any,
    by: By | str | Sequence[str],
    *,
    epsilon: float | None = None,
    most: float | None = None,
    budget: float | None = None,
    closeness: float | None = None,
    target: Shape | Mapping[str, Shape] | None = None,
    like: Any = None,
    jointly: bool = False,
    trust: Trust = False,
    advance: Advance = lambda _: None,
) -> Weights:
    """Return a weight for each row of ``data`` that brings ``by`` closer to uniform or a target.

    With ``epsilon`` the weighted distribution of ``by`` is that of homogenizing: a row with the
    value x has the weight r(x)/p(x). With a budget, a closeness or a target, each variable gets
    as close to its target as weights up to ``most`` can bring it. Nothing is left out.

    Args:
        data: whatever ``resample`` takes.
        by: a variable, or several. With ``epsilon`` several count jointly, as tuples.
        epsilon: a smaller value gets closer to uniform, and the weights differ more. Without it,
            and without a budget, a closeness or a target, it is 0.025.
        most: the largest weight that is allowed, at least 1. With ``epsilon``, what is cut off
            goes to all other rows in proportion to their weights, so the mean stays 1.
        budget: the same as ``most``, without ``epsilon``: a row that counts five times costs as
            much as five draws for each kept example.
        closeness: the total variation that each variable may be away from its target. The
            smallest largest weight is taken.
        target: see ``homogenize``. Without a price, the variables get as close as can be.
        like: data or a source whose shares are the target.
        jointly: balance the combinations of values, not each variable.
        trust: whether code that a dataset names may be imported.
        advance: called with a number of examples each time that so many are done.
    """
    if most is not None:
        check_range("most", most, 1, step="the mean of the weights is 1")
    wish = Wish(epsilon, budget, closeness, target, like, jointly)
    if most is not None and wish.has_price:
        raise UnskewError(
            f"most is {brief(most)}, and there is a budget or a closeness, which limits the "
            "weights; give one of them"
        )
    pool = wish.pool(open_finite(data, trust), by, advance)
    if not wish.has_goal:
        of_combinations = value_weights(pool.counts, wish.at, most)
        apart: Mapping[str, tuple[float, float]] = {}
    else:
        fit = wish.fit(pool, most if budget is None else budget)
        of_combinations = ratios_of(pool, fit)
        apart = apart_of(pool, fit, of_combinations * pool.cells.shares)
    size = effective_size(pool.counts, of_combinations)
    if size < COLLAPSED * len(pool):
        warn([_collapsed(size, len(pool))])
    return Weights(of_combinations[pool.codes], size, apart, pool, of_combinations)


def _collapsed(size: float, rows: int) -> str:
    return (
        f"the effective sample size is {size:,.0f} of {rows:,} rows: a few rows have most of the "
        "weight; limit the largest weight (most=), or choose a target that is closer to the data"
    )
