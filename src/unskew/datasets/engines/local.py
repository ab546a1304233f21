"""Does the pieces of some work in worker processes on this machine."""

from __future__ import annotations

import json
from collections.abc import Generator, Mapping
from typing import Any

from unskew.core.errors import UnskewError, check_count
from unskew.core.processes.crew import Crew
from unskew.datasets.engines.work import Arrays, Engine, Work


def processes(workers: int) -> Engine:
    """Share work out to this many worker processes."""
    check_count("workers", workers, "use at least one")

    def run(work: Work) -> Generator[tuple[int, Arrays], None, None]:
        numbers = {f"{work.noun} {number}": number for number in work.numbers}
        crew = Crew(work.module, _plain(work.task), min(workers, len(numbers)), clean=work.clean)
        try:
            for _, message in crew.do(numbers):
                yield message["done"], message["arrays"]
        finally:
            crew.close()

    return run


def _plain(task: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return a task that other processes can be told; refuse functions and objects in it."""
    try:
        json.dumps(task)
    except TypeError:
        raise UnskewError(
            "worker processes are told names, not functions or objects; put the function into a "
            "module and name it: by='my_module:my_function'"
        ) from None
    return task
