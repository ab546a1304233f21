"""The cache of a sampler: nothing that was drawn is drawn again, and nothing is lost."""

import asyncio
import json
import multiprocessing
from itertools import islice

import numpy as np
import pytest

import unskew
from unskew import UnskewError
from unskew.core.rng import generator, state_of


class Random:
    """Samplers that do not depend on the generator alone, as language models. They count calls."""

    def __init__(self) -> None:
        self.calls, self.dice, self.fails_at = 0, np.random.default_rng(), -1

    def one(self, rng):
        self.calls += 1
        if self.calls == self.fails_at:
            raise ConnectionError("busy")
        rng.random(int(rng.integers(3)))
        return {"a": int(self.dice.geometric(0.5)), "text": "é\n\ud800", "list": [None, True, 0.5]}

    def batch(self, rng, n):
        return [self.one(rng) for _ in range(n)]

    async def later(self, rng):
        await asyncio.sleep(0)
        return self.one(rng)


def level(example):
    return min(example["a"], 6)


WAYS = {
    "one by one": (lambda r: r.one, {}),
    "in batches": (lambda r: r.batch, {"batch": 5}),
    "async": (lambda r: r.later, {"concurrency": 3}),
}


def start(random, way, path, seed=0):
    function, options = WAYS[way]
    return unskew.homogenize(function(random), by=level, seed=seed, cache=path, **options)


@pytest.fixture
def path(tmp_path):
    return tmp_path / "draws.jsonl"


@pytest.mark.parametrize("way", WAYS)
def test_a_second_run_takes_what_is_there_and_goes_on(way, path):
    first, second, third = Random(), Random(), Random()
    examples = start(first, way, path)
    expected = list(islice(examples, 40))
    assert first.calls >= examples.tally.drawn  # and no trial
    again = start(second, way, path)
    assert list(islice(again, 40)) == expected
    assert second.calls == 0
    longer = list(islice(again, 20))
    assert second.calls > 0
    assert list(islice(start(third, way, path), 60)) == expected + longer
    assert third.calls == 0
    # Another seed draws examples of its own.
    list(islice(start(third, way, path, seed=1), 10))
    assert third.calls > 0


@pytest.mark.parametrize("way", WAYS)
def test_a_saved_iterator_goes_on_without_a_call(way, path):
    examples = start(Random(), way, path)
    list(islice(examples, 33))
    state = json.loads(json.dumps(examples.state_dict()))
    rest = list(islice(examples, 20))
    random = Random()
    other = start(random, way, path)
    other.load_state_dict(state)
    assert list(islice(other, 20)) == rest
    assert random.calls == 0


def test_the_examples_are_those_without_a_cache(path):
    def draw(rng):
        return {"a": int(rng.geometric(0.5)), "b": rng.random(), "c": rng.spawn(1)[0].random()}

    expected = list(islice(unskew.homogenize(draw, by=level), 50))
    for _ in range(2):
        examples = unskew.homogenize(draw, by=level, cache=path)
        assert list(islice(examples, 20)) == expected[:20]
    examples = unskew.homogenize(draw, by=level, cache=path)
    assert list(islice(examples, 50)) == expected


def test_audit_and_homogenize_share_a_file(path):
    random = Random()
    first = unskew.audit(random.one, by=level, n=30, cache=path)
    list(islice(start(random, "one by one", path), 5))
    calls = random.calls
    assert unskew.audit(random.one, by=level, n=30, cache=path) == first
    assert random.calls == calls


def test_each_example_is_written_at_once_and_an_error_loses_none(path):
    random = Random()
    random.fails_at = 10
    with pytest.raises(UnskewError, match=r"sampler 'one' raised ConnectionError: busy \(.*line"):
        unskew.audit(random.one, by=level, n=30, cache=path)
    assert len(path.read_text().splitlines()) == 1 + 9
    unskew.audit(random.one, by=level, n=30, cache=path)
    assert random.calls == 10 + 30 - 9


def cut(data: bytes, line: int, keep: int) -> bytes:
    """Return the first lines of a file, and the beginning of the next."""
    lines = data.splitlines(keepends=True)
    return b"".join(lines[:line]) + lines[line][:keep]


@pytest.mark.parametrize("keep", [0, 1, 30, -2, -1])
@pytest.mark.parametrize("line", [0, 1, 12])
def test_a_line_that_was_cut_off_is_drawn_again(line, keep, path):
    random = Random()
    unskew.audit(random.one, by=level, n=20, cache=path)
    whole = path.read_bytes()
    path.write_bytes(cut(whole, line, keep))
    calls = random.calls
    unskew.audit(random.one, by=level, n=20, cache=path)
    lines = path.read_bytes().splitlines()
    assert len(lines) == 21
    assert all(map(json.loads, lines))
    complete = line - 1 + (keep == -1 and line > 0) if line else 0
    assert random.calls - calls == 20 - complete
    assert lines[: complete + 1] == whole.splitlines()[: complete + 1]


@pytest.mark.parametrize("text", ["a text of mine", '{"a": 1}\n', "[1]\n", "1"])
def test_another_file_is_refused_and_stays(text, path):
    path.write_text(text)
    with pytest.raises(UnskewError, match="exists, and is no cache of a sampler") as caught:
        unskew.audit(Random().one, by=level, n=3, cache=path)
    assert "\n" not in str(caught.value)
    assert path.read_text() == text


def test_the_cache_of_another_sampler_is_refused(path):
    def many(rng, n):
        return [1] * n

    many.__qualname__ = "Random.one"
    random = Random()
    unskew.audit(random.one, by=level, n=3, cache=path)
    kept = path.read_text()
    with pytest.raises(UnskewError, match=r"keeps the draws of Random.one .*, not of"):
        unskew.audit(lambda rng: 1, by=level, n=3, cache=path)
    with pytest.raises(UnskewError, match=r"keeps the draws of .*, one by one, not of .*batches"):
        unskew.audit(many, by=level, n=3, cache=path, batch=True)
    assert path.read_text() == kept


def test_a_damaged_line_is_named(path):
    unskew.audit(Random().one, by=level, n=5, cache=path)
    lines = path.read_text().splitlines()
    lines[2] = lines[2][:20]
    path.write_text("\n".join(lines) + "\n")
    with pytest.raises(UnskewError, match=r"line 3 is .* no draw of a sampler; remove that line"):
        unskew.audit(Random().one, by=level, n=5, cache=path)


@pytest.mark.parametrize(
    ("example", "fault"),
    [
        ((1, 2), r"the tuple \(1, 2\)"),
        ({"a": [{"b": (1,)}]}, "the tuple"),
        ({1: 2}, "the key 1"),
        ({None: 2}, "the key None"),
        (np.float64(1.5), "the float64"),
        (np.arange(3), "the ndarray"),
        (float("nan"), "the float nan"),
        ([float("inf")], "the float inf"),
        (b"x", "the bytes"),
        (10**5000, "digits"),
        ({"a": {1}}, "a set"),
    ],
    ids=lambda value: type(value).__name__,
)
def test_what_json_would_change_is_refused(example, fault, path):
    with pytest.raises(UnskewError, match=fault) as caught:
        unskew.audit(lambda rng: example, by=lambda e: 0, n=3, cache=path)
    assert "cannot be cached" in str(caught.value)
    assert "\n" not in str(caught.value)
    assert len(path.read_text().splitlines()) <= 1


@pytest.mark.parametrize("where", ["missing/draws.jsonl", "."])
def test_a_place_that_cannot_be_written_is_one_line(where, tmp_path):
    with pytest.raises(UnskewError, match="cannot be used") as caught:
        unskew.audit(Random().one, by=level, n=3, cache=tmp_path / where)
    assert "\n" not in str(caught.value)


def test_a_generator_whose_state_is_not_known_is_refused(path):
    source = unskew.sampler(Random().one, cache=path)
    with pytest.raises(UnskewError, match="MT19937 generator cannot be kept"):
        source.draw(np.random.Generator(np.random.MT19937(0)), 1)


def random_draw(rng):
    return {"a": int(np.random.default_rng().integers(10**9))}


def fill(path, queue):
    source = unskew.sampler(random_draw, cache=path)
    queue.put([row["a"] for row in source.draw(generator(0), 100)[0].examples()])


def test_processes_that_draw_at_once_get_the_same(path):
    context = multiprocessing.get_context("spawn")
    queue = context.Queue()
    processes = [context.Process(target=fill, args=(path, queue)) for _ in range(3)]
    for process in processes:
        process.start()
    results = [queue.get() for _ in processes]
    for process in processes:
        process.join()
    assert results[0] == results[1] == results[2]
    assert len(set(results[0])) > 90  # though the sampler does not use its generator
    assert len(path.read_text().splitlines()) == 101


def test_two_iterators_in_one_process_share_it(path):
    random = Random()
    left, right = start(random, "one by one", path), start(random, "one by one", path)
    for _ in range(30):
        assert next(left) == next(right)
    assert len(path.read_text().splitlines()) == random.calls + 1


def test_the_generator_moves_as_if_the_sampler_had_drawn(path):
    random = Random()
    one, two, plain = generator(0), generator(0), generator(0)
    source = unskew.sampler(random.one, cache=path)
    source.draw(one, 5)
    source.draw(two, 5)
    for _ in range(5):
        random.one(plain)
    assert state_of(one) == state_of(two) == state_of(plain)
