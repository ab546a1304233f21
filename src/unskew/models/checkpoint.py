"""Checkpoints: tensors as safetensors, everything else as JSON inside it; nothing is unpickled.

A digest of all of it stands beside it, so that what a disk or a copy changed is not trained on.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import torch
from safetensors import SafetensorError
from safetensors.torch import load, save_file
from torch import Tensor

from unskew.core.errors import UnskewError
from unskew.core.json_text import parse_json
from unskew.io.files import write_by

FORMAT = "unskew-checkpoint-1"
AGAIN = "restore it, or remove it and train again"


def save_checkpoint(path: Path, tensors: Mapping[str, Tensor], facts: Mapping[str, Any]) -> None:
    """Write tensors and facts as one file, whole or not at all."""
    plain = {name: tensor.detach().cpu().contiguous() for name, tensor in tensors.items()}
    said = json.dumps(facts)
    metadata = {"format": FORMAT, "facts": said, "digest": _digest(plain, said)}
    write_by(path, lambda beside: save_file(plain, beside, metadata=metadata))


def load_checkpoint(path: Path) -> tuple[dict[str, Tensor], dict[str, Any]]:
    """Read what ``save_checkpoint`` wrote; refuse anything else with a reason."""
    if not path.is_file():
        raise UnskewError(f"{path} does not exist; train first, or check the run's folder")
    try:
        # Read once: a training that still runs may put a newer file in this one's place.
        content = path.read_bytes()
        tensors, metadata = load(content), _metadata(content)
    except (SafetensorError, OSError, ValueError, KeyError) as error:
        raise UnskewError(f"{path} is no whole checkpoint ({_line(error)}); {AGAIN}") from error
    if metadata.get("format") != FORMAT:
        raise UnskewError(f"{path} is no unskew checkpoint; point at a run made by unskew train")
    missing = [name for name in ("facts", "digest") if name not in metadata]
    if missing:
        raise UnskewError(f"{path} has no {missing[0]}, so it cannot be trusted; {AGAIN}")
    if metadata["digest"] != _digest(tensors, metadata["facts"]):
        raise UnskewError(f"{path} is damaged: its content is not what was written; {AGAIN}")
    return tensors, _facts(path, metadata["facts"])


def check_shapes(
    path: Path, tensors: Mapping[str, Tensor], wanted: Mapping[str, tuple[int, ...]]
) -> None:
    """Raise unless a file's tensors are those of a model, which need not be there yet."""
    for name in sorted(wanted.keys() | tensors.keys()):
        found = tuple(tensors[name].shape) if name in tensors else "missing"
        expected = wanted.get(name, "none")
        if found != expected:
            raise UnskewError(
                f"{path} is not of this model: {name} is {found}, its settings say {expected}; "
                f"{AGAIN}"
            )


def _metadata(content: bytes) -> dict[str, str]:
    """Return the texts in the header of a safetensors file: its length, then JSON."""
    end = 8 + int.from_bytes(content[:8], "little")
    metadata: dict[str, str] = json.loads(content[8:end]).get("__metadata__") or {}
    return metadata


def _facts(path: Path, text: str) -> dict[str, Any]:
    try:
        facts = parse_json(text)
    except ValueError as error:
        raise UnskewError(f"{path} has facts that are no JSON ({error}); {AGAIN}") from error
    if not isinstance(facts, dict):
        raise UnskewError(f"{path} has facts that are no JSON object; {AGAIN}")
    return facts


def _digest(tensors: Mapping[str, Tensor], facts: str) -> str:
    """Name the content; by SHA-256, which processors have instructions for: 0.1 s for 150 MB."""
    made = hashlib.sha256(facts.encode())
    for name, tensor in sorted(tensors.items()):
        made.update(json.dumps([name, str(tensor.dtype), list(tensor.shape)]).encode())
        made.update(tensor.reshape(-1).view(torch.uint8).numpy().data)
    return made.hexdigest()


def _line(error: Exception) -> str:
    return " ".join(str(error).split())
