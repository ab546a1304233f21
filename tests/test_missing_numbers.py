"""Numbers that some rows lack: clipped and rounded, what is missing stays a value of its own."""

from typing import Any

import numpy as np
import pyarrow as pa
import pytest

import unskew
from unskew import UnskewError, audit, bins, clip, over, round_to

ROWS: list[dict[str, Any]] = [
    {"a": {"b": 7}},
    {"a": {"b": None}},
    {"a": None},
    {},
    {"a": {"b": 1}},
    {"a": {"b": 2}},
]
TABLE = pa.table({"a": [row.get("a") for row in ROWS]})


def counts(target: Any, by: Any) -> dict[Any, int]:
    (variable,) = audit(target, by=by).variables.values()
    return dict(variable.counts)


@pytest.mark.parametrize("target", [ROWS, TABLE], ids=["rows", "table"])
def test_what_is_missing_stays_missing(target: Any) -> None:
    assert counts(target, clip("a.b", 0, 2)) == {1: 1, 2: 2, None: 3}
    assert counts(target, round_to("a.b", 5)) == {0: 2, 5: 1, None: 3}


def test_a_function_may_return_none() -> None:
    assert counts([3, 5, 8], {"x": clip(lambda x: None if x == 5 else x, 0, 4)}) == {
        3: 1,
        4: 1,
        None: 1,
    }


def test_missing_in_all_rows_of_a_batch() -> None:
    assert counts([{"a": 1}] + [{"a": None}] * 9_000, clip("a", 0, 9)) == {1: 1, None: 9_000}


def test_homogenizing_keeps_what_is_missing_as_a_value() -> None:
    result = unskew.resample(ROWS * 10, by=clip("a.b", 0, 2), epsilon=0)
    assert result.tally.kept_values["a.b"] == {1: 10, 2: 10, None: 10}


def test_a_declared_support_is_changed_too() -> None:
    changed = clip(over("x", [1, 2, 3]), 0, 2)
    assert changed.support == (1, 2)


@pytest.mark.parametrize("target", [ROWS, TABLE], ids=["rows", "table"])
def test_bins_say_that_rows_are_missing(target: Any) -> None:
    with pytest.raises(UnskewError, match=r"bins needs numbers, but some rows have no 'a.b'; fill"):
        audit(target, by=bins("a.b", [0, 5]))


def test_other_values_are_refused_as_before() -> None:
    with pytest.raises(UnskewError, match=r"clip needs numbers, but variable 'x' gave 'two'"):
        audit([{"x": 1}, {"x": "two"}, {"x": None}], by=clip("x", 0, 1))
    whole = np.array([2**63, 1], dtype=object)
    with pytest.raises(UnskewError, match=r"clip needs numbers, but variable 'example' gave 92233"):
        audit(whole, by=clip("example", 0, 1))
