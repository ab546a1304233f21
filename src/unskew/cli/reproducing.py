"""The command that makes the paper's experiments again."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Annotated, Any

import typer

from unskew.cli.data import Json, need_torch
from unskew.cli.printing import draw, echo, print_json, terminal
from unskew.cli.progress import Advance, progress
from unskew.cli.stopping import time_limit
from unskew.errors import UnskewError, check_count, check_range, unknown
from unskew.experiments.saying import Say

ALL, NONE, CALCULATOR = "all", "none", "calculator"


def reproduce(
    experiment: Annotated[
        str, typer.Argument(help="The experiment, or all; unskew list names them.")
    ],
    scale: Annotated[str, typer.Option(help="smoke, small or full.")] = "smoke",
    output: Annotated[
        Path | None,
        typer.Option(
            "-o", "--output", help="Write the result to this JSON file; of all, a folder."
        ),
    ] = None,
    report: Annotated[
        Path | None, typer.Option(help="Write everything as one page to this .html file.")
    ] = None,
    figure: Annotated[
        Path | None, typer.Option(help="Calculator: draw the figure to this .png or .svg file.")
    ] = None,
    work: Annotated[
        Path | None,
        typer.Option(help="Keep the training here; after a stop the same command goes on."),
    ] = None,
    only: Annotated[
        list[str] | None,
        typer.Option(
            metavar="MODEL",
            help="Karel: train this model alone (baseline, or baseline:1 for one seed), or none; "
            "the rest as far as --work has it. Repeatable.",
        ),
    ] = None,
    at_once: Annotated[
        int,
        typer.Option(
            metavar="N",
            help="Karel: train so many models at a time, each in a process of its own; one does "
            "not fill a large GPU.",
        ),
    ] = 1,
    minutes: Annotated[
        float | None,
        typer.Option(
            help="Stop after so many, with exit code 75 unless all is done; the same command goes "
            "on from --work."
        ),
    ] = None,
    steps: Annotated[
        int | None, typer.Option(help="Calculator: train so many steps, not the scale's own.")
    ] = None,
    as_json: Json = False,
) -> None:
    """Reproduce experiments of the paper; the paper's numbers stand beside ours."""
    need_torch()
    _check(experiment, output, report, figure, work, only, steps)
    _check_pace(experiment, work, at_once, minutes)
    results: dict[str, dict[str, Any]] = {}
    with _folder(work) as folder, time_limit(minutes):
        for name, result in _results(experiment, scale, folder, only, steps, at_once):
            results[name] = result
            _write(result, output, of_all=experiment == ALL)
            if not as_json:
                _print(result)
    if figure is not None:
        from unskew.experiments.figures import cost_figure
        from unskew.report import write_chart

        write_chart(cost_figure(results[experiment]["costs"]), figure)
    if report is not None:
        from unskew.experiments.pages import write_page

        write_page(list(results.values()), report)
    if as_json:
        found = results if experiment == ALL else results[experiment]
        print_json(found)
    for label, path in (("result", output), ("figure", figure), ("report", report)):
        if path is not None:
            echo(f"{label}: {path}", err=as_json)


def _check(
    experiment: str,
    output: Path | None,
    report: Path | None,
    figure: Path | None,
    work: Path | None,
    only: list[str] | None,
    steps: int | None,
) -> None:
    """Say before the work, not after it, what cannot be done."""
    from unskew.experiments import EXPERIMENTS, load_experiment
    from unskew.files import check_writable
    from unskew.report import check_picture

    if experiment != ALL:
        load_experiment(experiment)
    for option, given in (("figure", figure), ("steps", steps)):
        if given is not None and experiment != CALCULATOR:
            raise UnskewError(f"--{option} is for the Calculator; leave it out of {experiment}")
    if only and experiment == CALCULATOR:
        raise UnskewError("--only is for Karel's models; leave it out of calculator")
    if only and work is None:
        raise UnskewError("--only goes on from what is in a folder; give --work")
    if work is not None and not work.is_dir() and (work.exists() or only == [NONE]):
        raise UnskewError(f"{work} is no folder in which anything was run; give another --work")
    if output is not None:
        for name in EXPERIMENTS if experiment == ALL else [""]:
            check_writable(output / f"{name}.json" if name else output)
    if figure is not None:
        check_picture(figure, page=False)
    if report is not None:
        if report.suffix.lower() != ".html":
            raise UnskewError(f"{report} is no page; give a file that ends in .html")
        check_writable(report)


def _check_pace(experiment: str, work: Path | None, at_once: int, minutes: float | None) -> None:
    """Say before the work what cannot be done in so many processes or minutes."""
    check_count("--at-once", at_once)
    if at_once > 1 and experiment == CALCULATOR:
        raise UnskewError("--at-once is for Karel's models; leave it out of calculator")
    if minutes is not None:
        check_range("--minutes", minutes, 0.01, 100_000)
        if work is None:
            raise UnskewError("--minutes stops what is gone on with in a folder; give --work")


@contextmanager
def _folder(work: Path | None) -> Iterator[Path]:
    """Give the folder that was named, or one that is gone afterwards."""
    if work is not None:
        yield work
        return
    with TemporaryDirectory(prefix="unskew-") as folder:
        yield Path(folder)


def _results(
    experiment: str,
    scale: str,
    work: Path,
    only: list[str] | None,
    steps: int | None,
    at_once: int,
) -> Iterator[tuple[str, dict[str, Any]]]:
    """Run one experiment after another; Karel's share what they train."""
    from unskew.experiments import EXPERIMENTS, KAREL, load_experiment

    names = [experiment] if experiment != ALL else list(EXPERIMENTS)
    karel = [load_experiment(name) for name in names if name in KAREL]
    if only:
        _check_only(only, karel, scale)
    calculator = _calculator_known(work, scale, steps) if CALCULATOR in names else None
    lab = _lab(scale, work, only, karel) if karel else None
    if lab is not None and only == [NONE] and not calculator and not _knows(lab, karel):
        raise UnskewError(
            f"{work} has nothing of scale {scale}; give the --work and --scale of what was run"
        )
    if lab is not None and at_once > 1:
        _train_at_once(lab, karel, only, at_once)
    for name in names:
        if name == CALCULATOR:
            if calculator or not only:
                yield name, calculator or _run_calculator(work, scale, steps)
            else:
                echo(f"{work} has no Calculator of scale {scale}; it is left out", err=True)
        elif lab is not None:
            found = load_experiment(name)
            with progress(f"reproducing {name}", found.left(lab, only) or None) as advance:
                lab.say = _say(advance)
                result = found.run(lab, only)
            yield name, result  # the bar is gone by now


def _calculator_known(work: Path, scale: str, steps: int | None) -> Any:
    """Return the Calculator's result where it was run already."""
    from unskew.experiments import load_experiment

    return load_experiment(CALCULATOR).known(work, scale, steps)


def _run_calculator(work: Path, scale: str, steps: int | None) -> Any:
    """Run the Calculator's experiment, and keep what it finds."""
    from unskew.experiments import load_experiment

    found = load_experiment(CALCULATOR)
    with progress(f"reproducing {CALCULATOR}", steps or found.steps(scale)) as advance:
        result = found.run(scale, work / CALCULATOR, _say(advance), steps)
    found.keep(result, work)
    return result


def _knows(lab: Any, experiments: list[Any]) -> bool:
    """Whether anything of some experiments was run."""
    return any(lab.known(each) for found in experiments for each, _ in found.wanted(lab.scale))


def _lab(scale: str, work: Path, only: list[str] | None, experiments: list[Any]) -> Any:
    """Open what Karel's experiments share, unless they would take weeks here."""
    from unskew.experiments.karel.lab import Lab
    from unskew.models.ranks import ALONE

    lab = Lab(scale, work / "karel")
    needs_gpu = scale == "full" and any(each.left(lab, only) for each in experiments)
    if needs_gpu and ALONE.device.type == "cpu":
        raise UnskewError(
            "--scale full trains models that need a GPU, and there is none; take --scale small, or "
            "print with --only none what is in --work"
        )
    return lab


def _train_at_once(lab: Any, experiments: list[Any], only: list[str] | None, at_once: int) -> None:
    """Train and score all models that are missing, so many at a time."""
    from unskew.experiments.karel.lanes import jobs_of, run_lanes

    jobs = jobs_of(experiments, lab, only)
    if jobs:
        steps = sum(job.training.steps for job in jobs if not lab.can_tell(job.training, job.exams))
        with progress(f"reproducing {len(jobs)} models", steps or None) as advance:
            run_lanes(lab, jobs, at_once, lambda name: _say(advance, f"{name}: "))


def _check_only(only: list[str], experiments: list[Any], scale: str) -> None:
    """Refuse a model that no experiment has: nothing would be trained, without a word."""
    from unskew.experiments.karel.scales import find_scale
    from unskew.experiments.karel.trainings import seeds_of

    size = find_scale(scale)
    models = dict.fromkeys(model for each in experiments for model in each.models(size))
    seeds = [f"{model}:{seed}" for model in models for seed in seeds_of(model, size)]
    for name in only:
        if name not in (NONE, *models, *seeds):
            raise unknown("model", name, (NONE, *models, *seeds))


def _say(advance: Advance, name: str = "") -> Say:
    """Tell the stages of an experiment, and how its training goes, as progress."""
    done = 0

    def stage(text: str) -> None:
        nonlocal done
        done = 0  # of the model that comes now
        advance(0, f"{name}{text}")

    def step(now: Any) -> None:
        nonlocal done
        speed = f"{now.examples_per_second:,.0f} examples/s"
        advance(max(0, now.step - done), f"{name}loss {now.loss:.3f}, {speed}")
        done = now.step

    return Say(stage, step)


def _write(result: dict[str, Any], output: Path | None, *, of_all: bool) -> None:
    from unskew.files import write_text

    if output is not None:
        path = output / f"{result['experiment']}.json" if of_all else output
        write_text(path, json.dumps(result, indent=1) + "\n")


def _print(result: dict[str, Any]) -> None:
    from unskew.experiments.tables import result_tables

    for table in result_tables(result, terminal()):
        draw(table)
