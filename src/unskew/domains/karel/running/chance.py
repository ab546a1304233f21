"""Random numbers inside kernels: SplitMix64, a few instructions each, on a CPU or a GPU.

Calling a NumPy generator from compiled code would cost more than all other work of Karel's
kernels. The state is one number, drawn from a generator of ``unskew.core.rng``.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from unskew.core.compiled import compiled_inner

_STEP = np.uint64(0x9E3779B97F4A7C15)
_FIRST, _SECOND = np.uint64(0xBF58476D1CE4E5B9), np.uint64(0x94D049BB133111EB)
_27, _30, _31, _11 = np.uint64(27), np.uint64(30), np.uint64(31), np.uint64(11)

Chance = NDArray[np.uint64]  # (1,), the state


def chance(rng: np.random.Generator) -> Chance:
    """Take a state from a generator."""
    return rng.integers(2**64, size=1, dtype=np.uint64)


@compiled_inner
def uniform(state: Chance) -> float:
    """Draw a number from 0 to below 1, with 53 random bits."""
    state[0] += _STEP
    bits = state[0]
    bits = (bits ^ (bits >> _30)) * _FIRST
    bits = (bits ^ (bits >> _27)) * _SECOND
    bits ^= bits >> _31
    return float(bits >> _11) * 2.0**-53


@compiled_inner
def two_below(number: float, first: int, second: int) -> tuple[int, int]:
    """Make two whole numbers from one uniform number, below ``first`` and below ``second``."""
    scaled = number * first
    whole = int(scaled)
    return whole, int((scaled - whole) * second)
