"""What pandas and NumPy call missing counts as None, wherever it stands."""

import numpy as np
import pandas as pd
import pytest

import unskew
from unskew.core.hashing.objects import hash_objects
from unskew.core.values.missing import is_missing

MISSING = [None, float("nan"), np.float32("nan"), np.datetime64("NaT"), pd.NaT, pd.NA]


@pytest.mark.parametrize("value", MISSING, ids=repr)
def test_what_is_missing_is_known(value):
    assert is_missing(value)


@pytest.mark.parametrize("value", [0, "", "NaT", False, 0.0, np.datetime64(0, "s"), []], ids=repr)
def test_other_values_are_there(value):
    assert not is_missing(value)


def test_rows_of_a_frame_give_the_numbers_of_the_frame():
    times = [pd.Timestamp(2020, 1, 31), pd.NaT, pd.Timestamp(2021, 2, 1)] * 40
    numbers = pd.array([1, None, 3] * 40, dtype="Int64")
    frame = pd.DataFrame({"time": times, "number": numbers})
    rows = [row._asdict() for row in frame.itertuples(index=False)]
    assert rows[1]["time"] is pd.NaT
    assert rows[1]["number"] is pd.NA
    by = ["year(time)", "number"]
    of_rows, of_frame = unskew.audit(rows, by=by), unskew.audit(frame, by=by)
    assert of_rows.variables["year(time)"].counts == {2020: 40, 2021: 40, None: 40}
    for name in by:
        assert of_rows.variables[name].counts == of_frame.variables[name].counts
    assert of_rows.distinct == of_frame.distinct == 3
    assert set(unskew.audit(rows).variables) == set(unskew.audit(frame).variables)


def test_a_missing_time_has_the_hash_of_none():
    hashes = hash_objects([None, pd.NaT, pd.NA, np.datetime64("NaT")])
    assert len(set(hashes.tolist())) == 1
