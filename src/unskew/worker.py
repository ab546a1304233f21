"""A worker process: reads a recipe, a folder and then numbers of parts, and makes them.

The first line is JSON, each later one a number; the answer to each is a line of JSON, ``done``
or ``error``. When nothing more comes, because all is done or the parent is gone, it ends.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path

from unskew.errors import UnskewError
from unskew.generation import run_part
from unskew.recipe import Recipe


def main() -> None:
    """Serve one parent until it has no more numbers."""
    task = json.loads(sys.stdin.readline() or "null")
    if task is None:
        return
    recipe, folder = Recipe.from_dict(task["recipe"]), Path(task["folder"])
    for line in sys.stdin:
        index = int(line)
        try:
            run_part(recipe, folder, index)
            answer: dict[str, object] = {"done": index}
        except UnskewError as error:
            answer = {"error": str(error)}
        except Exception as error:  # a line says more to the parent than a traceback here
            answer = {"error": f"part {index}: {type(error).__name__}: {error}"}
        sys.stdout.write(json.dumps(answer) + "\n")
        sys.stdout.flush()


if __name__ == "__main__":
    main()
