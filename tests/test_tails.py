"""Probabilities of tails: those of SciPy, down to the smallest."""

import numpy as np
import pytest
from scipy import stats

from unskew.core.tails import chi_square_tail, gamma_tail


@pytest.mark.parametrize("freedom", [0.5, 1, 2, 3.7, 10, 99, 1_000, 20_000])
def test_the_tail_of_a_chi_square_is_that_of_scipy(freedom):
    spread = np.sqrt(2 * freedom)
    for away in (-5, -2, -0.5, 0, 0.5, 1, 3, 8, 20):
        x = freedom + away * spread
        if x > 0:
            assert chi_square_tail(x, freedom) == pytest.approx(
                stats.chi2.sf(x, freedom), rel=1e-8, abs=1e-300
            )


def test_the_tail_begins_at_one_and_falls_to_zero():
    assert gamma_tail(3.0, 0.0) == 1.0
    assert gamma_tail(3.0, -1.0) == 1.0
    assert gamma_tail(0.0, 1.0) == 1.0
    assert gamma_tail(3.0, 1e6) == 0.0
    tails = [gamma_tail(4.5, x) for x in np.linspace(0.01, 60, 500)]
    assert all(after < before for before, after in zip(tails, tails[1:], strict=False))
