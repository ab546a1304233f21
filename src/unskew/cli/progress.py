"""Progress on stderr: a bar in a terminal, and a line from time to time elsewhere."""

from __future__ import annotations

import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Protocol

from unskew.cli.printing import echo
from unskew.core.processes.stop import raise_if_stopped
from unskew.core.usercode import stdout_to_stderr
from unskew.core.visible import visible

MINUTES = 120  # seconds; a longer time is told in minutes
FIRST_LINE, NEXT_LINES = 2.0, 10.0  # seconds before the first plain line, and between lines


class Advance(Protocol):
    """Adds ``more`` to the work done, with a note about the state of the work."""

    def __call__(self, more: int, note: str = "") -> None: ...  # noqa: D102


@contextmanager
def progress(
    label: str, total: int | None, clock: Callable[[], float] = time.monotonic
) -> Iterator[Advance]:
    """Show how far a job is. Call the yielded function with the amount of new work done.

    What a user's code prints while the job runs goes to stderr. ``clock`` counts seconds.
    """
    with stdout_to_stderr():
        if sys.stderr.isatty():
            yield from _bar(label, total)
        else:
            yield _lines(label, total, clock)


def with_rate(advance: Advance, clock: Callable[[], float] = time.monotonic) -> Advance:
    """Return a function that also notes how much work is done in a second."""
    begin, done = clock(), 0

    def noted(more: int, note: str = "") -> None:
        nonlocal done
        done += more
        seconds = clock() - begin
        advance(more, f"{done / seconds:.3g} a second {note}".rstrip() if seconds > 0 else note)

    return noted


@contextmanager
def call_after(seconds: float, function: Callable[[], None]) -> Iterator[None]:
    """Call a function if the block takes longer than this many seconds."""
    timer = threading.Timer(seconds, function)
    timer.daemon = True
    timer.start()
    try:
        yield
    finally:
        timer.cancel()


def _bar(label: str, total: int | None) -> Iterator[Advance]:
    from rich.console import Console
    from rich.progress import (
        BarColumn,
        MofNCompleteColumn,
        Progress,
        TextColumn,
        TimeRemainingColumn,
    )

    columns = (
        TextColumn("{task.description}", markup=False),
        BarColumn(bar_width=None),
        MofNCompleteColumn(),
        TimeRemainingColumn(),
        TextColumn("{task.fields[note]}", markup=False),
    )
    with Progress(*columns, console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task(visible(label), total=total, note="")

        def advance(more: int, note: str = "") -> None:
            raise_if_stopped()
            bar.update(task, advance=more, note=visible(note))

        yield advance


def _lines(label: str, total: int | None, clock: Callable[[], float]) -> Advance:
    begin = clock()
    done, next_line = 0, FIRST_LINE
    first: tuple[float, int] | None = None  # seconds and work done at the first call

    def advance(more: int, note: str = "") -> None:
        nonlocal done, next_line, first
        raise_if_stopped()
        done += more
        seconds = clock() - begin
        first = first or (seconds, done)
        if seconds >= next_line or (more == 0 and note):  # always print a new stage
            next_line = seconds + NEXT_LINES
            of = f" of {total:,}" if total else ""
            # An earlier run may have done the work of the first call, so the first call tells
            # nothing about speed.
            since, more_done = seconds - first[0], done - first[1]
            left = ""
            if total and more_done:
                left = f", {_time(since * (total - done) / more_done)} left"
            echo(f"{label}: {done:,}{of}{left}{', ' if note else ''}{note}", err=True)

    return advance


def _time(seconds: float) -> str:
    return f"{seconds / 60:.0f} min" if seconds > MINUTES else f"{seconds:.0f} s"
