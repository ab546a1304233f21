"""A file that keeps what a sampler drew, so that nothing paid for is lost or drawn again.

The file has one line for each call. It says where the generator stood before the call and after
it: any run whose generator comes to the same state takes the example from the file. A run with
another seed never comes to that state; it adds lines of its own.
"""

from __future__ import annotations

import json
import math
import os
import threading
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any

import numpy as np

from unskew.core.errors import RowError, UnskewError, brief
from unskew.core.rng import move, state_of
from unskew.core.values.json_text import parse_json
from unskew.core.values.nesting import check_nesting

_KIND = "draws of a sampler"


class Cache:
    """The calls of one sampler in a JSONL file. Several processes may use it at once."""

    def __init__(self, path: str | os.PathLike[str], sampler: Callable[..., Any]) -> None:
        """Open nothing yet."""
        self._path = Path(path)
        module = getattr(sampler, "__module__", None)
        self._header = {
            "unskew": _KIND,
            "sampler": str(getattr(sampler, "__qualname__", type(sampler).__qualname__)),
            "module": None if module == "__main__" else module,
        }
        self._lock = threading.Lock()
        self._places: dict[str, int] = {}  # the byte at which the line of each call begins
        self._end = self._lines = 0  # bytes and lines that were read

    def call(self, function: Callable[..., Any], way: str) -> Callable[..., Any]:
        """Return a function that takes what it can from the file, and adds the rest to it.

        ``way`` says how the function is called: the file of a sampler that is called in another
        way is refused.
        """
        self._header["way"] = way

        def cached(rng: np.random.Generator, *rest: int) -> Any:
            before = _before(rng, *rest)
            line = self._kept(before)
            if line is None:
                value = function(rng, *rest)
                line = self._add(before, _after(rng, before), value)
            move(rng, line["after"])
            return line["value"]

        return cached

    def awaited(
        self, function: Callable[[np.random.Generator], Awaitable[Any]], way: str
    ) -> Callable[[np.random.Generator], Awaitable[Any]]:
        """Return the same for an async function."""
        self._header["way"] = way

        async def cached(rng: np.random.Generator) -> Any:
            before = _before(rng)
            line = self._kept(before)
            if line is None:
                value = await function(rng)
                line = self._add(before, _after(rng, before), value)
            move(rng, line["after"])
            return line["value"]

        return cached

    def _kept(self, before: str) -> dict[str, Any] | None:
        """Return the line of a call; None if the file does not have it."""
        with self._lock:
            if before not in self._places:  # another process may have added it
                with self._opened() as file:
                    self._read_on(file)
            return self._at(before)

    def _at(self, before: str) -> dict[str, Any] | None:
        place = self._places.get(before)
        if place is None:
            return None
        try:
            with open(self._path, "rb") as file:
                file.seek(place)
                line = parse_json(file.readline())
        except (OSError, ValueError):
            line = None
        if not isinstance(line, dict) or line.get("before") != before:
            raise UnskewError(f"{self._path} was altered while it was used; run it again")
        return line

    def _add(self, before: str, after: str, value: Any) -> dict[str, Any]:
        """Add a call; return its line, or the line that another process was first to add."""
        line = {"before": before, "after": after, "value": value}
        data = _json(line, self._header["sampler"])
        with self._lock, self._opened() as file:
            self._read_on(file)
            other = self._at(before)
            if other is not None:
                return other
            self._write(file, data)
            self._places[before] = self._end - len(data)
        return line

    @contextmanager
    def _opened(self) -> Iterator[IO[bytes]]:
        """Open the file, which is made if it is missing; other processes wait."""
        try:
            with open(self._path, "a+b") as file, _locked(file):
                yield file
        except OSError as error:
            raise UnskewError(
                f"the cache {self._path} cannot be used ({error.strerror or error}); give the "
                "path of a file in a folder that can be written"
            ) from error

    def _read_on(self, file: IO[bytes]) -> None:
        """Read what is new in the file; remove the end of a line that was never written whole."""
        file.seek(self._end)
        for data in iter(file.readline, b""):
            line = _parsed(data)
            if not data.endswith(b"\n"):
                header = (json.dumps(self._header) + "\n").encode()
                if not self._lines and not header.startswith(data):
                    raise self._other()
                if line is None:
                    file.truncate(self._end)
                    break
                file.write(b"\n")
            self._take(line, data)
        if not self._end:
            self._write(file, (json.dumps(self._header) + "\n").encode())

    def _take(self, line: Any, data: bytes) -> None:
        """Take note of one more line."""
        if not self._lines:
            self._check_header(line)
        elif isinstance(line, dict) and "value" in line and isinstance(line.get("before"), str):
            self._places.setdefault(line["before"], self._end)
        else:
            raise UnskewError(
                f"{self._path} line {self._lines + 1} is {brief(data)}, which is no draw of a "
                "sampler; remove that line"
            )
        self._lines += 1
        self._end += len(data.rstrip(b"\n")) + 1

    def _write(self, file: IO[bytes], data: bytes) -> None:
        """Write a whole line to the end, at once."""
        file.seek(0, os.SEEK_END)
        file.write(data)
        file.flush()
        self._end += len(data)
        self._lines += 1

    def _check_header(self, header: Any) -> None:
        """Refuse the file of another sampler, and a file that is no cache at all."""
        if not isinstance(header, dict) or header.get("unskew") != _KIND:
            raise self._other()
        mine = self._header
        module = header.get("module")
        same_module = None in (module, mine["module"]) or module == mine["module"]
        same = [header.get(name) == mine[name] for name in ("sampler", "way")]
        if not (all(same) and same_module):
            raise UnskewError(
                f"{self._path} keeps the draws of {_name(header)}, not of {_name(mine)}; give "
                "each sampler a file of its own"
            )

    def _other(self) -> UnskewError:
        return UnskewError(
            f"{self._path} exists, and is no cache of a sampler; give the path of a new file"
        )


def _name(header: dict[str, Any]) -> str:
    """Return a sampler in words: draw of my_module, one by one."""
    module = f" of {header.get('module')}" if header.get("module") else ""
    return f"{header.get('sampler')}{module}, {header.get('way')}"


def _before(rng: np.random.Generator, *rest: int) -> str:
    """Return the name of a call: where its generator stands, and how much is asked for."""
    return ":".join([state_of(rng), *map(str, rest)])


def _after(rng: np.random.Generator, before: str) -> str:
    """Return where a generator stands after a call.

    A function that drew nothing from it would be at the same call for ever, so it is moved on.
    """
    if before.startswith(state_of(rng)):
        rng.random()
    return state_of(rng)


def _parsed(data: bytes) -> Any:
    try:
        return parse_json(data)
    except ValueError:
        return None


def _json(line: dict[str, Any], sampler: Any) -> bytes:
    """Return a line as JSON; refuse a value that would come back as another one."""
    what = f"sampler {sampler!r} cannot be cached"
    try:
        check_nesting([line["value"]])
    except RowError as error:
        raise UnskewError(f"{what}: {error.problem}") from error
    fault = _fault(line["value"])
    if fault:
        raise UnskewError(
            f"{what}: it returned {fault}, which JSON does not hold; return dicts with keys of "
            "text, lists, texts and numbers"
        )
    try:
        return (json.dumps(line, ensure_ascii=False) + "\n").encode()
    except UnicodeEncodeError:  # half of a character, which JSON holds as \ud800
        return (json.dumps(line) + "\n").encode()
    except ValueError as error:  # Python does not print a whole number with that many digits
        raise UnskewError(f"{what}: {error}; return smaller numbers, or texts") from error


def _fault(value: Any) -> str:
    """Return the first part of a value that JSON would change; empty if there is none."""
    kind = type(value)
    if kind in (str, int, bool, type(None)) or (kind is float and math.isfinite(value)):
        return ""
    if kind is dict:
        bad = next((key for key in value if type(key) is not str), None)
        if bad is not None or None in value:
            return f"the key {brief(bad)}"
        return next(filter(None, map(_fault, value.values())), "")
    if kind is list:
        return next(filter(None, map(_fault, value)), "")
    return f"the {kind.__name__} {brief(value)}"


@contextmanager
def _locked(file: IO[bytes]) -> Iterator[None]:
    """Let one process at a time use a file; where a system has no such locks, nobody waits."""
    try:
        import fcntl
    except ImportError:
        yield
        return
    fcntl.flock(file, fcntl.LOCK_EX)
    try:
        yield
    finally:
        fcntl.flock(file, fcntl.LOCK_UN)
