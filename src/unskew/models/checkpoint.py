"""Checkpoints: tensors as safetensors, everything else as JSON inside it; nothing is unpickled."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from safetensors import SafetensorError, safe_open
from safetensors.torch import save_file
from torch import Tensor

from unskew.errors import UnskewError
from unskew.files import written_whole

FORMAT = "unskew-checkpoint-1"


def save_checkpoint(path: Path, tensors: dict[str, Tensor], facts: dict[str, Any]) -> None:
    """Write tensors and facts as one file, whole or not at all."""
    plain = {name: tensor.detach().cpu().contiguous() for name, tensor in tensors.items()}
    with written_whole(path) as beside:
        save_file(plain, beside, metadata={"format": FORMAT, "facts": json.dumps(facts)})


def load_checkpoint(path: Path) -> tuple[dict[str, Tensor], dict[str, Any]]:
    """Read what ``save_checkpoint`` wrote; refuse anything else with a reason."""
    if not path.is_file():
        raise UnskewError(f"{path} does not exist; train first, or check the run's folder")
    try:
        with safe_open(path, framework="pt") as file:
            metadata = file.metadata() or {}
            tensors = {name: file.get_tensor(name) for name in file.keys()}  # noqa: SIM118
    except (SafetensorError, OSError, ValueError) as error:
        raise UnskewError(
            f"{path} is no whole checkpoint ({error}); restore it, or remove it and train again"
        ) from error
    if metadata.get("format") != FORMAT:
        raise UnskewError(f"{path} is no unskew checkpoint; point at a run made by unskew train")
    facts: dict[str, Any] = json.loads(metadata["facts"])
    return tensors, facts
