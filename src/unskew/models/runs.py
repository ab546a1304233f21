"""The folder of a run: its settings, a checkpoint, metrics as it goes; and how one is stopped."""

from __future__ import annotations

import json
import signal
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, fields
from pathlib import Path
from types import FrameType
from typing import Any

from unskew.core.errors import UnskewError
from unskew.core.json_text import parse_json
from unskew.core.recipe import facts_of
from unskew.io.files import write_bytes, write_text
from unskew.io.location import inside, plain_errors

CHECKPOINT, CONFIG, METRICS = "checkpoint.safetensors", "config.json", "metrics.jsonl"
SAVE_SECONDS = 20.0  # a stop loses no more work than this


def as_before(config: Any, *later: str) -> dict[str, Any]:
    """Return settings as they were before there were some, where these have their defaults.

    So runs of before go on, and what names a training by its settings stays.
    """
    defaults = {field.name: field.default for field in fields(config)}
    return {
        name: value
        for name, value in facts_of(config).items()
        if name not in later or value != defaults[name]
    }


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
    path = inside(folder, CONFIG)  # the run may be a stranger's, and so may a link in it
    inside(folder, CHECKPOINT)
    if not path.is_file():
        raise UnskewError(f"{folder} is no run (no {CONFIG} in it); make one with unskew train")
    try:
        with plain_errors(path, reading=True):
            found = parse_json(path.read_text(encoding="utf-8"))
    except ValueError as error:
        raise UnskewError(f"{path} is no JSON ({error}); restore it, or train again") from error
    if not isinstance(found, dict):
        raise UnskewError(f"{path} holds no settings; restore it, or train again")
    return found


@dataclass
class Stop:
    """Whether a run was asked to stop where it can be gone on from."""

    asked: bool = False


@contextmanager
def held_interrupts() -> Iterator[Stop]:
    """Hold back Ctrl-C, whose place may be the middle of a step, until the end; a second is not.

    At the end it is what it would have been, so nothing goes on that was meant to be stopped.
    """
    stop, before = Stop(), signal.getsignal(signal.SIGINT)

    def note(number: int, frame: FrameType | None) -> None:
        if stop.asked and callable(before):
            before(number, frame)
        stop.asked = True

    # Only the main thread is interrupted, and not where interrupts are ignored.
    heard = threading.current_thread() is threading.main_thread() and callable(before)
    if heard:
        signal.signal(signal.SIGINT, note)
    try:
        yield stop
    finally:
        if heard:
            signal.signal(signal.SIGINT, before)
    if stop.asked:
        if callable(before):
            before(signal.SIGINT, None)
        raise KeyboardInterrupt


def log(folder: Path, facts: Mapping[str, Any]) -> None:
    """Append a line to the metrics."""
    path = folder / METRICS
    with plain_errors(path), path.open("a", encoding="utf-8") as file:
        file.write(json.dumps(facts) + "\n")


def cut_log(folder: Path, step: int) -> None:
    """Forget what was logged after the checkpoint that a run goes on from.

    A run that was killed while it logged left part of a line: that is forgotten too.
    """
    path = folder / METRICS
    if not path.is_file():
        return
    with plain_errors(path, reading=True):
        lines = path.read_bytes().splitlines()
    kept = []
    for number, line in enumerate(lines, start=1):
        logged = _logged_step(line)
        if logged is None and number < len(lines):
            raise UnskewError(
                f"{path}, line {number}, is no line of metrics; restore the file, or remove it and "
                "run the same command again"
            )
        if logged is not None and logged <= step:
            kept.append(line + b"\n")
    write_bytes(path, b"".join(kept))


def _logged_step(line: bytes) -> int | None:
    """Return the step of a line of metrics; none where it is not one."""
    try:
        found = parse_json(line)
    except ValueError:
        return None
    step = found.get("step") if isinstance(found, dict) else None
    return step if isinstance(step, int) else None
