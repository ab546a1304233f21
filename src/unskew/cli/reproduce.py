"""The command that repeats the experiments of the paper: reproduce."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Annotated, Any

import typer

from unskew.cli.options import Json
from unskew.cli.printing import draw, echo, print_json, terminal
from unskew.cli.progress import Advance, progress
from unskew.cli.requirements import need_torch
from unskew.cli.time_limit import time_limit
from unskew.core.errors import UnskewError, check_count, check_range, unknown
from unskew.experiments.say import Say

ALL, NONE, CALCULATOR = "all", "none", "calculator"
OF_CALCULATOR, OF_KAREL = "Only for the Calculator", "Only for Karel"


def reproduce(
    experiment: Annotated[
        str, typer.Argument(help="An experiment, or all. unskew list names the experiments.")
    ],
    scale: Annotated[
        str, typer.Option(help="Size of the experiment: smoke, small or full.")
    ] = "smoke",
    output: Annotated[
        Path | None,
        typer.Option(
            "-o",
            "--output",
            metavar="FILE",
            help="Write the result to this JSON file. For all, give a folder.",
        ),
    ] = None,
    report: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="Write one page with everything to this .html file."),
    ] = None,
    figure: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE",
            rich_help_panel=OF_CALCULATOR,
            help="Draw the figure to this .png or .svg file.",
        ),
    ] = None,
    work: Annotated[
        Path | None,
        typer.Option(
            metavar="FOLDER",
            help="Keep the training here. After a stop, the same command continues.",
        ),
    ] = None,
    only: Annotated[
        list[str] | None,
        typer.Option(
            metavar="MODEL",
            rich_help_panel=OF_KAREL,
            help="Train only this model: baseline, or baseline:1 for one seed, or none. Show the "
            "other models if --work has them. Repeatable.",
        ),
    ] = None,
    at_once: Annotated[
        int,
        typer.Option(
            metavar="N",
            rich_help_panel=OF_KAREL,
            help="Train N models at a time, each in its own process. One model does not fill a "
            "large GPU.",
        ),
    ] = 1,
    minutes: Annotated[
        float | None,
        typer.Option(
            help="Stop after so many minutes, and exit with 75 if work is left. The same command "
            "continues from --work."
        ),
    ] = None,
    steps: Annotated[
        int | None,
        typer.Option(
            rich_help_panel=OF_CALCULATOR, help="Number of training steps, instead of the scale's."
        ),
    ] = None,
    as_json: Json = False,
) -> None:
    """Repeat experiments of the paper, and show the paper's numbers next to ours."""
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
        from unskew.audits.report import write_chart
        from unskew.experiments.figures import cost_figure

        write_chart(cost_figure(results[experiment]["costs"]), figure)
    if report is not None:
        from unskew.experiments.page.facts import write_page

        write_page(list(results.values()), report)
    if as_json:
        print_json(results if experiment == ALL else results[experiment])
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
    """Refuse before the work what would fail after it."""
    from unskew.audits.report import check_picture
    from unskew.experiments import EXPERIMENTS, load_experiment
    from unskew.io.files import check_writable

    if experiment != ALL:
        load_experiment(experiment)
    for option, given in (("figure", figure), ("steps", steps)):
        if given is not None and experiment != CALCULATOR:
            raise UnskewError(f"--{option} is for the Calculator; leave it out of {experiment}")
    if only and experiment == CALCULATOR:
        raise UnskewError("--only is for Karel's models; leave it out of calculator")
    if only and work is None:
        raise UnskewError("--only needs a folder with earlier results; give --work")
    if work is not None and not work.is_dir() and (work.exists() or only == [NONE]):
        raise UnskewError(f"{work} has no earlier results; give another --work")
    if output is not None:
        for name in EXPERIMENTS if experiment == ALL else [""]:
            check_writable(output / f"{name}.json" if name else output)
    if figure is not None:
        check_picture(figure, page=False)
    if report is not None:
        if report.suffix.lower() != ".html":
            raise UnskewError(f"{report} is not a page; give a file that ends in .html")
        check_writable(report)


def _check_pace(experiment: str, work: Path | None, at_once: int, minutes: float | None) -> None:
    """Refuse a wrong number of processes or minutes before the work."""
    check_count("--at-once", at_once)
    if at_once > 1 and experiment == CALCULATOR:
        raise UnskewError("--at-once is for Karel's models; leave it out of calculator")
    if minutes is not None:
        check_range("--minutes", minutes, 0.01, 100_000)
        if work is None:
            raise UnskewError("--minutes needs a folder to continue from; give --work")


@contextmanager
def _folder(work: Path | None) -> Iterator[Path]:
    """Yield the named folder, or a temporary one."""
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
    """Run the experiments in order; those of Karel share their models."""
    from unskew.experiments import EXPERIMENTS, KAREL, load_experiment

    names = [experiment] if experiment != ALL else list(EXPERIMENTS)
    karel = [load_experiment(name) for name in names if name in KAREL]
    if only:
        _check_only(only, karel, scale)
    calculator = _calculator_known(work, scale, steps) if CALCULATOR in names else None
    lab = _lab(scale, work, only, karel) if karel else None
    if lab is not None and only == [NONE] and not calculator and not _knows(lab, karel):
        raise UnskewError(
            f"{work} has no results of scale {scale}; give the --work and --scale of an earlier run"
        )
    if lab is not None and at_once > 1:
        _train_at_once(lab, karel, only, at_once)
    for name in names:
        if name == CALCULATOR:
            if calculator or not only:
                yield name, calculator or _run_calculator(work, scale, steps)
            else:
                echo(
                    f"{work} has no Calculator of scale {scale}; the Calculator is left out",
                    err=True,
                )
        elif lab is not None:
            found = load_experiment(name)
            with progress(f"reproducing {name}", found.left(lab, only) or None) as advance:
                lab.say = _say(advance)
                result = found.run(lab, only)
            yield name, result  # after the progress bar is gone


def _calculator_known(work: Path, scale: str, steps: int | None) -> Any:
    """Return the Calculator's earlier result, if there is one."""
    from unskew.experiments import load_experiment

    return load_experiment(CALCULATOR).known(work, scale, steps)


def _run_calculator(work: Path, scale: str, steps: int | None) -> Any:
    """Run the Calculator's experiment, and keep its result."""
    from unskew.experiments import load_experiment

    found = load_experiment(CALCULATOR)
    with progress(f"reproducing {CALCULATOR}", steps or found.steps(scale)) as advance:
        result = found.run(scale, work / CALCULATOR, _say(advance), steps)
    found.keep(result, work)
    return result


def _knows(lab: Any, experiments: list[Any]) -> bool:
    """Return whether any part of the experiments has a result."""
    return any(lab.known(each) for found in experiments for each, _ in found.wanted(lab.scale))


def _lab(scale: str, work: Path, only: list[str] | None, experiments: list[Any]) -> Any:
    """Open the models that Karel's experiments share, unless training takes weeks here."""
    from unskew.experiments.karel.lab.lab import Lab
    from unskew.models.ranks import ALONE

    lab = Lab(scale, work / "karel")
    needs_gpu = scale == "full" and any(each.left(lab, only) for each in experiments)
    if needs_gpu and ALONE.device.type == "cpu":
        raise UnskewError(
            "--scale full trains models that need a GPU, and there is none; take --scale small, or "
            "add --only none to print the results in --work"
        )
    return lab


def _train_at_once(lab: Any, experiments: list[Any], only: list[str] | None, at_once: int) -> None:
    """Train and score the missing models, ``at_once`` at a time."""
    from unskew.experiments.karel.lab.lanes import jobs_of, run_lanes

    jobs = jobs_of(experiments, lab, only)
    if jobs:
        steps = sum(job.training.steps for job in jobs if not lab.can_tell(job.training, job.exams))
        with progress(f"reproducing {len(jobs)} models", steps or None) as advance:
            run_lanes(lab, jobs, at_once, lambda name: _say(advance, f"{name}: "))


def _check_only(only: list[str], experiments: list[Any], scale: str) -> None:
    """Refuse a model that no experiment has: nothing would be trained."""
    from unskew.experiments.karel.lab.scales import find_scale
    from unskew.experiments.karel.lab.trainings import seeds_of

    size = find_scale(scale)
    models = dict.fromkeys(model for each in experiments for model in each.models(size))
    seeds = [f"{model}:{seed}" for model in models for seed in seeds_of(model, size)]
    for name in only:
        if name not in (NONE, *models, *seeds):
            raise unknown("model", name, (NONE, *models, *seeds))


def _say(advance: Advance, name: str = "") -> Say:
    """Return what shows the stages and the training of an experiment as progress."""
    done = 0

    def stage(text: str) -> None:
        nonlocal done
        done = 0  # a stage trains another model
        advance(0, f"{name}{text}")

    def step(now: Any) -> None:
        nonlocal done
        speed = f"{now.examples_per_second:,.0f} examples/s"
        advance(max(0, now.step - done), f"{name}loss {now.loss:.3f}, {speed}")
        done = now.step

    return Say(stage, step)


def _write(result: dict[str, Any], output: Path | None, *, of_all: bool) -> None:
    from unskew.io.files import write_text

    if output is not None:
        path = output / f"{result['experiment']}.json" if of_all else output
        write_text(path, json.dumps(result, indent=1) + "\n")


def _print(result: dict[str, Any]) -> None:
    from unskew.experiments.tables import result_tables

    for table in result_tables(result, terminal()):
        draw(table)
