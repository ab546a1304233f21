"""Counting that is shared out: each process counts some of the files, and the counts are added.

Every process reads the first batch of all files before its own files, so that all of them choose
the same variables and bins. What they counted is added in the order of the files. So the result is
the same as if one process had read everything.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import closing
from typing import Any, TypeAlias

from unskew.core.batch import Batch
from unskew.core.errors import RowError, UnskewError
from unskew.datasets.engines.work import Arrays, Engine, Work, array_json, in_order, json_array
from unskew.datasets.open import open_target
from unskew.datasets.target import Target
from unskew.io.location import place
from unskew.io.tables import Columns

MOST = 256  # pieces of work; each is as many files as it takes

# What was counted of some rows, as plain data with their number ``n``, and as arrays.
Counted: TypeAlias = tuple[dict[str, Any], Arrays]


def shared(
    opened: Target, engine: Engine, module: str, task: Mapping[str, Any]
) -> Iterator[Counted]:
    """Yield what the processes of an engine counted of the files, in the order of the files."""
    files = len(opened.pieces)
    if not files:
        raise UnskewError(
            f"{opened.label} is not read from files, so there is nothing to share out; leave out "
            "the engine, or write it to files"
        )
    task = {**task, "place": str(opened.place), "trust": _trust(opened), "files": files}
    work = Work(module, task, range(min(files, MOST)), "files")
    rows = 0
    with closing(engine(work)) as answers:
        for _, (facts, *arrays) in in_order(answers, work.numbers):
            data = array_json(facts)
            if "row" in data:
                raise RowError(rows + data["row"], data["problem"])
            rows += data["n"]
            yield data, arrays


def opened_again(task: Mapping[str, Any]) -> Target:
    """Open the target of a task in another process."""
    trust = task["trust"]
    opened = open_target(place(task["place"]), trust=trust if isinstance(trust, bool) else [*trust])
    if len(opened.pieces) != task["files"]:
        raise UnskewError(f"{opened.label} changed while it was read; run the command again")
    return opened


def batches_of(
    opened: Target, number: int, first: Batch, columns: Columns = None
) -> Iterator[Batch]:
    """Yield the batches of the files that belong to one piece of work."""
    files = len(opened.pieces)
    works = min(files, MOST)
    for read in opened.pieces[number * files // works : (number + 1) * files // works]:
        yield from read(first, columns)


def answering(count: Callable[[int], Counted]) -> Callable[[int], Arrays]:
    """Return a function that answers as ``shared`` reads it. It says which row is wrong, if any."""

    def answer(number: int) -> Arrays:
        try:
            data, arrays = count(number)
        except RowError as error:
            return [json_array({"row": error.row, "problem": error.problem})]
        return [json_array(data), *arrays]

    return answer


def _trust(opened: Target) -> bool | list[str]:
    """Return what the data may name, as plain data."""
    trusted = opened.dataset.recipe.trusted if opened.dataset is not None else None
    return True if trusted is None else sorted(trusted)
