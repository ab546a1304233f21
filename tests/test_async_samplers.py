"""Async samplers: so many calls at a time, the same examples whichever call returns first."""

import asyncio
import functools
import gc
import os
import signal
import subprocess
import sys
import threading
from itertools import islice

import pytest

import unskew
from unskew import UnskewError
from unskew.core.rng import generator

from .waiting import HANG


class Calls:
    """An async sampler whose calls return in an order that it is given."""

    def __init__(self, order=None):
        self.order, self.running, self.most, self.calls, self.loops = order, 0, 0, 0, set()

    async def __call__(self, rng):
        number, self.calls = self.calls, self.calls + 1
        self.running += 1
        self.most = max(self.most, self.running)
        self.loops.add(id(asyncio.get_running_loop()))
        try:
            for _ in range(self.order(number) if self.order else 0):
                await asyncio.sleep(0)  # lets the others go on
            return {"a": int(rng.geometric(0.5)), "b": rng.random()}
        finally:
            self.running -= 1


def level(example):
    return min(example["a"], 6)


ORDERS = {
    "at once": None,
    "backwards": lambda number: 50 - number % 50,
    "mixed": lambda number: number * 7 % 11,
}


@pytest.mark.parametrize("concurrency", [1, 3, 8])
def test_neither_the_order_nor_the_concurrency_decides_the_examples(concurrency):
    expected = list(islice(unskew.homogenize(Calls(), by=level), 60))
    for order in ORDERS.values():
        calls = Calls(order)
        examples = unskew.homogenize(calls, by=level, concurrency=concurrency)
        assert list(islice(examples, 60)) == expected
        assert calls.most == (1 if order is None else concurrency)  # one returns before the next
        assert len(calls.loops) == 1


def test_an_audit_is_the_same_at_any_concurrency():
    one = unskew.audit(Calls(), by=level, n=600)
    many = unskew.audit(Calls(ORDERS["mixed"]), by=level, n=600, concurrency=16)
    assert one == many


def test_no_more_calls_are_started_than_run_at_a_time():
    alone = unskew.homogenize(Calls(), by=level)
    list(islice(alone, 50))
    calls = Calls()
    examples = unskew.homogenize(calls, by=level, concurrency=8)
    trial = calls.calls
    list(islice(examples, 50))
    assert alone.tally.drawn <= calls.calls - trial <= alone.tally.drawn + 7


@pytest.mark.parametrize("form", ["function", "partial"])
def test_every_form_of_async_function_is_known(form):
    async def draw(rng, low=0):
        return {"a": low + int(rng.integers(3))}

    function = functools.partial(draw, low=2) if form == "partial" else draw
    assert unskew.audit(function, by=lambda e: e["a"], n=50).n == 50


def test_it_works_where_an_event_loop_runs():
    async def cell():
        return list(islice(unskew.homogenize(Calls(), by=level, concurrency=4), 20))

    assert asyncio.run(cell()) == list(islice(unskew.homogenize(Calls(), by=level), 20))


def test_an_error_cancels_the_rest_and_names_the_line():
    cancelled = []

    async def fails(rng):
        number = int(rng.integers(1000))
        started.append(number)
        if len(started) == 3:
            raise ConnectionError("busy")
        try:
            await asyncio.Event().wait()  # for ever
        except asyncio.CancelledError:
            cancelled.append(number)
            raise

    started: list[int] = []
    source = unskew.sampler(fails, concurrency=4)
    with pytest.raises(UnskewError) as caught:
        source.draw(generator(0), 20)
    assert "sampler 'fails' raised ConnectionError: busy (" in str(caught.value)
    assert "test_async_samplers.py line" in str(caught.value)
    assert "\n" not in str(caught.value)
    assert len(started) in (3, 4)
    assert len(cancelled) == len(started) - 1


@pytest.mark.parametrize("error", [SystemExit(1), TimeoutError(), GeneratorExit()], ids=repr)
def test_an_error_of_any_kind_is_one_line_and_the_thread_stays(error):
    fails = [True]

    async def draw(rng):
        if fails.pop() if fails else False:
            raise error
        return 1

    source = unskew.sampler(draw)
    with pytest.raises(UnskewError, match=f"raised {type(error).__name__}"):
        source.draw(generator(0), 2)
    assert len(source.draw(generator(0), 2)[0]) == 2


def test_a_call_that_is_cancelled_by_itself_is_one_line():
    async def draw(rng):
        raise asyncio.CancelledError

    with pytest.raises(UnskewError, match="cancelled"):
        unskew.sampler(draw).draw(generator(0), 2)


def test_the_thread_ends_with_the_sampler():
    before = set(threading.enumerate())
    source = unskew.sampler(Calls())
    source.draw(generator(0), 2)
    (thread,) = set(threading.enumerate()) - before
    del source
    gc.collect()
    assert not thread.is_alive()


def test_a_plain_function_that_returns_a_coroutine_is_refused():
    calls = Calls()
    with pytest.raises(UnskewError, match="returned a coroutine; write it as async def draw"):
        unskew.audit(lambda rng: (calls)(rng), by=level)  # noqa: PLW0108


def test_async_and_batch_are_refused():
    async def draw(rng, n):
        return [1] * n

    with pytest.raises(UnskewError, match="is async, and draws a batch"):
        unskew.sampler(draw, batch=True)


def test_ctrl_c_cancels_the_calls(tmp_path):
    (tmp_path / "waits.py").write_text(
        "import asyncio\n"
        "async def draw(rng):\n"
        "    print('started', flush=True)\n"
        "    try:\n"
        "        await asyncio.Event().wait()\n"
        "    except asyncio.CancelledError:\n"
        "        print('cancelled', flush=True)\n"
        "        raise\n"
    )
    command = subprocess.Popen(
        [sys.executable, "-m", "unskew", "audit", "waits:draw", "-n", "10"],
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    seen = command.stderr.readline()  # the trial prints to stderr
    assert "started" in seen
    command.send_signal(signal.SIGINT)
    out, err = command.communicate(timeout=HANG)
    assert command.returncode == 130
    assert "cancelled" in err
    assert "Traceback" not in out + err
