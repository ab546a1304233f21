"""How the command line trains and scores Karel's model. Importing this module loads torch."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TypeAlias

from rich.table import Table

from unskew.audits.report import check_picture, write_chart
from unskew.audits.report.charts import heatmap
from unskew.cli.models.command import training_progress
from unskew.cli.options import read_settings, read_shown
from unskew.cli.printing import draw, echo, print_json
from unskew.cli.progress import progress
from unskew.core.errors import UnskewError, check_range
from unskew.core.recipe import Recipe
from unskew.datasets.open import open_recipe, open_target
from unskew.datasets.stream import excluded_share
from unskew.datasets.target import Target
from unskew.domains.karel.running.judge import Share
from unskew.io.lookup import find_source
from unskew.models.karel.data.examples import read_held_out, read_scored, read_tasks
from unskew.models.karel.data.feed import Mixture
from unskew.models.karel.data.tasks import span
from unskew.models.karel.decode.beam import LARGEST_BEAM
from unskew.models.karel.network.synthesizer import SynthesizerConfig
from unskew.models.karel.score import Score, check_scored, score
from unskew.models.karel.train.run import (
    Data,
    RunConfig,
    endless,
    fixed,
    is_finished,
    load_synthesizer,
    train,
)
from unskew.models.karel.train.step import StepConfig, begun_with_differences
from unskew.models.options import EvaluateKarelOptions, TrainKarelOptions
from unskew.models.ranks import ALONE, Ranks, join_ranks, leave_ranks
from unskew.models.samples import Sample

Scores: TypeAlias = Mapping[str, Mapping[str, Score]]  # by run, then by dataset


def train_karel(options: TrainKarelOptions) -> None:
    """Train the synthesizer on datasets, or on endless streams."""
    shown = read_shown(options.shown)
    if options.minutes is None and options.steps is None:
        raise UnskewError("the length of the training is missing; give --minutes or --steps")
    step = StepConfig(options.batch, shown, options.rate, seed=options.seed)
    model = SynthesizerConfig(pair=options.pair, seed=options.seed)
    if options.differences:
        model, step = begun_with_differences(model, step)
    config = RunConfig(model, step, options.minutes, options.steps)
    ranks = join_ranks()
    try:
        open_batches, data = _open_data(options, step, ranks)
        if is_finished(config, data, options.output, ranks):
            _say(ranks, f"run: {options.output} (it was finished already)")
            return
        held_out = read_held_out(options.check) if ranks.first else None
        unit, total = "steps", options.steps
        if total is None:
            unit, total = "seconds", max(1, round(60 * (options.minutes or 0)))
        with training_progress(f"training, {unit}", total) as report:
            train(
                config, open_batches, data, options.output,
                held_out=held_out, ranks=ranks, report=report,
            )  # fmt: skip
        _say(ranks, f"run: {options.output}")
    finally:
        leave_ranks(ranks)


def _open_data(options: TrainKarelOptions, step: StepConfig, ranks: Ranks) -> Data:
    """Return the data of the run: endless streams, or a fixed set of tasks."""
    streams = [name for name in options.datasets if _is_stream(open_target(name))]
    if streams and len(streams) < len(options.datasets):
        raise UnskewError(f"{streams[0]} never ends; train on streams only, or on datasets only")
    if streams:
        mixture = Mixture.of([_stream_recipe(options, name) for name in streams], options.shares)
        reuse = 1 if options.reuse is None else options.reuse
        if ranks.first:
            _describe_streams(mixture, reuse)
        return endless(mixture, step, reuse=reuse, workers=options.workers, ranks=ranks)
    _refuse_stream_options(options)
    data = read_tasks(options.datasets, options.excluded)
    _say(ranks, f"{len(data.tasks):,} examples of {', '.join(options.datasets)}")
    if options.excluded:
        shared = f"{data.shared:,} programs ({data.left_out:,} examples)"
        _say(ranks, f"{shared} are left out, because they are in {', '.join(options.excluded)}")
    return fixed(data.tasks, step, ranks)


def _is_stream(target: Target) -> bool:
    """Return whether training draws new examples for ever: from a source, or the recipe of a file.

    A recipe that has a name is a dataset: its examples are made once.
    """
    return target.endless or Path(target.label).suffix == ".json"


def _refuse_stream_options(options: TrainKarelOptions) -> None:
    """Refuse options for streams if there is no stream: they would have no effect."""
    for_streams = {
        "set": options.settings,
        "homogenize": options.homogenize,
        "share": options.shares,
        "reuse": options.reuse is not None,
        "workers": options.workers is not None,
        "trust": options.trust,
    }
    for name, is_given in for_streams.items():
        if is_given:
            raise UnskewError(
                f"--{name} is for sources without end; leave it out, or train on a source"
            )


def _describe_streams(mixture: Mixture, reuse: int) -> None:
    """Print the streams, and about how much of each is left out."""
    sources = [recipe.source for recipe in mixture.recipes]
    if len(sources) > 1:
        sources = [f"{name} ({n})" for name, n in zip(sources, mixture.shares, strict=True)]
    times = "once" if reuse == 1 else f"{reuse} times"
    echo(f"an endless stream of {' and '.join(sources)}, each example used {times}")
    for recipe in mixture.recipes:
        left_out = "programs of the test sets are not left out"
        if recipe.exclude:
            left_out = (
                f"about {100 * excluded_share(recipe):.0f} % of the examples are left out, because "
                f"their programs are in {', '.join(recipe.exclude)}"
            )
        echo(f"{recipe.source}: {left_out}")


def _stream_recipe(options: TrainKarelOptions, name: str) -> Recipe:
    """Return the recipe of a stream, without the programs that training leaves out."""
    settings = read_settings(options.settings)
    recipe = open_target(name, trust=options.trust or (*options.excluded, name)).recipe
    if recipe is not None:
        if settings or options.homogenize:
            raise UnskewError(
                f"{name} is a recipe and has all settings; leave out --set and --homogenize"
            )
        open_recipe(recipe)  # refuses names that it does not trust
        return replace(recipe, exclude=tuple(dict.fromkeys((*recipe.exclude, *options.excluded))))
    chosen = find_source(name, settings).parameters
    return Recipe(
        name, 1, {key: chosen[key] for key in settings},
        homogenize=options.homogenize, seed=options.seed, exclude=options.excluded,
    )  # fmt: skip


def _say(ranks: Ranks, text: str) -> None:
    """Print a text once, in the first of the processes that train."""
    if ranks.first:
        echo(text)


def evaluate_karel(
    run: Path,
    names: Sequence[str],
    n: int | None,
    seed: int,
    options: EvaluateKarelOptions,
    as_json: bool,
) -> None:
    """Print the scores of a run and of the runs in ``--also``, and draw a heatmap if asked for."""
    if options.heatmap is not None:
        check_picture(options.heatmap, page=False)
    scores = _scores([run, *options.also], names, n, seed, options)
    if as_json:
        print_json({run: {k: s.to_dict() for k, s in row.items()} for run, row in scores.items()})
    else:
        _print_scores(scores)
    if options.heatmap is not None:
        _draw_heatmap(scores, options.heatmap)
        echo(f"heatmap: {options.heatmap}", err=as_json)


def _scores(
    runs: Sequence[Path],
    names: Sequence[str],
    n: int | None,
    seed: int,
    options: EvaluateKarelOptions,
) -> Scores:
    """Score every run on every dataset."""
    check_range("beam", options.beam, 1, LARGEST_BEAM)
    models = {str(run): load_synthesizer(run, ALONE.device) for run in runs}
    samples = {name: _sample(name, n, seed, options) for name in names}
    tasks = sum(len(sample.examples) for sample in samples.values())
    scores: dict[str, dict[str, Score]] = {run: {} for run in models}
    with progress("scoring", len(models) * tasks) as advance:
        for run, model in models.items():
            for name, sample in samples.items():
                scores[run][name] = score(
                    model, sample.examples, options.beam, shown=options.shown, by=options.by,
                    of=sample.of, advance=partial(advance, note=name),
                )  # fmt: skip
    return scores


def _sample(name: str, n: int | None, seed: int, options: EvaluateKarelOptions) -> Sample:
    """Return the examples of a target; refuse wrong ones before anything is decoded."""
    sample = read_scored(name, n, seed)
    try:
        check_scored(sample.examples, options.shown, options.by)
    except UnskewError as error:
        raise UnskewError(f"{name}: {error}") from error
    return sample


def _draw_heatmap(scores: Scores, path: Path) -> None:
    """Draw the share that generalizes, of each run on each dataset."""
    cells = [
        (name, run, score.shares["generalizes"].share)
        for run, row in scores.items()
        for name, score in row.items()
    ]
    write_chart(heatmap(cells, "dataset", "run", "generalizes"), path)


def _print_scores(scores: Scores) -> None:
    """Print a table for each dataset, with a column for each run and sections by variable."""
    datasets = list(next(iter(scores.values())))
    for dataset in datasets:
        first = next(iter(scores.values()))[dataset]
        table = Table(title=f"{dataset}: {_title(first)}", title_justify="left")
        table.add_column("solved")
        for run in scores:
            table.add_column(run, justify="right")
        for name in first.shares:
            table.add_row(name, *(_percent(row[dataset].shares[name]) for row in scores.values()))
        for variable, values in first.by.items():
            table.add_section()
            for at, (value, _) in enumerate(values):
                cells = (_percent(row[dataset].by[variable][at][1]) for row in scores.values())
                table.add_row(f"{variable} {value}", *cells)
        draw(table)


def _title(score: Score) -> str:
    """Return how many tasks were scored, and how many pairs of each were shown."""
    tasks = f"{score.tasks:,}"
    if score.of is not None and score.tasks < score.of:
        tasks = f"{tasks} of {score.of:,}"
    low, high = score.shown_range
    pairs = "1 pair" if high == 1 else f"{span(low, high)} pairs"
    held_out = span(*score.held_out) if score.held_out[1] else "none"
    return f"{tasks} tasks, {pairs} shown, {held_out} held out, beam {score.beam}"


def _percent(share: Share) -> str:
    low, high = share.interval
    return f"{100 * share.share:.1f} % ({100 * low:.1f} to {100 * high:.1f})"
