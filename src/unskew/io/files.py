"""Writes and removes files and objects, so that nobody sees a half-written one.

A file is written under another name beside its place, and then renamed. A store takes an object as
a whole.
"""

from __future__ import annotations

import errno
import hashlib
import os
import platform
import re
import secrets
import time
from collections.abc import Callable, Collection, Iterator
from contextlib import suppress
from pathlib import Path

from unskew.core.errors import UnskewError
from unskew.io.location import ObjectPath, Place, plain_errors
from unskew.io.object_store import on_disk

STALE = 3600  # seconds after which a file that a writer left belongs to no writer any more
# .NAME.PROCESS.MACHINE and random letters.part; older versions had no machine, or no letters.
HALF_WRITTEN = re.compile(r"\..+\.(?P<process>\d+)(\.(?P<machine>[0-9a-f]{8})?[0-9a-f]{8})?\.part")
NO_LINKS = (errno.EPERM, errno.EOPNOTSUPP, errno.ENOTSUP, errno.ENOSYS, errno.EMLINK)


def write_bytes(path: Place, data: bytes) -> None:
    """Write a file or an object whole or not at all."""
    if isinstance(path, ObjectPath):
        path.put(data)
    else:
        write_by(path, lambda beside: beside.write_bytes(data))


def write_text(path: Place, text: str) -> None:
    """Write a text whole or not at all, half of a character (it has no bytes) as ``\\ud800``."""
    write_bytes(path, text.encode("utf-8", "backslashreplace"))


def create_text(path: Place, text: str) -> None:
    """Write a text whole unless the file is there already; the first of two writers wins.

    A store cannot promise this, so read the text again.
    """
    if not isinstance(path, ObjectPath):
        _write_beside(path, lambda beside: beside.write_text(text, encoding="utf-8"), _link)
    elif not path.is_file():
        path.put(text.encode())


def write_by(path: Path, write: Callable[[Path], object]) -> None:
    """Let ``write`` make a file, whole or not at all, at a temporary path in the same folder."""
    _write_beside(path, write, os.replace)


def check_writable(path: Path) -> None:
    """Refuse, before a long job begins, a path where its result cannot be written."""
    _write_beside(path, Path.touch, _refuse_folder)


def _write_beside(
    path: Path, write: Callable[[Path], object], finish: Callable[[Path, Path], object]
) -> None:
    """Write a file beside ``path``, finish with it, and remove what is left beside ``path``.

    A user's function may change the current folder, so paths are made absolute first. A plain
    try: Ctrl-C between the end of a with-statement and its manager would leave the file.
    """
    on_disk(path)
    # The threads of a process share its number: hence the random letters.
    letters = _machine() + secrets.token_hex(4)
    whole = path.absolute()
    beside = whole.with_name(f".{path.name}.{os.getpid()}.{letters}.part")
    try:
        with plain_errors(path):
            whole.parent.mkdir(parents=True, exist_ok=True)
            write(beside)
            finish(beside, whole)
    finally:
        with suppress(OSError):
            beside.unlink()


def _link(beside: Path, path: Path) -> None:
    """Move a file to a path, unless a file is there already."""
    try:
        os.link(beside, path)
    except FileExistsError:
        return
    except OSError as error:
        if error.errno not in NO_LINKS:
            raise
        if not path.exists():  # the next best thing on a disk without links
            os.replace(beside, path)


def _refuse_folder(_: Path, path: Path) -> None:
    if path.is_dir():
        raise UnskewError(f"{path} is a folder; name a file in it")


def _machine() -> str:
    """Return letters for this machine: other machines on its disk have the same process numbers."""
    return hashlib.sha256(platform.node().encode()).hexdigest()[:8]


def remove(path: Place) -> None:
    """Remove a file or an object if it is there."""
    with plain_errors(path), suppress(FileNotFoundError):
        if isinstance(path, ObjectPath):
            path.files.delete_file(path.key)
        else:
            path.unlink()


def remove_left(folder: Place, processes: Collection[int]) -> None:
    """Remove the half-written files that these processes of this machine left below a folder."""
    for path, name in _half_written(folder):
        if name["machine"] == _machine() and int(name["process"]) in processes:
            with suppress(OSError):  # another run removed the file, or this user may not
                path.unlink()


def remove_stale(folder: Place) -> None:
    """Remove the half-written files that killed writers left below a folder, but not young ones."""
    for path, _ in _half_written(folder):
        with suppress(OSError):  # another run removed the file, or this user may not
            if path.stat().st_mtime < time.time() - STALE:
                path.unlink()


def _half_written(folder: Place) -> Iterator[tuple[Path, re.Match[str]]]:
    """Yield the half-written files below a folder, each with its name; a store has none."""
    if not isinstance(folder, ObjectPath):
        for path in folder.rglob(".*.part"):
            if name := HALF_WRITTEN.fullmatch(path.name):
                yield path, name
