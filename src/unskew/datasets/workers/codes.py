"""A process that codes the rows of some files of a target, for another one that chooses rows."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from unskew.core.processes.worker import Answer, serve
from unskew.core.values.value_data import values_data
from unskew.core.variables.combine import joint
from unskew.datasets.chosen import named_variables
from unskew.datasets.engines import shared
from unskew.datasets.resampling.pool import Coder, needed_columns


def answering(task: Mapping[str, Any]) -> Answer:
    """Return the function that codes the files of a piece of work."""
    opened = shared.opened_again(task)
    columns = needed_columns(opened, task["by"])
    first = next(opened.read(None, columns))
    variable = joint(named_variables(task["by"], opened, first))
    Coder(variable).add(first)  # it says what is wrong with a name

    def count(number: int) -> shared.Counted:
        coder = Coder(variable)
        codes = [coder.add(batch) for batch in shared.batches_of(opened, number, first, columns)]
        values = values_data(variable.name, coder.histogram.codebook.values)
        empty = np.empty(0, np.int32)
        return {"n": coder.rows, "values": values}, [np.concatenate([empty, *codes])]

    return shared.answering(count)


if __name__ == "__main__":
    serve(lambda task, _: answering(task))
