"""How the command line trains Karel's model."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

from unskew.cli.options import read_settings, read_shown
from unskew.cli.printing import echo
from unskew.cli.progress import progress
from unskew.core.errors import UnskewError

if TYPE_CHECKING:
    from unskew.core.recipe import Recipe
    from unskew.models.karel.data.mixture import Mixture
    from unskew.models.karel.data.tasks import Tasks
    from unskew.models.karel.options import TrainOptions
    from unskew.models.karel.train.run import OpenBatches
    from unskew.models.karel.train.step import StepConfig
    from unskew.models.ranks import Ranks
    from unskew.models.training import Progress

HELD_OUT = 512  # number of tasks that check a run


def train_karel(options: TrainOptions) -> None:
    """Train the synthesizer on datasets, or on endless streams."""
    from unskew.models.karel.network.synthesizer import SynthesizerConfig
    from unskew.models.karel.train.run import RunConfig, is_finished, train
    from unskew.models.karel.train.step import StepConfig, begun_with_differences
    from unskew.models.ranks import join_ranks, leave_ranks

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
        open_batches, data = _data(options, step, ranks)
        if is_finished(config, data, options.output, ranks):
            _say(ranks, f"run: {options.output} (it was finished already)")
            return
        held_out = _held_out(options) if ranks.first else None
        total = options.steps or max(1, round(60 * (options.minutes or 0)))
        label = "training, steps" if options.steps else "training, seconds"
        with progress(label, total) as advance:
            report = _teller(advance, total)
            train(
                config, open_batches, data, options.output,
                held_out=held_out, ranks=ranks, report=report,
            )  # fmt: skip
        _say(ranks, f"run: {options.output}")
    finally:
        leave_ranks(ranks)


def _data(
    options: TrainOptions, step: StepConfig, ranks: Ranks
) -> tuple[OpenBatches, dict[str, Any]]:
    """Return how to open the batches, and the entry for the data in the run's settings."""
    from unskew.models.karel.data.examples import is_endless, read_tasks
    from unskew.models.karel.data.mixture import Mixture
    from unskew.models.karel.train.batches import endless, fixed

    streams = [name for name in options.datasets if name.endswith(".json") or is_endless(name)]
    if streams and len(streams) < len(options.datasets):
        raise UnskewError(f"{streams[0]} never ends; train on streams only, or on datasets only")
    if streams:
        mixture = Mixture.of([_stream_recipe(options, name) for name in streams], options.shares)
        reuse = 1 if options.reuse is None else options.reuse
        _say_streams(mixture, reuse, ranks)
        return endless(mixture, step, reuse=reuse, workers=options.workers, ranks=ranks)
    _refuse_stream_options(options)
    read = read_tasks(options.datasets, options.excluded)
    _say(ranks, f"{len(read.tasks):,} examples of {', '.join(read.names)}")
    if options.excluded:
        shared = f"{read.shared:,} programs ({read.left_out:,} examples)"
        _say(ranks, f"{shared} are left out, because they are in {', '.join(options.excluded)}")
    return fixed(read.tasks, step, ranks)


def _refuse_stream_options(options: TrainOptions) -> None:
    """Refuse options for streams if there is no stream: they would have no effect."""
    given = {
        "set": options.settings,
        "homogenize": options.homogenize,
        "share": options.shares,
        "reuse": options.reuse is not None,
        "workers": options.workers is not None,
        "trust": options.trust,
    }
    for name in (name for name, value in given.items() if value):
        raise UnskewError(
            f"--{name} is for sources without end; leave it out, or train on a source"
        )


def _say_streams(mixture: Mixture, reuse: int, ranks: Ranks) -> None:
    """Print the streams, and about how much of each is left out."""
    from unskew.datasets.stream import excluded_share

    sources = [recipe.source for recipe in mixture.recipes]
    if len(sources) > 1:
        sources = [f"{name} ({n})" for name, n in zip(sources, mixture.shares, strict=True)]
    named = " and ".join(sources)
    _say(ranks, f"an endless stream of {named}, each example used {_times(reuse)}")
    for recipe in mixture.recipes if ranks.first else ():
        if not recipe.exclude:
            _say(ranks, f"{recipe.source}: programs of the test sets are not left out")
            continue
        share = 100 * excluded_share(recipe)
        where = ", ".join(recipe.exclude)
        _say(
            ranks,
            f"{recipe.source}: about {share:.0f} % of the examples are left out, because their "
            f"programs are in {where}",
        )


def _stream_recipe(options: TrainOptions, name: str) -> Recipe:
    """Return the recipe of a stream, without the programs that training leaves out."""
    from dataclasses import replace

    from unskew.core.recipe import Recipe
    from unskew.datasets.inputs import check_trusted
    from unskew.io.lookup import find_source

    settings = read_settings(options.settings)
    if name.endswith(".json"):
        if settings or options.homogenize:
            raise UnskewError(
                f"{name} is a recipe and has all settings; leave out --set and --homogenize"
            )
        recipe = Recipe.read(Path(name), options.trust or (*options.excluded, name))
        check_trusted(recipe)
        return replace(recipe, exclude=tuple(dict.fromkeys((*recipe.exclude, *options.excluded))))
    chosen = find_source(name, settings).parameters
    return Recipe(
        name, 1, {key: chosen[key] for key in settings},
        homogenize=options.homogenize, seed=options.seed, exclude=options.excluded,
    )  # fmt: skip


def _held_out(options: TrainOptions) -> Tasks:
    """Return the tasks that check a run, evenly spaced if the dataset has more."""
    import numpy as np

    from unskew.domains.karel.examples import INPUTS, world_numbers
    from unskew.models.karel.data.examples import read_scored
    from unskew.models.karel.data.tasks import Tasks

    name = options.check
    examples = read_scored(name, HELD_OUT).examples
    pairs = np.unique(world_numbers(examples, INPUTS)).tolist()
    if len(pairs) > 1:
        raise UnskewError(
            f"--check is {name}, whose examples have {pairs[0]} to {pairs[-1]} pairs; give a "
            "dataset whose examples all have the same number, like karel/msr-val"
        )
    return Tasks.of(examples)


def _times(reuse: int) -> str:
    return "once" if reuse == 1 else f"{reuse} times"


def _say(ranks: Ranks, text: str) -> None:
    """Print a text once, however many processes train."""
    if ranks.first:
        echo(text)


def _teller(advance: Callable[[int, str], None], total: int) -> Callable[[Progress], None]:
    """Return a function that shows how far the training is."""
    done = 0

    def report(now: Progress) -> None:
        nonlocal done
        checked = "" if now.accuracy is None else f", {100 * now.accuracy:.1f} % solved"
        note = f"loss {now.loss:.3f}, {now.examples_per_second:,.0f} examples/s{checked}"
        reached = round(total * now.done)
        advance(reached - done, note)
        done = reached

    return report
