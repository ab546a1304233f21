"""Tails of distributions and adjusted p-values, against SciPy and by hand."""

import numpy as np
import pytest
from scipy import stats

from unskew.discovery.score.tails import (
    benjamini_hochberg,
    chi2_tail,
    gamma_tail,
    holm,
    hypergeometric_tail,
    normal_tail,
)


@pytest.mark.parametrize("shape", [0.01, 0.5, 1.0, 7.3, 500.0, 1e5])
@pytest.mark.parametrize("times", [0.1, 0.9, 1.0, 1.1, 2.0, 30.0])
def test_the_tail_of_a_gamma_number_is_that_of_scipy(shape, times):
    expected = stats.gamma.sf(shape * times, shape)
    assert gamma_tail(shape * times, shape) == pytest.approx(expected, rel=1e-7, abs=1e-300)


def test_tails_by_hand():
    assert chi2_tail(3.841459, 1) == pytest.approx(0.05, rel=1e-5)
    assert chi2_tail(2.0, 2) == pytest.approx(np.exp(-1))
    assert chi2_tail(5.0, 0) == 1
    assert gamma_tail(-1.0, 2.0) == 1
    assert normal_tail(1.959964) == pytest.approx(0.025, rel=1e-5)


def test_the_hypergeometric_tail_is_that_of_scipy():
    rng = np.random.default_rng(0)
    hits = rng.integers(0, 30, 400)
    rows = hits + rng.integers(0, 300, 400)
    tail = hypergeometric_tail(hits, rows, 40, 500)
    expected = stats.hypergeom.sf(hits - 1, 500, 40, rows)
    more = hits * 500 > rows * 40
    assert more.sum() > 50
    assert tail[more] == pytest.approx(expected[more], rel=1e-8)
    assert (tail[~more] == 1).all()


def test_four_hits_of_four_by_hand():
    """Of 10 rows 4 are hits; that 4 random rows are these has one chance in 210."""
    assert hypergeometric_tail(np.array([4]), np.array([4]), 4, 10)[0] == pytest.approx(1 / 210)


def test_adjusted_p_values_by_hand():
    assert holm([0.01, 0.04, 0.03]).tolist() == pytest.approx([0.03, 0.06, 0.06])
    assert benjamini_hochberg([0.01, 0.04, 0.03]).tolist() == pytest.approx([0.03, 0.04, 0.04])
    assert holm([0.9, 0.8]).tolist() == [1, 1]
    assert len(holm([])) == len(benjamini_hochberg([])) == 0
