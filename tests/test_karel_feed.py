"""The endless feed: the same tasks in the same order however many processes make them."""

import signal
import time

import numpy as np
import pytest

from unskew.domains.karel.examples import INPUTS, OUTPUTS, program_rows, world_rows
from unskew.errors import UnskewError
from unskew.models.karel_feed import Feed, Place
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


@pytest.mark.parametrize("workers", [1, 3])
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
    with Feed(RECIPE, 1, place) as again:
        assert same(again.take(900), later)


def test_what_cannot_run_is_refused_before_a_process_starts():
    with pytest.raises(UnskewError, match="unknown"):
        Feed(Recipe("karel/nothing", 1), 1)


def test_an_error_in_a_process_is_told():
    hopeless = Recipe("karel/narrow", 1, {"r_wall": 0.99, "r_marker": 0.0, "tries": 1})
    with Feed(hopeless, 1) as feed, pytest.raises(UnskewError, match="no world was found"):
        feed.take(10)


def test_a_process_that_is_killed_is_noticed():
    with Feed(RECIPE, 1) as feed:
        feed.take(10)
        feed._crew[0].send_signal(signal.SIGKILL)
        with pytest.raises(UnskewError, match="run the same command again"):
            feed.take(50 * BLOCK)


def test_no_process_is_left_behind():
    with Feed(RECIPE, 2) as feed:
        feed.take(10)
        crew = list(feed._crew)
    time.sleep(0.1)
    assert all(process.poll() is not None for process in crew)
