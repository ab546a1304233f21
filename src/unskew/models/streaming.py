"""An endless stream as a PyTorch dataset: its workers and ranks never overlap."""

from __future__ import annotations

import os
from collections.abc import Iterator
from typing import Any

import torch
from torch.utils.data import IterableDataset, get_worker_info

from unskew.recipe import Recipe
from unskew.streaming import Stream


class StreamDataset(IterableDataset[Any]):
    """The examples of a recipe, for ever, each to one worker of one rank.

    Rank and number of ranks are those of ``torch.distributed`` or, where it is not used, of the
    environment that ``torchrun`` sets. ``states`` are those that ``Stream.state`` returned, by
    part: rank × workers + worker.
    """

    def __init__(self, recipe: Recipe, states: dict[int, dict[str, int]] | None = None) -> None:
        """Draw nothing yet."""
        super().__init__()
        self.recipe, self.states = recipe, states or {}

    def __iter__(self) -> Iterator[Any]:
        """Yield this worker's part."""
        info = get_worker_info()
        worker, workers = (info.id, info.num_workers) if info is not None else (0, 1)
        rank, ranks = _rank()
        part = rank * workers + worker
        return Stream(self.recipe, part, ranks * workers, self.states.get(part))


def _rank() -> tuple[int, int]:
    if torch.distributed.is_available() and torch.distributed.is_initialized():
        return torch.distributed.get_rank(), torch.distributed.get_world_size()
    return int(os.environ.get("RANK", "0")), int(os.environ.get("WORLD_SIZE", "1"))
