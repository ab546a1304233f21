"""What a number of draws can buy is bought in full, however rare the rarest combination is."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from unskew.balance.best.capped import capped


def bought(counts, scores, draws):
    """Return the shares that the draws buy."""
    shares = np.array(counts) / np.sum(counts)
    return np.exp(capped(shares, np.array(scores, dtype=float), draws)) * shares


def test_one_draw_for_each_kept_example_changes_nothing():
    counts = [500_000, 120_000, 7, 3, 1]
    shares = np.array(counts) / np.sum(counts)
    assert bought(counts, [3, 2, 1, 0, -1], 1.0) == pytest.approx(shares, rel=1e-6)


@given(
    st.lists(st.integers(1, 10**6), min_size=2, max_size=30),
    st.sampled_from([1, 700, 2000]),
    st.integers(0, 10**6),
    st.data(),
)
def test_the_shares_sum_to_one_where_the_draws_are_just_enough_for_some(counts, scale, seed, data):
    scores = np.random.default_rng(seed).normal(size=len(counts)) * scale
    some = data.draw(st.integers(1, len(counts)))
    first = np.argsort(-scores)[:some]
    draws = np.sum(counts) / np.array(counts)[first].sum()
    assert bought(counts, scores, draws).sum() == pytest.approx(1, rel=1e-6)
