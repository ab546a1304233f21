"""A limit in minutes: a command stops as if Ctrl-C was pressed then."""

from __future__ import annotations

import os
import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager

import typer

from unskew.cli.printing import echo
from unskew.core.errors import UnskewError

AGAIN = 75  # the exit code that means: run it again (EX_TEMPFAIL of sysexits)


@contextmanager
def time_limit(minutes: float | None) -> Iterator[None]:
    """Stop the block after so many minutes. It saves what it also saves after Ctrl-C."""
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
    except BaseException as error:  # a library may replace the interrupt by its own error
        if not is_over.is_set():
            raise
        echo(f"stopped after {minutes:g} minutes; run the same command again to continue", err=True)
        raise typer.Exit(AGAIN) from error
    finally:
        timer.cancel()
