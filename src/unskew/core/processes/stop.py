"""Ctrl-C that ends a command although a user's function catches every exception."""

import signal
from os import _exit  # code of a user's own may have called or changed os._exit

STOPPED = 130  # the exit code of a command that Ctrl-C ended
MOST = 2  # times that Ctrl-C may be swallowed; the next one ends the process at once


class Stopped(BaseException):
    """Ctrl-C. No library knows this exception, so none replaces it by a message of its own."""


class Interrupt:
    """A handler of Ctrl-C that raises ``Stopped``, and counts how often it did."""

    def __init__(self) -> None:
        """Start with no Ctrl-C."""
        self.count = 0

    def __call__(self, *_: object) -> None:
        """Raise ``Stopped`` wherever the program is."""
        self.count += 1
        if self.count > MOST:
            _exit(STOPPED)
        raise Stopped

    def raise_again(self) -> None:
        """Raise ``Stopped`` if there was a Ctrl-C."""
        if self.count:
            raise Stopped


def raise_if_stopped() -> None:
    """Raise ``Stopped`` again if there was a Ctrl-C: a user's function may have swallowed it.

    This is called after each call of a user's function, when such a function has raised an error,
    and with each report of progress.
    """
    handler = interrupt()
    if handler is not None:
        handler.raise_again()


def interrupt() -> Interrupt | None:
    """Return what counts Ctrl-C; None outside a command.

    To look it up takes a microsecond. So a loop over rows does it once, before the first row.
    """
    handler = signal.getsignal(signal.SIGINT)
    return handler if isinstance(handler, Interrupt) else None
