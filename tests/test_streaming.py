"""Endless streams: nothing twice, nothing left out, resumed at the very example."""

import json
from collections import Counter
from dataclasses import replace
from itertools import islice

import numpy as np
import pytest

import unskew
from tests.statistics import same_distribution
from unskew import Recipe, UnskewError
from unskew.core.errors import HealthWarning
from unskew.datasets.stream import BLOCK, Stream

KAREL = Recipe("karel/msr", 1)
PLAIN = Recipe("calculator/t2t", 1, seed=4)
EVEN = Recipe("calculator/dcfg", 1, homogenize=("length",), seed=4)


def key(example):
    return json.dumps({name: str(value) for name, value in example.items()}, sort_keys=True)


def first(stream, n):
    return [key(example) for example in islice(stream, n)]


def moved(recipe=PLAIN, **changes):
    """A state as it is at the beginning, but for some numbers."""
    return {**Stream(recipe).state(), **changes}


@pytest.mark.parametrize("recipe", [PLAIN, EVEN, KAREL], ids=["plain", "homogenized", "karel"])
def test_the_same_recipe_gives_the_same_stream(recipe):
    assert first(unskew.stream(recipe), 1_500) == first(unskew.stream(recipe), 1_500)


def test_a_source_may_be_named():
    assert first(unskew.stream("calculator/t2t"), 5) == first(
        unskew.stream(Recipe("calculator/t2t", 9)), 5
    )


def test_karel_examples_never_repeat():
    seen = first(unskew.stream(KAREL), 3 * BLOCK)
    assert len(set(seen)) == len(seen)


@pytest.mark.parametrize("recipe", [PLAIN, EVEN], ids=["plain", "homogenized"])
def test_parts_are_the_whole_and_do_not_overlap(recipe):
    """Three parts, block by block, are one stream's blocks in turn."""
    whole = [list(map(key, Stream(recipe).block(i).examples())) for i in range(6)]
    for part in range(3):
        mine = whole[part] + whole[part + 3]
        assert first(Stream(recipe, part, 3), len(mine)) == mine


@pytest.mark.parametrize("recipe", [PLAIN, EVEN], ids=["plain", "homogenized"])
@pytest.mark.parametrize("n", [0, 1, 37, BLOCK, BLOCK + 1, 2_500])
def test_a_stream_goes_on_where_it_stood(recipe, n):
    stream = Stream(recipe, 1, 2)
    first(stream, n)
    state = json.loads(json.dumps(stream.state()))
    assert first(Stream(recipe, 1, 2, state), 50) == first(stream, 50)


def test_batches_go_on_from_where_it_stands():
    stream = Stream(PLAIN)
    before = first(stream, 10)
    batch = next(stream.batches())
    assert len(batch) == BLOCK - 10
    assert before + list(map(key, batch.examples())) == first(Stream(PLAIN), BLOCK)
    assert stream.state()["block"] == 1


def test_items_by_number_are_those_of_the_stream():
    stream = unskew.stream(KAREL)
    listed = first(unskew.stream(KAREL), BLOCK + 20)
    for number in (0, 7, BLOCK - 1, BLOCK, BLOCK + 19):
        assert key(stream.item(number)) == listed[number]
    assert stream.state()["block"] == 0
    with pytest.raises(UnskewError, match="have no numbers"):
        unskew.stream(EVEN).item(3)


def test_numbers_may_be_numpys():
    stream = unskew.stream(PLAIN, np.int64(1), np.int32(2))
    assert stream.item(np.uint16(7)) == unskew.stream(PLAIN).item(7)
    assert first(stream, 5) == first(unskew.stream(PLAIN, 1, 2), 5)
    state = json.loads(json.dumps(stream.state()))
    assert first(unskew.stream(PLAIN, 1, 2, state), 5) == first(stream, 5)


def test_a_state_does_not_depend_on_how_many_a_dataset_would_have():
    state = Stream(PLAIN).state()
    assert first(Stream(replace(PLAIN, n=77, shard_size=5), state=state), 5) == first(
        Stream(PLAIN), 5
    )


HOPELESS = """
import unskew
def draw(rng): return {"n": int(rng.integers(3))}
n = unskew.over(lambda row: row["n"], range(5))
"""


@pytest.fixture
def hopeless(own_module):
    """A source that gives 0, 1 and 2, and a variable that may also be 3 or 4."""
    own_module("hopeless", HOPELESS)


def test_a_value_that_never_comes_is_refused_at_epsilon_0(hopeless):
    recipe = Recipe("hopeless:draw", 1, homogenize=("hopeless:n",), epsilon=0)
    with pytest.raises(UnskewError, match=r"never took 3, 4 in 65,536 draws.*raise epsilon above"):
        Stream(recipe)


def test_a_value_that_never_comes_may_cost_much(hopeless, monkeypatch):
    recipe = Recipe("hopeless:draw", 1, homogenize=("hopeless:n",), epsilon=0.001)
    with pytest.warns(HealthWarning, match=r"it never took 3, 4: leave them out of the support"):
        examples = Stream(recipe)
    assert next(examples)["n"] in range(3)
    monkeypatch.setattr("unskew.datasets.stream.IN_VAIN", 2)
    with pytest.warns(HealthWarning):
        examples = Stream(replace(recipe, epsilon=1e-12))
    with pytest.raises(UnskewError, match="nothing kept in 2,048 draws"):
        next(examples)


def test_a_healthy_stream_says_nothing(recwarn):
    Stream(EVEN)
    assert not [w for w in recwarn if issubclass(w.category, HealthWarning)]


def test_a_homogenized_stream_is_closer_to_uniform():
    """As close as the paper's procedure: the same lengths as `homogenize` gives, by chi-square.

    False alarm once in 1,000; the plain stream is flagged by the same test.
    """
    length = [len(example["expression"]) for example in islice(unskew.stream(EVEN), 6_000)]
    other = unskew.homogenize("calculator/dcfg", "length", seed=1)
    later = [len(example["expression"]) for example in islice(other, 8_000)][2_000:]
    short = [min(n, 21) for n in length]
    assert same_distribution(Counter(short), Counter(min(n, 21) for n in later)) > 1e-3
    plain = unskew.stream(Recipe("calculator/dcfg", 1))
    skewed = Counter(min(len(e["expression"]), 21) for e in islice(plain, 6_000))
    assert same_distribution(skewed, Counter(short)) < 1e-6


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: Stream(PLAIN, 2, 2), "part is 2"),
        (lambda: Stream(PLAIN, 0, 0), "parts is 0"),
        (lambda: Stream(PLAIN, 0, 1, {"block": 1}), "give what state"),
        (lambda: Stream(PLAIN, 0, 2, Stream(PLAIN, 1, 2).state()), "give each part its own"),
        (lambda: Stream(PLAIN, 0, 1, Stream(KAREL).state()), "give each recipe its own"),
        (lambda: Stream(PLAIN, state=moved(row=BLOCK + 1)), "never stands"),
        (lambda: Stream(PLAIN, state=moved(row=-1)), "never stands"),
        (lambda: Stream(PLAIN, state=moved(block=-1)), "never stands"),
        (lambda: Stream(PLAIN, state=moved(row=1.0)), "must be whole"),
        (lambda: Stream(PLAIN, state=moved(block="1")), "must be whole"),
        (lambda: next(Stream(EVEN, state=moved(EVEN, row=BLOCK))), "give what state"),
        (lambda: Stream(Recipe("karel/msr", 9, given="karel/problems")), "leave given out"),
        (lambda: Stream(Recipe("karel/msr", 9, distinct=True)), "leave distinct out"),
        (lambda: Stream(Recipe("karel/msr", 9, splits={"train": 9})), "leave splits out"),
        (lambda: unskew.stream("karel/msrr"), "did you mean 'karel/msr'"),
        (lambda: unskew.stream(KAREL).item(-1), "item is -1"),
        (lambda: unskew.stream(KAREL).item(1.0), "item is 1.0; allowed is a whole number"),
        (lambda: unskew.stream(KAREL).block(-1), "block is -1"),
        (lambda: Stream(PLAIN, 0.5, 2), "part is 0.5; allowed is a whole number"),
        (lambda: Stream(PLAIN, -1, 2), "part is -1"),
    ],
)
def test_what_cannot_be_is_refused(make, message):
    with pytest.raises(UnskewError, match=message):
        make()


def test_excluded_programs_do_not_come(tmp_path):
    made = unskew.generate(Recipe("karel/msr", 300, seed=1), tmp_path / "test")
    gone = {text for batch in made.batches() for text in batch.columns["program"].to_pylist()}
    stream = unskew.stream(Recipe("karel/msr", 1, exclude=(str(made.folder),)))
    assert not gone & {example["program"] for example in islice(stream, 2_000)}


def test_workers_and_ranks_of_pytorch_never_overlap(monkeypatch):
    torch = pytest.importorskip("torch")
    from unskew.models.stream import StreamDataset

    seen = []
    for rank in range(2):
        monkeypatch.setenv("RANK", str(rank))
        monkeypatch.setenv("WORLD_SIZE", "2")
        loader = torch.utils.data.DataLoader(
            StreamDataset(KAREL), batch_size=None, num_workers=2, multiprocessing_context="fork"
        )
        seen += [key(example) for example in islice(loader, 2_200)]
    assert len(set(seen)) == len(seen) == 4_400
    blocks = [key(e) for i in range(4) for e in Stream(KAREL).block(i).examples()]
    assert len(set(seen) & set(blocks)) > 3_000
    assert np.unique([len(example) for example in seen]).size > 1


def pairs(items):
    """What a user's loop needs of a batch: its examples, and the state after the last of them."""
    return [key(example) for example, _ in items], items[-1][1]


def loader_of(recipe, workers, states=()):
    torch = pytest.importorskip("torch")
    from unskew.models.stream import StreamDataset

    return torch.utils.data.DataLoader(
        StreamDataset(recipe, states, with_state=True),
        batch_size=300,
        num_workers=workers,
        collate_fn=pairs,
        multiprocessing_context="fork" if workers else None,
    )


@pytest.mark.filterwarnings("ignore:This DataLoader will create")
@pytest.mark.parametrize("recipe", [PLAIN, EVEN], ids=["plain", "homogenized"])
@pytest.mark.parametrize("workers", [0, 2, 3])
@pytest.mark.parametrize("done", [1, 4, 7])
def test_training_goes_on_with_the_very_next_batch(recipe, workers, done):
    """Stopped, and stopped again: the batches are those of a run that was never stopped."""
    whole = [batch for batch, _ in islice(loader_of(recipe, workers), done + 6)]
    states, seen = {}, []
    for batches in (done, 2, 4):
        kept = json.loads(json.dumps(list(states.values())))
        for batch, state in islice(loader_of(recipe, workers, kept), batches):
            seen.append(batch)
            states[state["part"]] = state
    assert seen == whole


def test_states_that_do_not_fit_are_refused():
    pytest.importorskip("torch")
    from unskew.models.stream import StreamDataset

    for states, message in [
        ([Stream(PLAIN, 0, 2).state()], "go on with as many as before"),
        ([Stream(PLAIN).state()] * 2, "part 0 has two states"),
        ([{"part": 0}], "give a list of those that came with examples"),
        ({0: Stream(PLAIN).state()}, "give a list of those that came with examples"),
    ]:
        with pytest.raises(UnskewError, match=message):
            iter(StreamDataset(PLAIN, states))


def test_iterators_have_the_methods_that_stateful_loaders_call():
    pytest.importorskip("torch")
    from unskew.models.stream import StreamDataset

    one, other = iter(StreamDataset("calculator/t2t")), iter(StreamDataset("calculator/t2t"))
    first(one, 1_500)
    other.load_state_dict(json.loads(json.dumps(one.state_dict())))
    assert first(other, 30) == first(one, 30)


def test_a_pilot_can_be_handed_on():
    """As JSON, tuples of two variables and all: the same examples, and no sample drawn again."""
    recipe = Recipe("calculator/dcfg", 1, homogenize=("length", "parentheses"), seed=6)
    first = Stream(recipe)
    again = Stream(recipe, pilot=json.loads(json.dumps(first.pilot)))
    for number in range(3):
        assert list(first.block(number).examples()) == list(again.block(number).examples())
    assert Stream(Recipe("calculator/dcfg", 1)).pilot is None


def test_a_function_is_told_what_streams_instead():
    def draw(rng):
        return 1

    wanted = r"stream got draw, but takes a source's name or a Recipe; .* homogenize\(draw, by=…\)"
    with pytest.raises(UnskewError, match=wanted):
        unskew.stream(draw)
    with pytest.raises(UnskewError, match="stream got int"):
        unskew.stream(5)
