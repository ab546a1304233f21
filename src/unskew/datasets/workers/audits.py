"""A process that audits some of the files of a target, for another process that adds the counts."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from unskew.core.processes.worker import Answer, serve
from unskew.datasets.chosen import chosen_auditor
from unskew.datasets.engines import shared


def answering(task: Mapping[str, Any]) -> Answer:
    """Return the function that audits the files of a piece of work."""
    opened = shared.opened_again(task)
    first = next(opened.read(None))
    bins = {name: tuple(edges) for name, edges in task["bins"].items()}
    auditor, _ = chosen_auditor(task["by"], task["also"], opened, first, bins)
    auditor.add(first)

    def count(number: int) -> shared.Counted:
        apart = auditor.apart()
        for batch in shared.batches_of(opened, number, first):
            apart.add(batch)
        return apart.tallies().data()

    return shared.answering(count)


if __name__ == "__main__":
    serve(lambda task, _: answering(task))
