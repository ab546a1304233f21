"""The formulas of the paper against values worked out by hand and the slow twins."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.naive import homogenize as naive
from unskew.balance import theory
from unskew.core.errors import UnskewError

fixed = settings(derandomize=True)
LARGEST_ALPHA = math.sqrt(1.5) - 1


@st.composite
def distributions(draw: st.DrawFn) -> list[float]:
    weights = draw(st.lists(st.integers(1, 1000), min_size=1, max_size=8))
    return [weight / sum(weights) for weight in weights]


@pytest.mark.parametrize(
    ("size", "p_min", "xi", "delta", "draws"),
    [
        # 48 ln(2·2/0.5) / (0.5 · 4 · 0.01) = 48 · 2.0794415 / 0.02
        (2, 0.5, 0.1, 0.5, 4991),
        # 48 ln(2·4/0.05) / (0.1 · 16 · 0.0025) = 48 · 5.0751738 / 0.004
        (4, 0.1, 0.05, 0.05, 60903),
        # 48 ln(2·10/0.01) / (0.02 · 100 · 0.0001) = 48 · 7.6009025 / 0.0002
        (10, 0.02, 0.01, 0.01, 1824217),
        # 48 ln(2) / 0.25
        (1, 1.0, 0.5, 1.0, 134),
    ],
)
def test_samples_needed_by_hand(
    size: int, p_min: float, xi: float, delta: float, draws: int
) -> None:
    assert theory.samples_needed(size, p_min, xi, delta) == draws


def test_the_theorem_is_its_count_bounding_lemma_at_alpha() -> None:
    size, p_min, xi, delta = 5, 0.07, 0.03, 0.01
    alpha = xi * size / 4
    lemma = 3 * math.log(2 * size / delta) / (alpha**2 * p_min)
    assert theory.samples_needed(size, p_min, xi, delta) == math.ceil(lemma)


@pytest.mark.parametrize("size", [1, 3, 20])
def test_xi_may_be_as_large_as_the_proof_allows(size: int) -> None:
    largest = 4 * LARGEST_ALPHA / size
    assert theory.samples_needed(size, 1 / size, largest, 0.1) > 0
    with pytest.raises(UnskewError, match=r"xi is .* small ξ only"):
        theory.samples_needed(size, 1 / size, largest * 1.001, 0.1)


@pytest.mark.parametrize(
    ("wrong", "value"),
    [
        ("support_size", 0),
        ("p_min", 0.0),
        ("p_min", 0.51),
        ("p_min", math.nan),
        ("xi", 0.0),
        ("delta", 0.0),
        ("delta", 1.5),
        ("delta", math.nan),
    ],
)
def test_samples_needed_refuses_what_is_out_of_range(wrong: str, value: float) -> None:
    right = {"support_size": 2, "p_min": 0.3, "xi": 0.1, "delta": 0.1}
    with pytest.raises(UnskewError, match=f"{wrong} is {value}"):
        theory.samples_needed(**{**right, wrong: value})


def test_cost_bound() -> None:
    assert theory.cost_bound(0.025) == 41.0
    assert theory.cost_bound(1) == 2.0
    assert theory.cost_bound(0) == math.inf
    for wrong in (-0.1, math.nan, math.inf):
        with pytest.raises(UnskewError, match="epsilon is"):
            theory.cost_bound(wrong)


def test_acceptance_by_hand() -> None:
    assert theory.acceptance([0.75, 0.25], 0.25).tolist() == [0.5, 1.0]
    assert theory.acceptance([0.8, 0.2], 0).tolist() == [0.25, 1.0]
    assert theory.acceptance([1.0, 0.0], 0).tolist() == [0.0, 1.0]


@fixed
@given(distributions(), st.sampled_from([0.0, 0.001, 0.025, 0.2, 5.0]))
def test_the_settled_distribution_is_that_of_the_twin(p: list[float], epsilon: float) -> None:
    known = dict(enumerate(p))
    limit = naive.limit_distribution(known, epsilon)
    assert theory.homogenized(p, epsilon).tolist() == pytest.approx([limit[x] for x in known])
    cost = theory.expected_cost(p, epsilon)
    assert cost == pytest.approx(naive.expected_draws(known, epsilon))
    assert 1 - 1e-9 <= cost <= theory.cost_bound(epsilon) * (1 + 1e-9)


@fixed
@given(distributions(), st.floats(0.001, 1.0), st.floats(1.1, 10.0))
def test_a_smaller_epsilon_costs_more_and_is_no_less_uniform(
    p: list[float], epsilon: float, factor: float
) -> None:
    larger = epsilon * factor
    assert theory.expected_cost(p, epsilon) >= theory.expected_cost(p, larger) - 1e-9
    spread = [np.ptp(theory.homogenized(p, e)) for e in (epsilon, larger)]
    assert spread[0] <= spread[1] + 1e-9


def test_nothing_is_kept_at_epsilon_0_of_a_value_that_cannot_occur() -> None:
    with pytest.raises(UnskewError, match="give ε > 0"):
        theory.homogenized([0.5, 0.5, 0.0], 0)


@pytest.mark.parametrize("p", [[], [0.5, 0.4], [0.7, 0.7], [math.nan, 1.0], [1.5, -0.5]])
def test_what_is_no_distribution_is_refused(p: list[float]) -> None:
    for formula in (theory.homogenized, theory.expected_cost, theory.acceptance):
        with pytest.raises(UnskewError, match="probabilities"):
            formula(p, 0.1)


def test_a_negative_epsilon_is_refused() -> None:
    with pytest.raises(UnskewError, match=r"epsilon is -0\.1"):
        theory.acceptance([1.0], -0.1)
