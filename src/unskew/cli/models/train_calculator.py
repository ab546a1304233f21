"""How the command line trains the Calculator's model. Importing this module loads torch."""

from __future__ import annotations

from unskew.cli.models.command import training_progress
from unskew.cli.printing import echo
from unskew.core.errors import UnskewError, check_count
from unskew.core.rng import generator
from unskew.datasets.target import open_target
from unskew.models.calculator.network import Expressions, ReaderConfig, joined
from unskew.models.calculator.train import TrainConfig, TrainingData, train
from unskew.models.options import TrainCalculatorOptions
from unskew.models.ranks import ALONE
from unskew.models.samples import read_sample
from unskew.models.training import Progress


def train_calculator(options: TrainCalculatorOptions) -> None:
    """Train models side by side, one for each seed."""
    check_count("seeds", options.seeds)
    config = TrainConfig(options.steps, options.batch, options.rate, seed=options.seed)
    seeds = tuple(
        int(generator(options.seed, "member", i).integers(2**62)) for i in range(options.seeds)
    )
    reader = ReaderConfig(options.hidden, options.max_length, seeds)
    examples = _read(options)
    data = TrainingData([examples], [0] * options.seeds, ALONE.device)
    echo(
        f"{len(examples):,} examples, {options.seeds} model(s) of {options.hidden} units, "
        f"on {ALONE.device.type}"
    )
    reports: list[Progress] = []
    with training_progress("training", options.steps) as show:

        def report(progress: Progress) -> None:
            reports.append(progress)
            show(progress)

        train(reader, config, data, options.output, report)
    echo(f"run: {options.output}" + ("" if reports else " (it was finished already)"))


def _read(options: TrainCalculatorOptions) -> Expressions:
    """Return all examples of the datasets; refuse a source that never ends."""
    targets = [open_target(name) for name in options.datasets]
    for name, target in zip(options.datasets, targets, strict=True):
        if target.endless:
            raise UnskewError(f"{name} is a source without end; generate a dataset from it first")
    samples = [read_sample(target, None).examples for target in targets]
    return joined([Expressions.of(sample, options.max_length) for sample in samples])
