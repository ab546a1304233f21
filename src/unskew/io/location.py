"""Where a dataset lies: a folder of this machine, or a prefix in an object store.

A folder is a ``Path``; a prefix is an ``ObjectPath``, which has the few methods of a path that
datasets need. What takes a ``Place`` does not know which of the two it has, and nothing but this
module and ``addresses`` knows of stores. A file is written beside its place and renamed; an
object is put whole.
"""

from __future__ import annotations

import hashlib
from collections.abc import Collection, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path, PurePosixPath
from typing import Any, TypeAlias

from unskew.core.errors import UnskewError
from unskew.io import files
from unskew.io.object_store import connect, is_address, read_address, store_errors

AT_ONCE = 1 << 23  # bytes asked for at a time when an object is read through


@dataclass(frozen=True)
class ObjectPath:
    """An object or a prefix; what is called as in ``Path`` does what it does there."""

    scheme: str
    key: str  # bucket/prefix
    options: str  # of the address, with its question mark
    files: Any = field(compare=False, repr=False)  # the pyarrow file system

    def __str__(self) -> str:
        """Return the address, which ``place`` reads back."""
        return f"{self.scheme}://{self.key}{self.options}"

    def __truediv__(self, name: str) -> ObjectPath:
        """Return what lies below."""
        return self._at(f"{self.key}/{name}")

    @property
    def name(self) -> str:
        """The last part of the key."""
        return PurePosixPath(self.key).name

    @property
    def suffix(self) -> str:
        """What the name ends in, with its dot."""
        return PurePosixPath(self.key).suffix

    def resolve(self) -> ObjectPath:
        """Return it as it is: an address is the same everywhere."""
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
        """Open an object to read its bytes through."""
        with store_errors(self):
            return self.files.open_input_stream(self.key, compression=None, buffer_size=AT_ONCE)

    def read_text(self, encoding: str) -> str:
        """Return an object's text."""
        with store_errors(self), self.open() as stream:
            data: bytes = stream.read()
        return data.decode(encoding)

    def put(self, data: bytes) -> None:
        """Write an object whole: until its stream is closed, readers see what was there before."""
        with store_errors(self):
            stream = self.files.open_output_stream(self.key, compression=None)
            stream.write(data)
            stream.close()

    def _at(self, key: str) -> ObjectPath:
        return ObjectPath(self.scheme, key, self.options, self.files)

    def info(self) -> Any:
        """Return what the store says of it: its type, its size, when it was written."""
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
    """Return where a path or an address leads."""
    if isinstance(where, ObjectPath):
        return where
    if not is_address(where):
        return Path(where)
    address = read_address(str(where))
    with store_errors(str(where)):
        return ObjectPath(address.scheme, address.key, address.options, connect(address))


def inside(folder: Place, name: object) -> Place:
    """Return the file of a folder that has this name; refuse one that lies elsewhere.

    What names it may be a stranger's, and so may be a link in the folder.
    """
    parts = PurePosixPath(name).parts if isinstance(name, str) else ()
    if not parts or parts[0].startswith("/") or ".." in parts or set(str(name)) & set("\\:"):
        raise UnskewError(f"{folder} names the file {name!r}, which is not in it; do not use it")
    path = folder / str(name)
    check_inside(folder, path)
    return path


def check_inside(folder: Place, path: Place) -> None:
    """Refuse a link that leads out of the folder that it lies in, and what is no file at all."""
    if isinstance(path, ObjectPath) or isinstance(folder, ObjectPath):
        return
    with plain_errors(path, reading=True):
        try:
            there = path.resolve().is_relative_to(folder.resolve())
        except (RuntimeError, ValueError):  # links in a circle; a name that no file can have
            there = False
        special = path.exists() and not (path.is_file() or path.is_dir())
    if not there:
        raise UnskewError(
            f"{path} is a link out of {folder}; if you trust it, copy the folder with cp -rL"
        )
    if special:  # a pipe would be waited for
        raise UnskewError(f"{path} is neither a file nor a folder; remove it")


def check_contents(folder: Place) -> None:
    """Refuse a folder in which a link leads out, or a name is neither a file nor a folder."""
    if isinstance(folder, Path):
        for path in folder.rglob("*"):
            check_inside(folder, path)


def write_bytes(path: Place, data: bytes) -> None:
    """Write a file or an object whole or not at all."""
    if isinstance(path, ObjectPath):
        path.put(data)
        return
    files.write_bytes(path, data)


def write_text(path: Place, text: str) -> None:
    """Write a text whole or not at all."""
    if isinstance(path, ObjectPath):
        path.put(files.encoded(text))
    else:
        files.write_text(path, text)


def create_text(path: Place, text: str) -> None:
    """Write a text whole unless there is one; a store cannot promise it, so read it again."""
    if not isinstance(path, ObjectPath):
        files.create_text(path, text)
    elif not path.is_file():
        path.put(text.encode())


def remove(path: Place) -> None:
    """Remove a file or an object; one that is gone already is no matter."""
    with plain_errors(path), suppress(FileNotFoundError):
        if isinstance(path, ObjectPath):
            path.files.delete_file(path.key)
        else:
            path.unlink()


def remove_stale(folder: Place) -> None:
    """Remove what killed writers left below a folder; a store shows nothing half-written."""
    if not isinstance(folder, ObjectPath):
        files.remove_stale(folder)


def remove_left(folder: Place, processes: Collection[int]) -> None:
    """Remove what these processes of this machine left; a store shows nothing half-written."""
    if not isinstance(folder, ObjectPath):
        files.remove_left(folder, processes)


def read_bytes(path: Place) -> bytes:
    """Return all of a file or an object."""
    with store_errors(path), path.open("rb") as file:
        data: bytes = file.read()
    return data


def files_below(folder: Place) -> list[Place]:
    """Return every file below a folder, in order; refuse links that lead out of it."""
    if isinstance(folder, ObjectPath):
        return [*sorted(folder.rglob(), key=lambda path: path.key.split("/"))]
    found = sorted(path for path in folder.rglob("*") if path.is_file())
    for path in found:
        check_inside(folder, path)
    return [*found]


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
    """Return the checksum of a file that is read again only when its stamp is another."""
    return sha256(path)


def parquet_file(path: Place) -> Any:
    """Open a Parquet file."""
    import pyarrow.parquet as pq
    from pyarrow import fs

    if isinstance(path, ObjectPath):
        return pq.ParquetFile(path.key, filesystem=path.files, pre_buffer=True)
    # The file system is named, or Arrow would read a path that is not there as an address.
    return pq.ParquetFile(str(path), filesystem=fs.LocalFileSystem())


@contextmanager
def plain_errors(path: Place, *, reading: bool = False) -> Iterator[None]:
    """Turn the errors of the system, or of the store, into one line with a next step."""
    with files.plain_errors(path, reading=reading), store_errors(path):
        yield
