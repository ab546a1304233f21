"""Writing files so that a half-written one is never seen, and saying what went wrong."""

from __future__ import annotations

import errno
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from unskew.errors import UnskewError


@contextmanager
def written_whole(path: Path) -> Iterator[Path]:
    """Give a path beside ``path`` to write to; rename it at the end, remove it on any failure."""
    beside = path.with_name(f".{path.name}.{os.getpid()}.part")
    try:
        with plain_errors(path):
            path.parent.mkdir(parents=True, exist_ok=True)
            yield beside
            os.replace(beside, path)
    finally:
        beside.unlink(missing_ok=True) if beside.parent.is_dir() else None


def write_text(path: Path, text: str) -> None:
    """Write a text file whole or not at all."""
    with written_whole(path) as beside:
        beside.write_text(text, encoding="utf-8")


@contextmanager
def plain_errors(path: Path) -> Iterator[None]:
    """Turn the system's errors about ``path`` into one line with a next step."""
    try:
        yield
    except OSError as error:
        steps = {
            errno.ENOSPC: "free some space and run the same command again",
            errno.EDQUOT: "free some space and run the same command again",
            errno.EACCES: "choose a place you may write to",
            errno.EPERM: "choose a place you may write to",
            errno.EROFS: "choose a place you may write to",
            errno.ENOENT: "check the path",
        }
        reason = error.strerror or str(error)
        step = steps.get(error.errno or 0, "check the path and the disk")
        raise UnskewError(f"{path}: {reason}; {step}") from error
