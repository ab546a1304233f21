"""The endless feed: the same tasks in the same order however many processes make them."""

import os
import signal
import threading
from contextlib import closing
from dataclasses import replace

import numpy as np
import pytest

from unskew.core.errors import UnskewError
from unskew.core.recipe import Recipe
from unskew.datasets.stream import BLOCK, Stream, pilot_of
from unskew.domains.karel.examples import INPUTS, OUTPUTS, program_rows, world_rows
from unskew.models.karel.data.feed import Feed, Feeds, Mixture, Place
from unskew.models.karel.data.feeder import arrays

RECIPE = Recipe("karel/msr", 1, seed=3)


def expected(n):
    """The first tasks of the stream, made here."""
    stream = Stream(RECIPE)
    blocks = [stream.block(i) for i in range(-(-n // BLOCK))]
    worlds = [np.stack([world_rows(b, INPUTS), world_rows(b, OUTPUTS)], axis=2) for b in blocks]
    width = max(program_rows(b).shape[1] for b in blocks)
    programs = [
        np.pad(program_rows(b), ((0, 0), (0, width - program_rows(b).shape[1]))) for b in blocks
    ]
    return np.concatenate(programs)[:n], np.concatenate(worlds)[:n]


def same(left, right):
    width = max(left[0].shape[1], right[0].shape[1])
    wide = [np.pad(part[0], ((0, 0), (0, width - part[0].shape[1]))) for part in (left, right)]
    return np.array_equal(*wide) and np.array_equal(left[1], right[1])


@pytest.mark.parametrize("workers", [0, 1, 3])
def test_tasks_come_in_the_streams_order(workers):
    with closing(Feed(RECIPE, workers)) as feed:
        parts = [feed.take(n) for n in (1_000, 1, 2_500)]
    whole = expected(3_501)
    for part, (start, stop) in zip(
        parts, [(0, 1_000), (1_000, 1_001), (1_001, 3_501)], strict=True
    ):
        assert same(part, (whole[0][start:stop], whole[1][start:stop]))


def test_it_goes_on_where_it_stood():
    with closing(Feed(RECIPE, 2)) as feed:
        feed.take(1_700)
        place = feed.place
        later = feed.take(900)
    assert place == Place(1, 1_700 - BLOCK)
    for workers in (0, 1):
        with closing(Feed(RECIPE, workers, place)) as again:
            assert same(again.take(900), later)


def test_without_workers_no_process_is_started(children):
    with closing(Feed(RECIPE, 0, Place(1), stride=2)) as feed, closing(Feed(RECIPE, 0)) as whole:
        assert same(feed.take(10), tuple(part[BLOCK:] for part in whole.take(BLOCK + 10)))
        feed.take(BLOCK)
        assert feed.place == Place(3, 10)
        assert not children()
    with pytest.raises(UnskewError, match="closed"):
        feed.take(BLOCK)
    with closing(Feed(HOPELESS, 0)) as feed, pytest.raises(UnskewError, match="no world was found"):
        feed.take(10)


def test_a_mixture_may_say_how_many_examples_decide_what_is_kept():
    even = replace(ACTIONS, homogenize=("actions",))
    mixture = Mixture((even, RECIPE), (1, 1), pilot=300)
    counted = pilot_of(even, 300)
    assert sum(counted["counts"]) == 300
    kept = arrays(Stream(even, pilot=counted).block(0))
    n = len(kept[0])
    with closing(Feeds(mixture, 0)) as feeds:
        programs, worlds = feeds.take(2 * n)
    assert same((programs[:n], worlds[:n]), kept)
    assert same((programs[n:], worlds[n:]), expected(n))
    assert mixture.facts()["pilot"] == mixture.settings()["pilot"] == 300
    usual = Mixture((even, RECIPE))
    assert "pilot" not in usual.facts() | usual.settings()
    with pytest.raises(UnskewError, match="pilot is 0"):
        Mixture((even,), pilot=0)


HOPELESS = Recipe("karel/narrow", 1, {"r_wall": 0.99, "r_marker": 0.0, "tries": 1})


def test_what_cannot_run_is_refused_before_a_process_starts():
    with pytest.raises(UnskewError, match="unknown"):
        Feed(Recipe("karel/nothing", 1), 1)
    with pytest.raises(UnskewError, match="no world was found"):
        Feed(HOPELESS, 1)


def test_an_error_in_a_process_is_told(monkeypatch):
    monkeypatch.setattr(Stream, "block", lambda *_: None)  # here all goes well
    with closing(Feed(HOPELESS, 1)) as feed, pytest.raises(UnskewError, match="no world was found"):
        feed.take(10)


def test_a_process_that_is_killed_is_noticed(children):
    with closing(Feed(RECIPE, 1)) as feed:
        feed.take(10)
        (worker,) = children()
        os.kill(worker, signal.SIGKILL)
        with pytest.raises(UnskewError, match="run the same command again"):
            feed.take(50 * BLOCK)


def test_no_process_and_no_thread_is_left_behind(children):
    """The workers are ahead when it is closed."""
    before = set(threading.enumerate())
    with closing(Feed(RECIPE, 2)) as feed:
        feed.take(10)
        assert len(children()) == 2
    assert not children()
    assert set(threading.enumerate()) <= before


@pytest.mark.parametrize("workers", [0, 1])
def test_who_waits_when_it_is_closed_hears_of_it(workers):
    feed, heard, begun = Feed(RECIPE, workers), [], threading.Event()

    def wait():
        try:
            while True:
                feed.take(BLOCK)
                begun.set()
        except UnskewError as error:
            heard.append(str(error))

    waiting = threading.Thread(target=wait)
    waiting.start()
    begun.wait()
    feed.close()
    waiting.join()
    assert heard == ["the workers are closed"]
    for _ in range(2):  # and who comes later
        with pytest.raises(UnskewError, match="closed"):
            feed.take(10)


def test_what_a_variable_prints_does_not_come_between(tmp_path, monkeypatch):
    (tmp_path / "loud.py").write_text(
        "def size(example):\n    print('debug', example['program'][:1])\n    return 1\n"
    )
    monkeypatch.syspath_prepend(str(tmp_path))
    monkeypatch.setenv("PYTHONPATH", str(tmp_path), prepend=os.pathsep)
    loud = Recipe("karel/actions", 1, {"max_length": 3}, homogenize=("loud:size",), seed=5)
    with closing(Feed(loud, 1, pilot=2_000)) as feed:
        programs, _ = feed.take(100)
    assert len(programs) == 100


# Mixtures.

ACTIONS = Recipe("karel/actions", 1, {"max_length": 3}, seed=5)


def test_a_mixture_has_its_shares_of_every_stream_in_its_order():
    """Three parts of one and one of the other: 75 and 25 of the first hundred, then go on."""
    feeds = Feeds(Mixture((RECIPE, ACTIONS), (3, 1)), 1)
    try:
        first, places, later = feeds.take(100), feeds.places, feeds.take(1_200)
    finally:
        feeds.close()
    assert places == [Place(0, 75), Place(0, 25)]
    whole = expected(975)
    assert same((first[0][:75], first[1][:75]), (whole[0][:75], whole[1][:75]))
    assert same((later[0][:900], later[1][:900]), (whole[0][75:], whole[1][75:]))
    with closing(Feed(ACTIONS, 1)) as alone:
        other = alone.take(25)
    assert same((first[0][75:], first[1][75:]), other)


@pytest.mark.parametrize(
    ("n", "shares"), [(7, (1, 1, 1)), (65_536, (3, 1)), (10, (1, 99)), (512, (10_000, 1))]
)
def test_the_shares_of_a_mixture_are_all_there_is(n, shares):
    """However small a share is: what one chunk leaves over comes in a later one."""
    recipes = (RECIPE, ACTIONS, Recipe("karel/uniform", 1))[: len(shares)]
    mixture, total = Mixture(recipes, shares), np.zeros(len(shares))
    for number in range(50):
        rows = mixture.rows(n, number)
        assert sum(rows) == n
        total += rows
        assert (np.abs(total - (number + 1) * n * np.array(shares) / sum(shares)) < 2).all()
    assert (total > 0).all()


def test_streams_of_one_source_have_nothing_in_common():
    with pytest.raises(UnskewError, match="give each its own seed"):
        Mixture((RECIPE, replace(RECIPE, exclude=("karel/msr-val",))))
    mixture = Mixture.of([RECIPE, RECIPE])
    assert mixture.recipes[0] == RECIPE
    feeds = Feeds(mixture, 1)
    try:
        _, worlds = feeds.take(400)
    finally:
        feeds.close()
    assert not {w.tobytes() for w in worlds[:200]} & {w.tobytes() for w in worlds[200:]}


EMPTY = (np.empty((0, 1), np.uint8), np.empty((0, 1, 2, 260), np.uint8))


def few_kept(keeps):
    """Return what stands for ``Stream.block``: it keeps nothing of the other blocks."""
    full = Stream(ACTIONS).block(0)
    return lambda _, number: full.head(5 if keeps(number) else 0)


def test_blocks_of_which_nothing_is_kept_are_passed_over(monkeypatch):
    """As homogenizing at a small ε leaves them."""
    monkeypatch.setattr(Stream, "block", few_kept(lambda number: number >= 2))
    with closing(Feed(ACTIONS, 0)) as feed:
        programs, worlds = feed.take(7)
        assert feed.place == Place(3, 2)
    assert np.array_equal(worlds[:2], worlds[5:])
    assert np.array_equal(programs[:2], programs[5:])


def test_a_stream_of_which_nothing_is_kept_is_given_up(monkeypatch):
    monkeypatch.setattr(Stream, "block", few_kept(lambda _: False))
    given_up = pytest.raises(UnskewError, match="nothing kept in 1,000 blocks; raise epsilon")
    with closing(Feed(ACTIONS, 0)) as feed, given_up:
        feed.take(1)


def test_an_empty_block_has_no_programs_and_no_worlds():
    """So a worker can send it like any other."""
    programs, worlds = arrays(Stream(ACTIONS).block(0).head(0))
    assert programs.shape == (0, 1)
    assert worlds.shape == (0, 1, 2, 260)


def test_a_mixture_that_goes_on_is_the_same():
    mixture = Mixture((RECIPE, ACTIONS))
    feeds = Feeds(mixture, 1)
    try:
        feeds.take(50)
        places, later = feeds.places, feeds.take(60)
    finally:
        feeds.close()
    again = Feeds(mixture, 2, places)
    try:
        assert same(again.take(60), later)
    finally:
        again.close()


@pytest.mark.parametrize(
    ("recipes", "shares", "message"),
    [
        ((), (), "no streams"),
        ((RECIPE,), (1, 2), "2 shares for 1 streams"),
        ((RECIPE, ACTIONS), (1, 0), "share is 0"),
    ],
)
def test_a_mixture_that_makes_no_sense_is_refused(recipes, shares, message):
    with pytest.raises(UnskewError, match=message):
        Mixture(recipes, shares)


def test_streams_of_other_numbers_of_pairs_do_not_mix():
    feeds = Feeds(Mixture((RECIPE, Recipe("karel/actions", 1, {"pairs": 3}))), 1)
    try:
        with pytest.raises(UnskewError, match=r"\[3, 6\] pairs"):
            feeds.take(10)
    finally:
        feeds.close()
