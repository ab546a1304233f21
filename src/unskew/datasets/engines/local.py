"""Makes the parts of a dataset in worker processes on this machine."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import partial

from unskew.core.errors import check_count
from unskew.core.processes.crew import Crew
from unskew.core.recipe import Recipe
from unskew.datasets.run import Engine
from unskew.io.files import remove_left
from unskew.io.location import Place

WORKER = "unskew.datasets.engines.worker"


def processes(workers: int) -> Engine:
    """Make parts in this many worker processes."""
    check_count("workers", workers, "use at least one")

    def run(recipe: Recipe, folder: Place, indices: Sequence[int]) -> Iterator[int]:
        task = {"recipe": recipe.to_dict(), "folder": str(folder)}
        parts = {f"part {index}": index for index in indices}
        crew = Crew(WORKER, task, min(workers, len(parts)), clean=partial(remove_left, folder))
        try:
            for _, message in crew.do(parts):
                yield message["done"]
        finally:
            crew.close()

    return run
