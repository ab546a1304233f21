"""Homogenizing worked out by hand: the kernel, the homogenizer and the slow twin agree.

Each case is data. Every implementation is given every case.
"""

import math
from collections import Counter
from dataclasses import dataclass

import numpy as np
import pytest

from tests.naive import homogenize as naive
from unskew import audit, over
from unskew.balance import theory
from unskew.balance.acceptance import accept
from unskew.balance.homogenizer import Homogenizer
from unskew.core.batch import ENDLESS, Batch
from unskew.core.errors import UnskewError
from unskew.core.variables.variable import SalientVariable


@dataclass(frozen=True)
class Case:
    """Draws of 0, 1, 2 … and a uniform number for each; which are kept. Without support X grows."""

    why: str
    draws: str
    support: str | None
    epsilon: float
    uniforms: list[float]
    kept: str  # "+" or "-" for each draw


def below(number: float) -> float:
    return math.nextafter(number, 0.0)


# draw  counts of 0, 1  p_min  p_curr  g = (p_min + 1/2) / (p_curr + 1/2)
#  0         1, 0         0      1      (1/2) / (3/2) = 1/3
#  1         1, 1         1/2    1/2    1
#  0         2, 1         1/3    2/3    (5/6) / (7/6) = 5/7 = 0.714..
#  0         3, 1         1/4    3/4    (3/4) / (5/4) = 3/5
#  0         4, 1         1/5    4/5    (7/10) / (13/10) = 7/13 = 0.538..
#  1         4, 2         1/3    1/3    1
DECLARED = ("010001", "01", 0.5)
# With epsilon 0, g = min C / C[x] over the values seen so far:
# 0: 1/1; 0: 2/2; 1: 1/1; 0: 1/3; 1: 2/2; 1: 3/3; 2: 1/1; 1: 1/4
GROWN = ("00101121", None, 0.0)
# fmt: off
CASES = [
    Case("below g", *DECLARED, [0.33, 0.999, 0.71, 0.59, 0.53, 0.0], "++++++"),
    Case("above g", *DECLARED, [0.34, 0.999, 0.72, 0.61, 0.54, 0.0], "-+---+"),
    Case("just below 3/5", "0100", "01", 0.5, [0.9, 0.0, 0.0, below(0.6)], "-+++"),
    Case("at 3/5", "0100", "01", 0.5, [0.9, 0.0, 0.0, 0.6], "-++-"),
    Case("support grows", *GROWN, [0.99, 0.99, 0.99, 0.34, 0.99, 0.99, 0.99, 0.24], "+++-++++"),
    Case("support grows, others", *GROWN, [0.0, 0.5, 0.5, 0.33, 0.0, 0.9, 0.2, 0.26], "+++++++-"),
    Case("nothing is kept while a value is missing", "0102", "210", 0.0, [0.0] * 4, "---+"),
    Case("just below 1/2", "010", None, 0.0, [0.0, 0.0, below(0.5)], "+++"),
    Case("at 1/2", "010", None, 0.0, [0.0, 0.0, 0.5], "++-"),
    Case("just below 2/4", "011000", "01", 0.0, [0.0] * 5 + [below(0.5)], "-+++++"),
    Case("at 2/4", "011000", "01", 0.0, [0.0] * 5 + [0.5], "-++++-"),
    Case("no draws", "", "0", 0.1, [], ""),
    Case("no draws, support grows", "", None, 0.1, [], ""),
]
# fmt: on


def by_kernel(case: Case, draws: list[int], support: list[int] | None) -> tuple[str, Counter]:
    size = len(support) if support else max(draws, default=-1) + 1
    counts, keep = np.zeros(size, np.int64), np.zeros(len(draws), np.bool_)
    state = np.array([0, 0, len(support) if support else 0])
    codes, uniforms = np.array(draws, np.int64), np.array(case.uniforms)
    seen = accept(codes, uniforms, case.epsilon, support is None, counts, state, keep, ENDLESS)
    assert seen == len(draws)
    return signs(keep), +Counter(dict(enumerate(counts.tolist())))


class Scripted(np.random.Generator):
    """A generator that gives the uniform numbers of a case."""

    def __init__(self, uniforms: list[float]) -> None:
        super().__init__(np.random.PCG64(0))
        self.uniforms = uniforms

    def random(self, n: int) -> np.ndarray:
        assert n == len(self.uniforms)
        return np.array(self.uniforms)


def by_homogenizer(case: Case, draws: list[int], support: list[int] | None) -> tuple[str, Counter]:
    variable = SalientVariable("x", lambda batch: batch.columns["x"], support and tuple(support))
    homogenizer = Homogenizer(variable, case.epsilon, Scripted(case.uniforms))
    keep = homogenizer.keep(Batch({"x": np.array(draws, np.int64)}), ENDLESS)
    return signs(keep), +homogenizer.histograms()[homogenizer.variable.name][0]


def by_twin(case: Case, draws: list[int], support: list[int] | None) -> tuple[str, Counter]:
    keep, counts = naive.sampled_homogenize(draws, int, support, case.epsilon, case.uniforms)
    return signs(keep), +Counter(counts)


def signs(keep: object) -> str:
    return "".join("+" if kept else "-" for kept in keep)


@pytest.mark.parametrize("implementation", [by_kernel, by_homogenizer, by_twin])
@pytest.mark.parametrize("case", CASES, ids=lambda case: case.why)
def test_which_draws_are_kept(case, implementation):
    draws = [int(draw) for draw in case.draws]
    support = None if case.support is None else [int(value) for value in case.support]
    assert implementation(case, draws, support) == (case.kept, Counter(draws))


# What homogenizing settles to, and what it costs.

LIMITS = [
    # epsilon 0: all values are kept as often as the rarest. p·g = 1/4, 1/4
    ((0.75, 0.25), 0.0, (0.5, 0.5), 2.0),
    ((0.7, 0.2, 0.1), 0.0, (1 / 3, 1 / 3, 1 / 3), 1 / 0.3),
    # epsilon 1/4: g = 1/2, 1, so p·g = 3/8, 2/8
    ((0.75, 0.25), 0.25, (0.6, 0.4), 1.6),
    # a large epsilon keeps nearly everything
    ((0.75, 0.25), 1e9, (0.75, 0.25), 1.0),
    # a value that cannot occur: the paper's bound 1 + 1/epsilon is reached
    ((1.0, 0.0), 0.025, (1.0, 0.0), 41.0),
    ((1.0, 0.0), 0.0, None, math.inf),
]


def limit_by_theory(p, epsilon):
    return theory.homogenized(p, epsilon).tolist()


def limit_by_twin(p, epsilon):
    return list(naive.limit_distribution(dict(enumerate(p)), epsilon).values())


def cost_by_twin(p, epsilon):
    return naive.expected_draws(dict(enumerate(p)), epsilon)


@pytest.mark.parametrize("limit", [limit_by_theory, limit_by_twin])
@pytest.mark.parametrize(("p", "epsilon", "settled", "_"), LIMITS)
def test_what_it_settles_to(p, epsilon, settled, _, limit):
    if settled is None:
        with pytest.raises((UnskewError, ValueError), match=r"give ε > 0|nothing is ever kept"):
            limit(p, epsilon)
    else:
        assert limit(p, epsilon) == pytest.approx(settled)


@pytest.mark.parametrize("cost", [theory.expected_cost, cost_by_twin])
@pytest.mark.parametrize(("p", "epsilon", "_", "draws"), LIMITS)
def test_what_it_costs(p, epsilon, _, draws, cost):
    assert cost(p, epsilon) == pytest.approx(draws)


# How far a histogram is from uniform.

LOG = math.log
FIGURES = [  # counts, support: entropy, total variation, what is missing
    ({"a": 3, "b": 1}, "ab", 0.75 * LOG(4 / 3) + 0.25 * LOG(4), 0.25, ""),
    ({"a": 3, "b": 1}, "abc", 0.75 * LOG(4 / 3) + 0.25 * LOG(4), 3 / 4 - 1 / 3, "c"),
    ({"a": 5, "b": 5, "c": 5, "d": 5}, "abcd", LOG(4), 0.0, ""),
    ({"c": 7}, "dcba", 0.0, 0.75, "dba"),
]


def figures_by_audit(counts, support):
    examples = [value for value, count in counts.items() for _ in range(count)]
    measured = audit(examples, by={"x": over(lambda x: x, support)}).variables["x"]
    return [measured.kl, measured.entropy, measured.total_variation], "".join(measured.missing)


def figures_by_twin(counts, support):
    figures = naive.histogram_statistics(counts, list(support))
    names = ("kl", "entropy", "total_variation")
    return [figures[name] for name in names], "".join(figures["missing"])


@pytest.mark.parametrize("figures_of", [figures_by_audit, figures_by_twin])
@pytest.mark.parametrize(("counts", "support", "entropy", "distance", "missing"), FIGURES)
def test_how_far_from_uniform(counts, support, entropy, distance, missing, figures_of):
    figures, without = figures_of(counts, support)
    assert figures == pytest.approx([LOG(len(support)) - entropy, entropy, distance], abs=1e-12)
    assert without == missing
