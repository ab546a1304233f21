"""Whether a model sees its worlds in its first steps, for four ways to begin.

`python -m bench.karel_seeing -o FILE` trains a model with a quarter of the channels on short
programs in worlds full of markers. The model sees one pair. This takes seven minutes on one core.
`--full` trains the whole network, which needs a GPU: `--full --longest 65 -n 65536 --shown 1 5
--batch 512 --rate 1.4e-3 --steps 3200 --way both`. The figures are the loss on new tasks, and how
much higher the loss is with the worlds of other tasks. If a model ignores its worlds, the
difference is zero.
"""

import time
from dataclasses import asdict, replace
from typing import Any

from bench.results import options, save
from unskew.datasets.run import shard
from unskew.experiments.karel.lab.scales import SCALES
from unskew.experiments.karel.lab.trainings import training
from unskew.io.files import check_writable
from unskew.models.karel.data.tasks import Minibatches, Tasks, joined
from unskew.models.karel.network.synthesizer import Synthesizer, SynthesizerConfig
from unskew.models.karel.score import mean_loss
from unskew.models.karel.train.step import StepConfig, TrainingStep, begun_with_differences
from unskew.models.ranks import ALONE

QUARTER = SynthesizerConfig(channels=16, blocks=1, pair=128, token=64, hidden=128, layers=2)
WAYS = {  # first weights that see differences, rates by inputs
    "as it is": (False, False),
    "rates by inputs": (False, True),
    "differences": (True, False),
    "both": (True, True),
}
NEW = 600  # tasks that are not trained on


def tasks_of(kind: str, n: int, longest: int) -> Tasks:
    """Draw the training set of a model of narrow worlds; keep programs up to a length."""
    (recipe,) = training(f"narrow {kind}", SCALES["full"]).sets
    recipe = replace(recipe, n=n, shard_size=min(n, 4096))
    tasks = joined([Tasks.of(shard(recipe, index)[0]) for index in range(recipe.shards)])
    return part(tasks, tasks.lengths() <= longest)


def part(tasks: Tasks, rows: Any) -> Tasks:
    """Return some of the tasks."""
    return Tasks(tasks.programs[rows], tasks.worlds[rows])


def run(model: SynthesizerConfig, config: StepConfig, tasks: Tasks, steps: int) -> dict[str, Any]:
    """Train on all tasks but the first ``NEW``, and measure the loss on these eight times."""
    new, old = part(tasks, slice(None, NEW)), part(tasks, slice(NEW, None))
    network = Synthesizer(model).to(ALONE.device)
    batches = Minibatches(old, config.batch, config.shown, config.seed)
    step = TrainingStep(network, batches, config)
    curve, begin = [], time.perf_counter()
    for number in range(steps):
        step.run(number, number / steps)
        if (number + 1) % max(1, steps // 8) == 0:
            curve.append({"step": number + 1, **seen(network, new, config.shown[1])})
            print(curve[-1], flush=True)
    seconds = round(time.perf_counter() - begin, 1)
    return {"model": asdict(model), "step": asdict(config), "curve": curve, "seconds": seconds}


def seen(network: Synthesizer, new: Tasks, shown: int) -> dict[str, float]:
    """Return the loss on new tasks, and how much more it is with the worlds of the next one."""
    own = mean_loss(network, new, shown=shown)
    others = mean_loss(network, Tasks(new.programs, new.worlds.roll(1, 0)), shown=shown)
    return {"loss": round(own, 4), "more": round(others - own, 4)}


def main() -> None:
    parser = options(__doc__)
    parser.add_argument(
        "--worlds", default="0.05-0.85-A", help="of this narrow test set, msr or uniform"
    )
    parser.add_argument("--way", action="append", choices=WAYS, help="only this one; repeatable")
    parser.add_argument("--steps", type=int, default=2_000)
    parser.add_argument("--batch", type=int, default=64)
    parser.add_argument("--rate", type=float, default=2e-3)
    parser.add_argument("--shown", type=int, nargs=2, default=(1, 1), help="pairs, from to")
    parser.add_argument("--longest", type=int, default=8, help="tokens of a program")
    parser.add_argument("-n", "--tasks", type=int, default=131_072, help="drawn, of any length")
    parser.add_argument("--full", action="store_true", help="the whole network")
    chosen = parser.parse_args()
    if chosen.output:
        check_writable(chosen.output)
    tasks = tasks_of(chosen.worlds, chosen.tasks, chosen.longest).to(ALONE.device)
    if len(tasks) < NEW + chosen.batch:
        parser.error(f"{len(tasks)} tasks have so few tokens, {NEW} are kept apart; raise --tasks")
    model = SynthesizerConfig() if chosen.full else QUARTER
    step = StepConfig(chosen.batch, tuple(chosen.shown), chosen.rate)
    ways = {}
    for way in chosen.way or WAYS:
        print(f"{way}:", flush=True)
        differences, by_inputs = WAYS[way]
        seeing, slower = begun_with_differences(model, step)
        begun = seeing if differences else model, slower if by_inputs else step
        ways[way] = run(*begun, tasks, chosen.steps)
        facts = {
            "bench": "karel_seeing",
            "worlds": chosen.worlds,
            "tasks": len(tasks),
            "longest": chosen.longest,
            "steps": chosen.steps,
        }
        save(chosen.output, facts | {"ways": ways})  # a stop leaves the ways that are done


if __name__ == "__main__":
    main()
