"""Checkpoints: tensors in a safetensors file, with all other facts as JSON in its header.

Nothing is unpickled. A digest of the whole content shows if a disk or a copy changed the file.
"""

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import torch
from safetensors import SafetensorError
from safetensors.torch import load, save_file
from torch import Tensor, nn

from unskew.core.errors import UnskewError
from unskew.core.values.json_text import parse_json
from unskew.io.files import write_by

FORMAT = "unskew-checkpoint-1"
AGAIN = "restore it, or remove it and train again"


def save_checkpoint(path: Path, tensors: Mapping[str, Tensor], facts: Mapping[str, Any]) -> None:
    """Write tensors and facts as one file. Nobody sees a half-written file."""
    plain = {name: tensor.detach().cpu().contiguous() for name, tensor in tensors.items()}
    text = json.dumps(facts)
    metadata = {"format": FORMAT, "facts": text, "digest": _digest(plain, text)}
    write_by(path, lambda beside: save_file(plain, beside, metadata=metadata))


def load_checkpoint(path: Path) -> tuple[dict[str, Tensor], dict[str, Any]]:
    """Return the tensors and facts that ``save_checkpoint`` wrote; refuse any other file."""
    if not path.is_file():
        raise UnskewError(f"{path} does not exist; train first, or check the run's folder")
    try:
        # Read the file once: a running training may replace it at any time.
        content = path.read_bytes()
        tensors, metadata = load(content), _metadata(content)
    except (SafetensorError, OSError, ValueError, KeyError) as error:
        reason = " ".join(str(error).split())
        raise UnskewError(f"{path} is not a whole checkpoint ({reason}); {AGAIN}") from error
    if metadata.get("format") != FORMAT:
        raise UnskewError(
            f"{path} is not a checkpoint of unskew; point at a run made by unskew train"
        )
    missing = [name for name in ("facts", "digest") if name not in metadata]
    if missing:
        raise UnskewError(f"{path} has no {missing[0]}, so it cannot be trusted; {AGAIN}")
    if metadata["digest"] != _digest(tensors, metadata["facts"]):
        raise UnskewError(f"{path} is damaged: its content is not what was written; {AGAIN}")
    try:
        facts = parse_json(metadata["facts"])
    except ValueError as error:
        raise UnskewError(f"{path} has facts that are not JSON ({error}); {AGAIN}") from error
    if not isinstance(facts, dict):
        raise UnskewError(f"{path} has facts that are not a JSON object; {AGAIN}")
    return tensors, facts


def check_shapes(
    path: Path, tensors: Mapping[str, Tensor], wanted: Mapping[str, tuple[int, ...]]
) -> None:
    """Refuse a file whose tensors do not have the names and shapes of a model."""
    for name in sorted(wanted.keys() | tensors.keys()):
        actual = tuple(tensors[name].shape) if name in tensors else "missing"
        expected = wanted.get(name, "none")
        if actual != expected:
            raise UnskewError(
                f"{path} is not of this model: {name} is {actual}, its settings say {expected}; "
                f"{AGAIN}"
            )


def _metadata(content: bytes) -> dict[str, str]:
    """Return the texts in the header of a safetensors file: first its length, then JSON."""
    end = 8 + int.from_bytes(content[:8], "little")
    metadata: dict[str, str] = json.loads(content[8:end]).get("__metadata__") or {}
    return metadata


def _digest(tensors: Mapping[str, Tensor], facts: str) -> str:
    """Return the SHA-256 of the content. Processors have instructions for it: 0.1 s for 150 MB."""
    digest = hashlib.sha256(facts.encode())
    for name, tensor in sorted(tensors.items()):
        digest.update(json.dumps([name, str(tensor.dtype), list(tensor.shape)]).encode())
        digest.update(tensor.reshape(-1).view(torch.uint8).numpy().data)
    return digest.hexdigest()


# Stopping and continuing a training.


@dataclass(frozen=True)
class Saved:
    """A training that was saved: the steps taken, the tensors, and the other facts."""

    step: int = 0
    tensors: Mapping[str, Tensor] | None = None
    facts: Mapping[str, Any] = field(default_factory=dict)


def read_saved(path: Path) -> Saved:
    """Return the training in a checkpoint; a training without a step if there is no file."""
    if not path.is_file():
        return Saved()
    tensors, facts = load_checkpoint(path)
    step = facts.get("step")
    if not isinstance(step, int):
        raise UnskewError(f"{path} does not say where it stands (step {step!r}); {AGAIN}")
    return Saved(step, tensors, facts)


def begin_moments(model: nn.Module, optimizer: torch.optim.Optimizer) -> None:
    """Make Adam's moments before the first step, so that a checkpoint can be copied into them."""
    for parameter in model.parameters():
        optimizer.state[parameter] = {
            "step": torch.zeros((), device=parameter.device),
            "exp_avg": torch.zeros_like(parameter),
            "exp_avg_sq": torch.zeros_like(parameter),
        }


def training_tensors(model: nn.Module, optimizer: torch.optim.Optimizer) -> dict[str, Tensor]:
    """Return the weights and moments by their names in a checkpoint."""
    tensors = {f"model.{name}": value for name, value in model.state_dict().items()}
    for name, parameter in model.named_parameters():
        moments: dict[str, Any] = optimizer.state[parameter]
        tensors |= {f"optimizer.{name}.{key}": value for key, value in moments.items()}
    return tensors


def copy_tensors(source: Mapping[str, Tensor], tensors: Mapping[str, Tensor]) -> None:
    """Copy tensors into those of a training, in place: captured graphs stay valid."""
    with torch.no_grad():
        for name, tensor in tensors.items():
            tensor.copy_(source[name])


def restore(path: Path, saved: Saved, tensors: Mapping[str, Tensor]) -> None:
    """Copy a saved training, if there is one, into a training; refuse one of another model."""
    if saved.tensors is not None:
        check_shapes(path, saved.tensors, {name: tuple(t.shape) for name, t in tensors.items()})
        copy_tensors(saved.tensors, tensors)
