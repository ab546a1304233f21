"""Karel tasks as the synthesizer reads them: packed on the device, expanded at the batch.

Batches are stratified by length. Every epoch orders the tasks by length, ties at random, and cuts
the order into one stratum for each row of a batch; a batch takes one task from each stratum. So
all batches have the same lengths, row by row. Almost nothing is padding, and one captured graph
serves all batches. This is fair: each task comes once in an epoch, at a random step, and all tasks
are equally likely to be among the few that do not fill a batch. The loss divides by a constant,
not by the lengths in the batch, so its gradient is the gradient of the mean over all tasks.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor
from torch.nn import functional

from unskew.core.batch import Batch
from unskew.core.errors import UnskewError, check_count
from unskew.core.rng import generator
from unskew.domains.karel.examples import INPUTS, OUTPUTS, program_rows, world_rows
from unskew.domains.karel.language.tokens import PAD
from unskew.domains.karel.world import BYTES
from unskew.models.karel.network.packed import Steps
from unskew.models.ranks import ALONE, Ranks


@dataclass(frozen=True)
class Tasks:
    """Tasks for the synthesizer, as tensors.

    ``programs`` has token ids (n, width). ``worlds`` has the packed worlds of each pair, before and
    after: (n, pairs, 2, 260).
    """

    programs: Tensor
    worlds: Tensor

    @classmethod
    def of(cls, batch: Batch) -> Tasks:
        """Return the tasks of a batch of Karel examples."""
        worlds = np.stack([world_rows(batch, INPUTS), world_rows(batch, OUTPUTS)], axis=2)
        return cls.of_arrays(program_rows(batch), worlds)

    @classmethod
    def of_arrays(cls, programs: NDArray[np.uint8], worlds: NDArray[np.uint8]) -> Tasks:
        """Return the tasks of NumPy arrays of these shapes."""
        if worlds.ndim != 4 or worlds.shape[2:] != (2, BYTES) or len(worlds) != len(programs):
            raise UnskewError(
                f"worlds have the shape {worlds.shape}; give ({len(programs)}, pairs, 2, {BYTES})"
            )
        width = max(1, int((programs != PAD).sum(axis=1).max(initial=0)))
        return cls(
            torch.from_numpy(np.ascontiguousarray(programs[:, :width])),
            torch.from_numpy(np.ascontiguousarray(worlds)),
        )

    def to(self, device: torch.device) -> Tasks:
        """Return the same tasks on a device."""
        return Tasks(self.programs.to(device), self.worlds.to(device))

    def lengths(self) -> Tensor:
        """Return the number of tokens of each program, (n,)."""
        return (self.programs != PAD).sum(dim=1)

    def digest(self) -> str:
        """Return a hash of the content: sixteen hexadecimal digits."""
        digest = hashlib.blake2b(self.programs.cpu().numpy().tobytes(), digest_size=8)
        digest.update(self.worlds.cpu().numpy().tobytes())
        return digest.hexdigest()

    def __len__(self) -> int:
        """Return the number of tasks."""
        return len(self.programs)


def joined(sets: Sequence[Tasks]) -> Tasks:
    """Return sets of tasks as one set."""
    width = max(data.programs.shape[1] for data in sets)
    padded = [
        functional.pad(data.programs, (0, width - data.programs.shape[1]), value=PAD)
        for data in sets
    ]
    return Tasks(torch.cat(padded), torch.cat([data.worlds for data in sets]))


@dataclass(frozen=True)
class Minibatch:
    """Which tasks a batch has, the longest first, and which pairs of each are shown."""

    tasks: Tensor  # (rows,)
    pairs: Tensor  # (rows, shown)


class Minibatches:
    """The batches of a run by number. A batch depends on its number only, so a run can resume."""

    def __init__(
        self,
        tasks: Tasks,
        rows: int,
        shown: tuple[int, int] = (5, 5),
        seed: int = 0,
        *,
        ranks: Ranks = ALONE,
        spare: int = 0,
        limits: Sequence[int] | None = None,
    ) -> None:
        """Lay out batches of ``rows`` tasks.

        Args:
            shown: The smallest and the largest number of pairs to show; it is drawn for each batch.
            seed: Of the order of the tasks, and of the shown pairs.
            ranks: The processes that share a batch; each takes every n-th row.
            spare: If tasks will be replaced (``refresh``): how many places a task may move in the
                order of lengths without a new layout.
            limits: The layout to begin with, if tasks were replaced before.
        """
        check_count("batch", rows)
        pairs = tasks.worlds.shape[1]
        if not 1 <= shown[0] <= shown[1] <= pairs:
            raise UnskewError(
                f"shown is {span(*shown)}; tasks have {pairs} pairs: show 1 to {pairs}"
            )
        if len(tasks) < rows:
            raise UnskewError(
                f"{len(tasks)} tasks do not fill a batch of {rows}; lower --batch or add tasks"
            )
        self.tasks, self.rows, self.shown, self.seed = tasks, rows, shown, seed
        self.batches_an_epoch = len(tasks) // rows
        self._ranks, self._spare = ranks, spare
        self.layout = 0  # how often the layout changed
        self._lengths = tasks.lengths()
        self._lay_out(self._longest(spare) if limits is None else np.array(limits))
        self._epoch = -1
        self._order = self._pairs = torch.empty(0)
        self._counts = np.empty(0, np.int64)

    def _lay_out(self, limits: NDArray[np.int64]) -> None:
        """Lay out the steps of a batch, and compute this rank's share of all its places."""
        self.limits = limits.clip(min=1)
        self.steps = Steps.of(self.limits[self._ranks.rows].tolist(), self.tasks.programs.device)
        self.weight = len(self.steps) / float(self.limits.sum())

    def refresh(self) -> None:
        """Read tasks that were replaced in place. Change the layout only if they need a new one."""
        self._lengths, self._epoch = self.tasks.lengths(), -1
        if (self._longest(0) > self.limits).any():
            self._lay_out(np.maximum(self._longest(self._spare), self.limits))
            self.layout += 1

    def _longest(self, spare: int) -> NDArray[np.int64]:
        """Return the length of the longest program that each row of a batch can get in any epoch.

        An epoch leaves out a few random tasks, so a row may get a task that is as many places
        further up in the order of all tasks. With ``spare`` places, the first rows may get a
        program of any length.
        """
        ordered = np.sort(self._lengths.cpu().numpy())
        stratum, rest = divmod(len(ordered), self.rows)
        last = np.arange(self.rows, 0, -1) * stratum - 1 + rest + spare
        longest: NDArray[np.int64] = ordered[last.clip(max=len(ordered) - 1)]
        longest[last >= len(ordered)] = self.tasks.programs.shape[1]
        return longest

    def choice(self, number: int) -> Minibatch:
        """Return batch ``number`` of the run."""
        epoch, place = divmod(number, self.batches_an_epoch)
        if epoch != self._epoch:
            self._draw(epoch)
        tasks = self._order[self._ranks.rows, place]
        return Minibatch(tasks, self._pairs[tasks, : int(self._counts[place])])

    def _draw(self, epoch: int) -> None:
        """Draw everything that is random in an epoch."""
        rng = generator(self.seed, "epoch", epoch)
        device = self._lengths.device
        torch_rng = torch.Generator(device).manual_seed(int(rng.integers(2**62)))
        self._counts = rng.integers(self.shown[0], self.shown[1] + 1, size=self.batches_an_epoch)
        size = self.batches_an_epoch * self.rows
        kept = torch.randperm(len(self.tasks), generator=torch_rng, device=device)[:size]
        by_length = kept[self._lengths[kept].argsort(descending=True, stable=True)]
        strata = by_length.view(self.rows, self.batches_an_epoch)
        self._order = strata.gather(1, _shuffles(strata.shape, torch_rng, device))
        self._pairs = _shuffles(self.tasks.worlds.shape[:2], torch_rng, device)
        self._epoch = epoch


def span(low: int, high: int) -> str:
    """Return a range of numbers in words."""
    return str(low) if low == high else f"{low} to {high}"


def _shuffles(shape: Sequence[int], generator: torch.Generator, device: torch.device) -> Tensor:
    """Return a random permutation for each row."""
    return torch.rand(*shape, generator=generator, device=device).argsort(dim=1)
