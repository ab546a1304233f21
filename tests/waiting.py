"""Waiting in tests (for something to happen, never for time to pass), and who is alive."""

import os
import subprocess
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
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
        if result := happened():
            return result
        assert not ended, f"the process ended with code {process.returncode}"
        assert time.monotonic() < end, "this test hangs"
        time.sleep(0.01)


@contextmanager
def beside(happened: Callable[[], object], act: Callable[[], object]) -> Iterator[None]:
    """Call ``act`` as soon as ``happened`` returns something true, while a body runs.

    If the body ends before, or fails, nothing waits any longer, and the test fails.
    """
    over = threading.Event()

    def watch() -> bool:
        until(lambda: happened() or over.is_set())
        if not happened():
            return False
        act()
        return True

    with ThreadPoolExecutor(1) as other:
        acted = other.submit(watch)
        try:
            yield
        finally:
            over.set()
        assert acted.result(), "the body ended before it happened"


def is_alive(process: int | str) -> bool:
    """Return whether a process of this machine runs, by its number."""
    return _state(Path(f"/proc/{process}"))[0] not in "ZX"


def children() -> set[int]:
    """Return the numbers of the processes that this process has started and that run."""
    numbers = {int(path.name) for path in Path("/proc").iterdir() if path.name.isdecimal()}
    mine = str(os.getpid())
    return {pid for pid in numbers if _state(Path(f"/proc/{pid}"))[1] == mine and is_alive(pid)}


def _state(folder: Path) -> list[str]:
    """Return the state of a process and the number of its parent."""
    try:
        return (folder / "stat").read_text().rpartition(")")[2].split()[:2]
    except (FileNotFoundError, ProcessLookupError):  # it is gone
        return ["X", ""]
