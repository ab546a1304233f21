"""Karel examples as rows: a program, its input worlds and what it makes of them.

Columns: `program`, the dataset's tokens as text; `inputs` and `outputs`, k packed worlds of 260
bytes each, end to end.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from unskew.batch import Batch
from unskew.domains.karel import tokens, world
from unskew.domains.karel.compiler import FINE, compile_programs
from unskew.domains.karel.interpreter import run
from unskew.errors import UnskewError

PROGRAM, INPUTS, OUTPUTS = "program", "inputs", "outputs"


def program_rows(batch: Batch) -> NDArray[np.uint8]:
    """Return the programs of a batch as rows of token ids."""
    texts = [str(text).split() for text in _column(batch, PROGRAM).tolist()]
    return tokens.stacked([tokens.to_ids(text) for text in texts])


def world_rows(batch: Batch, name: str) -> NDArray[np.uint8]:
    """Return a column of packed worlds as (rows, worlds, 260)."""
    rows = [np.frombuffer(value, dtype=np.uint8) for value in _column(batch, name).tolist()]
    if any(len(row) == 0 or len(row) % world.BYTES or len(row) != len(rows[0]) for row in rows):
        raise UnskewError(
            f"column {name!r} holds {sorted({len(row) for row in rows})} bytes a row; give as many "
            f"worlds of {world.BYTES} bytes in each"
        )
    return np.stack(rows).reshape(len(rows), -1, world.BYTES)


def check(batch: Batch) -> NDArray[np.bool_]:
    """Say which rows hold a program that makes the outputs of the inputs without a crash."""
    code = compile_programs(program_rows(batch))
    inputs, outputs = world_rows(batch, INPUTS), world_rows(batch, OUTPUTS)
    right: NDArray[np.bool_] = (code.status == FINE) & (inputs.shape == outputs.shape)
    fine = np.flatnonzero(right)
    if len(fine):
        each = inputs.shape[1]
        ran = run(code, inputs[fine].reshape(-1, world.BYTES), np.repeat(fine, each))
        same = (ran.worlds == outputs[fine].reshape(-1, world.BYTES)).all(axis=1)
        right[fine] = (same & (ran.status == 0)).reshape(-1, each).all(axis=1)
    return right


def _column(batch: Batch, name: str) -> Any:
    if name not in batch.columns:
        raise UnskewError(f"columns are {', '.join(batch.columns)}; Karel needs {name!r}")
    return batch.columns[name]
