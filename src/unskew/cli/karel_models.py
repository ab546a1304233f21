"""What train, evaluate and synthesize do with Karel."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from unskew.cli.printing import draw, echo, print_json
from unskew.cli.progress import progress, told_if_long
from unskew.core.errors import UnskewError, check_range

if TYPE_CHECKING:
    from unskew.core.recipe import Recipe
    from unskew.models.karel.data.mixture import Mixture
    from unskew.models.karel.data.tasks import Tasks
    from unskew.models.karel.score import Score
    from unskew.models.karel.train.run import OpenBatches, Progress
    from unskew.models.karel.train.step import StepConfig
    from unskew.models.ranks import Ranks
    from unskew.models.samples import Sample

HELD_OUT = 512  # tasks that a run is checked with


@dataclass(frozen=True)
class TrainOptions:
    """What a command asks for."""

    datasets: list[str]
    output: Path
    minutes: float | None
    steps: int | None
    batch: int
    rate: float
    seed: int
    shown: str
    pair: int
    differences: bool
    reuse: int | None
    workers: int | None
    excluded: tuple[str, ...]
    check: str | None
    settings: Mapping[str, str]
    homogenize: tuple[str, ...]
    shares: tuple[int, ...]
    trust: bool


def train_karel(options: TrainOptions) -> None:
    """Train the synthesizer on datasets or on an endless stream."""
    from unskew.models.karel.network.synthesizer import SynthesizerConfig
    from unskew.models.karel.train.run import RunConfig, is_finished, train
    from unskew.models.karel.train.step import StepConfig, begun_with_differences
    from unskew.models.ranks import join_ranks, leave_ranks

    shown = read_shown(options.shown)
    if options.minutes is None and options.steps is None:
        raise UnskewError("say how long to train; give --minutes or --steps")
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


def read_shown(text: str) -> tuple[int, int]:
    """Read how many pairs are shown: 5, or 1-5 for any number from 1 to 5."""
    low, dash, high = text.partition("-")
    if not low.isdecimal() or (dash and not high.isdecimal()):
        raise UnskewError(f"--shown is {text!r}; give a number like 5, or a range like 1-5")
    first, last = int(low), int(high) if dash else int(low)
    if not 1 <= first <= last:
        raise UnskewError(f"--shown is {text!r}; give at least 1, and the smaller number first")
    return first, last


def _data(
    options: TrainOptions, step: StepConfig, ranks: Ranks
) -> tuple[OpenBatches, dict[str, Any]]:
    """Return how batches are opened, and what names the data in a run's settings."""
    from unskew.models.karel.data.examples import is_endless, read_tasks
    from unskew.models.karel.data.mixture import Mixture
    from unskew.models.karel.train.batches import endless, fixed

    streams = [name for name in options.datasets if name.endswith(".json") or is_endless(name)]
    if streams and len(streams) < len(options.datasets):
        raise UnskewError(f"{streams[0]} never ends; train on streams alone, or on datasets")
    if streams:
        mixture = Mixture.of([_stream_recipe(options, name) for name in streams], options.shares)
        reuse = 1 if options.reuse is None else options.reuse
        _say_streams(mixture, reuse, ranks)
        return endless(mixture, step, reuse=reuse, workers=options.workers, ranks=ranks)
    _refuse_of_streams(options)
    read = read_tasks(options.datasets, options.excluded)
    _say(ranks, f"{len(read.tasks):,} examples of {', '.join(read.names)}")
    if options.excluded:
        shared = f"{read.shared:,} programs ({read.left_out:,} examples)"
        _say(ranks, f"{shared} are left out: {', '.join(options.excluded)} have them")
    return fixed(read.tasks, step, ranks)


def _refuse_of_streams(options: TrainOptions) -> None:
    """Refuse what is said of streams where there is none: it would be ignored."""
    given = {
        "set": options.settings,
        "trust": options.trust,
        "homogenize": options.homogenize,
        "share": options.shares,
        "reuse": options.reuse is not None,
        "workers": options.workers is not None,
    }
    for name in (name for name, value in given.items() if value):
        raise UnskewError(f"--{name} is for sources without end; leave it out, or give a source")


def _say_streams(mixture: Mixture, reuse: int, ranks: Ranks) -> None:
    from unskew.datasets.stream import excluded_share

    sources = [recipe.source for recipe in mixture.recipes]
    if len(sources) > 1:
        sources = [f"{name} ({n})" for name, n in zip(sources, mixture.shares, strict=True)]
    named = " and ".join(sources)
    _say(ranks, f"an endless stream of {named}, each example used {_times(reuse)}")
    for recipe in mixture.recipes if ranks.first else ():
        if not recipe.exclude:
            _say(ranks, f"{recipe.source}: test programs and all")
            continue
        share = 100 * excluded_share(recipe)
        have = ", ".join(recipe.exclude)
        _say(
            ranks, f"{recipe.source}: about {share:.0f} % are left out: {have} have their programs"
        )


def _stream_recipe(options: TrainOptions, name: str) -> Recipe:
    from dataclasses import replace

    from unskew.core.recipe import Recipe
    from unskew.datasets.inputs import check_trusted
    from unskew.io.lookup import find_source

    if name.endswith(".json"):
        if options.settings or options.homogenize:
            raise UnskewError(f"{name} is a recipe and says it all; leave out --set, --homogenize")
        recipe = Recipe.read(Path(name), options.trust or (*options.excluded, name))
        check_trusted(recipe)
        return replace(recipe, exclude=tuple(dict.fromkeys((*recipe.exclude, *options.excluded))))
    chosen = find_source(name, options.settings).parameters
    parameters = {key: chosen[key] for key in options.settings}
    return Recipe(
        name, 1, parameters, homogenize=options.homogenize, seed=options.seed,
        exclude=options.excluded,
    )  # fmt: skip


def _held_out(options: TrainOptions) -> Tasks:
    """Return the tasks that a run is checked with: of a longer set, evenly spaced ones."""
    import numpy as np

    from unskew.domains.karel.examples import INPUTS, world_numbers
    from unskew.models.karel.data.examples import read_scored
    from unskew.models.karel.data.tasks import Tasks

    name = options.check or "karel/msr-val"
    examples = read_scored(name, HELD_OUT).examples
    pairs = np.unique(world_numbers(examples, INPUTS)).tolist()
    if len(pairs) > 1:
        raise UnskewError(
            f"--check is {name}, whose examples have {pairs[0]} to {pairs[-1]} pairs; give a "
            "dataset in which all have as many, like karel/msr-val"
        )
    return Tasks.of(examples)


def _times(reuse: int) -> str:
    return "once" if reuse == 1 else f"{reuse} times"


def _say(ranks: Ranks, text: str) -> None:
    if ranks.first:
        echo(text)


def _teller(advance: Callable[[int, str], None], total: int) -> Callable[[Progress], None]:
    done = 0

    def report(now: Progress) -> None:
        nonlocal done
        checked = "" if now.accuracy is None else f", {100 * now.accuracy:.1f} % solved"
        note = f"loss {now.loss:.3f}, {now.examples_per_second:,.0f} examples/s{checked}"
        reached = round(total * now.done)
        advance(reached - done, note)
        done = reached

    return report


def evaluate_karel(
    runs: Sequence[Path],
    names: Sequence[str],
    n: int | None,
    seed: int,
    beam: int,
    shown: int | None,
    by: Sequence[str],
) -> dict[str, dict[str, Score]]:
    """Score every run on every dataset: {run: {dataset: score}}."""
    from dataclasses import replace

    from unskew.models.karel.decode.beam import LARGEST_BEAM
    from unskew.models.karel.score import score

    check_range("beam", beam, 1, LARGEST_BEAM)
    models = {str(run): _model(run) for run in runs}
    samples = {name: _scored(name, n, seed, shown, by) for name in names}
    tasks = sum(len(sample.examples) for sample in samples.values())
    found: dict[str, dict[str, Score]] = {run: {} for run in models}
    with progress("scoring", len(models) * tasks) as advance:
        for run, model in models.items():
            for name, sample in samples.items():
                made = score(
                    model, sample.examples, beam,
                    shown=shown, by=by, advance=partial(advance, note=name),
                )  # fmt: skip
                found[run][name] = replace(made, of=sample.of)
    return found


def _scored(name: str, n: int | None, seed: int, shown: int | None, by: Sequence[str]) -> Sample:
    """Read what is scored; what is wrong with it is said before anything is decoded."""
    from unskew.models.karel.data.examples import read_scored
    from unskew.models.karel.score import check_scored

    sample = read_scored(name, n, seed)
    try:
        check_scored(sample.examples, shown, by)
    except UnskewError as error:
        raise UnskewError(f"{name}: {error}") from error
    return sample


def print_scores(scores: Mapping[str, Mapping[str, Score]]) -> None:
    """Print what share is solved, the runs beside each other, and then by variable."""
    from rich.table import Table

    datasets = list(next(iter(scores.values())))
    for dataset in datasets:
        first = next(iter(scores.values()))[dataset]
        table = Table(title=f"{dataset}: {_title(first)}", title_justify="left")
        table.add_column("solved")
        for run in scores:
            table.add_column(run, justify="right")
        for name in first.shares:
            table.add_row(name, *(_percent(each[dataset].shares[name]) for each in scores.values()))
        for variable, rows in first.by.items():
            table.add_section()
            for at, (value, _) in enumerate(rows):
                cells = (_percent(each[dataset].by[variable][at][1]) for each in scores.values())
                table.add_row(f"{variable} {value}", *cells)
        draw(table)


def _title(score: Score) -> str:
    """Say what was scored: how many tasks of how many, and what of them was shown."""
    tasks = f"{score.tasks:,}"
    if score.of is not None and score.tasks < score.of:
        tasks = f"{tasks} of {score.of:,}"
    low, high = score.shown_range
    pairs = "1 pair" if high == 1 else f"{_range(low, high)} pairs"
    held_out = _range(*score.held_out) if score.held_out[1] else "none"
    return f"{tasks} tasks, {pairs} shown, {held_out} held out, beam {score.beam}"


def _range(low: int, high: int) -> str:
    return f"{low}" if low == high else f"{low} to {high}"


def _percent(share: Any) -> str:
    low, high = share.interval
    return f"{100 * share.share:.1f} % ({100 * low:.1f} to {100 * high:.1f})"


def synthesize_karel(problem: Path, run: Path | None, beam: int, top: int, as_json: bool) -> int:
    """Print programs that do what a problem's pairs show; return how many there are."""
    found = _synthesized(problem, run, beam, top)
    if as_json:
        print_json(found)
    else:
        _print_programs(found)
    return int(found["found"])


def _synthesized(problem: Path, run: Path | None, beam: int, top: int) -> dict[str, Any]:
    """Return the programs as plain data, the best first, and what finding them took."""
    import numpy as np

    from unskew.domains.karel.formats.problems import read_problem
    from unskew.domains.karel.language.syntax import to_readable, to_tokens
    from unskew.io.files import plain_errors
    from unskew.models.karel.data.tasks import Tasks
    from unskew.models.karel.decode.beam import LARGEST_BEAM
    from unskew.models.karel.decode.solve import solve, warm_up
    from unskew.models.karel.train.run import shipped_synthesizer

    check_range("top", top, 1, LARGEST_BEAM)
    check_range("beam", beam, 1, LARGEST_BEAM)
    with plain_errors(problem, reading=True):
        text = problem.read_text(encoding="utf-8", errors="replace")
    task = read_problem(text, str(problem))
    check_range("pairs", len(task.inputs), 1, 5, step="give one to five pairs of worlds")
    began = time.perf_counter()
    with told_if_long("compiling; the first use on a machine takes longer"):
        model = _model(run) if run is not None else shipped_synthesizer()
        warm_up(model)
    ready = time.perf_counter()
    worlds = np.stack([task.inputs, task.outputs], axis=1)[None]
    tasks = Tasks.of_arrays(np.zeros((1, 1), np.uint8), worlds)
    solved = solve(model, tasks, beam, shown=len(task.inputs))
    took = time.perf_counter() - ready
    good = np.flatnonzero(solved.judged.consistent[0])
    programs = [
        {
            "rank": rank,
            "candidate": place + 1,
            "log_probability": float(solved.scores[0, place]),
            "program": to_tokens(solved.programs[0, place]),
            "text": to_readable(solved.programs[0, place]),
        }
        for rank, place in enumerate(good[:top].tolist(), start=1)
    ]
    return {
        "problem": str(problem),
        "pairs": len(task.inputs),
        "beam": beam,
        "tried": int(solved.judged.valid.sum()),
        "found": len(good),
        "seconds": took,
        "load_seconds": ready - began,
        "programs": programs,
    }


def _print_programs(found: Mapping[str, Any]) -> None:
    for each in found["programs"]:
        place = f"candidate {each['candidate']} of {found['beam']}"
        echo(f"# {each['rank']}: {place}, log-probability {each['log_probability']:.2f}")
        echo(each["text"] + "\n")
    k, tried = found["pairs"], found["tried"]
    asked = "the pair shows" if k == 1 else f"all {k} pairs show"
    said = f"{found['found']} of {tried} candidates do what {asked}"
    if found["found"] == 0:
        said = f"none found: no candidate of {tried} does what {asked}"
    seconds, load = found["seconds"], found["load_seconds"]
    echo(f"{said} ({seconds:.1f} s, and {load:.1f} s to load)")


def _model(run: Path) -> Any:
    from unskew.models.karel.train.run import load_synthesizer
    from unskew.models.ranks import ALONE

    return load_synthesizer(run, ALONE.device)
