"""How the command line trains Karel's model. Importing this module loads torch."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from unskew.cli.models.command import training_progress
from unskew.cli.options import read_settings, read_shown
from unskew.cli.printing import echo
from unskew.core.errors import UnskewError
from unskew.core.recipe import Recipe
from unskew.datasets.stream import excluded_share
from unskew.datasets.target import Target, open_recipe, open_target
from unskew.io.lookup import find_source
from unskew.models.karel.data.examples import read_held_out, read_tasks
from unskew.models.karel.data.feed import Mixture
from unskew.models.karel.network.synthesizer import SynthesizerConfig
from unskew.models.karel.train.run import Data, RunConfig, endless, fixed, is_finished, train
from unskew.models.karel.train.step import StepConfig, begun_with_differences
from unskew.models.options import TrainKarelOptions
from unskew.models.ranks import Ranks, join_ranks, leave_ranks


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
