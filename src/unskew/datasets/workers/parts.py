"""A worker process that makes the parts of a dataset. A question is the number of a part."""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import Any

from unskew.core.processes.worker import Answer, Parent, serve
from unskew.core.recipe import Recipe
from unskew.datasets.run import run_part
from unskew.io.files import remove_left
from unskew.io.location import place


def answering(task: Mapping[str, Any]) -> Answer:
    """Return the function that makes a part of the recipe in the folder."""
    recipe, folder = Recipe.from_dict(task["recipe"]), place(task["folder"])
    return lambda index: run_part(recipe, folder, index)


def begin(task: Mapping[str, Any], parent: Parent) -> Answer:
    """Return ``answering``; a process that is stopped removes its half-written part."""
    folder = place(task["folder"])
    parent.clean = lambda: remove_left(folder, {os.getpid()})
    return answering(task)


if __name__ == "__main__":
    serve(begin)
