"""A worker process that makes Karel tasks for a feed. A question is the number of a block."""

import warnings
from collections.abc import Sequence
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from unskew.core.batch import Batch
from unskew.core.errors import HealthWarning
from unskew.core.processes.worker import Answer, Parent, serve
from unskew.core.recipe import Recipe
from unskew.datasets.stream import Stream
from unskew.domains.karel.examples import INPUTS, OUTPUTS, program_rows, world_rows
from unskew.domains.karel.world import BYTES

Arrays: TypeAlias = tuple[NDArray[np.uint8], NDArray[np.uint8]]  # (n, width), (n, pairs, 2, 260)


def begin(task: dict[str, Any], _: Parent) -> Answer:
    """Return the function that makes a block of the stream."""
    warnings.simplefilter("ignore", HealthWarning)  # the parent has warned already
    stream = Stream(Recipe.from_dict(task["recipe"]), pilot=task["pilot"], is_tried=True)
    return lambda block: arrays(stream.block(block))


def arrays(batch: Batch) -> Arrays:
    """Return the programs and the worlds of a block, which may be empty after homogenizing."""
    if len(batch) == 0:
        return np.empty((0, 1), np.uint8), np.empty((0, 1, 2, BYTES), np.uint8)
    worlds = np.stack([world_rows(batch, INPUTS), world_rows(batch, OUTPUTS)], axis=2)
    return program_rows(batch), worlds


def joined(parts: Sequence[Arrays]) -> Arrays:
    """Return tasks one after the other, with programs padded to the longest of them."""
    width = max(programs.shape[1] for programs, _ in parts)
    wide = [np.pad(programs, ((0, 0), (0, width - programs.shape[1]))) for programs, _ in parts]
    return np.concatenate(wide), np.concatenate([worlds for _, worlds in parts])


if __name__ == "__main__":
    serve(begin)
