"""Writing files so that a half-written one is never seen, and saying what went wrong."""

from __future__ import annotations

import errno
import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from unskew.addresses import on_disk
from unskew.errors import UnskewError


@contextmanager
def written_whole(path: Path) -> Iterator[Path]:
    """Give a path beside ``path`` to write to; rename it at the end, remove it on any failure."""
    on_disk(path)
    beside = path.with_name(f".{path.name}.{os.getpid()}.part")
    try:
        with plain_errors(path):
            path.parent.mkdir(parents=True, exist_ok=True)
            yield beside
            os.replace(beside, path)
    finally:
        with suppress(OSError):
            beside.unlink()


def write_text(path: Path, text: str) -> None:
    """Write a text file whole or not at all."""
    with written_whole(path) as beside:
        beside.write_text(text, encoding="utf-8")


def check_writable(path: Path) -> None:
    """Say before a long job, not after it, that its result cannot be written."""
    with written_whole(path.with_name(f".{path.name}.try")) as beside:
        beside.touch()
    with plain_errors(path):
        path.with_name(f".{path.name}.try").unlink()
        if path.is_dir():
            raise UnskewError(f"{path} is a folder; name a file in it")


@contextmanager
def plain_errors(path: Path, *, reading: bool = False) -> Iterator[None]:
    """Turn the system's errors about ``path`` into one line with a next step."""
    try:
        yield
    except OSError as error:
        denied = "check its permissions" if reading else "choose a place you may write to"
        full = "free some space and run the same command again"
        steps = {
            errno.ENOSPC: full,
            errno.EDQUOT: full,
            errno.EACCES: denied,
            errno.EPERM: denied,
            errno.EROFS: denied,
            errno.ENOENT: "check the path",
        }
        reason = error.strerror or str(error)
        step = steps.get(error.errno or 0, "check the path and the disk")
        raise UnskewError(f"{path}: {reason}; {step}") from error
