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
import threading
import warnings
from contextlib import suppress
from typing import Any

from unskew.errors import HealthWarning, UnskewError
from unskew.generation import run_part
from unskew.recipe import Recipe
from unskew.store import Place, place


def main() -> None:
    """Serve one parent until it has no more numbers, or says stop."""
    asked, answered = own_pipes()
    with (
        suppress(BrokenPipeError),  # broken when the parent was killed
        os.fdopen(asked, "r", encoding="utf-8") as questions,
        os.fdopen(answered, "w", encoding="utf-8") as answers,
    ):
        task = json.loads(questions.readline() or "null")
        if task is None:
            return
        recipe, folder = Recipe.from_dict(task["recipe"]), place(task["folder"])
        signal.signal(signal.SIGTERM, _stop)
        sys.unraisablehook = stop_again
        try:
            for line in questions:
                answers.write(json.dumps(answer(recipe, folder, int(line))) + "\n")
                answers.flush()
        finally:  # Python that is ending would print an exit that comes in its midst
            signal.signal(signal.SIGTERM, signal.SIG_DFL)


def _stop(*_: object) -> None:
    """End as any program does, so that what is half-written is removed on the way."""
    sys.exit(128 + signal.SIGTERM)


def stop_again(lost: Any) -> None:
    """Ask once more for a stop that came in the midst of a ``__del__``, which swallows it."""
    if isinstance(lost.exc_value, SystemExit | KeyboardInterrupt):
        threading.Timer(0.01, os.kill, (os.getpid(), signal.SIGTERM)).start()
    else:
        sys.__unraisablehook__(lost)


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
    except Exception as error:  # a line says more to the parent than a traceback here
        return {"error": f"part {index}: {type(error).__name__}: {error}"}


if __name__ == "__main__":
    main()
