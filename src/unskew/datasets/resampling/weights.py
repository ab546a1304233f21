"""Weights of the rows of existing data: nothing is left out, and a variable counts as uniform."""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from unskew.balance.weighting import effective_size, value_weights
from unskew.core.errors import check_range
from unskew.core.recipe import Trust
from unskew.core.variables.variable import By
from unskew.datasets.resampling.choice import check_choice
from unskew.datasets.resampling.pool import Advance, open_finite, read_pool


@dataclass(frozen=True, eq=False, repr=False)
class Weights:
    """One weight for each row of the data; their mean is 1. NumPy takes it as an array."""

    weights: NDArray[np.float64]
    by_value: Mapping[Hashable, float]  # the weight of the rows of each value
    effective_size: float  # (Σw)²/Σw²: so many unweighted rows tell as much

    def __len__(self) -> int:
        """Return the number of rows."""
        return len(self.weights)

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> NDArray[Any]:
        """Return the weights as NumPy asks for them."""
        return np.array(self.weights, dtype=dtype, copy=copy)

    def __repr__(self) -> str:
        """Tell the range of the weights, and the effective size."""
        low, high = min(self.by_value.values()), max(self.by_value.values())
        share = 100 * self.effective_size / len(self)
        return (
            f"{len(self):,} weights from {low:.3g} to {high:.3g}, mean 1; effective sample size "
            f"{self.effective_size:,.0f} ({share:.1f} %)"
        )


def weights(
    target: Any,
    by: By | str | Sequence[str],
    *,
    epsilon: float = 0.025,
    most: float | None = None,
    trust: Trust = False,
    advance: Advance = lambda _: None,
) -> Weights:
    """Return a weight for each row of ``target`` that makes ``by`` closer to uniform.

    The weighted distribution of ``by`` is that of homogenizing at ``epsilon``: a row with the value
    x has the weight r(x)/p(x). Nothing is left out.

    Args:
        target: whatever ``resample`` takes.
        by: a variable, or several that are homogenized together.
        epsilon: a smaller value gets closer to uniform, and the weights differ more.
        most: the largest weight that is allowed, at least 1. What is cut off goes to all other
            rows in proportion to their weights, so the mean stays 1.
        trust: whether code that a dataset names may be imported.
        advance: called with a number of examples each time that so many are done.
    """
    check_choice(None, epsilon)
    if most is not None:
        check_range("most", most, 1, step="the mean of the weights is 1")
    pool = read_pool(open_finite(target, trust), by, advance)
    of_values = value_weights(pool.counts, epsilon, most)
    return Weights(
        of_values[pool.codes],
        dict(zip(pool.values, of_values.tolist(), strict=True)),
        effective_size(pool.counts, of_values),
    )
