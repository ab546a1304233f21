"""A worker process: reads a recipe, a folder and then numbers of parts, and makes them.

The first line is JSON, each later one a number; the answer to each is a line of JSON, ``done``
with its warnings, or ``error``. When nothing more comes, because all is done or the parent is
gone, it ends. The pipes are its own: what a user's function prints goes to stderr, and there is
nothing for it to read.
"""

from __future__ import annotations

import json
import os
import signal
import sys
import warnings
from collections.abc import Callable
from contextlib import suppress
from typing import Any, NoReturn

from unskew.core.errors import HealthWarning, UnskewError
from unskew.core.processes import end_with_parent
from unskew.core.recipe import Recipe
from unskew.datasets.generate import run_part
from unskew.io.files import remove_left
from unskew.io.location import Place, place

STOPPED = 128 + signal.SIGTERM  # the exit code of a process that was told to stop


def main() -> None:
    """Serve one parent until it has no more numbers, or says stop."""
    asked, answered = own_pipes()
    signal.signal(signal.SIGTERM, leave)
    with (
        suppress(BrokenPipeError),  # broken when the parent was killed
        os.fdopen(asked, "r", encoding="utf-8") as questions,
        os.fdopen(answered, "w", encoding="utf-8") as answers,
    ):
        task = json.loads(questions.readline() or "null")
        if task is None:
            return
        recipe, folder = Recipe.from_dict(task["recipe"]), place(task["folder"])
        signal.signal(signal.SIGTERM, lambda *_: end(folder))
        end_with_parent(lambda: end(folder))
        try:
            for line in questions:
                answers.write(json.dumps(answer(recipe, folder, int(line))) + "\n")
                answers.flush()
        finally:
            signal.signal(signal.SIGTERM, leave)


def end(folder: Place) -> NoReturn:
    """End this process now, and remove what it was writing below a folder.

    A signal's handler that raises can be lost: it may run inside a ``__del__``, inside
    ``sys.unraisablehook``, or inside a function of the user that catches everything. This raises
    nothing and never returns, so there is nothing that could be caught.
    """
    try:
        remove_left(folder, {os.getpid()})
    finally:
        os._exit(STOPPED)


def leave(*_: object, now: Callable[[int], NoReturn] = os._exit, code: int = STOPPED) -> None:
    """End this process now: it has nothing to remove.

    It needs no name of a module, for Python takes those away while it ends.
    """
    now(code)


def own_pipes() -> tuple[int, int]:
    """Take stdin and stdout away from all else that runs here, and return their descriptors."""
    taken = os.dup(0), os.dup(1)
    nothing = os.open(os.devnull, os.O_RDONLY)
    os.dup2(nothing, 0)
    os.close(nothing)
    os.dup2(2, 1)  # for what writes to the descriptor, such as a library in C
    sys.stdout = sys.stderr
    return taken


def answer(recipe: Recipe, folder: Place, index: int) -> dict[str, Any]:
    """Make a part, and say so or say what went wrong."""
    try:
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always", HealthWarning)
            run_part(recipe, folder, index)
        said = [str(w.message) for w in caught if issubclass(w.category, HealthWarning)]
        return {"done": index, "warnings": said}
    except UnskewError as error:
        return {"error": str(error)}
    except (Exception, SystemExit) as error:  # a line says more than a traceback, or than an exit
        return {"error": f"part {index}: {type(error).__name__}: {error}"}


if __name__ == "__main__":
    main()
