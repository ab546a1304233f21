"""Stopping by the clock: what Ctrl-C would do, at a time that was said before."""

from __future__ import annotations

import os
import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager

import typer

from unskew.cli.printing import echo
from unskew.errors import UnskewError

AGAIN = 75  # the exit code that asks to be run again (EX_TEMPFAIL of sysexits)


@contextmanager
def time_limit(minutes: float | None) -> Iterator[None]:
    """Stop what runs inside after so many minutes; what it saves at Ctrl-C it saves then too."""
    if minutes is None:
        yield
        return
    is_over = threading.Event()

    def end() -> None:
        is_over.set()
        os.kill(os.getpid(), signal.SIGINT)

    timer = threading.Timer(60 * minutes, end)
    timer.daemon = True
    timer.start()
    try:
        yield
    except UnskewError:
        raise
    except BaseException as error:  # whatever an interrupt became on its way here
        if not is_over.is_set():
            raise
        echo(f"stopped after {minutes:g} minutes; the same command goes on", err=True)
        raise typer.Exit(AGAIN) from error
    finally:
        timer.cancel()
