"""How many processes train at once in a folder, which decides how long a model takes."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from unskew.io.location import plain_errors


@contextmanager
def counted(folder: Path) -> Iterator[Callable[[], int]]:
    """Register this process; yield the function that counts the registered processes."""
    own_file = folder / str(os.getpid())
    with plain_errors(folder):
        folder.mkdir(parents=True, exist_ok=True)
        own_file.touch()
    try:
        yield lambda: sum(_runs(path.name) for path in folder.iterdir())
    finally:
        own_file.unlink(missing_ok=True)


def _runs(process: str) -> bool:
    """Return whether a process of this machine runs; a killed one has left its file behind."""
    try:
        os.kill(int(process), 0)
    except (ValueError, ProcessLookupError):
        return False
    except PermissionError:  # it is another user's
        return True
    return True
