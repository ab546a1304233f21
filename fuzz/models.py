"""Run folders and checkpoints of models, as evaluate and synthesize open them."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Mapping
from dataclasses import asdict
from pathlib import Path
from typing import Any

import numpy as np
import torch
from safetensors.torch import load, save
from torch import Tensor

from fuzz.machinery import Reader, Rng, Target
from fuzz.mutate import BINARY, TEXTUAL, change_json, often, pick
from unskew.domains.karel.world import from_picture
from unskew.models.calculator.network import ReaderConfig, Readers
from unskew.models.calculator.score import accuracies
from unskew.models.calculator.train import load_readers
from unskew.models.checkpoint import FORMAT, save_checkpoint
from unskew.models.karel.data.tasks import Tasks
from unskew.models.karel.decode.solve import solve
from unskew.models.karel.network.synthesizer import Synthesizer, SynthesizerConfig
from unskew.models.karel.train.run import KIND, MODEL, load_synthesizer
from unskew.models.runs import CHECKPOINT, CONFIG, METRICS, cut_log, settings

CPU = torch.device("cpu")
SIZES = SynthesizerConfig(channels=2, blocks=1, pair=2, token=2, hidden=2, layers=2)
KINDS = (torch.float64, torch.float16, torch.int64, torch.bool, torch.uint8, torch.bfloat16)


def _change(rng: Rng, valid: bytes) -> bytes:
    """Change a file of tensors: bytes, its header, what it says, or tensors, sealed again."""
    kind = int(rng.integers(5))
    size = int.from_bytes(valid[:8], "little")
    if kind == 0:
        return often(rng, valid, BINARY)
    if kind == 1:
        header = change_json(rng, valid[8 : 8 + size])
        return len(header).to_bytes(8, "little") + header + valid[8 + size :]
    tensors = load(valid)
    facts = json.loads(valid[8 : 8 + size])["__metadata__"]["facts"]
    if kind < 4:
        facts = change_json(rng, facts.encode()).decode(errors="replace")
    if kind > 2:
        name = pick(rng, list(tensors))
        old = tensors.pop(name)
        other = pick(rng, KINDS)
        shaped = (old, old.to(other), old[:0], old * float("nan"), old[None], old.flatten()[:1])
        if rng.random() < 0.8:
            tensors[name] = pick(rng, shaped).contiguous()
    return save(tensors, {"format": FORMAT, "facts": facts, "digest": _digest(tensors, facts)})


def _digest(tensors: Mapping[str, Tensor], facts: str) -> str:
    """Return what a checkpoint says of its content; a stranger can work it out too."""
    made = hashlib.sha256(facts.encode())
    for name, tensor in sorted(tensors.items()):
        made.update(json.dumps([name, str(tensor.dtype), list(tensor.shape)]).encode())
        made.update(tensor.reshape(-1).view(torch.uint8).numpy().tobytes())
    return made.hexdigest()


def _synthesizer(folder: Path) -> Reader:
    path = folder / MODEL
    facts = {"kind": KIND, "model": SIZES.facts(), "step": 3}
    save_checkpoint(path, dict(Synthesizer(SIZES).state_dict()), facts)
    valid = path.read_bytes()
    world = from_picture(" .  .\n>.  .")
    tasks = Tasks.of_arrays(np.zeros((1, 1), np.uint8), np.stack([world, world])[None, None])

    def read(data: bytes) -> None:
        path.write_bytes(data)
        solve(load_synthesizer(path, CPU), tasks, beam=2, longest=5)

    return Reader(lambda rng: _change(rng, valid), read)


def _readers(folder: Path) -> Reader:
    from unskew.io.lookup import find_source
    from unskew.models.calculator.network import Expressions

    path = folder / CHECKPOINT
    config = ReaderConfig(hidden=2, max_length=8, seeds=(0, 5))
    tensors = {f"model.{name}": value for name, value in Readers(config).state_dict().items()}
    save_checkpoint(path, tensors, {"step": 3, "reader": asdict(config)})
    valid = path.read_bytes()
    source = find_source("calculator/dcfg", {"max_length": 8})
    batch, _ = source.draw(np.random.default_rng(0), 3)

    def read(data: bytes) -> None:
        path.write_bytes(data)
        model = load_readers(folder, CPU)
        accuracies(model, Expressions.of(batch, model.config.max_length))

    return Reader(lambda rng: _change(rng, valid), read)


def _text_file(name: str, lines: list[dict[str, Any]], read: Callable[[Path], object]) -> Any:
    def prepare(folder: Path) -> Reader:
        valid = "\n".join(json.dumps(line) for line in lines).encode()

        def make(rng: Rng) -> bytes:
            if rng.random() < 0.3:
                return often(rng, valid, TEXTUAL)
            parts = valid.splitlines()
            at = int(rng.integers(len(parts)))
            parts[at] = change_json(rng, parts[at])
            return b"\n".join(parts)

        def read_file(data: bytes) -> None:
            (folder / name).write_bytes(data)
            read(folder)

        return Reader(make, read_file)

    return prepare


def _configs(folder: Path) -> Reader:
    line = {"kind": KIND, "model": SIZES.facts(), "data": {"names": ["karel/msr"]}}
    reader: Reader = _text_file(CONFIG, [line], _open_config)(folder)
    return reader


def _open_config(folder: Path) -> None:
    settings(folder).get("kind")
    load_synthesizer(folder, CPU)


def _metrics(folder: Path) -> Reader:
    lines = [{"step": step, "loss": 1 / step, "rate": 0.1} for step in range(1, 6)]
    reader: Reader = _text_file(METRICS, lines, lambda folder: cut_log(folder, 3))(folder)
    return reader


TARGETS = (
    Target("run-synthesizer", _synthesizer, 400),
    Target("run-readers", _readers, 1000),
    Target("run-config", _configs, 1100),
    Target("run-metrics", _metrics, 2000),
)
