"""Batches from endless streams: a buffer on the device, renewed while the model trains.

The buffer holds the last few chunks of what comes. A round is one pass over it; then the oldest
chunk makes room for a new one. So each task is used once a round for as many rounds as there are
chunks: ``reuse`` times (those of the very first round less). With one chunk every task is used
once and never again.
"""

from __future__ import annotations

import math
import queue
import threading
from collections import deque
from collections.abc import Mapping
from dataclasses import asdict
from typing import Any

import torch

from unskew.core.errors import UnskewError, check_count
from unskew.core.rng import generator
from unskew.models.karel.data.feed import Place
from unskew.models.karel.data.mixture import Feeds, Mixture
from unskew.models.karel.data.tasks import Choice, Minibatches, Tasks
from unskew.models.karel.network.packed import Steps
from unskew.models.ranks import ALONE, Ranks

WIDEST = 72  # tokens of a program in the buffer
BATCHES = 32  # of a chunk: of 2,048 tasks each, 200 MB


class Rounds:
    """Batches by number, which must not go back; as ``Minibatches`` has them."""

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
        """Fill the buffer; batch ``number`` and what ``state`` then was are those to go on from.

        Of several ranks each has a buffer of its own, and ``rows`` are those of all. A chunk has
        tasks for so many ``batches``.
        """
        check_count("reuse", reuse)
        if rows % ranks.size:
            raise UnskewError(f"batch is {rows}; give a multiple of {ranks.size}, a part a process")
        mine = rows // ranks.size
        self.chunk = batches * mine
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
        own = int(generator(seed, "rank", ranks.rank).integers(2**62))
        limits = state["limits"] if state else None
        try:
            self.tasks = self._filled()
            # Four σ of the number of tasks longer than any one length.
            spare = math.ceil(2 * math.sqrt(2 * len(self.tasks)))
            self._inner = Minibatches(self.tasks, mine, shown, own, spare=spare, limits=limits)
        except BaseException:  # also Ctrl-C: nobody else can close what was not made
            self.close()
            raise
        self.weight = 1 / ranks.size

    @property
    def steps(self) -> Steps:
        """Return the layout of the batches."""
        return self._inner.steps

    @property
    def layout(self) -> int:
        """Return how often the layout changed."""
        return self._inner.layout

    @property
    def distinct(self) -> int:
        """Return how many tasks have been read so far."""
        return self.chunk * (self._round + self._reuse)

    def choice(self, number: int) -> Choice:
        """Return batch ``number`` of the run."""
        wanted = number // self._inner.batches_an_epoch
        while self._round < wanted:
            self._renew()
        return self._inner.choice(number)

    def state(self) -> dict[str, Any]:
        """Return where the streams stood when the buffer's oldest chunk began, and the layout."""
        places = [asdict(place) for place in self._places[0]]
        return {"places": places, "limits": self._inner.limits.tolist()}

    def close(self) -> None:
        """Stop the processes of the streams, and the thread that reads them."""
        self._feeds.close()
        while not isinstance(error := self._ready.get(), UnskewError):
            pass  # the thread ends with an error, now that its streams are closed
        self._ready.put(error)  # for a later call
        self._fetching.join()

    def _filled(self) -> Tasks:
        """Return the buffer of the first round; a chunk lies where its number says."""
        chunks = [self._next() for _ in range(self._reuse)]
        turned = deque(chunks)
        turned.rotate(self._round % self._reuse)
        return Tasks(
            torch.cat([part.programs for part in turned]),
            torch.cat([part.worlds for part in turned]),
        )

    def _renew(self) -> None:
        """Put the next chunk where the oldest one is."""
        self._places.popleft()
        fresh = self._next()
        slot = (self._round % self._reuse) * self.chunk
        self.tasks.programs[slot : slot + self.chunk] = fresh.programs
        self.tasks.worlds[slot : slot + self.chunk] = fresh.worlds
        self._round += 1
        self._inner.refresh()

    def _next(self) -> Tasks:
        found = self._ready.get()
        if isinstance(found, UnskewError):
            self._ready.put(found)  # for a later call
            raise found
        places, tasks = found
        self._places.append(places)
        if self._device.type == "cuda":  # filled on another stream: not to be reused too early
            for tensor in (tasks.programs, tasks.worlds):
                tensor.record_stream(torch.cuda.current_stream())
        return tasks

    def _fetch(self) -> None:
        """Read chunk after chunk to the device, one ahead of what is needed."""
        try:
            while True:
                places = self._feeds.places
                programs, worlds = self._feeds.take(self.chunk)
                if programs.shape[1] > WIDEST:
                    raise UnskewError(
                        f"a program has {programs.shape[1]} tokens; a stream may have {WIDEST}"
                    )
                wide = torch.zeros(len(programs), WIDEST, dtype=torch.uint8)
                wide[:, : programs.shape[1]] = torch.from_numpy(programs)
                self._ready.put((places, self._copied(Tasks(wide, torch.from_numpy(worlds)))))
        except UnskewError as error:
            self._ready.put(error)
        except Exception as error:  # the run waits for this thread: it must hear of anything
            said = f"the stream ended ({type(error).__name__}: {error}); run the same command again"
            self._ready.put(UnskewError(said))

    def _copied(self, tasks: Tasks) -> Tasks:
        """Copy tasks to the device beside what it computes."""
        if self._device.type != "cuda":
            return tasks
        with torch.cuda.stream(torch.cuda.Stream(self._device)) as _:  # type: ignore[no-untyped-call]
            copied = tasks.to(self._device)
            torch.cuda.current_stream().synchronize()
        return copied
