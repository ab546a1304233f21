"""The endless feed: the same tasks in the same order however many processes make them."""

import io
import json
import signal
import threading
from dataclasses import replace

import numpy as np
import pytest

from tests.waiting import until
from unskew import streaming
from unskew.domains.karel.examples import INPUTS, OUTPUTS, program_rows, world_rows
from unskew.errors import UnskewError
from unskew.models import karel_feed, karel_feeder
from unskew.models.karel_feed import Feed, Place
from unskew.models.karel_mixture import Feeds, Mixture
from unskew.recipe import Recipe
from unskew.streaming import BLOCK, Stream

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
    with Feed(RECIPE, workers) as feed:
        parts = [feed.take(n) for n in (1_000, 1, 2_500)]
    whole = expected(3_501)
    for part, (start, stop) in zip(
        parts, [(0, 1_000), (1_000, 1_001), (1_001, 3_501)], strict=True
    ):
        assert same(part, (whole[0][start:stop], whole[1][start:stop]))


def test_it_goes_on_where_it_stood():
    with Feed(RECIPE, 2) as feed:
        feed.take(1_700)
        place = feed.place
        later = feed.take(900)
    assert place == Place(1, 1_700 - BLOCK)
    for workers in (0, 1):
        with Feed(RECIPE, workers, place) as again:
            assert same(again.take(900), later)


def test_without_workers_no_process_is_started(monkeypatch):
    monkeypatch.setattr(karel_feed, "_start", None)
    with Feed(RECIPE, 0, Place(1), stride=2) as feed, Feed(RECIPE, 0) as whole:
        assert same(feed.take(10), tuple(part[BLOCK:] for part in whole.take(BLOCK + 10)))
        feed.take(BLOCK)
        assert feed.place == Place(3, 10)
    with pytest.raises(UnskewError, match="closed"):
        feed.take(BLOCK)
    with Feed(HOPELESS, 0) as feed, pytest.raises(UnskewError, match="no world was found"):
        feed.take(10)


def test_a_mixture_may_say_how_many_examples_decide_what_is_kept():
    even = replace(ACTIONS, homogenize=("actions",))
    mixture = Mixture((even, RECIPE), (1, 1), pilot=300)
    feeds = Feeds(mixture, 0)
    try:
        counted, none = (feed._whole.pilot for feed in feeds._feeds)
    finally:
        feeds.close()
    assert sum(counted["counts"]) == 300
    assert none is None
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
    with Feed(HOPELESS, 1) as feed, pytest.raises(UnskewError, match="no world was found"):
        feed.take(10)


def test_a_process_that_is_killed_is_noticed():
    with Feed(RECIPE, 1) as feed:
        feed.take(10)
        feed._crew[0].send_signal(signal.SIGKILL)
        with pytest.raises(UnskewError, match="run the same command again"):
            feed.take(50 * BLOCK)


def test_no_process_and_no_thread_is_left_behind():
    """Readers wait for a place in their queues when it is closed: they are ahead."""
    before = set(threading.enumerate())
    with Feed(RECIPE, 2) as feed:
        feed.take(10)
        until(lambda: all(ready.full() for ready in feed._queues))
        crew = list(feed._crew)
    assert all(process.poll() is not None for process in crew)
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
    assert heard == ["the stream is closed"]
    for _ in range(2):  # and who comes later
        with pytest.raises(UnskewError, match="closed"):
            feed.take(10)


def test_what_was_started_ends_where_the_rest_cannot_be(monkeypatch):
    started, before = [], set(threading.enumerate())
    start = karel_feed._start

    def third_fails(*task):
        if len(started) == 2:
            raise KeyboardInterrupt
        started.append(start(*task))
        return started[-1]

    monkeypatch.setattr(karel_feed, "_start", third_fails)
    with pytest.raises(KeyboardInterrupt):
        Feed(RECIPE, 3)
    assert all(process.poll() is not None for process in started)
    assert set(threading.enumerate()) <= before


def test_what_a_variable_prints_does_not_come_between(tmp_path, monkeypatch):
    (tmp_path / "loud.py").write_text(
        "def size(example):\n    print('debug', example['program'][:1])\n    return 1\n"
    )
    monkeypatch.syspath_prepend(str(tmp_path))
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))
    monkeypatch.setattr(streaming, "PILOT", 2_000)
    loud = Recipe("karel/actions", 1, {"max_length": 3}, homogenize=("loud:size",), seed=5)
    with Feed(loud, 1) as feed:
        programs, _ = feed.take(100)
    assert len(programs) == 100


def test_what_cannot_be_read_is_told(monkeypatch):
    def broken(_):
        raise MemoryError

    monkeypatch.setattr(karel_feed, "receive", broken)
    with Feed(RECIPE, 1) as feed, pytest.raises(UnskewError, match="MemoryError"):
        feed.take(10)


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
    with Feed(ACTIONS, 1) as alone:
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


def test_a_block_of_which_nothing_is_kept_is_sent_as_such(monkeypatch):
    """As homogenizing at a small ε leaves them; the blocks after it still come in their order."""
    full = Stream(ACTIONS).block(0)

    def block(_, number):
        if number == 2:
            raise KeyboardInterrupt
        return full.head(0 if number == 0 else 5)

    monkeypatch.setattr(Stream, "block", block)
    task = {"recipe": ACTIONS.to_dict(), "pilot": None, "block": 0, "parts": 1}
    out = io.BytesIO()
    karel_feeder.serve(io.BytesIO(json.dumps(task).encode() + b"\n"), out)
    frames = io.BytesIO(out.getvalue())
    sizes = [len(karel_feeder.receive(frames)[0]) for _ in range(2)]
    assert sizes == [0, 5]
    assert karel_feeder.receive(frames) is None


def test_blocks_of_which_nothing_is_kept_are_passed_over():
    with Feed(RECIPE, 1) as feed:
        programs, worlds = feed.take(3)
        feed.place, feed._rest = Place(), None
        feed._blocks = iter([EMPTY, EMPTY, (programs, worlds)])
        again = feed.take(2)
        assert same(again, (programs[:2], worlds[:2]))
        assert feed.place == Place(2, 2)


def test_a_stream_of_which_nothing_is_kept_is_given_up(monkeypatch):
    monkeypatch.setattr(karel_feed, "IN_VAIN", 3)
    with Feed(RECIPE, 1) as feed:
        feed._blocks = iter([EMPTY] * 9)
        with pytest.raises(UnskewError, match="nothing kept in 3 blocks; raise epsilon"):
            feed.take(1)


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
