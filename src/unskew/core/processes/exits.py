"""``os._exit`` in a user's code: it ends a command with an error, and never as if it were done."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import NoReturn

FAILED = 2  # the exit code of a command that failed


@contextmanager
def exits_told(tell: Callable[[str], object]) -> Iterator[None]:
    """Make ``os._exit`` in this process say so and exit with 2, whatever code it is given.

    ``os._exit(0)`` would end a command silently and without a result, as if it had succeeded.
    A process that was forked from this one ends as usual.
    """
    here, leave = os.getpid(), os._exit

    def told(status: int) -> NoReturn:
        if os.getpid() == here:
            tell(
                f"the command was ended by os._exit({status}) in code that it ran; take the exit "
                "out of it"
            )
            status = FAILED
        leave(status)

    os._exit = told
    try:
        yield
    finally:
        os._exit = leave
