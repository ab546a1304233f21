"""How a training is kept in a checkpoint, and how it goes on from there."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import torch
from torch import Tensor, nn

from unskew.core.errors import UnskewError
from unskew.models.checkpoint import AGAIN, check_shapes


def begin_moments(model: nn.Module, optimizer: torch.optim.Optimizer) -> None:
    """Make Adam's moments before the first step, so that a checkpoint can be copied into them."""
    for parameter in model.parameters():
        optimizer.state[parameter] = {
            "step": torch.zeros((), device=parameter.device),
            "exp_avg": torch.zeros_like(parameter),
            "exp_avg_sq": torch.zeros_like(parameter),
        }


def training_tensors(model: nn.Module, optimizer: torch.optim.Optimizer) -> dict[str, Tensor]:
    """Return weights and moments by the names that they have in a checkpoint."""
    tensors = {f"model.{name}": value for name, value in model.state_dict().items()}
    for name, parameter in model.named_parameters():
        moments: dict[str, Any] = optimizer.state[parameter]
        tensors |= {f"optimizer.{name}.{key}": value for key, value in moments.items()}
    return tensors


def copy_tensors(saved: Mapping[str, Tensor], tensors: Mapping[str, Tensor]) -> None:
    """Copy saved tensors into those of a training, in place: captured graphs stay valid."""
    with torch.no_grad():
        for name, tensor in tensors.items():
            tensor.copy_(saved[name])


def restore(path: Path, saved: Mapping[str, Tensor], tensors: Mapping[str, Tensor]) -> None:
    """Copy a checkpoint's tensors into those of a training; refuse those of another model."""
    check_shapes(path, saved, {name: tuple(tensor.shape) for name, tensor in tensors.items()})
    copy_tensors(saved, tensors)


def steps_taken(path: Path, facts: Mapping[str, Any]) -> int:
    """Return how many steps a checkpoint contains."""
    step = facts.get("step")
    if not isinstance(step, int):
        raise UnskewError(f"{path} does not say where it stands (step {step!r}); {AGAIN}")
    return step
