"""Weights under a cap, found by halving an interval: slow and plain."""

from collections.abc import Sequence


def capped(weights: Sequence[float], p: Sequence[float], most: float) -> list[float]:
    """Return ``min(most, c * w)`` with the c at which the mean over ``p`` is 1."""
    low, high = 0.0, 1.0
    while _mean(weights, p, most, high) < 1 and high < 1e12:
        high *= 2
    for _ in range(200):
        middle = (low + high) / 2
        low, high = (middle, high) if _mean(weights, p, most, middle) < 1 else (low, middle)
    return [min(most, high * weight) for weight in weights]


def _mean(weights: Sequence[float], p: Sequence[float], most: float, factor: float) -> float:
    return sum(q * min(most, factor * weight) for weight, q in zip(weights, p, strict=True))
