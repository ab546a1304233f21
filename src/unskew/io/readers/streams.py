"""The bytes of a file, unpacked while they are read."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from typing import Any

from unskew.core.errors import UnskewError
from unskew.io.location import ObjectPath, Place, plain_errors

PACKED = {".gz": "gzip", ".zst": "zstd"}  # suffix and codec
_BEGINS = {".gz": b"\x1f\x8b", ".zst": b"\x28\xb5\x2f\xfd"}  # the first bytes of a packed file


def unpacked_name(name: str) -> str:
    """Return the name of a file without the suffix that says how it is packed."""
    for suffix in PACKED:
        if name.lower().endswith(suffix):
            return name[: -len(suffix)]
    return name


@contextmanager
def open_bytes(path: Place) -> Iterator[Any]:
    """Open a file to read its bytes; unpack it if its suffix is .gz or .zst.

    It is a file of Arrow. Threads of Arrow may read it ahead, and Python crashes if such a thread
    is in a file of Python's when the program ends.
    """
    import pyarrow as pa

    codec = codec_of(path)
    with plain_errors(path, reading=True), ExitStack() as opened:
        file = opened.enter_context(_native(path))
        if codec is None:
            yield file
            return
        try:
            yield opened.enter_context(pa.CompressedInputStream(file, codec))
        except OSError as error:
            if error.errno is not None:
                raise
            if "runcated" in str(error):
                raise UnskewError(
                    f"{path} is cut off: its {codec} data has no end; copy it again"
                ) from error
            raise UnskewError(
                f"{path} is no whole {codec} file ({error}); copy it again, or correct its suffix"
            ) from error


def no_text(path: Place, line: int, reason: str) -> UnskewError:
    """Return the error for a line that is no UTF-8; say so if the whole file is packed."""
    with _native(path) as file:
        begin = file.read(4)
    for suffix, first in _BEGINS.items():
        if codec_of(path) is None and begin.startswith(first):
            return UnskewError(
                f"{path} is packed by {PACKED[suffix]}; rename it to {path.name}{suffix}"
            )
    return UnskewError(f"{path} line {line} is no UTF-8 text ({reason}); convert the file to UTF-8")


def codec_of(path: Place) -> str | None:
    """Return how a file is packed; None if it is not."""
    return next((PACKED[end] for end in PACKED if path.name.lower().endswith(end)), None)


def _native(path: Place) -> Any:
    import pyarrow as pa

    if isinstance(path, ObjectPath):
        return path.open()
    with path.open("rb"):  # Python's errors say more than those of Arrow
        return pa.OSFile(os.fsencode(path), "rb")
