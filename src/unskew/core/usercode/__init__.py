"""A user's own functions: where they stand, and in one line what went wrong in one of them."""

from __future__ import annotations

import functools
import inspect
import os
import sys
import sysconfig
import traceback
from collections.abc import Iterator
from contextlib import contextmanager, redirect_stdout
from pathlib import Path
from typing import Any

from unskew.core.errors import UnskewError
from unskew.core.processes.stop import RAISED, raise_if_stopped

_PACKAGE = str(Path(__file__).parents[2]) + os.sep
_STANDARD = str(Path(sysconfig.get_path("stdlib"))) + os.sep
_INSTALLED = (f"{os.sep}site-packages{os.sep}", f"{os.sep}dist-packages{os.sep}")
_COMPILED = (".pyx", ".pxi", ".pxd")  # frames of libraries that Cython compiled


@contextmanager
def own_code(what: str, step: str) -> Iterator[None]:
    """Turn an error of a user's own function into one line that says where it was raised."""
    try:
        yield
    except UnskewError:
        raise
    except RAISED as error:  # the user's own function may raise anything
        raise UnskewError(f"{what} raised {raised(error)}; {step}") from error
    raise_if_stopped()


@contextmanager
def stdout_to_stderr() -> Iterator[None]:
    """Send what a user's code prints to stderr: the stdout of a command is for its result."""
    if sys.stdout is None:  # it is closed, and another file may have its number
        yield
        return
    kept = os.dup(1)
    try:
        sys.stdout.flush()
        os.dup2(2, 1)  # for what writes to the descriptor, such as another process
        with redirect_stdout(sys.stderr):
            yield
    finally:
        os.dup2(kept, 1)
        os.close(kept)


def raised(error: BaseException) -> str:
    """Return an error in words, with the file and the line of the user's code that raised it.

    The user's code may have turned Ctrl-C into this error; then Ctrl-C is raised again.
    """
    raise_if_stopped()
    try:
        text = " ".join(str(error).split())
    except Exception:  # an error class of the user's own
        text = ""
    name = type(error).__name__
    place = raised_at(error)
    return (f"{name}: {text}" if text else name) + (f" ({place})" if place else "")


def raised_at(error: BaseException) -> str:
    """Return the file and line of the innermost frame of the user's code; empty without one.

    Where no frame is in a file of the user's, it is the innermost frame outside unskew.
    """
    frames = [(frame.filename, frame.lineno or 0) for frame in _frames(error)]
    outside = [frame for frame in frames if not frame[0].startswith(_PACKAGE)]
    own = [frame for frame in outside if not _is_library(frame[0])]
    chosen = own or outside
    return _place(*chosen[-1]) if chosen else ""


def place_of(function: Any) -> str:
    """Return the file and line of a user's function; empty where it has none."""
    while isinstance(function, functools.partial):
        function = function.func
    function = inspect.unwrap(function)
    code = getattr(function, "__code__", None)
    if code is None and not isinstance(function, type):
        code = getattr(vars(type(function)).get("__call__"), "__code__", None)
    if code is None or code.co_filename.startswith(_PACKAGE):
        return ""
    return _place(code.co_filename, code.co_firstlineno)


def in_brackets(function: Any) -> str:
    """Return the place of a user's function to follow its name; empty where it has none."""
    place = place_of(function)
    return f" ({place})" if place else ""


def _frames(error: BaseException) -> list[traceback.FrameSummary]:
    summary = traceback.StackSummary.extract(
        traceback.walk_tb(error.__traceback__), lookup_lines=False
    )
    return list(summary)


def _is_library(file: str) -> bool:
    inside = any(part in file for part in _INSTALLED) or file.endswith(_COMPILED)
    return inside or file.startswith((_STANDARD, "<frozen"))


def _place(file: str, line: int) -> str:
    """Write a place; a file below the current folder without the folder's name."""
    try:
        path = Path(file)
        below = path.is_absolute() and path.is_relative_to(Path.cwd())
        file = str(path.relative_to(Path.cwd())) if below else file
    except OSError:  # the current folder is gone
        pass
    return f"{file} line {line}"
