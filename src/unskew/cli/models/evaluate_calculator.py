"""How the command line scores a run of the Calculator. Importing this module loads torch."""

from __future__ import annotations

from pathlib import Path

from unskew.cli.printing import echo, print_json
from unskew.cli.progress import progress
from unskew.datasets.target import open_target
from unskew.models.calculator.network import Expressions
from unskew.models.calculator.score import Estimate, accuracies
from unskew.models.calculator.train import load_readers
from unskew.models.ranks import ALONE
from unskew.models.samples import Sample, read_sample

SOURCES = tuple(f"calculator/{name}" for name in ("t2t", "dcfg", "rcfg", "bal"))


def evaluate_calculator(
    run: Path, targets: list[str] | None, n: int | None, seed: int, as_json: bool
) -> None:
    """Print the share of each target's examples that a run solves."""
    model = load_readers(run, ALONE.device)
    scores: dict[str, list[float]] = {}
    names = targets or list(SOURCES)
    with progress("scoring", len(names)) as advance:
        for name in names:
            sample = _read(name, model.config.max_length, n, seed)
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


def _read(name: str, max_length: int, n: int | None, seed: int) -> Sample:
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
