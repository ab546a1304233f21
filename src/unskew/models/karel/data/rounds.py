"""Batches from endless streams: a buffer on the device, renewed while the model trains.

The buffer holds the last ``reuse`` chunks of the streams. A round is one pass over the buffer;
then a new chunk replaces the oldest one. So each task is used ``reuse`` times (less often if its
chunk is in the first round).
"""

import math
import queue
import threading
from collections import deque
from collections.abc import Mapping
from dataclasses import asdict
from typing import Any

import torch
from torch.nn import functional

from unskew.core.errors import UnskewError, check_count
from unskew.core.rng import generator
from unskew.domains.karel.language.tokens import PAD
from unskew.models.karel.data.feed import Feeds, Mixture, Place
from unskew.models.karel.data.tasks import Minibatch, Minibatches, Tasks, joined
from unskew.models.karel.network.packed import Steps
from unskew.models.ranks import ALONE, Ranks

WIDTH = 72  # tokens of a program in the buffer
BATCHES = 32  # of a chunk; a chunk of batches of 2,048 tasks has 200 MB


class Rounds:
    """Batches by number, like those of ``Minibatches``; the numbers may not go down."""

    def __init__(
        self,
        mixture: Mixture,
        rows: int,
        shown: tuple[int, int],
        seed: int,
        device: torch.device,
        *,
        reuse: int = 1,
        workers: int = 1,
        batches: int = BATCHES,
        number: int = 0,
        state: Mapping[str, Any] | None = None,
        ranks: Ranks = ALONE,
    ) -> None:
        """Fill the buffer. To continue, give the number of a batch and its ``state``.

        Each rank has its own buffer; ``rows`` counts the rows of all ranks. A chunk has tasks for
        ``batches`` batches.
        """
        check_count("reuse", reuse)
        if rows % ranks.size:
            raise UnskewError(
                f"batch is {rows}; give a multiple of {ranks.size}, the number of processes"
            )
        own_rows = rows // ranks.size
        self.chunk = batches * own_rows
        self._reuse = reuse
        starts = [Place(**place) for place in state["places"]] if state else None
        self._round = number // (reuse * batches)
        self._feeds = Feeds(
            mixture, workers, starts, number=self._round, rank=ranks.rank, stride=ranks.size
        )
        self._places: deque[list[Place]] = deque()
        self._device = device
        self._ready: queue.Queue[tuple[list[Place], Tasks] | UnskewError] = queue.Queue(1)
        self._fetching = threading.Thread(target=self._fetch, daemon=True)
        self._fetching.start()
        own_seed = int(generator(seed, "rank", ranks.rank).integers(2**62))
        limits = state["limits"] if state else None
        try:
            self.tasks = self._filled()
            # Four σ of the number of tasks that are longer than a given length.
            spare = math.ceil(2 * math.sqrt(2 * len(self.tasks)))
            self._inner = Minibatches(
                self.tasks, own_rows, shown, own_seed, spare=spare, limits=limits
            )
        except BaseException:  # also after Ctrl-C, since nobody else can close the streams
            self.close()
            raise
        self.weight = 1 / ranks.size

    @property
    def steps(self) -> Steps:
        """The layout of the batches."""
        return self._inner.steps

    @property
    def layout(self) -> int:
        """How often the layout changed."""
        return self._inner.layout

    def choice(self, number: int) -> Minibatch:
        """Return batch ``number`` of the run."""
        while self._round < number // self._inner.batches_an_epoch:
            self._renew()
        return self._inner.choice(number)

    def state(self) -> dict[str, Any]:
        """Return the places of the streams at the start of the oldest chunk, and the layout."""
        places = [asdict(place) for place in self._places[0]]
        return {"places": places, "limits": self._inner.limits.tolist()}

    def close(self) -> None:
        """Stop the processes of the streams and the thread that reads from them."""
        self._feeds.close()
        while not isinstance(error := self._ready.get(), UnskewError):
            pass  # the thread ends with an error, now that its streams are closed
        self._ready.put(error)  # for a later call
        self._fetching.join()

    def _filled(self) -> Tasks:
        """Return the buffer of the first round. The number of a chunk decides its slot."""
        chunks = deque(self._next() for _ in range(self._reuse))
        chunks.rotate(self._round % self._reuse)
        return joined(chunks)

    def _renew(self) -> None:
        """Replace the oldest chunk with the next one."""
        self._places.popleft()
        new = self._next()
        start = (self._round % self._reuse) * self.chunk
        self.tasks.programs[start : start + self.chunk] = new.programs
        self.tasks.worlds[start : start + self.chunk] = new.worlds
        self._round += 1
        self._inner.refresh()

    def _next(self) -> Tasks:
        chunk = self._ready.get()
        if isinstance(chunk, UnskewError):
            self._ready.put(chunk)  # for a later call
            raise chunk
        places, tasks = chunk
        self._places.append(places)
        if (
            self._device.type == "cuda"
        ):  # another CUDA stream filled them, so their memory must be kept
            for tensor in (tasks.programs, tasks.worlds):
                tensor.record_stream(torch.cuda.current_stream())
        return tasks

    def _fetch(self) -> None:
        """Copy chunk after chunk to the device, one chunk ahead of the training."""
        try:
            while True:
                places = self._feeds.places
                programs, worlds = self._feeds.take(self.chunk)
                missing = WIDTH - programs.shape[1]
                if missing < 0:
                    raise UnskewError(
                        f"a program has {programs.shape[1]} tokens; a stream may have {WIDTH}"
                    )
                padded = functional.pad(torch.from_numpy(programs), (0, missing), value=PAD)
                self._ready.put((places, self._copied(Tasks(padded, torch.from_numpy(worlds)))))
        except UnskewError as error:
            self._ready.put(error)
        except Exception as error:  # the run waits for this thread, so it must get every error
            reason = f"{type(error).__name__}: {error}"
            text = f"the stream ended ({reason}); run the same command again"
            self._ready.put(UnskewError(text))

    def _copied(self, tasks: Tasks) -> Tasks:
        """Copy tasks to the device, while it computes."""
        if self._device.type != "cuda":
            return tasks
        with torch.cuda.stream(torch.cuda.Stream(self._device)) as _:  # type: ignore[no-untyped-call]
            copied = tasks.to(self._device)
            torch.cuda.current_stream().synchronize()
        return copied
