"""An endless stream of Karel tasks, made by processes beside the one that trains, or by itself.

Each process makes every so many-th block of the stream (``streaming``), and the blocks are taken
in their order, so what comes does not depend on how many processes there are or which is faster.
"""

from __future__ import annotations

import json
import os
import queue
import subprocess
import threading
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from itertools import cycle
from types import TracebackType
from typing import Any

import numpy as np
from numpy.typing import NDArray

from unskew.core.errors import UnskewError, check_whole
from unskew.core.processes import PYTHON, kill
from unskew.core.recipe import Recipe
from unskew.datasets.stream import IN_VAIN, Stream, pilot_of
from unskew.models.karel.data.feeder import arrays, receive

AHEAD = 4  # blocks that each process may be ahead
WAIT = 0.02  # seconds between looks at a thread that is to end
CLOSED = "the stream is closed"
Arrays = tuple[NDArray[np.uint8], NDArray[np.uint8]]  # programs (n, width), worlds (n, k, 2, 260)


@dataclass(frozen=True)
class Place:
    """Where a feed stands: the next block, and how many of its examples were taken."""

    block: int = 0
    row: int = 0


START = Place()


class Feed:
    """Tasks of a recipe, for ever; ``take`` returns the next so many."""

    def __init__(
        self,
        recipe: Recipe,
        workers: int,
        place: Place = START,
        *,
        stride: int = 1,
        pilot: int | None = None,
    ) -> None:
        """Start the processes; they begin at ``place`` and take every ``stride``-th block.

        Of no workers there are no processes: whoever takes tasks makes them. ``pilot`` is how many
        examples decide what homogenizing keeps, where it is not as many as a stream has.
        """
        check_whole("workers", workers, 0, "give 0 for no processes")
        whole = Stream(
            recipe, pilot=pilot_of(recipe, pilot) if pilot and recipe.homogenize else None
        )
        if workers:
            # What cannot be run is refused here, not in a process; and what draws is compiled
            # once, not by each of them at the same time.
            whole.block(place.block)
        self._whole, self._number = whole, place.block  # of who has no workers
        self.place, self._stride, self._open = place, stride, True
        self._crew: list[subprocess.Popen[bytes]] = []
        self._queues: list[queue.Queue[Arrays | str]] = []
        self._readers: list[threading.Thread] = []
        try:
            for i in range(workers):
                self._employ(recipe, whole.pilot, place.block + i * stride, workers * stride)
        except BaseException:  # also Ctrl-C: nobody else can close what was not made
            self.close()
            raise
        self._turns = cycle(self._queues)
        self._blocks = iter(self._next, None)
        self._rest: Arrays | None = None

    def _employ(
        self, recipe: Recipe, pilot: Mapping[str, Any] | None, block: int, parts: int
    ) -> None:
        """Start a process, and a thread that reads what it makes."""
        ready: queue.Queue[Arrays | str] = queue.Queue(AHEAD)
        process = _start(recipe, pilot, block, parts)
        self._crew.append(process)
        reader = threading.Thread(target=self._read, args=(process, ready), daemon=True)
        reader.start()
        self._queues.append(ready)
        self._readers.append(reader)

    def take(self, n: int) -> Arrays:
        """Return the next n tasks, programs padded to the longest of them."""
        programs, worlds, have = [], [], 0
        block, row = self.place.block, self.place.row
        in_vain = 0
        while have < n:
            if self._rest is None:
                self._rest = next(self._blocks)
            if len(self._rest[0]) == 0:  # of a homogenized block nothing may be kept
                block, self._rest, in_vain = block + self._stride, None, in_vain + 1
                if in_vain == IN_VAIN:
                    raise UnskewError(f"nothing kept in {in_vain:,} blocks; raise epsilon")
                continue
            in_vain = 0
            rows = slice(row, row + n - have)
            programs.append(self._rest[0][rows])
            worlds.append(self._rest[1][rows])
            have, row = have + len(programs[-1]), row + len(programs[-1])
            if row >= len(self._rest[0]):
                block, row, self._rest = block + self._stride, 0, None
        self.place = Place(block, row)
        width = max(part.shape[1] for part in programs)
        wide = [np.pad(part, ((0, 0), (0, width - part.shape[1]))) for part in programs]
        return np.concatenate(wide), np.concatenate(worlds)

    def close(self) -> None:
        """Stop the processes, and the threads that wait for them or for a place in a queue."""
        self._open = False
        for process in self._crew:
            kill(process)
            process.wait()
        for reader, ready in zip(self._readers, self._queues, strict=True):
            ended(reader, ready)
            ready.put(CLOSED)  # for who waits for it, or asks for more
        for process in self._crew:
            for pipe in (process.stdin, process.stdout):
                if pipe is not None:
                    with suppress(OSError):
                        pipe.close()

    def __enter__(self) -> Feed:
        """Use it in a with-statement, so that no process is left behind."""
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """Stop the processes, whatever happened."""
        self.close()

    def _next(self) -> Arrays:
        """Return the next block: the processes take turns."""
        if not self._queues:
            return self._make()
        ready = next(self._turns)
        found = ready.get()
        if isinstance(found, str):
            ready.put(found)  # it is so for ever
            raise UnskewError(found)
        return found

    def _make(self) -> Arrays:
        """Make the next block here."""
        if not self._open:
            raise UnskewError(CLOSED)
        programs, inputs, outputs = arrays(self._whole.block(self._number))
        self._number += self._stride
        return programs, np.stack([inputs, outputs], axis=2)

    def _read(self, process: subprocess.Popen[bytes], ready: queue.Queue[Arrays | str]) -> None:
        """Hand over what one process makes until it ends, which it never should."""
        pipe = process.stdout
        error = "a process that makes examples ended; run the same command again"
        try:
            while self._open and pipe is not None and (found := receive(pipe)) is not None:
                ready.put(found)
        except UnskewError as said:
            error = str(said)
        except Exception as said:  # who takes waits for this thread: it must hear of anything
            error = f"{error} ({type(said).__name__})"
        if self._open:
            ready.put(error)


def ended(thread: threading.Thread, ready: queue.Queue[Any]) -> None:
    """Empty a queue until the thread that fills it has ended, which may wait for a place in it."""
    while thread.is_alive() or not ready.empty():
        with suppress(queue.Empty):
            ready.get_nowait()
        thread.join(WAIT)


def _start(
    recipe: Recipe, pilot: Mapping[str, Any] | None, block: int, parts: int
) -> subprocess.Popen[bytes]:
    """Start a process that makes every so many-th block from the given one on."""
    # One thread each: they share the machine.
    environment = {**os.environ, "NUMBA_NUM_THREADS": "1", "OMP_NUM_THREADS": "1"}
    process = subprocess.Popen(  # noqa: S603 - this very Python, and a module of ours
        [*PYTHON, "-m", "unskew.models.karel.data.feeder"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        env=environment,
        start_new_session=True,  # an interrupt from the keyboard is not for it
    )
    task = {"recipe": recipe.to_dict(), "pilot": pilot, "block": block, "parts": parts}
    if process.stdin is not None:
        process.stdin.write(json.dumps(task).encode() + b"\n")
        process.stdin.flush()
    return process
