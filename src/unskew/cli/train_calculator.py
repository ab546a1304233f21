"""How the command line trains the Calculator's model."""

from __future__ import annotations

from typing import TYPE_CHECKING

from unskew.cli.printing import echo
from unskew.cli.progress import progress
from unskew.core.errors import UnskewError, check_range

if TYPE_CHECKING:
    from unskew.models.calculator.network import Expressions
    from unskew.models.calculator.options import TrainOptions
    from unskew.models.training import Progress


def train_calculator(options: TrainOptions) -> None:
    """Train models side by side, one for each seed."""
    from unskew.core.rng import generator
    from unskew.models.calculator.network import ReaderConfig
    from unskew.models.calculator.train import TrainConfig, TrainingData
    from unskew.models.calculator.train import train as run
    from unskew.models.ranks import ALONE

    for name in ("seeds", "hidden", "max_length"):
        check_range(name, getattr(options, name), 1)
    config = TrainConfig(options.steps, options.batch, options.rate, seed=options.seed)
    members = tuple(
        int(generator(options.seed, "member", i).integers(2**62)) for i in range(options.seeds)
    )
    reader = ReaderConfig(options.hidden, options.max_length, members)
    examples = _read(options)
    device = ALONE.device
    data = TrainingData([examples], [0] * options.seeds, device)
    echo(
        f"{len(examples):,} examples, {options.seeds} model(s) of {options.hidden} units, "
        f"on {device.type}"
    )
    done = 0
    with progress("training", options.steps) as advance:

        def report(now: Progress) -> None:
            nonlocal done
            note = f"loss {now.loss:.3f}, {now.examples_per_second:,.0f} examples/s"
            advance(now.step - done, note)
            done = now.step

        run(reader, config, data, options.output, report)
    echo(f"run: {options.output}" + ("" if done else " (it was finished already)"))


def _read(options: TrainOptions) -> Expressions:
    """Return all examples of the datasets; refuse a source that never ends."""
    from unskew.io.target import open_target
    from unskew.models.calculator.network import Expressions, joined
    from unskew.models.samples import read_sample

    targets = {name: open_target(name) for name in options.datasets}
    for name, target in targets.items():
        if target.endless:
            raise UnskewError(f"{name} is a source without end; generate a dataset from it first")
    return joined(
        [
            Expressions.of(read_sample(targets[name], None).examples, options.max_length)
            for name in options.datasets
        ]
    )
