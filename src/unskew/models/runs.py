"""The folder of a run: its JSON files, a checkpoint and metrics; and how Ctrl-C stops a run."""

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
from unskew.core.recipe import facts_of
from unskew.core.values.json_text import parse_json
from unskew.io.files import write_bytes, write_text
from unskew.io.location import Place, inside, plain_errors

CHECKPOINT, CONFIG, METRICS = "checkpoint.safetensors", "config.json", "metrics.jsonl"


def facts_without(config: Any, *newer: str) -> dict[str, Any]:
    """Return the fields of a dataclass as plain data, without newer fields that have defaults.

    So a new field does not change the settings of runs that do not use the field.
    """
    defaults = {field.name: field.default for field in fields(config)}
    return {
        name: value
        for name, value in facts_of(config).items()
        if name not in newer or value != defaults[name]
    }


def read_json(path: Place, step: str) -> Any:
    """Return the value in a JSON file that an earlier run wrote; errors name the next ``step``."""
    try:
        with plain_errors(path, reading=True):
            return parse_json(path.read_text(encoding="utf-8"))
    except ValueError as error:
        raise UnskewError(f"{path} is not JSON ({error}); {step}") from error


def write_json(path: Path, value: Any) -> None:
    """Write a value to a JSON file, whole or not at all."""
    write_text(path, json.dumps(value, indent=1) + "\n")


def claim(folder: Path, facts: Mapping[str, Any]) -> None:
    """Write the settings of a run into its folder; refuse a folder of something else."""
    text = json.dumps(facts, indent=2) + "\n"
    path = folder / CONFIG
    with plain_errors(folder):
        if path.is_file() and path.read_text(encoding="utf-8") != text:
            raise UnskewError(
                f"{folder} was trained with other settings or data; choose a new folder or remove "
                "that one"
            )
        if not path.is_file() and folder.exists() and any(folder.iterdir()):
            raise UnskewError(f"{folder} is not empty and not a run; choose a new folder")
    if not path.is_file():
        write_text(path, text)


def settings(folder: Path) -> dict[str, Any]:
    """Return the settings of a run."""
    path = inside(folder, CONFIG)  # a stranger may have made the run, with a link in it
    inside(folder, CHECKPOINT)
    if not path.is_file():
        raise UnskewError(f"{folder} is not a run (no {CONFIG} in it); make one with unskew train")
    facts = read_json(path, "restore it, or train again")
    if not isinstance(facts, dict):
        raise UnskewError(f"{path} holds no settings; restore it, or train again")
    return facts


@dataclass
class Stop:
    """Whether a run was asked to stop."""

    asked: bool = False


@contextmanager
def ends_as_ctrl_c() -> Iterator[None]:
    """Treat what schedulers and closing terminals send like a Ctrl-C, so that all is saved."""
    kinds = (signal.SIGTERM, signal.SIGHUP)
    if threading.current_thread() is not threading.main_thread():  # no other thread gets signals
        yield
        return
    before = {
        kind: signal.signal(kind, lambda *_: signal.raise_signal(signal.SIGINT)) for kind in kinds
    }
    try:
        yield
    finally:
        for kind, handler in before.items():
            signal.signal(kind, handler)


@contextmanager
def held_interrupts() -> Iterator[Stop]:
    """Hold back the first Ctrl-C until the block ends, so that it does not cut a step in two.

    The block can see in the ``Stop`` that Ctrl-C was pressed. A second Ctrl-C is not held back.
    """
    stop, before = Stop(), signal.getsignal(signal.SIGINT)

    def note(number: int, frame: FrameType | None) -> None:
        if stop.asked and callable(before):
            before(number, frame)
        stop.asked = True

    # Only the main thread gets interrupts, and a handler that is not callable ignores them.
    is_heard = threading.current_thread() is threading.main_thread() and callable(before)
    if is_heard:
        signal.signal(signal.SIGINT, note)
    try:
        yield stop
    finally:
        if is_heard:
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
    """Remove the metrics after ``step``, the step of the checkpoint that a run continues from.

    The last line may be half-written, if the run was killed. It is removed too.
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
                f"{path}, line {number}, is not a line of metrics; restore the file, or remove it "
                "and run the same command again"
            )
        if logged is not None and logged <= step:
            kept.append(line + b"\n")
    write_bytes(path, b"".join(kept))


def _logged_step(line: bytes) -> int | None:
    """Return the step in a line of metrics; None if the line has no step."""
    try:
        facts = parse_json(line)
    except ValueError:
        return None
    step = facts.get("step") if isinstance(facts, dict) else None
    return step if isinstance(step, int) else None
