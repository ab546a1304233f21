"""How the command line scores runs of Karel. Importing this module loads torch."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import TypeAlias

from rich.table import Table

from unskew.audits.report import check_picture, write_chart
from unskew.audits.report.charts import heatmap
from unskew.cli.printing import draw, echo, print_json
from unskew.cli.progress import progress
from unskew.core.errors import UnskewError, check_range
from unskew.domains.karel.running.judge import Share
from unskew.models.karel.data.examples import read_scored
from unskew.models.karel.data.tasks import span
from unskew.models.karel.decode.beam import LARGEST_BEAM
from unskew.models.karel.score import Score, check_scored, score
from unskew.models.karel.train.run import load_synthesizer
from unskew.models.options import EvaluateKarelOptions
from unskew.models.ranks import ALONE
from unskew.models.samples import Sample

Scores: TypeAlias = Mapping[str, Mapping[str, Score]]  # by run, then by dataset


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
