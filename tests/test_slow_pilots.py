"""A pilot of a slow function warns before it takes long, and a plan takes few examples of it."""

import numpy as np
import pytest

import unskew
from unskew import HealthWarning, UnskewError
from unskew.balance.best.goal import Goal
from unskew.core.batch import Batch
from unskew.core.rng import generator
from unskew.core.source import plain_source
from unskew.core.variables.combine import as_variables
from unskew.datasets.parts.pilots import fitted


class Timed:
    """A sampler whose calls take some seconds on its own clock."""

    def __init__(self, seconds: float) -> None:
        self.seconds, self.now, self.calls = seconds, 0.0, 0

    def clock(self) -> float:
        return self.now

    def __call__(self, rng: np.random.Generator) -> int:
        self.now += self.seconds
        self.calls += 1
        return int(rng.integers(6))


def pilot(sampler: Timed) -> None:
    source = plain_source(sampler, "slow", clock=sampler.clock)
    variables = as_variables({"side": lambda side: side})
    fitted(source, variables, Goal(2.0), generator(0, "p"), 2_000, sampler.clock)


def test_a_pilot_that_takes_long_says_so_once() -> None:
    with pytest.warns(HealthWarning) as warned:
        pilot(Timed(0.5))
    (message,) = [str(warning.message) for warning in warned]
    assert message == (
        "2,000 examples of sampler 'slow' are drawn first, to fit the rule: they come at 2 a "
        "second, and all take 17 minutes; in Python, give pilot for fewer (pilot=1_000), and "
        "cache to keep them"
    )


def test_the_warning_comes_after_the_examples_of_a_second() -> None:
    sampler = Timed(0.5)
    with pytest.raises(HealthWarning):  # in tests, warnings are errors
        pilot(sampler)
    assert sampler.calls == 2


def test_a_pilot_of_a_quarter_of_a_minute_says_so_too() -> None:
    with pytest.warns(HealthWarning, match="at 125 a second, and all take 16 seconds"):
        pilot(Timed(0.008))


def test_a_fast_pilot_says_nothing() -> None:
    pilot(Timed(0.001))


def test_speed_does_not_change_the_rule() -> None:
    rules = []
    for seconds in (0.0, 0.01):
        sampler = Timed(seconds)
        source = plain_source(sampler, "slow", clock=sampler.clock)
        variables = as_variables({"side": lambda side: side})
        rules.append(fitted(source, variables, Goal(2.0), generator(0, "p"), 2_000).rule.to_dict())
    assert rules[0] == rules[1]


def test_a_plan_of_a_slow_function_has_few_examples() -> None:
    sampler = Timed(0.5)
    with pytest.warns(HealthWarning, match="this plan has the first 512 examples .* 65,536 would"):
        plan = unskew.plan(sampler, by={"side": lambda side: side}, clock=sampler.clock)
    assert plan.examples == 512
    plan = unskew.plan(sampler, by={"side": lambda side: side}, n=600, clock=sampler.clock)
    assert plan.examples == 600


def test_a_plan_of_data_has_no_more_than_its_number() -> None:
    assert unskew.plan(Batch.of([1, 2] * 40_000).columns["example"], by="example").examples == 65536


def test_a_closeness_that_costs_much_says_so() -> None:
    def draw(rng: np.random.Generator) -> int:
        return int(rng.random() < 0.004)

    with pytest.warns(HealthWarning, match=r"closeness 0.01 costs \d+ draws for each kept exam"):
        unskew.homogenize(draw, by={"rare": int}, closeness=0.01)
    unskew.homogenize(draw, by={"rare": int}, closeness=0.01, cost_limit=1_000)
    unskew.homogenize(draw, by={"rare": int}, budget=120)
    with pytest.raises(UnskewError, match="cost_limit is 0"):
        unskew.homogenize(draw, by={"rare": int}, budget=2, cost_limit=0)
