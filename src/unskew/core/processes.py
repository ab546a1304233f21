"""How unskew starts processes of its own, and ends them."""

import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable

# -P: no file of the current folder, which may be a stranger's, takes the place of a library.
PYTHON = (sys.executable, "-P")
LOOK_SECONDS = 0.5  # between looks at whether the parent is still there


def kill(process: subprocess.Popen[str] | subprocess.Popen[bytes]) -> None:
    """End a process at once, with all that it started itself if it has a session of its own."""
    try:
        os.killpg(process.pid, signal.SIGKILL)
    except (ProcessLookupError, PermissionError):  # it leads no group, or it is gone
        process.kill()


def end_with_parent(end: Callable[[], object]) -> None:
    """Call ``end`` when the process that started this one is gone, whatever this one is doing."""
    parent = os.getppid()

    def watch() -> None:
        while os.getppid() == parent:
            time.sleep(LOOK_SECONDS)
        end()

    threading.Thread(target=watch, daemon=True).start()
