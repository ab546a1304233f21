"""Commands about models: train, evaluate, reproduce."""

from __future__ import annotations

import json
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from unskew.cli.data import Json, Seed
from unskew.cli.progress import Advance, progress
from unskew.errors import UnskewError, check_range

if TYPE_CHECKING:
    from unskew.models.calculator import Expressions

MIXTURE = tuple(f"calculator/{name}" for name in ("t2t", "dcfg", "rcfg", "bal"))


def train(
    datasets: Annotated[
        list[str], typer.Argument(help="Datasets or files to train on, one after another.")
    ],
    output: Annotated[Path, typer.Option("-o", "--output", help="Folder of the run.")],
    steps: Annotated[int, typer.Option(help="Optimizer steps.")] = 2000,
    batch: Annotated[int, typer.Option(help="Examples a step, for each seed.")] = 128,
    hidden: Annotated[int, typer.Option(help="Size of the LSTM's state.")] = 128,
    rate: Annotated[float, typer.Option(help="Peak learning rate.")] = 2e-3,
    seeds: Annotated[int, typer.Option(help="Models to train side by side, one a seed.")] = 1,
    seed: Seed = 0,
    max_length: Annotated[int, typer.Option(help="Longest expression that is read.")] = 64,
) -> None:
    """Train the Calculator's model. Run again after a stop, it goes on from its checkpoint."""
    _need_torch()
    from unskew.models.calculator import ReaderConfig
    from unskew.models.training import Progress, TrainConfig, TrainingData, best_device
    from unskew.models.training import train as run
    from unskew.streams import stream

    for name, value in (("seeds", seeds), ("hidden", hidden), ("max_length", max_length)):
        check_range(name, value, 1)
    config = TrainConfig(steps=steps, batch=batch, rate=rate, seed=seed)
    members = tuple(int(stream(seed, "member", i).integers(2**62)) for i in range(seeds))
    reader = ReaderConfig(hidden, max_length, members)
    examples = _read_all(datasets, max_length)
    device = best_device()
    data = TrainingData([examples], [0] * seeds, device)
    typer.echo(f"{len(examples):,} examples, {seeds} model(s) of {hidden} units, on {device}")
    done = 0
    with progress("training", steps) as advance:

        def report(now: Progress) -> None:
            nonlocal done
            note = f"loss {now.loss:.3f}, {now.examples_per_second:,.0f} examples/s"
            advance(now.step - done, note)
            done = now.step

        run(reader, config, data, output, report)
    typer.echo(f"run: {output}" if done else f"run: {output} (it was finished already)")


def evaluate(
    run: Annotated[Path, typer.Argument(help="Folder of the run.")],
    targets: Annotated[
        list[str] | None,
        typer.Argument(help="Sources, datasets or files; left out, the paper's equal mixture."),
    ] = None,
    n: Annotated[int, typer.Option("-n", help="Examples of each.")] = 10_000,
    seed: Annotated[int, typer.Option("--seed", help="Seed of the sources' draws.")] = 10_000,
    as_json: Json = False,
) -> None:
    """Score a run: the share of expressions whose value is predicted exactly."""
    _need_torch()
    from unskew.models.scoring import accuracies
    from unskew.models.training import best_device, load_readers

    check_range("n", n, 1)
    model = load_readers(run, best_device())
    scores: dict[str, list[float]] = {}
    names = targets or list(MIXTURE)
    with progress("scoring", len(names)) as advance:
        for name in names:
            examples = _read(name, model.config.max_length, n, seed)
            scores[name] = accuracies(model, examples).tolist()
            advance(1, name)
    _print_scores(scores, as_json)


def reproduce(
    experiment: Annotated[str, typer.Argument(help="The experiment; unskew list names them.")],
    scale: Annotated[str, typer.Option(help="smoke, small or full.")] = "smoke",
    output: Annotated[
        Path | None, typer.Option("-o", "--output", help="Write the result to this JSON file.")
    ] = None,
    figure: Annotated[
        Path | None, typer.Option(help="Draw the figure to this .png or .svg file.")
    ] = None,
    work: Annotated[
        Path | None,
        typer.Option(help="Keep the training here; after a stop the same command goes on."),
    ] = None,
    steps: Annotated[
        int | None, typer.Option(help="Train this many steps instead of the scale's own.")
    ] = None,
    as_json: Json = False,
) -> None:
    """Reproduce an experiment of the paper; the paper's numbers stand beside ours."""
    _need_torch()
    from unskew.experiments import load_experiment
    from unskew.experiments.figures import cost_figure
    from unskew.experiments.tables import result_tables
    from unskew.files import check_writable, write_text
    from unskew.report import check_picture, write_chart

    module = load_experiment(experiment)
    if output is not None:
        check_writable(output)
    if figure is not None:
        check_picture(figure, page=False)
    with progress(f"reproducing {experiment}", steps or module.steps(scale)) as advance:
        result = module.run(scale, work, _say(module, advance), steps)
    if output is not None:
        write_text(output, module.save(result))
    if figure is not None:
        write_chart(cost_figure(result["costs"]), figure)
    if as_json:
        typer.echo(json.dumps(result, indent=2))
        return
    from rich.console import Console

    console = Console(highlight=False)
    for table in result_tables(result):
        console.print(table)
    for label, path in (("result", output), ("figure", figure)):
        if path is not None:
            typer.echo(f"{label}: {path}")


def _say(module: Any, advance: Advance) -> Any:
    """Tell the stages of an experiment, and how its training goes, as progress."""
    done = 0

    def step(now: Any) -> None:
        nonlocal done
        advance(now.step - done, f"loss {now.loss:.3f}, {now.examples_per_second:,.0f} examples/s")
        done = now.step

    return module.Say(lambda stage: advance(0, stage), step)


def _print_scores(scores: dict[str, list[float]], as_json: bool) -> None:
    from unskew.models.scoring import Estimate

    mixture = [sum(each) / len(scores) for each in zip(*scores.values(), strict=True)]
    if len(scores) > 1:
        scores = {**scores, "equal mixture": mixture}
    if as_json:
        typer.echo(json.dumps(scores, indent=2))
        return
    for name, values in scores.items():
        estimate = Estimate.of([100 * value for value in values])
        spread = f" ± {estimate.half_width:.2f}" if len(values) > 1 else ""
        typer.echo(f"{name}: {estimate.mean:.2f} %{spread}")


def _read(name: str, max_length: int, n: int | None, seed: int) -> Expressions:
    from unskew.batch import concatenate
    from unskew.models.calculator import Expressions
    from unskew.targets import open_target

    # A built-in source keeps to expressions that the model can read.
    fits = (
        {"max_length": min(64, max_length)} if name in MIXTURE and not Path(name).exists() else {}
    )
    target = open_target(name, fits, seed=seed)
    batches = list(target.read(n))
    if not batches:
        raise UnskewError(f"{name} gave no examples; there is nothing to read")
    return Expressions.of(concatenate(batches), max_length)


def _read_all(names: list[str], max_length: int) -> Expressions:
    from unskew.models.calculator import joined
    from unskew.targets import open_target

    for name in names:
        if open_target(name).endless:
            raise UnskewError(f"{name} is a source without end; generate a dataset from it first")
    return joined([_read(name, max_length, None, 0) for name in names])


def _need_torch() -> None:
    missing = [name for name in ("torch", "safetensors") if find_spec(name) is None]
    if missing:
        raise UnskewError(f"this needs {' and '.join(missing)}; pip install 'unskew[train]'")
