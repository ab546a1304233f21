"""The first steps on worlds where a model learns nothing, in several ways.

`python -m bench.karel_rates -o FILE` trains a model of a quarter of the channels on a CPU (half
an hour on one core); with `--full` the whole network, which wants a GPU. Worlds are those of a
narrow test set, or `msr`. Told are the loss, how far the pairs' embeddings have grown together
(the norm of their mean) and how far they are apart (their mean distance from it).
"""

import argparse
import json
import time
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import Tensor

from unskew.experiments.karel.scales import SCALES
from unskew.experiments.karel.trainings import training
from unskew.experiments.provenance import provenance
from unskew.files import check_writable, write_text
from unskew.generation import make
from unskew.models.karel import Synthesizer, SynthesizerConfig, best_dtype
from unskew.models.karel_data import Minibatches, Tasks, joined
from unskew.models.karel_training import StepConfig, TrainingStep
from unskew.models.ranks import ALONE

QUARTER = SynthesizerConfig(channels=16, blocks=1, pair=128, token=64, hidden=128, layers=2)
RATE, HIGHER, LOWER = 1.4e-3, 4e-3, 3.5e-4
SLOW = 0.25  # of the steps, until the rate is reached
# In both networks the layer that reads a pair has 81 times as many inputs.
FAN_IN = {"quarter": 64, "full": 256}
WAYS = (
    "as it is", "louder tokens", "rates by inputs", "both", "both, higher rate", "lower rate",
    "slow start", "louder tokens, slow start", "both, higher rate, slow start",
)  # fmt: skip
TOLD, SAMPLE = 100, 400  # steps between two lines, and pairs whose embeddings are looked at


def tasks_of(kind: str, n: int) -> Tasks:
    """Draw tasks: those that a model of narrow worlds, or one beside it, is trained on."""
    (recipe,) = training(f"narrow {kind}", SCALES["full"]).sets
    recipe = replace(recipe, n=n, shard_size=min(n, 4096))
    return joined([Tasks.of(make(recipe, index)) for index in range(recipe.shards)])


def settings(way: str, size: str, batch: int, shown: int) -> tuple[SynthesizerConfig, StepConfig]:
    """Return what a way changes."""
    model = QUARTER if size == "quarter" else SynthesizerConfig()
    step = StepConfig(batch, (shown, shown), RATE)
    named = way.split(", ")
    if named[0] in ("louder tokens", "both"):
        model = replace(model, first_tokens=1.0)
    if named[0] in ("rates by inputs", "both"):
        step = replace(step, fan_in=FAN_IN[size])
    if "slow start" in named:
        step = replace(step, warmup=SLOW)
    rate = {"higher rate": HIGHER, "lower rate": LOWER}
    step = replace(step, rate=next((rate[each] for each in named if each in rate), RATE))
    return model, step


def run(model: SynthesizerConfig, config: StepConfig, tasks: Tasks, steps: int) -> dict[str, Any]:
    """Train, and look at the model now and then."""
    network = Synthesizer(model).to(ALONE.device)
    batches = Minibatches(tasks, config.batch, config.shown, config.seed)
    step = TrainingStep(network, batches, config)
    curve, losses, begin = [], list[float](), time.perf_counter()
    for number in range(steps):
        step.run(number, number / steps)
        losses.append(float(step.loss))
        if number + 1 in (10, 20, 50) or (number + 1) % TOLD == 0:
            together, apart = embeddings(network, tasks.worlds[:SAMPLE, 0])
            loss = round(float(np.mean(losses[-TOLD:])), 3)
            curve.append({"step": number + 1, "loss": loss, "together": together, "apart": apart})
            print(curve[-1], flush=True)
    seconds = round(time.perf_counter() - begin, 1)
    return {"model": asdict(model), "step": asdict(config), "curve": curve, "seconds": seconds}


def embeddings(network: Synthesizer, worlds: Tensor) -> tuple[float, float]:
    """Return what embeddings have in common, and how far they are apart."""
    with torch.no_grad():
        each = network.encode(worlds, best_dtype(ALONE.device)).float()
    mean = each.mean(dim=0)
    return round(float(mean.norm()), 2), round(float((each - mean).norm(dim=1).mean()), 2)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("-o", "--output", type=Path, help="write the figures as JSON")
    parser.add_argument("--worlds", default="0.05-0.85-A", help="of this narrow test set, or msr")
    parser.add_argument("--way", action="append", choices=WAYS, help="only this one; repeatable")
    parser.add_argument("--steps", type=int, default=600)
    parser.add_argument("--batch", type=int, default=128)
    parser.add_argument("--shown", type=int, default=2)
    parser.add_argument("-n", "--tasks", type=int, default=65_536)
    parser.add_argument("--full", action="store_true", help="the whole network")
    chosen = parser.parse_args()
    if chosen.output:
        check_writable(chosen.output)
    tasks = tasks_of(chosen.worlds, chosen.tasks).to(ALONE.device)
    size = "full" if chosen.full else "quarter"
    found = {}
    for way in chosen.way or WAYS:
        print(f"{way}:", flush=True)
        found[way] = run(*settings(way, size, chosen.batch, chosen.shown), tasks, chosen.steps)
        if chosen.output:  # after each, so that a stop leaves those that are done
            facts = {
                "bench": "karel_rates",
                "worlds": chosen.worlds,
                "tasks": len(tasks),
                "steps": chosen.steps,
                "ways": found,
                "provenance": provenance(),
            }
            write_text(chosen.output, json.dumps(facts, indent=1) + "\n")


if __name__ == "__main__":
    main()
