"""What a model learns in five minutes on one GPU: train on tasks like the original's, then score.

`python -m bench.karel_train -o FILE` draws the tasks, trains for some seconds, and decodes two
sets of new tasks: tasks whose programs the training did not have, and tasks as they come. If time
on the GPU is costly, draw the tasks beforehand with `--draw FOLDER`.
"""

import os
import time
from concurrent.futures import ProcessPoolExecutor
from dataclasses import asdict
from multiprocessing import get_context
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
import torch

from bench.results import options, save
from unskew.core.rng import generator
from unskew.domains.karel.running.interpreter import run
from unskew.domains.karel.sampling.programs import original_examples
from unskew.models.karel.data.tasks import Minibatches, Tasks
from unskew.models.karel.decode.beam import beam_search
from unskew.models.karel.network.synthesizer import Synthesizer, SynthesizerConfig
from unskew.models.karel.score import mean_loss
from unskew.models.karel.train.step import StepConfig, TrainingStep

PART, TEST, BEAM, MAX_LENGTH = 16_384, 2_500, 64, 65
TELL_SECONDS = 20.0


def draw_part(place: tuple[Path, int, str, int, int]) -> None:
    """Draw one part of a set and write it to files."""
    folder, seed, name, part, rows = place
    examples = original_examples(generator(seed, "bench", name, part), rows, 6)
    np.save(folder / f"{name}-{part:04}-programs.npy", examples.programs)
    worlds = np.stack([examples.inputs, examples.outputs], axis=2)
    np.save(folder / f"{name}-{part:04}-worlds.npy", worlds)


def draw(folder: Path, seed: int, sizes: dict[str, int]) -> None:
    """Draw sets of tasks on all cores; draw one part before, so that kernels compile once."""
    begin = time.perf_counter()
    draw_part((folder, seed, "warm-up", 0, 16))
    compiled = time.perf_counter()
    parts = [
        (folder, seed, name, part, min(PART, n - part * PART))
        for name, n in sizes.items()
        for part in range(-(-n // PART))
    ]
    with ProcessPoolExecutor(os.cpu_count(), get_context("spawn")) as pool:
        list(pool.map(draw_part, parts))
    spent = time.perf_counter() - compiled
    total = sum(sizes.values())
    print(
        f"compiled in {compiled - begin:.1f} s, drew {total:,} tasks in {spent:.1f} s", flush=True
    )


def load(folder: Path, name: str) -> Tasks:
    """Read a set."""
    programs, worlds = (
        np.concatenate([np.load(path) for path in sorted(folder.glob(f"{name}-????-{kind}.npy"))])
        for kind in ("programs", "worlds")
    )
    return Tasks.of_arrays(programs, worlds)


def unseen(tasks: Tasks, trained: Tasks) -> Tasks:
    """Return the tasks whose programs were not trained on."""
    programs = {row.rstrip(b"\0") for row in map(bytes, trained.programs.numpy())}
    new = [bytes(row).rstrip(b"\0") not in programs for row in tasks.programs.numpy()]
    print(f"{len(programs):,} distinct programs; {np.mean(new):.1%} of new tasks have others")
    return _rows(tasks, torch.tensor(np.flatnonzero(new)))


def _rows(tasks: Tasks, rows: torch.Tensor) -> Tasks:
    return Tasks(tasks.programs[rows], tasks.worlds[rows])


def train(tasks: Tasks, config: StepConfig, seconds: float) -> tuple[Synthesizer, dict[str, Any]]:
    """Train for some seconds. Compiling and capturing come before and do not count."""
    model = Synthesizer(SynthesizerConfig(seed=config.seed)).to(tasks.programs.device)
    begin = time.perf_counter()
    batches = Minibatches(tasks, config.batch, config.shown, config.seed)
    step = TrainingStep(model, batches, config)
    step.run(0, 0.0)
    losses = [float(step.loss)]
    started = told = time.perf_counter()
    print(f"ready in {started - begin:.1f} s", flush=True)
    number, elapsed, curve = 1, 0.0, []
    while elapsed < seconds:
        step.run(number, elapsed / seconds)
        number += 1
        if number % 25 == 0:
            losses.append(float(step.loss))  # waits for the device, so that time is its time
        elapsed = time.perf_counter() - started
        if time.perf_counter() - told > TELL_SECONDS or elapsed >= seconds:
            told = time.perf_counter()
            speed, passes = number * config.batch / elapsed, number / batches.batches_an_epoch
            curve.append({"seconds": round(elapsed), "loss": round(float(np.mean(losses)), 4)})
            print(
                f"{elapsed:5.0f} s  batch {number:6}  passes {passes:5.1f}"
                f"  loss {np.mean(losses):.4f}  {speed:,.0f} examples/s",
                flush=True,
            )
            losses = [float(step.loss)]
    torch.cuda.synchronize()
    spent = time.perf_counter() - started
    return model, {
        "seconds": round(spent, 1),
        "seconds_before": round(started - begin, 1),
        "batches": number,
        "passes": round(number / batches.batches_an_epoch, 2),
        "examples_per_second": round(number * config.batch / spent),
        "losses": curve,
    }


def scores(model: Synthesizer, tasks: Tasks, beam: int) -> dict[str, Any]:
    """Decode with five pairs shown; return how many programs are right, in percent."""
    begin = time.perf_counter()
    programs = beam_search(model, tasks.worlds[:, :5], beam, MAX_LENGTH).programs.cpu().numpy()
    spent = time.perf_counter() - begin
    n = len(tasks)
    flat = programs.reshape(n * beam, -1)
    inputs, outputs = (tasks.worlds[:, :, side].cpu().numpy() for side in (0, 1))
    worlds = np.repeat(inputs, beam, axis=0).reshape(-1, inputs.shape[-1])
    ran = run(flat, worlds, threads=os.cpu_count() or 1)
    wanted = np.repeat(outputs, beam, axis=0).reshape(-1, outputs.shape[-1])
    right = ((ran.worlds == wanted).all(axis=1) & (ran.status == 0)).reshape(n, beam, 6)
    shown, every = right[:, :, :5].all(axis=2), right.all(axis=2)
    first = shown.argmax(axis=1)  # the first that satisfies what is shown, or the first
    truth = np.zeros((n, MAX_LENGTH), np.uint8)
    truth[:, : tasks.programs.shape[1]] = tasks.programs.cpu().numpy()
    figures = {
        "generalization": every[:, 0],
        "consistency": shown[:, 0],
        "exact": (programs[:, 0] == truth).all(axis=1),
        "generalization_of_any": every.any(axis=1),
        "generalization_of_first_consistent": every[np.arange(n), first],
    }
    percent = {name: round(100 * float(value.mean()), 2) for name, value in figures.items()}
    return {"tasks": n, "beam": beam, "beam_seconds": round(spent, 1), **percent}


def main() -> None:
    parser = options(__doc__)
    parser.add_argument("-n", "--tasks", type=int, default=1_000_000)
    parser.add_argument("--seconds", type=float, default=300.0)
    parser.add_argument("--batch", type=int, default=2048)
    parser.add_argument("--rate", type=float, default=1.4e-3)
    parser.add_argument("--decay", type=float, default=0.02)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--beam", type=int, default=BEAM)
    parser.add_argument("--draw", type=Path, help="only draw the tasks, into this folder")
    parser.add_argument("--drawn", type=Path, help="take the tasks that were drawn there")
    chosen = parser.parse_args()
    sizes = {"train": chosen.tasks, "test": 3 * TEST}
    if chosen.draw:
        chosen.draw.mkdir(parents=True, exist_ok=True)
        draw(chosen.draw, chosen.seed, sizes)
        return
    with TemporaryDirectory() as temporary:
        folder = chosen.drawn or Path(temporary)
        if not chosen.drawn:
            draw(folder, chosen.seed, sizes)
        tasks, fresh = load(folder, "train"), load(folder, "test")
    device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
    tests = {"unseen": unseen(fresh, tasks), "as they come": fresh}
    config = StepConfig(batch=chosen.batch, rate=chosen.rate, decay=chosen.decay, seed=chosen.seed)
    model, result = train(tasks.to(device), config, chosen.seconds)
    print({name: value for name, value in result.items() if name != "losses"}, flush=True)
    result["loss_train"] = mean_loss(model, _rows(tasks, torch.arange(TEST)).to(device))
    for name, test in tests.items():
        some = _rows(test, torch.arange(min(TEST, len(test)))).to(device)
        result[name] = {"loss": mean_loss(model, some), **scores(model, some, chosen.beam)}
        print(name, result[name], "loss of trained tasks", result["loss_train"], flush=True)
    settings = {"tasks": chosen.tasks, **asdict(config)}
    save(chosen.output, {"bench": "karel_train", "settings": settings, **result})


if __name__ == "__main__":
    main()
