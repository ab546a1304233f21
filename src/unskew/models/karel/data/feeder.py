"""A process that makes every so many-th block of an endless stream of Karel examples, for ever.

It reads one line of JSON: a recipe, its part and the block to begin with. What it writes are
frames: a header of four numbers, then the bytes of programs, inputs and outputs; a frame of no
program and no worlds is a text, the error it ended with. It ends when nobody reads any more.
What a user's variable prints goes to stderr.
"""

from __future__ import annotations

import json
import os
import struct
import warnings
from contextlib import suppress
from typing import IO

import numpy as np
from numpy.typing import NDArray

from unskew.core.batch import Batch
from unskew.core.errors import HealthWarning, UnskewError
from unskew.core.processes import end_with_parent
from unskew.core.recipe import Recipe
from unskew.datasets.stream import Stream
from unskew.datasets.worker import leave, own_pipes
from unskew.domains.karel.examples import INPUTS, OUTPUTS, program_rows, world_rows
from unskew.domains.karel.world import BYTES

HEADER = struct.Struct("<4q")  # rows, tokens of a program, pairs of worlds, bytes that follow


def main() -> None:
    """Serve one parent until it is gone."""
    asked, answered = own_pipes()
    end_with_parent(leave)
    with (
        suppress(BrokenPipeError),
        os.fdopen(asked, "rb") as questions,
        os.fdopen(answered, "wb") as out,
    ):
        serve(questions, out)


def serve(questions: IO[bytes], out: IO[bytes]) -> None:
    """Write blocks, for ever, as the line that is read asks for them."""
    task = json.loads(questions.readline() or "null")
    if task is None:
        return
    try:
        # The parent has told of what homogenizing costs.
        warnings.simplefilter("ignore", HealthWarning)
        stream = Stream(Recipe.from_dict(task["recipe"]), pilot=task["pilot"])
        block = int(task["block"])
        while True:
            send(out, *arrays(stream.block(block)))
            block += int(task["parts"])
    except (BrokenPipeError, KeyboardInterrupt):
        return
    except UnskewError as error:
        fail(out, str(error))
    except Exception as error:  # a line says more to the parent than a traceback here
        fail(out, f"{type(error).__name__}: {error}")


def arrays(batch: Batch) -> tuple[NDArray[np.uint8], NDArray[np.uint8], NDArray[np.uint8]]:
    """Return programs, inputs and outputs; of a homogenized block nothing may be kept."""
    if len(batch) == 0:
        nothing = np.empty((0, 1, BYTES), np.uint8)
        return np.empty((0, 1), np.uint8), nothing, nothing
    return program_rows(batch), world_rows(batch, INPUTS), world_rows(batch, OUTPUTS)


def send(
    out: IO[bytes],
    programs: NDArray[np.uint8],
    inputs: NDArray[np.uint8],
    outputs: NDArray[np.uint8],
) -> None:
    """Write one frame of examples."""
    size = programs.nbytes + inputs.nbytes + outputs.nbytes
    out.write(HEADER.pack(*programs.shape, inputs.shape[1], size))
    for part in (programs, inputs, outputs):
        out.write(np.ascontiguousarray(part).data)
    out.flush()


def fail(out: IO[bytes], message: str) -> None:
    """Write a frame that says what went wrong."""
    text = message.encode()
    out.write(HEADER.pack(0, 0, 0, len(text)) + text)
    out.flush()


def receive(stream: IO[bytes]) -> tuple[NDArray[np.uint8], NDArray[np.uint8]] | None:
    """Read one frame: programs (n, width) and worlds (n, pairs, 2, 260); None at the end."""
    header = stream.read(HEADER.size)
    if len(header) < HEADER.size:
        return None
    rows, width, pairs, size = HEADER.unpack(header)
    data = stream.read(size)
    if len(data) < size:
        return None
    if pairs == 0:
        raise UnskewError(data.decode(errors="replace"))
    flat = np.frombuffer(data, np.uint8)
    programs = flat[: rows * width].reshape(rows, width)
    worlds = flat[rows * width :].reshape(2, rows, pairs, BYTES)
    return programs, np.ascontiguousarray(worlds.transpose(1, 2, 0, 3))


if __name__ == "__main__":
    main()
