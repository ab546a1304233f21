"""The folder of a run: its settings, a checkpoint, metrics as it goes."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from unskew.errors import UnskewError
from unskew.files import plain_errors, write_text

CHECKPOINT, CONFIG, METRICS = "checkpoint.safetensors", "config.json", "metrics.jsonl"
SAVE_SECONDS = 20.0  # a stop loses no more work than this


def claim(folder: Path, facts: Mapping[str, Any]) -> None:
    """Make a folder that of a run with these settings, unless it is something else."""
    wanted = json.dumps(facts, indent=2) + "\n"
    path = folder / CONFIG
    with plain_errors(folder):
        if path.is_file() and path.read_text(encoding="utf-8") != wanted:
            raise UnskewError(
                f"{folder} was trained with other settings or data; choose a new folder or remove "
                "that one"
            )
        if not path.is_file() and folder.exists() and any(folder.iterdir()):
            raise UnskewError(f"{folder} is not empty and no run; choose a new folder")
    if not path.is_file():
        write_text(path, wanted)


def settings(folder: Path) -> dict[str, Any]:
    """Return the settings of a run."""
    path = folder / CONFIG
    if not path.is_file():
        raise UnskewError(f"{folder} is no run (no {CONFIG} in it); make one with unskew train")
    try:
        with plain_errors(path, reading=True):
            found = json.loads(path.read_text(encoding="utf-8"))
    except ValueError as error:
        raise UnskewError(f"{path} is no JSON ({error}); restore it, or train again") from error
    if not isinstance(found, dict):
        raise UnskewError(f"{path} holds no settings; restore it, or train again")
    return found


def log(folder: Path, facts: Mapping[str, Any]) -> None:
    """Append a line to the metrics."""
    path = folder / METRICS
    with plain_errors(path), path.open("a", encoding="utf-8") as file:
        file.write(json.dumps(facts) + "\n")


def cut_log(folder: Path, step: int) -> None:
    """Forget what was logged after the checkpoint that a run goes on from."""
    path = folder / METRICS
    if path.is_file():
        lines = path.read_text(encoding="utf-8").splitlines(keepends=True)
        write_text(path, "".join(line for line in lines if json.loads(line)["step"] <= step))
