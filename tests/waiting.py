"""Waiting in tests: for something to happen, never for time to pass."""

import subprocess
import time
from collections.abc import Callable
from typing import TypeVar

T = TypeVar("T")

# A test that waits longer than this is hanging. It is far more than anything needs on a busy
# machine, so it never decides whether a test passes.
HANG = 1800.0


def until(happened: Callable[[], T], process: "subprocess.Popen | None" = None) -> T:
    """Wait until ``happened`` returns something true, and return it.

    It fails where that can no longer happen, because the process that it waits for has ended.
    """
    end = time.monotonic() + HANG
    while True:
        ended = process is not None and process.poll() is not None
        if found := happened():
            return found
        assert not ended, f"the process ended with code {process.returncode}"
        assert time.monotonic() < end, "this test hangs"
        time.sleep(0.01)
