"""A process that codes the rows of some files of a target, for another one that chooses rows."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from unskew.core.processes.worker import Answer, serve
from unskew.core.values.value_data import values_data
from unskew.datasets.engines import shared
from unskew.datasets.resampling.pool import Coder, needed_columns, pool_variables


def answering(task: Mapping[str, Any]) -> Answer:
    """Return the function that codes the files of a piece of work."""
    opened = shared.opened_again(task)
    columns = needed_columns(opened, task["by"])
    first = next(opened.read(None, columns))
    variables = pool_variables(opened, task["by"], first, task["apart"], task["jointly"])
    Coder(variables).add(first)  # it says what is wrong with a name

    def count(number: int) -> shared.Counted:
        coder = Coder(variables)
        codes = [[np.empty(0, np.int32) for _ in variables]]
        codes += map(coder.add, shared.batches_of(opened, number, first, columns))
        values = [
            values_data(codebook.variable.name, codebook.values) for codebook in coder.codebooks
        ]
        whole = [np.concatenate(column) for column in zip(*codes, strict=True)]
        return {"n": coder.rows, "values": values}, whole

    return shared.answering(count)


if __name__ == "__main__":
    serve(lambda task, _: answering(task))
