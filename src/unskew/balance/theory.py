"""The paper's formulas about homogenizing, for known probabilities.

Sections 3, B.2 and B.3. Probabilities are sequences over X that sum to one.
"""

import math
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from unskew.core.errors import UnskewError, check_range


def samples_needed(support_size: int, p_min: float, xi: float, delta: float) -> int:
    """Return the draws after which every |P_r[X=x] − 1/|X|| ≤ ξ with probability 1 − δ, at ε = 0.

    The theorem of section B.2: 48·log(2|X|/δ) / (p_m·|X|²·ξ²), rounded up. Its proof takes
    α = ξ|X|/4 and needs α ≤ √(3/2) − 1, so ξ may not be above 4(√(3/2) − 1)/|X|.
    """
    check_range("support_size", support_size, 1)
    check_range("p_min", p_min, math.ulp(0.0), 1 / support_size)
    check_range("delta", delta, math.ulp(0.0), 1.0)
    largest = 4 * (math.sqrt(1.5) - 1) / support_size
    check_range("xi", xi, math.ulp(0.0), largest, step="the theorem holds for small ξ only")
    size = support_size
    return math.ceil(48 * math.log(2 * size / delta) / (p_min * size**2 * xi**2))


def cost_bound(epsilon: float) -> float:
    """Return the most draws one kept example takes in expectation: 1 + 1/ε (section B.3)."""
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
    """Return the draws per kept example once the counts have settled: 1 / Σ p(x)·g(x)."""
    probabilities = np.asarray(p, dtype=float)
    kept = float(probabilities @ acceptance(probabilities, epsilon))
    return 1 / kept if kept > 0 else math.inf


def homogenized(p: Sequence[float] | NDArray[np.float64], epsilon: float) -> NDArray[np.float64]:
    """Return the distribution of X that homogenizing settles to: r(x) ∝ p(x)·g(x)."""
    probabilities = np.asarray(p, dtype=float)
    weights = probabilities * acceptance(probabilities, epsilon)
    total = weights.sum()
    if total == 0:
        raise UnskewError("at ε = 0 a value that cannot occur stops everything; give ε > 0")
    result: NDArray[np.float64] = weights / total
    return result
