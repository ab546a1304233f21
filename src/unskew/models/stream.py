"""An endless stream as a PyTorch dataset: its workers and ranks never overlap."""

import os
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

import torch
from torch.utils.data import IterableDataset, get_worker_info

from unskew.core.errors import UnskewError
from unskew.core.recipe import Recipe
from unskew.datasets.stream import stream


class StreamDataset(IterableDataset[Any]):
    """An endless stream of examples for PyTorch. Each worker of each rank has its own part.

    Rank and number of ranks are those of ``torch.distributed`` or, if that is not used, those of
    the environment that ``torchrun`` sets. Loaders that ask iterators for ``state_dict`` themselves
    (torchdata's ``StatefulDataLoader``) need neither ``states`` nor ``with_state``.

    Args:
        recipe: a recipe, or the name of a source.
        states: the last state of each part, in any order. The stream goes on with the next example.
            The numbers of ranks and workers and the size of a batch must be the same as before.
        with_state: whether an item is a pair: an example, and the state of its part after it.
    """

    def __init__(
        self,
        recipe: Recipe | str,
        states: Iterable[Mapping[str, Any]] = (),
        *,
        with_state: bool = False,
    ) -> None:
        """Keep the arguments; draw nothing yet."""
        super().__init__()
        self.recipe, self.states, self.with_state = recipe, list(states), with_state

    def __iter__(self) -> Iterator[Any]:
        """Yield the examples of this worker's part."""
        info = get_worker_info()
        worker, workers = (info.id, info.num_workers) if info is not None else (0, 1)
        rank, ranks = _rank()
        parts = ranks * workers
        states = _by_part(self.states, parts)
        own_parts = range(rank * workers, (rank + 1) * workers)
        # A loader asks its workers in turn, from the first. So the first one takes the next part.
        done = [states[part]["examples"] if part in states else 0 for part in own_parts]
        part = own_parts[(done.index(min(done)) + worker) % workers]
        examples = stream(self.recipe, part, parts, states.get(part))
        return ((item, examples.state()) for item in examples) if self.with_state else examples


def _by_part(states: Iterable[Mapping[str, Any]], parts: int) -> dict[int, Mapping[str, Any]]:
    """Return the states by the number of their part; refuse states that do not fit."""
    by_part: dict[int, Mapping[str, Any]] = {}
    for state in states:
        names = ("part", "parts", "examples")
        if not isinstance(state, Mapping) or any(type(state.get(n)) is not int for n in names):
            raise UnskewError(f"a state is {state!r}; give a list of those that came with examples")
        part, of = state["part"], state["parts"]
        if of != parts:
            raise UnskewError(
                f"a state is one of {of} parts, but ranks × workers is {parts}; go on with as "
                "many as before"
            )
        if part in by_part:
            raise UnskewError(f"part {part} has two states; give the last one of each part")
        by_part[part] = state
    return by_part


def _rank() -> tuple[int, int]:
    """Return the rank of this process, and the number of ranks."""
    if torch.distributed.is_available() and torch.distributed.is_initialized():
        return torch.distributed.get_rank(), torch.distributed.get_world_size()
    return int(os.environ.get("RANK", "0")), int(os.environ.get("WORLD_SIZE", "1"))
