"""How many processes train at once in a folder: it is why a model took as long as it did."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from unskew.io.location import plain_errors


@contextmanager
def counted(folder: Path) -> Iterator[Callable[[], int]]:
    """Be one of those that are counted; give the function that counts them, this one too."""
    mine = folder / str(os.getpid())
    with plain_errors(folder):
        folder.mkdir(parents=True, exist_ok=True)
        mine.touch()
    try:
        yield lambda: sum(_runs(path.name) for path in folder.iterdir())
    finally:
        mine.unlink(missing_ok=True)


def _runs(process: str) -> bool:
    """Whether a process of this machine is there; one that was killed left its file behind."""
    try:
        os.kill(int(process), 0)
    except (ValueError, ProcessLookupError):
        return False
    except PermissionError:  # another user's
        return True
    return True
