"""Naive twin of salient variable homogenization (the paper's appendix B)."""

import math
from collections.abc import Callable, Hashable, Sequence
from typing import Any, TypeVar

S = TypeVar("S")
X = TypeVar("X", bound=Hashable)


def sampled_homogenize(
    draws: Sequence[S],
    nu: Callable[[S], X],
    support: Sequence[X] | None,
    epsilon: float,
    uniforms: Sequence[float],
) -> tuple[list[bool], dict[X, int]]:
    """SampledHomogenize over a finite list of draws: which are kept, and the final counts.

    The support None is grown: it is the values seen so far, the current one included.
    """
    counts: dict[X, int] = dict.fromkeys(support or (), 0)
    t = 0
    keep = []
    for s, u in zip(draws, uniforms, strict=True):
        x = nu(s)
        counts[x] = counts[x] + 1 if support is not None else counts.get(x, 0) + 1
        t += 1  # noqa: SIM113
        p_min = min(counts.values()) / t
        p_curr = counts[x] / t
        # p_curr > 0, so this is 0 where p_min and epsilon both are.
        g = (p_min + epsilon) / (p_curr + epsilon)
        keep.append(u < g)
    return keep, counts


def histogram_statistics(counts: dict[X, int], support: Sequence[X]) -> dict[str, Any]:
    """How far a histogram is from uniform on the support, in nats where that applies.

    kl is the divergence of the histogram from uniform, sum of p log(p / (1/n)).
    """
    total = sum(counts.values())
    uniform = 1 / len(support)
    kl_terms = []
    distance_terms = []
    entropy_terms = []
    missing = []
    for x in support:
        count = counts.get(x, 0)
        p = count / total
        distance_terms.append(abs(p - uniform))
        if count == 0:
            missing.append(x)
        else:
            kl_terms.append(p * math.log(p / uniform))
            entropy_terms.append(-p * math.log(p))
    return {
        "kl": math.fsum(kl_terms),
        "total_variation": math.fsum(distance_terms) / 2,
        "entropy": math.fsum(entropy_terms),
        "missing": missing,
    }


def _kept_mass(p: dict[X, float], epsilon: float) -> dict[X, float]:
    """p(x) g(x) for each x, with g of the true probabilities."""
    p_min = min(p.values())
    mass = {}
    for x, p_x in p.items():
        if p_x == 0:
            mass[x] = 0.0  # never drawn, and g might be 0/0
        else:
            g = (p_min + epsilon) / (p_x + epsilon)
            mass[x] = p_x * g
    return mass


def limit_distribution(p: dict[X, float], epsilon: float) -> dict[X, float]:
    """What SampledHomogenize converges to: r(x) proportional to p(x) g(x).

    ValueError where nothing is ever kept (epsilon = 0 and some p(x) = 0).
    """
    mass = _kept_mass(p, epsilon)
    total = math.fsum(mass.values())
    if total == 0:
        raise ValueError("nothing is ever kept")
    r = {}
    for x in p:
        r[x] = mass[x] / total
    return r


def expected_draws(p: dict[X, float], epsilon: float) -> float:
    """Expected draws per kept example, 1 / sum p(x) g(x); infinite where nothing is kept."""
    total = math.fsum(_kept_mass(p, epsilon).values())
    if total == 0:
        return math.inf
    return 1 / total
