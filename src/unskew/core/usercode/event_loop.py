"""A thread with an event loop, which awaits users' async functions.

A notebook's own event loop is busy while a cell runs, so an async function runs in a thread. All
calls run in the same loop, because a client of a network service often works in one loop only.
"""

from __future__ import annotations

import asyncio
import os
import threading
import weakref
from collections.abc import Awaitable, Callable, Sequence
from concurrent.futures import Future
from typing import Any, TypeAlias

Call: TypeAlias = Callable[[], Awaitable[Any]]
GRACE = 2.0  # seconds that calls have to end once they are cancelled


class EventLoop:
    """Awaits calls in a thread of its own, which starts with the first call."""

    def __init__(self) -> None:
        """Start no thread yet."""
        self._lock = threading.Lock()
        self._process = 0  # the process that has the thread: a copy of a process has none
        self._loop: asyncio.AbstractEventLoop

    def results(self, calls: Sequence[Call], most: int) -> list[Any]:
        """Return what the calls give, in order; at most ``most`` of them run at a time.

        If one fails, or Ctrl-C is pressed, the others are cancelled. Of several errors, the one of
        the first call is raised.
        """
        ended = threading.Event()
        future = asyncio.run_coroutine_threadsafe(_all(calls, most, ended), self._started())
        try:
            results, failure = future.result()
        except BaseException:  # Ctrl-C in this thread
            future.cancel()
            ended.wait(GRACE)
            raise
        if failure is not None:
            raise failure
        return results

    def _started(self) -> asyncio.AbstractEventLoop:
        with self._lock:
            if self._process != os.getpid():
                started: Future[tuple[asyncio.AbstractEventLoop, asyncio.Event]] = Future()
                thread = threading.Thread(target=_serve, args=(started,), daemon=True)
                thread.start()
                self._loop, stop = started.result()
                self._process = os.getpid()
                weakref.finalize(self, _stop, self._loop, stop, thread, self._process)
            return self._loop


def _serve(started: Future[tuple[asyncio.AbstractEventLoop, asyncio.Event]]) -> None:
    """Run an event loop until it is told to stop; then tasks that are left are cancelled."""

    async def wait() -> None:
        stop = asyncio.Event()
        started.set_result((asyncio.get_running_loop(), stop))
        await stop.wait()

    asyncio.run(wait())


def _stop(
    loop: asyncio.AbstractEventLoop, stop: asyncio.Event, thread: threading.Thread, process: int
) -> None:
    if process == os.getpid() and not loop.is_closed():
        loop.call_soon_threadsafe(stop.set)
        if thread is not threading.current_thread():
            thread.join(GRACE)


async def _all(
    calls: Sequence[Call], most: int, ended: threading.Event
) -> tuple[list[Any], BaseException | None]:
    """Await all calls; return their results, and the error of the first call that failed."""
    results: list[Any] = [None] * len(calls)
    failures: dict[int, BaseException] = {}
    numbers = iter(range(len(calls)))

    async def work() -> None:
        task = asyncio.current_task()
        for number in numbers:
            try:
                results[number] = await calls[number]()
            except BaseException as error:  # SystemExit would end the thread of the loop
                if task is not None and task.cancelling():
                    raise
                if isinstance(error, asyncio.CancelledError):  # the call did it by itself
                    error = RuntimeError("it was cancelled").with_traceback(error.__traceback__)
                failures[number] = error
            if failures:
                return

    tasks = {asyncio.create_task(work()) for _ in range(min(most, len(calls)))}
    try:
        pending = tasks
        while pending and not failures:
            _, pending = await asyncio.wait(pending, return_when=asyncio.FIRST_COMPLETED)
    finally:
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        ended.set()
    return results, failures[min(failures)] if failures else None
