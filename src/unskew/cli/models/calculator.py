"""How the command line trains and scores the Calculator's model. Importing this loads torch."""

from __future__ import annotations

from pathlib import Path

from unskew.cli.models.command import training_progress
from unskew.cli.printing import echo, print_json
from unskew.cli.progress import progress
from unskew.core.errors import UnskewError, check_count
from unskew.core.rng import generator
from unskew.datasets.open import open_target
from unskew.models.calculator.network import Expressions, ReaderConfig, joined
from unskew.models.calculator.score import Estimate, accuracies
from unskew.models.calculator.train import TrainConfig, TrainingData, load_readers, train
from unskew.models.options import TrainCalculatorOptions
from unskew.models.ranks import ALONE
from unskew.models.samples import Sample, read_sample
from unskew.models.training import Progress

SOURCES = tuple(f"calculator/{name}" for name in ("t2t", "dcfg", "rcfg", "bal"))


def train_calculator(options: TrainCalculatorOptions) -> None:
    """Train models side by side, one for each seed."""
    check_count("seeds", options.seeds)
    config = TrainConfig(options.steps, options.batch, options.rate, seed=options.seed)
    seeds = tuple(
        int(generator(options.seed, "member", i).integers(2**62)) for i in range(options.seeds)
    )
    reader = ReaderConfig(options.hidden, options.max_length, seeds)
    examples = _read_all(options)
    data = TrainingData([examples], [0] * options.seeds, ALONE.device)
    echo(
        f"{len(examples):,} examples, {options.seeds} model(s) of {options.hidden} units, "
        f"on {ALONE.device.type}"
    )
    reports: list[Progress] = []
    with training_progress("training", options.steps) as show:

        def report(now: Progress) -> None:
            reports.append(now)
            show(now)

        train(reader, config, data, options.output, report)
    echo(f"run: {options.output}" + ("" if reports else " (it was finished already)"))


def _read_all(options: TrainCalculatorOptions) -> Expressions:
    """Return all examples of the datasets; refuse a source that never ends."""
    targets = [open_target(name) for name in options.datasets]
    for name, target in zip(options.datasets, targets, strict=True):
        if target.endless:
            raise UnskewError(f"{name} is a source without end; generate a dataset from it first")
    samples = [read_sample(target, None).examples for target in targets]
    return joined([Expressions.of(sample, options.max_length) for sample in samples])


def evaluate_calculator(
    run: Path, targets: list[str] | None, n: int | None, seed: int, as_json: bool
) -> None:
    """Print the share of each target's examples that a run solves."""
    model = load_readers(run, ALONE.device)
    scores: dict[str, list[float]] = {}
    names = targets or list(SOURCES)
    with progress("scoring", len(names)) as advance:
        for name in names:
            sample = _read_sample(name, model.config.max_length, n, seed)
            examples = Expressions.of(sample.examples, model.config.max_length)
            if sample.is_cut:
                echo(f"{name}: {len(examples):,} of {sample.of:,} examples", err=True)
            scores[name] = accuracies(model, examples).tolist()
            advance(1, name)
    if len(scores) > 1:
        scores["equal mixture"] = [
            sum(shares) / len(scores) for shares in zip(*scores.values(), strict=True)
        ]
    if as_json:
        print_json(scores)
    else:
        _print_scores(scores)


def _read_sample(name: str, max_length: int, n: int | None, seed: int) -> Sample:
    """Return examples of a target. One of ``SOURCES`` draws only what the model can read."""
    is_source = name in SOURCES and not Path(name).exists()
    settings = {"max_length": min(64, max_length)} if is_source else {}
    return read_sample(open_target(name, settings, seed=seed), n)


def _print_scores(scores: dict[str, list[float]]) -> None:
    """Print the mean score of the members on each target."""
    for name, shares in scores.items():
        estimate = Estimate.of([100 * share for share in shares])
        spread = f" ± {estimate.half_width:.2f}" if len(shares) > 1 else ""
        echo(f"{name}: {estimate.mean:.2f} %{spread}")
