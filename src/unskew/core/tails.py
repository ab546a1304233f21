"""How probable a statistic is at least as large as what was measured."""

from __future__ import annotations

import math

_CLOSE = 1e-14  # relative
_STEPS = 100_000
_TINY = 1e-300


def chi_square_tail(statistic: float, freedom: float) -> float:
    """Return the probability that a chi-square of ``freedom`` degrees reaches ``statistic``."""
    return gamma_tail(freedom / 2, statistic / 2)


def gamma_tail(shape: float, x: float) -> float:
    """Return the probability that a gamma variable of this shape, of scale 1, reaches ``x``.

    This is the regularised upper incomplete gamma function. Below the mean, one minus its power
    series is exact to rounding; above the mean, its continued fraction keeps small tails exact.
    """
    if x <= 0 or shape <= 0:
        return 1.0
    scale = shape * math.log(x) - x - math.lgamma(shape)
    if x < shape + 1:
        return max(0.0, 1.0 - _series(shape, x) * math.exp(scale))
    return min(1.0, _fraction(shape, x) * math.exp(scale))


def _series(shape: float, x: float) -> float:
    term = total = 1.0 / shape
    for step in range(1, _STEPS):
        term *= x / (shape + step)
        total += term
        if term < total * _CLOSE:
            break
    return total


def _fraction(shape: float, x: float) -> float:
    """Return the continued fraction, evaluated from its beginning (Lentz's method)."""
    below = x + 1.0 - shape
    c, d = 1.0 / _TINY, 1.0 / below
    value = d
    for step in range(1, _STEPS):
        factor = -step * (step - shape)
        below += 2.0
        d = factor * d + below
        d = 1.0 / (d if abs(d) > _TINY else _TINY)
        c = below + factor / c
        c = c if abs(c) > _TINY else _TINY
        value *= c * d
        if abs(c * d - 1.0) < _CLOSE:
            break
    return value
