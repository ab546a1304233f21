"""How fast the models train, with the code of one or more source folders, in turns.

`python -m bench.training_speed before/src src` trains each model for some seconds with the code of
each folder, several times, one after the other. It prints examples per second: the median, the
slowest and the fastest. The examples are random, because the speed depends on their sizes only.
"""

import argparse
import json
import os
import subprocess
import sys
import time
from contextlib import suppress
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
import torch

from unskew.domains.karel.world import CELLS, FACING, HEIGHT, POSITION, WALL, WIDTH
from unskew.models.calculator.network import ALPHABET, Expressions, ReaderConfig
from unskew.models.calculator.train import TrainConfig, TrainingData
from unskew.models.calculator.train import train as train_calculator
from unskew.models.karel.data.tasks import Tasks
from unskew.models.karel.network.synthesizer import SynthesizerConfig
from unskew.models.karel.train.run import RunConfig, fixed
from unskew.models.karel.train.run import train as train_karel
from unskew.models.karel.train.step import StepConfig
from unskew.models.ranks import ALONE

MODELS = ("calculator", "karel")
ENDLESS = 1_000_000  # steps: the time ends a training, not the number of its steps
LONGEST, PAIRS, WORLD = 45, 6, 260  # tokens of a program, pairs of worlds, bytes of a world


class EnoughError(Exception):
    """Ends a training that was measured long enough."""


class Clock:
    """Measures from the first report of a training on, and ends the training."""

    def __init__(self, seconds: float, batch: int) -> None:
        self.seconds, self.batch = seconds, batch
        self.first: tuple[float, int] | None = None
        self.speed = 0.0

    def report(self, progress: Any) -> None:
        now = time.perf_counter()
        if self.first is None:  # what is compiled and captured comes before
            self.first = now, progress.step
            return
        began, step = self.first
        self.speed = (progress.step - step) * self.batch / (now - began)
        if now - began > self.seconds:
            raise EnoughError


def expressions(n: int, longest: int) -> Expressions:
    """Make random characters with random values."""
    rng = np.random.default_rng(0)
    lengths = rng.integers(1, longest + 1, n)
    tokens = rng.integers(1, len(ALPHABET) + 1, (n, longest), dtype=np.uint8)
    tokens[np.arange(longest) >= lengths[:, None]] = 0
    return Expressions(tokens, lengths, rng.integers(0, 10, n, dtype=np.uint8))


def tasks(n: int) -> Tasks:
    """Make random programs and worlds of all sizes."""
    rng = np.random.default_rng(0)
    programs = rng.integers(1, 51, (n, LONGEST), dtype=np.uint8)
    programs[np.arange(LONGEST) >= rng.integers(5, LONGEST + 1, n)[:, None]] = 0
    worlds = np.zeros((n, PAIRS, 2, WORLD), np.uint8)
    shape = worlds.shape[:-1]
    worlds[..., :CELLS] = rng.choice(np.array([0, 0, 0, 1, WALL], np.uint8), (*shape, CELLS))
    for size in (HEIGHT, WIDTH):
        worlds[..., size] = rng.integers(2, 17, shape)
    worlds[..., POSITION], worlds[..., FACING] = 0, rng.integers(0, 4, shape)
    return Tasks.of_arrays(programs, worlds)


def calculator_speed(seconds: float, *, small: bool) -> float:
    """Train an ensemble; return examples per second, counted for each member."""
    members, rows, hidden = (2, 32, 32) if small else (64, 128, 128)
    data = TrainingData([expressions(10_000, 64)], [0] * members, ALONE.device)
    config = TrainConfig(steps=ENDLESS, batch=rows, log_every=10 if small else 100)
    clock = Clock(seconds, members * rows)
    reader = ReaderConfig(hidden, seeds=tuple(range(members)))
    with suppress(EnoughError):
        train_calculator(reader, config, data, None, clock.report)
    return clock.speed


def karel_speed(seconds: float, *, small: bool) -> float:
    """Train a synthesizer in a temporary folder; return examples per second."""
    rows = 16 if small else 2048
    model = SynthesizerConfig(8, 1, 32, 16, 32) if small else SynthesizerConfig()
    step = StepConfig(batch=rows)
    clock = Clock(seconds, rows)
    config, data = RunConfig(model, step, steps=ENDLESS), fixed(tasks(20 * rows), step)
    with TemporaryDirectory() as folder, suppress(EnoughError):
        every = min(1.0, seconds / 4)
        train_karel(config, *data, Path(folder), every=every, report=clock.report)
    return clock.speed


def measured(source: Path, model: str, seconds: float, *, small: bool) -> float:
    """Measure with the code of a source folder, in a process of its own."""
    command = [sys.executable, "-m", "bench.training_speed", "--only", model]
    command += ["--seconds", str(seconds), *(["--small"] if small else [])]
    environment = {**os.environ, "PYTHONPATH": str(source.resolve())}
    if small:
        environment["OMP_NUM_THREADS"] = "1"  # on a busy machine more threads wait for each other
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)  # noqa: S603
    if done.returncode:
        raise SystemExit(f"{source}, {model}: {done.stderr[-2000:]}")
    return float(done.stdout.split()[-1])


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("sources", nargs="*", type=Path, default=[Path("src")])
    parser.add_argument("--models", nargs="+", choices=MODELS, default=MODELS)
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--seconds", type=float, default=10.0, help="of each measurement")
    parser.add_argument("--small", action="store_true", help="small models, for a CPU")
    parser.add_argument("-o", "--output", type=Path, help="write the figures as JSON")
    parser.add_argument("--only", choices=MODELS, help="measure this model once, in this process")
    chosen = parser.parse_args()
    if chosen.only:
        speed = calculator_speed if chosen.only == "calculator" else karel_speed
        print(speed(chosen.seconds, small=chosen.small))
        return
    figures: dict[str, dict[str, list[float]]] = {}
    device = torch.cuda.get_device_name() if torch.cuda.is_available() else "CPU"
    for model in chosen.models:
        speeds: dict[str, list[float]] = {str(source): [] for source in chosen.sources}
        for turn in range(chosen.repeats):
            # The order alternates, so that a machine that slows down slows all of them.
            for source in chosen.sources[:: 1 if turn % 2 == 0 else -1]:
                speed_now = measured(source, model, chosen.seconds, small=chosen.small)
                speeds[str(source)].append(round(speed_now, 1))
        figures[model] = speeds
        first = median(speeds[str(chosen.sources[0])])
        for source, values in speeds.items():
            print(
                f"{model:10} {source:12} {median(values):12,.0f} examples/s "
                f"({min(values):,.0f} to {max(values):,.0f}), "
                f"{median(values) / first:.3f} of {chosen.sources[0]}, on {device}",
                flush=True,
            )
    if chosen.output:
        facts = {"bench": "training_speed", "device": device, "examples_per_second": figures}
        chosen.output.write_text(json.dumps(facts, indent=1) + "\n")


if __name__ == "__main__":
    main()
