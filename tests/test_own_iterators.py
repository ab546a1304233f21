"""Datasets that are their own iterators: ``iter()`` takes them to the beginning again."""

from typing import Any

import pyarrow as pa
import pytest

import unskew


class Rows:
    """Numbered examples that are iterated by a place in the object, as reasoning-gym does it."""

    def __init__(self, rows: list[Any]) -> None:
        self.rows, self.at = rows, 0

    def __len__(self) -> int:
        return len(self.rows)

    def __getitem__(self, number: int) -> Any:
        return self.rows[number]

    def __iter__(self) -> "Rows":
        self.at = 0
        return self

    def __next__(self) -> Any:
        if self.at >= len(self.rows):
            raise StopIteration
        self.at += 1
        return self.rows[self.at - 1]


ROWS = [{"id": f"row {i}", "level": int(i > 7)} for i in range(10)]


def test_each_example_is_read_once() -> None:
    audited = unskew.audit(Rows(ROWS), by="level")
    assert (audited.n, audited.duplicates) == (10, 0)
    assert audited.variables["level"].counts == {0: 8, 1: 2}


def test_each_table_is_read_once() -> None:
    tables = [pa.table({"level": [0, 1]}), pa.table({"level": [1]})]
    assert unskew.audit(Rows(tables), by="level").variables["level"].counts == {0: 1, 1: 2}


def test_what_has_numbers_can_be_read_again() -> None:
    result = unskew.resample(Rows(ROWS), by="level", epsilon=0)
    assert result.data == [ROWS[number] for number in result.indices]
    assert sorted(row["level"] for row in result.data) == [0, 0, 1, 1]


def test_an_iterator_without_numbers_cannot() -> None:
    with pytest.raises(unskew.UnskewError, match="can be read only once; pass a list"):
        unskew.resample(iter(ROWS), by="level")


def test_a_dataset_of_reasoning_gym_is_as_long_as_it_says() -> None:
    reasoning_gym = pytest.importorskip("reasoning_gym")
    tasks = reasoning_gym.create_dataset("gcd", size=20, seed=1)
    assert unskew.audit(tasks).n == 20
    assert unskew.resample(tasks, by="answer").tally.drawn == 20
