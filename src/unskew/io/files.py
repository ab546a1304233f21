"""Writing files so that a half-written one is never seen, and saying what went wrong."""

from __future__ import annotations

import errno
import hashlib
import os
import platform
import re
import secrets
import time
from collections.abc import Callable, Collection, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from unskew.core.errors import UnskewError
from unskew.io.object_store import on_disk

STALE = 3600  # seconds after which what a writer left beside a file is nobody's
# .NAME.PROCESS.MACHINE and random letters.part; older versions had no machine, or no letters.
LEFT = re.compile(r"\..+\.(?P<process>\d+)(\.(?P<machine>[0-9a-f]{8})?[0-9a-f]{8})?\.part")
NO_LINKS = (errno.EPERM, errno.EOPNOTSUPP, errno.ENOTSUP, errno.ENOSYS, errno.EMLINK)


def _name_beside(path: Path) -> Path:
    # Threads share the number of their process: hence the random letters.
    letters = _machine() + secrets.token_hex(4)
    return path.with_name(f".{path.name}.{os.getpid()}.{letters}.part")


def _machine() -> str:
    """Return letters for this machine: others that share its disk have the same process numbers."""
    return hashlib.sha256(platform.node().encode()).hexdigest()[:8]


def remove_left(folder: Path, processes: Collection[int]) -> None:
    """Remove what these processes of this machine left half-written below a folder."""
    for path in folder.rglob(".*.part"):
        left = LEFT.fullmatch(path.name)
        if left and left["machine"] == _machine() and int(left["process"]) in processes:
            with suppress(OSError):  # another run removed it, or it is not ours to remove
                path.unlink()


def remove_stale(folder: Path) -> None:
    """Remove what killed writers left below a folder; what is young may still be written."""
    before = time.time() - STALE
    for path in folder.rglob(".*.part"):
        with suppress(OSError):  # another run removed it, or it is not ours to remove
            if LEFT.fullmatch(path.name) and path.stat().st_mtime < before:
                path.unlink()


def create_text(path: Path, text: str) -> None:
    """Write a text file whole unless there is one: of two writers at once, one is the first."""
    _write_beside(path, lambda beside: beside.write_text(text, encoding="utf-8"), _link)


def write_by(path: Path, write: Callable[[Path], object]) -> None:
    """Have a function write a file whole or not at all; it is given another path, beside it."""
    _write_beside(path, write, os.replace)


def _write_beside(
    path: Path, write: Callable[[Path], object], finish: Callable[[Path, Path], object]
) -> None:
    """Write a file beside ``path``, finish with it, and remove what is left beside it.

    A user's function may change the current folder, so paths are made absolute first. A plain
    try: Ctrl-C between the end of a with-statement and its manager would leave the file.
    """
    on_disk(path)
    whole = path.absolute()
    beside = _name_beside(whole)
    try:
        with plain_errors(path):
            whole.parent.mkdir(parents=True, exist_ok=True)
            write(beside)
            finish(beside, whole)
    finally:
        with suppress(OSError):
            beside.unlink()


def _link(beside: Path, path: Path) -> None:
    """Put a file where there is none, and leave one that is there."""
    try:
        os.link(beside, path)
    except FileExistsError:
        return
    except OSError as error:
        if error.errno not in NO_LINKS:
            raise
        if not path.exists():  # the next best thing on such a disk
            os.replace(beside, path)


def write_bytes(path: Path, data: bytes) -> None:
    """Write a file whole or not at all."""
    write_by(path, lambda beside: beside.write_bytes(data))


def write_text(path: Path, text: str) -> None:
    """Write a text file whole or not at all."""
    write_bytes(path, encoded(text))


def encoded(text: str) -> bytes:
    """Return a text as UTF-8; half of a character, which has no bytes, as ``\\ud800``."""
    return text.encode("utf-8", "backslashreplace")


def check_writable(path: Path) -> None:
    """Say before a long job, not after it, that its result cannot be written."""
    _write_beside(path, Path.touch, _refuse_folder)


def _refuse_folder(_: Path, path: Path) -> None:
    if path.is_dir():
        raise UnskewError(f"{path} is a folder; name a file in it")


@contextmanager
def plain_errors(path: object, *, reading: bool = False) -> Iterator[None]:
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
        reason = os.strerror(error.errno) if error.errno else str(error)
        step = steps.get(error.errno or 0, "check the path and the disk")
        raise UnskewError(f"{path}: {reason}; {step}") from error
