"""The iterator of homogenize can be saved as JSON, and goes on exactly."""

import itertools
import json
from itertools import islice

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import unskew
from unskew import UnskewError
from unskew.core.source import plain_source

fixed = settings(derandomize=True, deadline=None, max_examples=8)


def draw(rng):
    return {"a": int(rng.geometric(0.5)), "b": rng.random(), "c": rng.spawn(1)[0].random()}


def many(rng, n):
    return [{"a": int(a), "b": rng.random()} for a in rng.geometric(0.5, n)]


def level(example):
    return min(example["a"], 6)


def pair(example):
    return (level(example), example["b"] < 0.1, None)


SAMPLERS = {
    "fast": lambda: draw,
    "slow": lambda: plain_source(draw, clock=itertools.count().__next__),
    "batch": lambda: unskew.sampler(many, batch=7),
    "named": lambda: "calculator/dcfg",
}


def start(kind: str, seed: int = 3) -> unskew.Homogenized:
    by = "length" if kind == "named" else {"pair": pair}
    return unskew.homogenize(SAMPLERS[kind](), by=by, seed=seed)


@pytest.mark.parametrize("kind", SAMPLERS)
@fixed
@given(k=st.integers(0, 250), more=st.integers(1, 60))
def test_it_goes_on_exactly(kind, k, more):
    whole = start(kind)
    before = list(islice(whole, k))
    saved = json.dumps(whole.state_dict())
    rest = list(islice(whole, more))
    other = start(kind)
    other.load_state_dict(json.loads(saved))
    assert list(islice(other, more)) == rest
    if kind == "slow":  # the others may have drawn ahead to another place
        assert other.tally == whole.tally
        assert other.health() == whole.health()
    # A used iterator goes back as well, and a state can be loaded twice.
    whole.load_state_dict(json.loads(saved))
    again = whole.state_dict()
    assert list(islice(whole, more)) == rest
    whole.load_state_dict(again)
    assert list(islice(whole, more)) == rest
    whole.load_state_dict(start(kind).state_dict())
    assert list(islice(whole, k)) == before


def test_a_slow_sampler_is_not_called_again_for_what_it_gave():
    calls = itertools.count()

    def counted(rng):
        next(calls)
        return draw(rng)

    def source():
        return plain_source(counted, "s", clock=itertools.count().__next__)

    examples = unskew.homogenize(source(), by=level)
    list(islice(examples, 50))
    state = examples.state_dict()
    other = unskew.homogenize(source(), by=level)
    before = next(calls)
    other.load_state_dict(state)
    assert next(calls) == before + 1


def test_a_warning_is_not_repeated():
    def rare(rng):
        return 0

    def source():
        return unskew.homogenize(rare, by=unskew.over(lambda x: x, [0, 1]), epsilon=0.2)

    examples = source()
    with pytest.warns(unskew.HealthWarning, match="never took"):
        list(islice(examples, 1500))
    state = examples.state_dict()
    other = source()
    other.load_state_dict(state)
    list(islice(other, 10))  # warnings are errors


@pytest.mark.parametrize(
    ("other", "name"),
    [
        (lambda: unskew.homogenize(draw, by=level, seed=1), "seed"),
        (lambda: unskew.homogenize(draw, by=level, epsilon=0.1), "epsilon"),
        (lambda: unskew.homogenize(draw, by={"other": level}), "by"),
        (lambda: unskew.homogenize(draw, by=unskew.over(level, range(1, 7))), "support"),
        (lambda: unskew.homogenize(plain_source(draw, "other"), by=level), "sampler"),
    ],
)
def test_a_state_of_another_run_is_refused(other, name):
    state = unskew.homogenize(draw, by=level).state_dict()
    with pytest.raises(UnskewError, match=f"state has {name} = ") as caught:
        other().load_state_dict(state)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    "damage",
    [
        lambda s: None,
        lambda s: {},
        lambda s: {**s, "given": -1},
        lambda s: {**s, "given": 1.5},
        lambda s: {**s, "given": 2**63},  # it would be drawn for ever
        lambda s: {**s, "drawing": None},
        lambda s: {**s, "drawing": {**s["drawing"], "rng": "1-2-3"}},
        lambda s: {**s, "drawing": {**s["drawing"], "rng": 7}},
        lambda s: {**s, "drawing": {**s["drawing"], "chunk": "x"}},
        lambda s: {**s, "drawing": {**s["drawing"], "homogenizer": []}},
        lambda s: {**s, "drawing": {**s["drawing"], "tally": {"drawn": -1}}},
        *[
            lambda s, part=part: {
                **s,
                "drawing": {
                    **s["drawing"],
                    "homogenizer": {**s["drawing"]["homogenizer"], **part},
                },
            }
            for part in (
                {"values": 3},
                {"values": [[1, 2]]},
                {"values": [[{"set": []}, 2, 1]]},
                {"kernel": [1]},
                {"kernel": [1, 2, 2**70]},
                {"drawn": 10**400},
                {"rng": None},
                {"drawn": True},
                {"warned": None},
            )
        ],
    ],
)
def test_what_is_no_state_is_refused_in_one_line(damage):
    examples = unskew.homogenize(draw, by=level)
    list(islice(examples, 20))
    with pytest.raises(UnskewError) as caught:
        examples.load_state_dict(damage(examples.state_dict()))
    assert "\n" not in str(caught.value)


def test_a_chunk_of_a_state_is_no_larger_than_those_of_the_source():
    kept = unskew.homogenize("calculator/dcfg", by="length")
    next(kept)
    state = kept.state_dict()
    kept.load_state_dict({**state, "drawing": {**state["drawing"], "chunk": 2**61}})
    assert len(list(islice(kept, 100))) == 100


def test_a_value_that_json_cannot_hold_is_refused():
    examples = unskew.homogenize(draw, by=lambda example: frozenset([example["a"]]))
    with pytest.raises(UnskewError):
        next(examples)

    class Odd:
        def __hash__(self):
            return 1

        def __eq__(self, other):
            return True

        def __repr__(self):
            return "odd"

    examples = unskew.homogenize(draw, by=lambda example: Odd())
    next(examples)
    with pytest.raises(UnskewError, match="which cannot be saved"):
        examples.state_dict()


def test_values_of_all_kinds_come_back():
    values = [None, True, 2, -1.5, float("inf"), "é", b"\x00", (1, ("a", None))]
    rng_of = {"x": lambda example: values[example["a"] % len(values)]}
    examples = unskew.homogenize(draw, by=rng_of)
    list(islice(examples, 100))
    saved = json.dumps(examples.state_dict(), allow_nan=False)
    rest = list(islice(examples, 50))
    other = unskew.homogenize(draw, by=rng_of)
    other.load_state_dict(json.loads(saved))
    assert list(islice(other, 50)) == rest
