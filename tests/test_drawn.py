"""Random rows of data of any size, with bounded memory."""

import tracemalloc
from collections import Counter

import numpy as np
import pyarrow as pa
import pytest

from unskew.core.batch import Batch
from unskew.core.rng import generator
from unskew.datasets.drawn import drawn_rows


def batches(sizes):
    start = 0
    for size in sizes:
        yield Batch({"row": np.arange(start, start + size)})
        start += size


def test_few_rows_are_all_there_in_order():
    sample = drawn_rows(batches([3, 0, 4]), 10, generator(0))
    assert sample.rows.columns["row"].tolist() == list(range(7))
    assert sample.read == 7


def test_nothing_gives_nothing():
    assert drawn_rows(batches([]), 10, generator(0)) is None
    assert drawn_rows(batches([0]), 10, generator(0)) is None


@pytest.mark.parametrize("sizes", [[1000], [10] * 100, [1, 999], [500, 0, 500]])
def test_of_many_rows_as_many_as_asked_for_are_chosen_in_order(sizes):
    sample = drawn_rows(batches(sizes), 64, generator(0, "rows"))
    rows = sample.rows.columns["row"].tolist()
    assert (len(rows), sample.read) == (64, 1000)
    assert rows == sorted(set(rows))


def test_each_row_is_as_likely_as_any_other():
    """Chi-square with 19 degrees of freedom: a false alarm once in 1,000; one seed."""
    counts = Counter()
    for seed in range(2_000):
        counts.update(drawn_rows(batches([7, 13]), 5, generator(seed)).rows.columns["row"].tolist())
    expected = 2_000 * 5 / 20
    # Without replacement, counts vary by (1 - 5/20) of what they would with it.
    chi = sum((counts[row] - expected) ** 2 / expected for row in range(20)) / (1 - 5 / 20)
    assert chi < 43.8


def test_memory_is_bounded():
    """A hundred times as many rows take little more memory."""

    def peak(count):
        rows = (Batch({"row": np.arange(10_000) + 10_000 * i}) for i in range(count))
        tracemalloc.start()
        drawn_rows(rows, 1_000, generator(1))
        _, most = tracemalloc.get_traced_memory()
        tracemalloc.stop()
        return most

    assert peak(300) < 2 * peak(3)


def test_rows_of_arrow_and_of_python_are_chosen_alike():
    table = Batch.from_arrow(pa.table({"row": list(range(50))}))
    plain = Batch.of([{"row": i} for i in range(50)])
    chosen = [drawn_rows(iter([b]), 8, generator(4)).rows for b in (table, plain)]
    assert [example["row"] for example in chosen[0].examples()] == [
        example["row"] for example in chosen[1].examples()
    ]
