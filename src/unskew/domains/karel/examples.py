"""Karel examples as rows: a program, its input worlds, and the worlds that it makes of them.

Columns: `program` has the dataset's tokens as text; `inputs` and `outputs` have k packed worlds of
260 bytes each, end to end. The first worlds are shown to a model, the last one is held out.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from unskew.core.arrays import Bytes, Flags, Ints
from unskew.core.batch import Batch, binary_column, binary_rows, is_text, text_bytes, text_column
from unskew.core.errors import RowError, UnskewError
from unskew.domains.karel.language import tokens as t
from unskew.domains.karel.language.compiler import FINE, compile_programs
from unskew.domains.karel.language.syntax import parse_tokens
from unskew.domains.karel.running.interpreter import Status, run
from unskew.domains.karel.running.trace import executed
from unskew.domains.karel.world import BYTES, from_bytes

if TYPE_CHECKING:
    import pyarrow as pa

PROGRAM, INPUTS, OUTPUTS = "program", "inputs", "outputs"


def make_batch(programs: Bytes, inputs: Bytes, outputs: Bytes) -> Batch:
    """Return a batch of programs (n, width) and their packed worlds (n, k, 260)."""
    return Batch(
        {
            PROGRAM: program_column(programs),
            INPUTS: binary_column(inputs.reshape(len(inputs), inputs.shape[1] * BYTES)),
            OUTPUTS: binary_column(outputs.reshape(len(outputs), outputs.shape[1] * BYTES)),
        }
    )


def program_column(programs: Bytes) -> pa.Array:
    """Write rows of token ids as a column of text."""
    most = t.LENGTHS[programs].sum() + programs.size
    data, offsets = np.empty(most, np.uint8), np.empty(len(programs) + 1, np.int64)
    size = t.write_texts(np.ascontiguousarray(programs), data, offsets)
    return text_column(data[:size].copy(), offsets)


def program_rows(batch: Batch) -> Bytes:
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
    rows = np.zeros((len(batch), min(width, t.MAX_TOKENS)), dtype=np.uint8)
    bad, why = t.read_texts(data, offsets, rows)
    if bad >= 0:
        text = column[bad].as_py()
        if why == t.TOO_LONG:
            raise RowError(bad, f"a program has more than {t.MAX_TOKENS} tokens; leave it out")
        words = (word for word in text.split(" ") if word)
        odd = next(word for word in words if not t.IDS.get(word))
        raise RowError(bad, f"{odd[:40]!r} is no token; a program is like 'DEF run m( move m)'")
    return rows


def example_pairs(example: Mapping[str, Any]) -> tuple[Bytes, Bytes]:
    """Return the worlds before and after of one example, (k, 260) each."""
    befores, afters = from_bytes(example[INPUTS]), from_bytes(example[OUTPUTS])
    check_pairs(befores, afters)
    return befores, afters


def check_pairs(befores: Bytes, afters: Bytes) -> None:
    """Refuse unequal numbers of worlds before and after."""
    if len(befores) != len(afters):
        raise UnskewError(
            f"the example has {len(befores)} inputs and {len(afters)} outputs; give pairs"
        )


def world_rows(batch: Batch, name: str) -> Bytes:
    """Return the column ``inputs`` or ``outputs`` of a batch as packed worlds (n, k, 260)."""
    numbers = world_numbers(batch, name)
    if len(numbers) and numbers.min() != numbers.max():
        raise UnskewError(
            f"column {name!r} holds {numbers.min()} to {numbers.max()} worlds a row; "
            "give as many in each"
        )
    return all_worlds(batch, name).reshape(len(batch), -1, BYTES)


def world_numbers(batch: Batch, name: str) -> Ints:
    """Return how many worlds each row holds."""
    sizes = np.diff(binary_rows(_column(batch, name))[1])
    wrong = (sizes == 0) | (sizes % BYTES != 0)
    if wrong.any():
        row = int(np.flatnonzero(wrong)[0])
        raise UnskewError(
            f"column {name!r} holds {sizes[row]} bytes in row {row}; give worlds of {BYTES} bytes"
        )
    return sizes // BYTES


def all_worlds(batch: Batch, name: str) -> Bytes:
    """Return the worlds of all rows, one after the other, (worlds, 260)."""
    data, offsets = binary_rows(_column(batch, name))
    return data[offsets[0] : offsets[-1]].reshape(-1, BYTES)


def check(batch: Batch) -> Flags:
    """Return for each row whether its program turns all inputs into the outputs, with no crash."""
    code = compile_programs(program_rows(batch))
    numbers, after_numbers = world_numbers(batch, INPUTS), world_numbers(batch, OUTPUTS)
    right: Flags = (code.status == FINE) & (numbers == after_numbers)
    owners = np.repeat(np.arange(len(batch)), numbers)
    runnable = right[owners]
    ran = run(code, all_worlds(batch, INPUTS)[runnable], owners[runnable])
    after = all_worlds(batch, OUTPUTS)[np.repeat(right, after_numbers)]
    same = (ran.worlds == after).all(axis=1) & (ran.status == 0)
    right[owners[runnable][~same]] = False
    return right


def recheck(example: Mapping[str, Any]) -> bool:
    """Return whether the program makes each output of its input, run tick by tick."""
    program = parse_tokens(example[PROGRAM])
    inputs, outputs = (
        np.frombuffer(example[name], np.uint8).reshape(-1, BYTES) for name in (INPUTS, OUTPUTS)
    )
    runs = (executed(program, before) for before in inputs)
    return len(inputs) == len(outputs) and all(
        status == Status.OK and np.array_equal(world, after)
        for (_, world, status), after in zip(runs, outputs, strict=True)
    )


def _column(batch: Batch, name: str) -> Any:
    if name not in batch.columns:
        raise UnskewError(f"columns are {', '.join(batch.columns)}; Karel needs {name!r}")
    return batch.columns[name]
