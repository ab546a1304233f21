"""Values of variables that are written as JSON come back as the same values, or are refused."""

import datetime
import json
import zoneinfo

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from unskew.balance.best.raking import rake
from unskew.balance.best.rule import Rule, pilot_of
from unskew.core.batch import Batch
from unskew.core.errors import UnskewError
from unskew.core.values.value_data import value_data, value_of
from unskew.core.variables.combine import as_variable

NUMBERS = st.integers() | st.floats(allow_nan=False) | st.decimals(allow_nan=False)
MOMENTS = st.dates() | (st.datetimes() | st.times()).map(lambda moment: moment.replace(fold=0))
PARTS = st.none() | st.booleans() | NUMBERS | MOMENTS | st.text() | st.binary()
VALUES = st.recursive(PARTS, lambda inner: st.tuples(inner, inner), max_leaves=4)


def through_json(data):
    return json.loads(json.dumps(data, allow_nan=False))


@given(VALUES)
def test_a_value_comes_back_with_its_type(value):
    assert repr(value_of(through_json(value_data(value)))) == repr(value)


def test_a_time_with_a_zone_comes_back_equal():
    moment = datetime.datetime(2020, 7, 1, 12, tzinfo=zoneinfo.ZoneInfo("Europe/Berlin"))
    back = value_of(through_json(value_data(moment)))
    assert back == moment
    assert hash(back) == hash(moment)


def test_nan_comes_back():
    assert np.isnan(value_of(through_json(value_data(float("nan")))))


@pytest.mark.parametrize("value", [datetime.timedelta(1), 1j, frozenset([1]), (1, 1j)])
def test_a_value_that_would_come_back_changed_is_refused(value):
    with pytest.raises(UnskewError, match="which cannot be saved; measure"):
        value_data(value)


def nested(levels):
    data = 1
    for _ in range(levels):
        data = {"tuple": [data]}
    return data


@pytest.mark.parametrize(
    "data",
    [
        [1],
        {},
        {"tuple": 3},
        {"float": "1"},
        {"bytes": "?"},
        {"set": [1]},
        {"date": "x"},
        {"decimal": "x"},
        nested(5000),
    ],
)
def test_data_that_holds_no_value_is_refused(data):
    with pytest.raises(ValueError, match=r"no value|hex|isoformat"):
        value_of(data)


@pytest.mark.parametrize(
    "values", [[b"a", b"b"], [(1, b"x"), (2, None)], [float("inf"), 0.5], ["1", 1]], ids=str
)
def test_a_frozen_rule_that_was_written_knows_the_values_again(values):
    variable = as_variable(lambda row: values[row], "x")
    batch = Batch.of([0] * 9 + [1])
    sample = pilot_of([variable], [batch])
    uniform = [np.full(2, 0.5)]
    rule = Rule.of(sample, rake(sample.cells(), uniform, 5))
    again = Rule.from_dict([variable], through_json(rule.to_dict()))
    assert again.chances(batch).tolist() == rule.chances(batch).tolist()
    assert rule.chances(batch)[0] < 0.2


def test_a_frozen_rule_with_a_value_twice_is_damaged():
    data = {"draws": 2, "tables": {"x": {"values": [1, 1.0, 2], "table": [0, -1, -2]}}}
    with pytest.raises(UnskewError, match="damaged"):
        Rule.from_dict([as_variable(abs, "x")], data)
