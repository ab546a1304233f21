"""The paper's formulas about homogenizing, for known probabilities.

Sections 3, B.2 and B.3. Probabilities are sequences over X that sum to one.
"""

import math
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from unskew.core.errors import UnskewError, check_range


def samples_needed(support_size: int, p_min: float, xi: float, delta: float) -> int:
    """Return how many draws make the next kept example nearly uniform at ε = 0 (section B.2).

    After so many draws, with probability 1 − δ, every value has a probability within ξ of 1/|X|.
    The number is 48·log(2|X|/δ) / (p_min·|X|²·ξ²), rounded up.

    Args:
        support_size: |X|, the number of values.
        p_min: the smallest probability of a value, above 0.
        xi: at most 4(√(3/2) − 1)/|X|, because the proof takes α = ξ|X|/4 and needs α ≤ √(3/2) − 1.
        delta: between 0 and 1.
    """
    check_range("support_size", support_size, 1)
    check_range("p_min", p_min, math.ulp(0.0), 1 / support_size)
    check_range("delta", delta, math.ulp(0.0), 1.0)
    largest = 4 * (math.sqrt(1.5) - 1) / support_size
    check_range("xi", xi, math.ulp(0.0), largest, step="the theorem holds for small ξ only")
    size = support_size
    return math.ceil(48 * math.log(2 * size / delta) / (p_min * size**2 * xi**2))


def cost_bound(epsilon: float) -> float:
    """Return the bound on the expected draws for each kept example: 1 + 1/ε (section B.3)."""
    check_range("epsilon", epsilon, 0)
    return 1 + 1 / epsilon if epsilon > 0 else math.inf


def acceptance(p: Sequence[float] | NDArray[np.float64], epsilon: float) -> NDArray[np.float64]:
    """Return g(x) = (min p + ε) / (p(x) + ε); a value that cannot occur gets 1."""
    check_range("epsilon", epsilon, 0)
    probabilities = np.asarray(p, dtype=float)
    if not (np.isclose(probabilities.sum(), 1.0) and probabilities.min() >= 0):
        raise UnskewError(
            f"probabilities are {probabilities.tolist()}; each must be at least 0, their sum 1"
        )
    top = probabilities.min() + epsilon
    below = probabilities + epsilon
    g: NDArray[np.float64] = np.divide(top, below, out=np.ones_like(below), where=below > 0)
    return g


def expected_cost(p: Sequence[float] | NDArray[np.float64], epsilon: float) -> float:
    """Return the draws for each kept example after many draws: 1 / Σ p(x)·g(x)."""
    probabilities = np.asarray(p, dtype=float)
    kept = float(probabilities @ acceptance(probabilities, epsilon))
    return 1 / kept if kept > 0 else math.inf


def homogenized(p: Sequence[float] | NDArray[np.float64], epsilon: float) -> NDArray[np.float64]:
    """Return the distribution of the kept examples after many draws: r(x) ∝ p(x)·g(x)."""
    probabilities = np.asarray(p, dtype=float)
    weights = probabilities * acceptance(probabilities, epsilon)
    total = weights.sum()
    if total == 0:
        raise UnskewError("at ε = 0 a value that cannot occur stops everything; give ε > 0")
    result: NDArray[np.float64] = weights / total
    return result
