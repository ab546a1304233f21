# HELD OUT: nobody who works on `discover` reads these kinds before the last measurement.
"""The held-out kinds of the bench of `discover`.

Each comparison with natural rows has a false-alarm rate of 10⁻⁶, about 150 of them in all.
"""

import pytest

from bench.discover.kinds import TYPES
from tests.discover_plants import chances, kind_of


@pytest.mark.parametrize("kind_of_data", TYPES)
def test_planted_rows_differ_from_natural_ones_and_natural_ones_do_not(kind_of_data):
    for name, (with_skew, without) in chances("test", kind_of_data).items():
        assert with_skew < 1e-6, name
        assert without > 1e-6, name


@pytest.mark.parametrize(
    ("kind_of_data", "name", "row", "value"),
    [
        ("expressions", "ends_in_equals", {"expression": "3 + 4 ="}, True),
        ("expressions", "negations_even", {"expression": "not p and (q or not r)"}, True),
        ("lists", "already_sorted", {"input": [-3, 1, 1]}, True),
        ("lists", "already_sorted", {"input": [1, -3]}, False),
        ("tables", "weekday_joined", {"joined": "2024-02-29"}, 3),
        ("tables", "phone_unspaced", {"phone": "03112"}, True),
        ("images", "columns_sorted", {"grid": [[0, 3], [1, 3]]}, True),
        ("images", "columns_sorted", {"grid": [[0, 4], [1, 3]]}, False),
        ("karel", "narrow_indent", {"program": "def main():\n  move()"}, True),
        ("chat", "cut_off", {"b": "half a sen"}, True),
    ],
)
def test_truths_by_hand(kind_of_data, name, row, value):
    assert kind_of("test", kind_of_data, name).truth(row) == value
