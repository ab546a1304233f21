"""Karel examples as rows: a program, its input worlds and what it makes of them.

Columns: `program`, the dataset's tokens as text; `inputs` and `outputs`, k packed worlds of 260
bytes each, end to end. The first worlds are shown to a model, the last one is held out.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from unskew.core.batch import Batch, binary_column, binary_rows, is_text, text_bytes, text_column
from unskew.core.errors import RowError, UnskewError
from unskew.domains.karel.language import rows as texts
from unskew.domains.karel.language import tokens
from unskew.domains.karel.language.compiler import FINE, compile_programs
from unskew.domains.karel.running.interpreter import run
from unskew.domains.karel.world import BYTES

if TYPE_CHECKING:
    import pyarrow as pa

PROGRAM, INPUTS, OUTPUTS = "program", "inputs", "outputs"


def make_batch(
    programs: NDArray[np.uint8], inputs: NDArray[np.uint8], outputs: NDArray[np.uint8]
) -> Batch:
    """Return a batch of programs (n, width) and their packed worlds (n, k, 260)."""
    return Batch(
        {
            PROGRAM: program_column(programs),
            INPUTS: binary_column(inputs.reshape(len(inputs), inputs.shape[1] * BYTES)),
            OUTPUTS: binary_column(outputs.reshape(len(outputs), outputs.shape[1] * BYTES)),
        }
    )


def program_column(programs: NDArray[np.uint8]) -> pa.Array:
    """Write rows of token ids as a column of text."""
    most = texts.LENGTHS[programs].sum() + programs.size
    data, offsets = np.empty(most, np.uint8), np.empty(len(programs) + 1, np.int64)
    size = texts.write_texts(np.ascontiguousarray(programs), data, offsets)
    return text_column(data[:size].copy(), offsets)


def program_rows(batch: Batch) -> NDArray[np.uint8]:
    """Return the programs of a batch as rows of token ids (n, width), padded with zeros."""
    column = _column(batch, PROGRAM)
    if not is_text(column):
        raise UnskewError(f"column {PROGRAM!r} is not text; give programs as tokens")
    if column.null_count:
        empty = int(np.flatnonzero(column.is_null().to_numpy(zero_copy_only=False))[0])
        raise RowError(empty, "there is no program; leave the row out")
    data, offsets = text_bytes(column)
    spaces = np.concatenate([[0], np.cumsum(data == ord(" "))])
    width = int((spaces[offsets[1:]] - spaces[offsets[:-1]]).max(initial=0)) + 1
    rows = np.zeros((len(batch), min(width, tokens.MAX_TOKENS)), dtype=np.uint8)
    bad, why = texts.read_texts(data, offsets, rows)
    if bad >= 0:
        text = column[bad].as_py()
        if why == texts.TOO_LONG:
            raise RowError(bad, f"a program has more than {tokens.MAX_TOKENS} tokens; leave it out")
        words = (word for word in text.split(" ") if word)
        odd = next(word for word in words if not tokens.IDS.get(word))
        raise RowError(bad, f"{odd[:40]!r} is no token; a program is like 'DEF run m( move m)'")
    return rows


def world_rows(batch: Batch, name: str) -> NDArray[np.uint8]:
    """Return the column ``inputs`` or ``outputs`` of a batch as packed worlds (n, k, 260)."""
    numbers = world_numbers(batch, name)
    if len(numbers) and numbers.min() != numbers.max():
        raise UnskewError(
            f"column {name!r} holds {numbers.min()} to {numbers.max()} worlds a row; "
            "give as many in each"
        )
    data, offsets = binary_rows(_column(batch, name))
    flat = data[offsets[0] : offsets[-1]]
    return flat.reshape(len(batch), -1, BYTES)


def world_numbers(batch: Batch, name: str) -> NDArray[np.int64]:
    """Return how many worlds each row holds."""
    _, offsets = binary_rows(_column(batch, name))
    sizes = np.diff(offsets)
    wrong = (sizes == 0) | (sizes % BYTES != 0)
    if wrong.any():
        row = int(np.flatnonzero(wrong)[0])
        raise UnskewError(
            f"column {name!r} holds {sizes[row]} bytes in row {row}; give worlds of {BYTES} bytes"
        )
    return sizes // BYTES


def all_worlds(batch: Batch, name: str) -> NDArray[np.uint8]:
    """Return the worlds of all rows, one after the other, (worlds, 260)."""
    data, offsets = binary_rows(_column(batch, name))
    return data[offsets[0] : offsets[-1]].reshape(-1, BYTES)


def first_worlds(batch: Batch, name: str) -> NDArray[np.uint8]:
    """Return the first world of each row, (rows, 260)."""
    numbers = world_numbers(batch, name)
    data, offsets = binary_rows(_column(batch, name))
    if len(numbers) and numbers.min() == numbers.max():
        rows = data[offsets[0] : offsets[-1]].reshape(len(numbers), -1)
        return np.ascontiguousarray(rows[:, :BYTES])
    worlds: NDArray[np.uint8] = data[offsets[:-1, None] + np.arange(BYTES)]
    return worlds


def check(batch: Batch) -> NDArray[np.bool_]:
    """Return for each row whether its program turns all inputs into the outputs, with no crash."""
    code = compile_programs(program_rows(batch))
    each = world_numbers(batch, INPUTS)
    right: NDArray[np.bool_] = (code.status == FINE) & (each == world_numbers(batch, OUTPUTS))
    owners = np.repeat(np.arange(len(batch)), each)
    inputs, starts = binary_rows(_column(batch, INPUTS))
    outputs, ends = binary_rows(_column(batch, OUTPUTS))
    before = inputs[starts[0] : starts[-1]].reshape(-1, BYTES)
    fine = right[owners]
    ran = run(code, before[fine], owners[fine])
    after = _of_rows(outputs, ends, right)
    same = (ran.worlds == after).all(axis=1) & (ran.status == 0)
    right[np.unique(owners[fine][~same])] = False
    return right


def _of_rows(
    data: NDArray[np.uint8], offsets: NDArray[np.int64], keep: NDArray[np.bool_]
) -> NDArray[np.uint8]:
    sizes = np.diff(offsets)
    kept = np.repeat(keep, sizes)
    return data[offsets[0] : offsets[-1]][kept].reshape(-1, BYTES)


def _column(batch: Batch, name: str) -> Any:
    if name not in batch.columns:
        raise UnskewError(f"columns are {', '.join(batch.columns)}; Karel needs {name!r}")
    return batch.columns[name]
