"""The place of a dataset: a folder of this machine, or a prefix in an object store.

A folder is a ``Path``. A prefix is an ``ObjectPath``, which has the few methods of a path that
datasets need. Code that takes a ``Place`` does not know which of the two it has.
"""

from __future__ import annotations

import errno
import hashlib
import os
import stat
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path, PurePosixPath
from typing import Any, TypeAlias

from unskew.core.errors import UnskewError
from unskew.io.object_store import connect, is_address, read_address, store_errors

BUFFER = 1 << 23  # bytes of one request when an object is read
PAGES = 1 << 20  # bytes of a local Parquet column that are read at once


@dataclass(frozen=True)
class ObjectPath:
    """An object or a prefix; methods with the names of those of ``Path`` do the same."""

    scheme: str
    key: str  # bucket/prefix
    options: str  # of the address, with its question mark
    files: Any = field(compare=False, repr=False)  # the pyarrow file system

    def __str__(self) -> str:
        """Return the address, which ``place`` reads back."""
        return f"{self.scheme}://{self.key}{self.options}"

    def __truediv__(self, name: str) -> ObjectPath:
        """Return the object or prefix of this name below."""
        return self._at(f"{self.key}/{name}")

    @property
    def name(self) -> str:
        """The last part of the key."""
        return PurePosixPath(self.key).name

    @property
    def suffix(self) -> str:
        """The end of the name, with its dot."""
        return PurePosixPath(self.key).suffix

    def resolve(self) -> ObjectPath:
        """Return this: an address is the same everywhere."""
        return self

    def exists(self) -> bool:
        """Whether there is an object, or objects below."""
        return self._kind() != "NotFound"

    def is_file(self) -> bool:
        """Whether there is an object."""
        return self._kind() == "File"

    def is_dir(self) -> bool:
        """Whether there are objects below."""
        return self._kind() == "Directory"

    def iterdir(self) -> Iterator[ObjectPath]:
        """Yield the objects and prefixes right below."""
        return (self._at(info.path) for info in self._list(recursive=False))

    def rglob(self, _: str = "*") -> Iterator[ObjectPath]:
        """Yield every object and prefix below."""
        return (self._at(info.path) for info in self._list(recursive=True) if info.is_file)

    def open(self, _: str = "rb") -> Any:
        """Open an object to read its bytes."""
        with store_errors(self):
            return self.files.open_input_stream(self.key, compression=None, buffer_size=BUFFER)

    def read_text(self, encoding: str) -> str:
        """Return an object's text."""
        with store_errors(self), self.open() as stream:
            data: bytes = stream.read()
        return data.decode(encoding)

    def put(self, data: bytes) -> None:
        """Write an object as a whole: readers see the old one until the stream is closed."""
        with store_errors(self):
            stream = self.files.open_output_stream(self.key, compression=None)
            stream.write(data)
            stream.close()

    def _at(self, key: str) -> ObjectPath:
        return ObjectPath(self.scheme, key, self.options, self.files)

    def info(self) -> Any:
        """Return the type, the size and the time of writing that the store has."""
        with store_errors(self):
            return self.files.get_file_info(self.key)

    def _kind(self) -> str:
        return str(self.info().type.name)

    def _list(self, *, recursive: bool) -> Any:
        from pyarrow.fs import FileSelector

        with store_errors(self):
            selector = FileSelector(self.key, allow_not_found=True, recursive=recursive)
            return self.files.get_file_info(selector)


Place: TypeAlias = Path | ObjectPath


def place(where: str | Place) -> Place:
    """Return the place that a path or an address names."""
    if isinstance(where, ObjectPath):
        return where
    if not is_address(where):
        return Path(where)
    address = read_address(str(where))
    with store_errors(str(where)):
        return ObjectPath(address.scheme, address.key, address.options, connect(address))


def inside(folder: Place, name: object) -> Place:
    """Return the file of a folder that has this name; refuse a file outside of the folder.

    The name may come from a stranger, and so may a link in the folder.
    """
    parts = PurePosixPath(name).parts if isinstance(name, str) else ()
    if not parts or parts[0].startswith("/") or ".." in parts or set(str(name)) & set("\\:"):
        raise UnskewError(f"{folder} names the file {name!r}, which is not in it; do not use it")
    path = folder / str(name)
    check_inside(folder, path)
    return path


def check_inside(folder: Place, path: Place) -> None:
    """Refuse a link that leads out of its folder, and anything but files and folders."""
    if isinstance(path, ObjectPath) or isinstance(folder, ObjectPath):
        return
    with plain_errors(path, reading=True):
        try:
            leads = path.resolve()
            there = leads.is_relative_to(folder.resolve())
        except (RuntimeError, ValueError) as error:
            raise UnskewError(
                f"{path} is a circle of links, or a name that no file can have; remove it"
            ) from error
        special = _is_special(path)
    if not there:
        raise UnskewError(
            f"{path} is a link out of {folder}, to {leads}; to read that, name it yourself, or "
            "put a copy in the place of the link"
        )
    if special:  # reading a pipe would wait for ever
        raise UnskewError(f"{path} is neither a file nor a folder; remove it")


def _is_special(path: Path) -> bool:
    """Return whether a path is there, but is neither a file nor a folder."""
    try:
        mode = path.stat().st_mode  # asked once: another run may remove the file between two calls
    except PermissionError:
        raise
    except (OSError, ValueError):
        return False
    return not (stat.S_ISREG(mode) or stat.S_ISDIR(mode))


def check_contents(folder: Place) -> None:
    """Refuse a folder in which a link leads out, or a name is neither a file nor a folder."""
    if isinstance(folder, Path):
        for path in folder.rglob("*"):
            check_inside(folder, path)


def read_bytes(path: Place) -> bytes:
    """Return all of a file or an object."""
    with store_errors(path), path.open("rb") as file:
        data: bytes = file.read()
    return data


def files_below(folder: Place) -> list[Place]:
    """Return every file below a folder, in order; refuse links that lead out of it."""
    if isinstance(folder, ObjectPath):
        return [*sorted(folder.rglob(), key=lambda path: path.key.split("/"))]
    paths = sorted(path for path in folder.rglob("*") if path.is_file())
    for path in paths:
        check_inside(folder, path)
    return [*paths]


def sha256(path: Place) -> str:
    """Return the checksum of a file."""
    with store_errors(path), path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def stamp(path: Place) -> tuple[int, int]:
    """Return when a file was last written, and its size."""
    if isinstance(path, ObjectPath):
        info = path.info()
        return info.mtime_ns or 0, info.size or 0
    status = path.stat()
    return status.st_mtime_ns, status.st_size


@cache
def known_sha256(path: Place, _: tuple[int, int]) -> str:
    """Return the checksum of a file, which is read again only when its stamp is another."""
    return sha256(path)


def parquet_file(path: Place, coded: Sequence[str] = ()) -> Any:
    """Open a Parquet file; the columns that are ``coded`` are read as dictionaries.

    What is read ahead of a local file would stay in memory until the file is closed.
    """
    import pyarrow.parquet as pq
    from pyarrow import fs

    if isinstance(path, ObjectPath):
        return pq.ParquetFile(
            path.key, filesystem=path.files, pre_buffer=True, read_dictionary=coded
        )
    # Without a file system, Arrow would read a path that does not exist as an address.
    local = fs.LocalFileSystem()
    return pq.ParquetFile(
        str(path),
        filesystem=local,
        pre_buffer=False,
        buffer_size=PAGES,
        read_dictionary=coded,
    )


@contextmanager
def plain_errors(path: object, *, reading: bool = False) -> Iterator[None]:
    """Turn errors of the system, or of a store, about ``path`` into one line with a next step."""
    try:
        with store_errors(path):
            yield
    except MemoryError as error:
        raise too_large(path) from error
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


def too_large(path: object) -> UnskewError:
    """Return the error for a file that needs more memory than there is."""
    return UnskewError(
        f"{path} needs more memory than there is: small files may hold large values; take them "
        "out, or read it on a larger machine"
    )
