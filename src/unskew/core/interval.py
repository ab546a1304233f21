"""The 95 % interval of a share that was counted in a sample."""

from __future__ import annotations

import math


def wilson(share: float, n: float) -> tuple[float, float]:
    """Return Wilson's 95 % interval of a share of n; all of [0, 1] if n is 0."""
    if n == 0:
        return 0.0, 1.0
    z = 1.959964
    spread = z * z / n
    middle = (share + spread / 2) / (1 + spread)
    half = math.sqrt(share * (1 - share) * spread + spread * spread / 4) / (1 + spread)
    return max(0.0, middle - half), min(1.0, middle + half)
