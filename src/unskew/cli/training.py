"""Commands about models: train, evaluate, synthesize."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, TypeVar

import typer

from unskew.cli.data import (
    Exclude,
    Homogenize,
    Json,
    Seed,
    Settings,
    Trust,
    need_torch,
    read_settings,
)
from unskew.cli.printing import echo, print_json
from unskew.cli.progress import progress
from unskew.errors import UnskewError, check_range

if TYPE_CHECKING:
    from unskew.models.calculator import Expressions
    from unskew.models.samples import Sample

Number = TypeVar("Number", int, float)
MIXTURE = tuple(f"calculator/{name}" for name in ("t2t", "dcfg", "rcfg", "bal"))


def train(
    datasets: Annotated[
        list[str],
        typer.Argument(help="Datasets or files, one after another; for Karel also sources."),
    ],
    output: Annotated[Path, typer.Option("-o", "--output", help="Folder of the run.")],
    minutes: Annotated[
        float | None, typer.Option(help="Karel: train for so long; the rate falls to its end.")
    ] = None,
    steps: Annotated[
        int | None, typer.Option(help="Optimizer steps.", show_default="Calculator: 2,000")
    ] = None,
    batch: Annotated[
        int | None, typer.Option(help="Examples a step.", show_default="128, Karel: 2,048")
    ] = None,
    rate: Annotated[
        float | None, typer.Option(help="Peak learning rate.", show_default="0.002, Karel: 0.001")
    ] = None,
    seed: Seed = 0,
    hidden: Annotated[
        int | None, typer.Option(help="Calculator: size of the LSTM's state.", show_default="128")
    ] = None,
    seeds: Annotated[
        int | None,
        typer.Option(help="Calculator: models side by side, one a seed.", show_default="1"),
    ] = None,
    max_length: Annotated[
        int | None,
        typer.Option(help="Calculator: longest expression that is read.", show_default="64"),
    ] = None,
    shown: Annotated[
        str | None, typer.Option(help="Karel: pairs shown, 5, or 1-5: drawn anew for each batch.")
    ] = None,
    pair: Annotated[
        int | None, typer.Option(help="Karel: size of a pair's embedding.", show_default="512")
    ] = None,
    differences: Annotated[
        bool,
        typer.Option(
            "--differences",
            help="Karel: begin with weights that see what a program changed; the layer that "
            "embeds worlds learns slower.",
        ),
    ] = False,
    reuse: Annotated[
        int | None,
        typer.Option(help="Karel: how often each example of a stream is used.", show_default="1"),
    ] = None,
    workers: Annotated[
        int | None,
        typer.Option(
            help="Karel: processes that make a stream; with 0 it is made between the steps.",
            show_default="all cores but one",
        ),
    ] = None,
    exclude: Exclude = None,
    exclude_nothing: Annotated[
        bool,
        typer.Option(
            "--exclude-nothing",
            help="Karel: train on test programs too; without --exclude, those are left out.",
        ),
    ] = False,
    check: Annotated[
        str | None,
        typer.Option(help="Karel: what the run is checked with.", show_default="karel/msr-val"),
    ] = None,
    settings: Settings = None,
    homogenize: Homogenize = None,
    share: Annotated[
        list[int] | None,
        typer.Option(help="Karel: of several streams, how many parts are of each; in order."),
    ] = None,
    trust: Trust = False,
) -> None:
    """Train a model, the Calculator's or Karel's. Run again after a stop, it goes on."""
    need_torch()
    if _is_karel(datasets):
        from unskew.cli.karel_models import TrainOptions, train_karel
        from unskew.models.karel_reading import TEST_SETS

        _refuse("the Calculator", {"hidden": hidden, "seeds": seeds, "max-length": max_length})
        if exclude and exclude_nothing:
            raise UnskewError("--exclude and --exclude-nothing contradict each other; give one")
        excluded = () if exclude_nothing else tuple(exclude or TEST_SETS)
        options = TrainOptions(
            datasets, output, minutes, steps, _or(batch, 2048), _or(rate, 1e-3), seed,
            "5" if shown is None else shown, _or(pair, 512), differences, reuse, workers,
            excluded, check, read_settings(settings), tuple(homogenize or ()), tuple(share or ()),
            trust,
        )  # fmt: skip
        train_karel(options)
        return
    karels = {
        "minutes": minutes, "shown": shown, "pair": pair,
        "differences": differences or None, "reuse": reuse, "workers": workers,
        "exclude": exclude, "exclude-nothing": exclude_nothing or None, "check": check,
        "set": settings, "homogenize": homogenize, "share": share, "trust": trust or None,
    }  # fmt: skip
    _refuse("Karel", karels)
    _train_calculator(
        datasets, output, _or(steps, 2000), _or(batch, 128), _or(hidden, 128), _or(rate, 2e-3),
        _or(seeds, 1), seed, _or(max_length, 64),
    )  # fmt: skip


def _refuse(whose: str, options: dict[str, Any]) -> None:
    """Refuse what was given but is another domain's: it would be ignored without a word."""
    for name, value in options.items():
        if value is not None:
            raise UnskewError(f"--{name} is for {whose}; leave it out")


def _or(given: Number | None, default: Number) -> Number:
    return default if given is None else given


def _is_karel(names: list[str]) -> bool:
    """Whether what is named is of Karel; all of it must be of one domain."""
    from unskew.names import built_in_domain, find_recipe
    from unskew.recipe import Recipe
    from unskew.targets import open_target

    kinds = set()
    for name in names:
        if find_recipe(name) is not None:
            found = built_in_domain(name)
        elif name.endswith(".json"):
            found = built_in_domain(Recipe.read(Path(name), trust=False).source)
        else:
            found = open_target(name).domain
        kinds.add(found.name if found is not None else "")
    if len(kinds) > 1:
        raise UnskewError(f"{', '.join(names)} are of several domains; train on one")
    return kinds == {"karel"}


def _train_calculator(
    datasets: list[str],
    output: Path,
    steps: int,
    batch: int,
    hidden: int,
    rate: float,
    seeds: int,
    seed: int,
    max_length: int,
) -> None:
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
    echo(f"{len(examples):,} examples, {seeds} model(s) of {hidden} units, on {device}")
    done = 0
    with progress("training", steps) as advance:

        def report(now: Progress) -> None:
            nonlocal done
            note = f"loss {now.loss:.3f}, {now.examples_per_second:,.0f} examples/s"
            advance(now.step - done, note)
            done = now.step

        run(reader, config, data, output, report)
    echo(f"run: {output}" if done else f"run: {output} (it was finished already)")


def evaluate(
    run: Annotated[Path, typer.Argument(help="Folder of the run.")],
    targets: Annotated[
        list[str] | None,
        typer.Argument(
            help="Sources, datasets, files; for Karel also named recipes. Left out, the "
            "Calculator's equal mixture, or Karel's recreated original test set."
        ),
    ] = None,
    also: Annotated[
        list[Path] | None, typer.Option(help="Karel: another run beside it; repeatable.")
    ] = None,
    n: Annotated[
        int | None,
        typer.Option(
            "-n", help="Examples of each, evenly spaced.", show_default="all, of a source 10,000"
        ),
    ] = None,
    seed: Annotated[int, typer.Option("--seed", help="Seed of the sources' draws.")] = 10_000,
    beam: Annotated[
        int | None, typer.Option(help="Karel: candidates, 1 to 64.", show_default="8")
    ] = None,
    shown: Annotated[
        int | None,
        typer.Option(
            help="Karel: pairs shown.", show_default="5, or all of an example that has fewer"
        ),
    ] = None,
    by: Annotated[
        list[str] | None,
        typer.Option(
            "--by",
            metavar="VARIABLE",
            help="Karel: what generalizes by a variable of the domain, a column, or "
            "my_module:my_function; repeatable.",
        ),
    ] = None,
    heatmap: Annotated[
        Path | None, typer.Option(help="Karel: draw runs × datasets to this .png or .svg file.")
    ] = None,
    as_json: Json = False,
) -> None:
    """Score a run: what share of the examples it solves."""
    need_torch()
    if n is not None:
        check_range("n", n, 1)
    from unskew.models import karel_run
    from unskew.models.runs import settings as run_settings

    if run_settings(run).get("kind") == karel_run.KIND:
        _evaluate_karel(run, targets, also, n, seed, _or(beam, 8), shown, by, heatmap, as_json)
        return
    _refuse("Karel", {"also": also, "beam": beam, "shown": shown, "by": by, "heatmap": heatmap})
    from unskew.models.scoring import accuracies
    from unskew.models.training import best_device, load_readers

    model = load_readers(run, best_device())
    scores: dict[str, list[float]] = {}
    names = targets or list(MIXTURE)
    with progress("scoring", len(names)) as advance:
        for name in names:
            examples, sample = _read(name, model.config.max_length, n, seed)
            if sample.is_cut:
                echo(f"{name}: {len(examples):,} of {sample.of:,} examples", err=True)
            scores[name] = accuracies(model, examples).tolist()
            advance(1, name)
    _print_scores(scores, as_json)


def _evaluate_karel(
    run: Path,
    targets: list[str] | None,
    also: list[Path] | None,
    n: int | None,
    seed: int,
    beam: int,
    shown: int | None,
    by: list[str] | None,
    heatmap: Path | None,
    as_json: bool,
) -> None:
    from unskew.cli.karel_models import evaluate_karel, print_scores
    from unskew.report import check_picture, write_chart
    from unskew.report.charts import heatmap as draw

    if heatmap is not None:
        check_picture(heatmap, page=False)
    names = targets or ["karel/msr-test"]
    found = evaluate_karel([run, *(also or [])], names, n, seed, beam, shown, by or [])
    if as_json:
        plain = {at: {name: s.to_dict() for name, s in row.items()} for at, row in found.items()}
        print_json(plain)
    else:
        print_scores(found)
    if heatmap is not None:
        cells = [
            (name, at, each.shares["generalizes"].share)
            for at, row in found.items()
            for name, each in row.items()
        ]
        write_chart(draw(cells, "dataset", "run", "generalizes"), heatmap)
        echo(f"heatmap: {heatmap}", err=as_json)


def synthesize(
    problem: Annotated[
        Path, typer.Argument(help="A text file: one to five worlds before and after, as pictures.")
    ],
    run: Annotated[
        Path | None,
        typer.Option(help="A run, or a model's file.", show_default="the model that is shipped"),
    ] = None,
    beam: Annotated[int, typer.Option(help="Candidates, 1 to 64.")] = 64,
    top: Annotated[int, typer.Option(help="Programs to print at most.")] = 3,
    as_json: Json = False,
) -> None:
    """Find Karel programs that do what worlds before and after show; exit code 1 if none is."""
    need_torch()
    from unskew.cli.karel_models import synthesize_karel

    if synthesize_karel(problem, run, beam, top, as_json) == 0:
        raise typer.Exit(1)


def _print_scores(scores: dict[str, list[float]], as_json: bool) -> None:
    from unskew.models.scoring import Estimate

    mixture = [sum(each) / len(scores) for each in zip(*scores.values(), strict=True)]
    if len(scores) > 1:
        scores = {**scores, "equal mixture": mixture}
    if as_json:
        print_json(scores)
        return
    for name, values in scores.items():
        estimate = Estimate.of([100 * value for value in values])
        spread = f" ± {estimate.half_width:.2f}" if len(values) > 1 else ""
        echo(f"{name}: {estimate.mean:.2f} %{spread}")


def _read(name: str, max_length: int, n: int | None, seed: int) -> tuple[Expressions, Sample]:
    from unskew.models.calculator import Expressions
    from unskew.models.samples import read_sample
    from unskew.targets import open_target

    # A built-in source keeps to expressions that the model can read.
    fits = (
        {"max_length": min(64, max_length)} if name in MIXTURE and not Path(name).exists() else {}
    )
    sample = read_sample(open_target(name, fits, seed=seed), n)
    return Expressions.of(sample.examples, max_length), sample


def _read_all(names: list[str], max_length: int) -> Expressions:
    from unskew.models.calculator import joined
    from unskew.targets import open_target

    for name in names:
        if open_target(name).endless:
            raise UnskewError(f"{name} is a source without end; generate a dataset from it first")
    return joined([_read(name, max_length, None, 0)[0] for name in names])
