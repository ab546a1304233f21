"""A user's sampler is called no more often than the examples need, at any speed."""

import itertools
from itertools import islice

import pytest

import unskew
from unskew import UnskewError
from unskew.core.repeatable import FEW
from unskew.core.rng import generator
from unskew.core.source import plain_source
from unskew.core.usercode.samplers import AHEAD, MOST_AHEAD, SHARE


class Counted:
    """A sampler that counts its calls. With a clock that it moves, each call takes some seconds."""

    def __init__(self, seconds: float = 0.0) -> None:
        self.calls, self.seconds, self.now = 0, seconds, 0.0

    def __call__(self, rng):
        self.calls += 1
        self.now += self.seconds
        return {"a": int(rng.geometric(0.5)), "b": float(rng.random())}

    def clock(self) -> float:
        return self.now

    def source(self) -> unskew.Source:
        return plain_source(self, "counted", clock=self.clock)


def level(example) -> int:
    return min(example["a"], 6)


def needed(kept: int) -> int:
    """Return how many draws it takes to keep so many, told by draws of one example at a time."""
    examples = unskew.homogenize(Counted(1.0).source(), by=level)
    list(islice(examples, kept))
    return examples.tally.drawn


@pytest.mark.parametrize("kept", [1, 7, 100])
def test_a_slow_sampler_is_called_as_often_as_needed_and_for_the_trial(kept):
    sampler = Counted(seconds=1.0)
    examples = unskew.homogenize(sampler.source(), by=level)
    trial = 2 * FEW
    assert sampler.calls == trial
    list(islice(examples, kept))
    assert examples.tally.kept == kept
    assert sampler.calls == trial + examples.tally.drawn


def test_a_fast_sampler_draws_a_small_share_ahead():
    sampler = Counted()
    list(islice(unskew.homogenize(sampler.source(), by=level), 100))
    drawn = sampler.calls - 2 * FEW
    assert needed(100) <= drawn <= needed(100) * (1 + 1 / SHARE) + 1


def test_time_decides_how_many_are_drawn_at_once():
    rng = generator(0)
    fast, slow, middle = Counted(), Counted(AHEAD), Counted(AHEAD / 10)
    sizes = [len(s.source().sampler.some(rng, None, 10**6)[0]) for s in (fast, middle, slow)]
    assert sizes[0] == MOST_AHEAD
    assert 9 <= sizes[1] <= 11
    assert sizes[2] == 1
    # What is surely needed is handed on each second.
    assert len(Counted(0.1).source().sampler.some(rng, 1000, 0)[0]) in (10, 11)
    assert len(Counted().source().sampler.some(rng, 3, 10**6)[0]) == 3


@pytest.mark.parametrize("seed", range(5))
def test_the_examples_do_not_depend_on_the_clock(seed):
    expected = list(islice(unskew.homogenize(Counted().source(), by=level, seed=seed), 300))
    for seconds in (0.00003, 0.0004, 1.0):
        sampler = Counted(seconds)
        examples = unskew.homogenize(sampler.source(), by=level, seed=seed)
        assert list(islice(examples, 300)) == expected


@pytest.mark.parametrize("by", [level, unskew.over(level, range(1, 7))], ids=["grown", "declared"])
def test_what_it_cost_does_not_depend_on_the_clock(by):
    fast = unskew.homogenize(Counted().source(), by=by)
    slow = unskew.homogenize(Counted(1.0).source(), by=by)
    for number in range(300):
        assert next(fast) == next(slow)
        if number % 7 == 0:
            assert fast.tally == slow.tally
            assert fast.health() == slow.health()


def test_the_health_is_judged_after_the_same_draws():
    messages = []
    for seconds in (0.0, 0.0002, 1.0):
        examples = unskew.homogenize(
            Counted(seconds).source(), by=unskew.over(level, range(9)), cost_limit=1.5
        )
        with pytest.warns(unskew.HealthWarning) as warned:
            list(islice(examples, 600))
        messages.append([str(warning.message) for warning in warned])
    assert messages[0] == messages[1] == messages[2]
    assert "in 1000 draws" in " ".join(messages[0])


def test_an_error_does_not_end_the_iterator_and_nothing_changes():
    fails = iter([*[False] * 12, True, *[False] * 20, True, True, *[False] * 1000])

    def draw(rng):
        example = {"a": int(rng.geometric(0.5))}
        if next(fails):
            raise ConnectionError("busy")
        return example

    def steady(rng):
        return {"a": int(rng.geometric(0.5))}

    examples, got, errors = unskew.homogenize(plain_source(draw, "s"), by=level), [], []
    while len(got) < 40:
        try:
            got.append(next(examples))
        except UnskewError as error:
            errors.append(str(error))
    assert len(errors) == 3
    assert all("test_slow_samplers.py line" in error for error in errors)
    assert got == list(islice(unskew.homogenize(plain_source(steady, "s"), by=level), 40))


def test_generate_draws_nothing_that_it_does_not_need(run, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "counting.py").write_text(
        "from pathlib import Path\n"
        "def draw(rng):\n"
        "    with Path('calls').open('a') as file:\n"
        "        file.write('.')\n"
        "    return {'a': int(rng.geometric(0.5))}\n"
        "def level(example):\n"
        "    return min(example['a'], 6)\n"
    )
    by = ("--homogenize", "counting:level", "--workers", 1)
    code, _, err = run("generate", "counting:draw", "-n", 300, "-o", "d", *by)
    assert code == 0, err
    tally = unskew.Dataset.open("d").tally
    assert tally.kept == 300
    trial = 2 * 5  # a dataset promises the same examples again, so more are tried
    assert len((tmp_path / "calls").read_text()) == trial + tally.drawn


def nothing(example):
    return 0


class Shared:
    """Samplers that change what they returned, drawn one by one: no batch shows it."""

    def __init__(self, kind: str) -> None:
        self.kind, self.now = kind, itertools.count()
        self.one: dict[str, int] = {}
        self.ring: list[dict[str, int]] = [{} for _ in range(40)]

    def __call__(self, rng):
        number = next(self.now)
        example = self.ring[number % 40] if self.kind == "ring" else self.one
        example["a"] = number
        return {"inner": [example]} if self.kind == "inner" else example

    def source(self) -> unskew.Source:
        return plain_source(self, clock=itertools.count().__next__)


@pytest.mark.filterwarnings("ignore::unskew.core.errors.HealthWarning")
@pytest.mark.parametrize("kind", ["same", "inner", "ring"])
def test_an_object_that_is_changed_and_returned_again_is_refused(kind):
    examples = unskew.homogenize(Shared(kind).source(), by=nothing)
    with pytest.raises(UnskewError, match="make a new object for each example"):
        list(islice(examples, 100))


def test_whoever_gets_an_example_may_change_it():
    pool = [{"a": [i]} for i in range(5)]
    slow = {"clock": itertools.count().__next__}
    fresh = unskew.homogenize(plain_source(lambda rng: {"a": [1]}, **slow), by=nothing)
    for example in islice(fresh, 50):
        example["a"].append(2)
    again = unskew.homogenize(plain_source(lambda rng: pool[rng.integers(5)], **slow), by=nothing)
    assert len(list(islice(again, 600))) == 600
