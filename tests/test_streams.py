"""Streams: the same labels give the same draws, anything else gives unrelated ones."""

import numpy as np
import pytest

from unskew.core.errors import UnskewError
from unskew.core.rng import generator


def test_the_same_labels_give_the_same_draws() -> None:
    first, second = generator(7, "draw", 3), generator(7, "draw", 3)
    assert first.random(100).tolist() == second.random(100).tolist()


def test_draws_are_pinned() -> None:
    # Every dataset follows from these: changing them takes a line in CHANGELOG.
    assert generator(0, "draw", 0).integers(1000, size=5).tolist() == [945, 752, 558, 422, 282]


def test_labels_that_look_alike_give_other_draws() -> None:
    alike = [("a", 1), ("a1",), ("a", "1"), (1, "a"), ("1", "a"), ("a",), (), ("a,1",), ('a","1',)]
    draws = [_draws(generator(0, *labels)) for labels in alike]
    assert len(set().union(*draws)) == sum(map(len, draws))


def test_neighbouring_seeds_share_no_item() -> None:
    indices = range(500)
    items = {seed: {_item(generator(seed, "draw", i)) for i in indices} for seed in (42, 43)}
    assert len(items[42]) == len(items[43]) == 500
    assert not items[42] & items[43]


def test_seed_plus_index_would_share_nearly_all_items() -> None:
    """The fault that streams are made to avoid is seen by the check above."""
    items = {s: {_item(np.random.default_rng(s + i)) for i in range(500)} for s in (42, 43)}
    assert len(items[42] & items[43]) == 499


def test_streams_are_uncorrelated() -> None:
    """Correlations of 60 streams over 10,000 draws.

    False alarms: 1,770 pairs at six standard deviations, about 4e-6. The smallest correlation
    caught for certain is about 0.1.
    """
    labels = [(seed, index) for seed in range(6) for index in range(10)]
    assert _largest_correlation([_uniforms(seed, index) for seed, index in labels]) < 0.06


def test_a_correlation_of_a_tenth_is_flagged() -> None:
    left, right = _uniforms(0, 0), _uniforms(0, 1)
    assert _largest_correlation([left, 0.1 * left + 0.9 * right]) > 0.06


@pytest.mark.parametrize("seed", [-1, float("nan"), 1.5, "1"])
def test_a_seed_that_is_no_whole_number_from_zero_is_refused(seed: int) -> None:
    with pytest.raises(UnskewError, match="seed is"):
        generator(seed, "draw")


def _item(rng: np.random.Generator) -> int:
    return int(rng.integers(2**63))


def _draws(rng: np.random.Generator) -> list[int]:
    return rng.integers(2**63, size=50).tolist()


def _uniforms(seed: int, index: int) -> np.ndarray:
    return generator(seed, "draw", index).random(10_000)


def _largest_correlation(rows: list[np.ndarray]) -> float:
    correlations = np.corrcoef(rows)
    return float(np.abs(correlations - np.eye(len(rows))).max())
