"""A budget, a closeness or a plan that means nothing is refused in one line."""

import pytest

import unskew
from unskew.core.errors import UnskewError


def draw(rng):
    return {"a": min(int(rng.geometric(0.5)), 9)}


@pytest.mark.parametrize(
    ("options", "problem"),
    [
        ({"budget": 3, "epsilon": "x"}, "epsilon is 'x', and there is a budget"),
        ({"budget": "3", "closeness": "x"}, "budget is '3' and closeness is 'x'; give one"),
        ({"budget": 3, "pilot": 1}, "pilot is 1; allowed is a whole number of at least 2"),
        ({"budget": 3, "pilot": -1}, "pilot is -1; allowed"),
        ({"budget": 3, "pilot": 1.5}, "pilot is 1.5; allowed"),
        ({"budget": 3, "target": {100: 1}}, "target of 'a' is 100, which never came in 4,096"),
        ({"budget": 3, "like": [{"a": 77}]}, "target of 'a' is 77, which never came"),
        ({"closeness": 0.9, "target": {100: 1}}, "target of 'a' is 100, which never came"),
    ],
)
def test_homogenizing_that_means_nothing_is_refused(options, problem):
    with pytest.raises(UnskewError, match=problem):
        unskew.homogenize(draw, by="a", **options)


@pytest.mark.parametrize(
    ("prices", "problem"),
    [([], "prices are empty; give"), ([0], "a price is 0; allowed"), (["x"], "a price is 'x'")],
)
def test_a_plan_of_no_prices_is_refused(prices, problem):
    with pytest.raises(UnskewError, match=problem):
        unskew.plan([{"a": 1}, {"a": 2}], by="a", prices=prices)
