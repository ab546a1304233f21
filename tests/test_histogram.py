"""Histograms: counts over a codebook that may grow."""

from collections import Counter
from collections.abc import Hashable

import numpy as np
import pytest

from unskew import Batch, SalientVariable, UnskewError
from unskew.balance.codebook import Codebook
from unskew.balance.histogram import Histogram
from unskew.core.variables.combine import as_variable


def histogram_of(support: tuple[Hashable, ...] | None = None) -> Histogram:
    itself = as_variable(lambda example: example, "v")
    return Histogram(Codebook(SalientVariable("v", itself.measure, support)))


def test_batches_are_counted_together_while_values_join() -> None:
    histogram = histogram_of()
    assert histogram.by_value() == {}
    assert histogram.add(Batch.of(["b", "a", "b"])).tolist() == [0, 1, 0]
    assert histogram.add(Batch.of(["c", "a"])).tolist() == [2, 1]
    assert list(histogram.by_value().items()) == [("b", 2), ("a", 2), ("c", 1)]
    assert histogram.counts.tolist() == [2, 2, 1]


def test_declared_values_are_there_before_they_come() -> None:
    histogram = histogram_of((3, 1, 2))
    assert histogram.by_value() == {3: 0, 1: 0, 2: 0}
    histogram.add(Batch.of([1, 1, 2]))
    assert list(histogram.by_value().items()) == [(3, 0), (1, 2), (2, 1)]
    with pytest.raises(UnskewError, match="outside its declared support"):
        histogram.add(Batch.of([1, 9]))
    assert histogram.by_value() == {3: 0, 1: 2, 2: 1}


def test_two_histograms_share_a_codebook() -> None:
    drawn = histogram_of()
    kept = Histogram(drawn.codebook)
    codes = drawn.add(Batch.of([5, 6, 5, 7]))
    kept.add_codes(codes[:1])
    assert kept.by_value() == {5: 1, 6: 0, 7: 0}


def test_counts_agree_with_a_counter_whatever_the_batches() -> None:
    rng = np.random.default_rng(0)
    histogram, expected = histogram_of(), Counter[int]()
    for size in (1, 0, 500, 3, 40):
        values = rng.integers(-50, 50, size).tolist()
        if values:
            histogram.add(Batch.of(values))
        expected.update(values)
    assert histogram.by_value() == expected
