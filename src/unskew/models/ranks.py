"""Several processes that train one model together, started by ``torchrun``."""

import json
import os
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor
from torch import distributed as dist

from unskew.core.errors import UnskewError


@dataclass(frozen=True)
class Ranks:
    """The number of this process, and how many processes share each batch."""

    rank: int = 0
    size: int = 1

    @property
    def rows(self) -> slice:
        """The rows of a batch that belong to this process: every ``size``-th row."""
        return slice(self.rank, None, self.size)

    @property
    def first(self) -> bool:
        """Whether this is the process that writes and reports."""
        return self.rank == 0

    def add_up(self, tensors: Sequence[Tensor]) -> None:
        """Replace tensors by their sums over all processes, in place."""
        if self.size == 1:
            return
        flat = torch.cat([tensor.flatten() for tensor in tensors])
        dist.all_reduce(flat)
        sums = torch.split(flat, [tensor.numel() for tensor in tensors])
        for tensor, total in zip(tensors, sums, strict=True):
            tensor.copy_(total.view_as(tensor))

    def agree(self, value: float) -> float:
        """Return the first process's value in every process."""
        if self.size == 1:
            return value
        shared = torch.tensor([value], dtype=torch.float64, device=self.device)
        dist.broadcast(shared, 0)
        return float(shared)

    def gather(self, facts: dict[str, Any]) -> list[dict[str, Any]]:
        """Return the plain data of every process, in their order, in every process."""
        if self.size == 1:
            return [facts]
        text = torch.tensor(list(json.dumps(facts).encode()), device=self.device)
        sizes = torch.zeros(self.size, dtype=torch.int64, device=self.device)
        sizes[self.rank] = len(text)
        self.add_up([sizes])
        texts = torch.zeros(self.size, int(sizes.max()), dtype=torch.int64, device=self.device)
        texts[self.rank, : len(text)] = text
        self.add_up([texts])
        rows = zip(texts.tolist(), sizes.tolist(), strict=True)
        return [json.loads(bytes(row[:size])) for row, size in rows]

    @property
    def device(self) -> torch.device:
        """The GPU of this process, or the CPU if there is no GPU."""
        if not torch.cuda.is_available():
            return torch.device("cpu")
        return torch.device("cuda", int(os.environ.get("LOCAL_RANK", "0")))


ALONE = Ranks()


def join_ranks() -> Ranks:
    """Connect to the other processes that ``torchrun`` started; return ALONE without them."""
    size = _from_environment("WORLD_SIZE", 1, 2**20, "1")
    if size == 1:
        return ALONE
    ranks = Ranks(_from_environment("RANK", 0, size - 1), size)
    _from_environment("LOCAL_RANK", 0, size - 1, "0")
    on_gpu = ranks.device.type == "cuda"
    if on_gpu:
        torch.cuda.set_device(ranks.device)
    try:
        dist.init_process_group("nccl" if on_gpu else "gloo")
    except (RuntimeError, ValueError) as error:
        reason = str(error).splitlines()[0]
        raise UnskewError(
            f"the {size} processes did not meet ({reason}); start them with torchrun"
        ) from error
    return ranks


def leave_ranks(ranks: Ranks) -> None:
    """Disconnect from the other processes."""
    if ranks.size > 1:
        dist.destroy_process_group()


def _from_environment(name: str, low: int, high: int, default: str | None = None) -> int:
    """Return a number that ``torchrun`` sets."""
    text = os.environ.get(name, default)
    if text is None or not text.isdecimal() or not low <= int(text) <= high:
        value = "not set" if text is None else repr(text)
        raise UnskewError(
            f"{name} is {value}; allowed is {low} to {high}: start the processes with torchrun, or "
            "unset WORLD_SIZE to train with one"
        )
    return int(text)
