"""A worker process: reads a recipe, a folder and then numbers of parts, and makes them.

The first line is JSON, each later one a number; the answer to each is a line of JSON, ``done``
with its warnings, or ``error``. When nothing more comes, because all is done or the parent is
gone, it ends.
"""

from __future__ import annotations

import json
import sys
import warnings
from typing import Any

from unskew.errors import HealthWarning, UnskewError
from unskew.generation import run_part
from unskew.recipe import Recipe
from unskew.store import Place, place


def main() -> None:
    """Serve one parent until it has no more numbers."""
    task = json.loads(sys.stdin.readline() or "null")
    if task is None:
        return
    recipe, folder = Recipe.from_dict(task["recipe"]), place(task["folder"])
    for line in sys.stdin:
        sys.stdout.write(json.dumps(answer(recipe, folder, int(line))) + "\n")
        sys.stdout.flush()


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
