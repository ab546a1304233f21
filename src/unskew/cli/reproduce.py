"""The command that repeats the experiments of the paper: reproduce."""

from __future__ import annotations

import os
import signal
import threading
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Annotated, Any

import typer

from unskew.cli.models.command import PANELS, need_torch
from unskew.cli.options import Json, option
from unskew.cli.printing import draw, echo, print_json, terminal
from unskew.cli.progress import Advance, call_after, progress
from unskew.core.errors import UnskewError, check_count, check_range, unknown
from unskew.experiments.say import Say

AGAIN = 75  # the exit code that means: run it again (EX_TEMPFAIL of sysexits)
ALL, NONE, WITH_FIGURE = "all", "none", "calculator"
OF_CALCULATOR, OF_KAREL = PANELS["calculator"], PANELS["karel"]


@dataclass(frozen=True)
class Order:
    """What to reproduce, as the options say it."""

    experiment: str
    scale: str
    work: Path | None
    only: list[str] | None
    at_once: int
    steps: int | None


def reproduce(
    experiment: Annotated[
        str, typer.Argument(help="An experiment, or all. unskew list names the experiments.")
    ],
    scale: Annotated[str, option("Size of the experiment: smoke, small or full.")] = "smoke",
    output: Annotated[
        Path | None,
        option(
            "Write the result to this JSON file. For all, give a folder.",
            "-o",
            "--output",
            metavar="FILE",
        ),
    ] = None,
    report: Annotated[
        Path | None, option("Write one page with everything to this .html file.", metavar="FILE")
    ] = None,
    figure: Annotated[
        Path | None,
        option("Draw the figure to this .png or .svg file.", metavar="FILE", panel=OF_CALCULATOR),
    ] = None,
    work: Annotated[
        Path | None,
        option(
            "Keep the training here. After a stop, the same command continues.", metavar="FOLDER"
        ),
    ] = None,
    only: Annotated[
        list[str] | None,
        option(
            "Train only this model: baseline, or baseline:1 for one seed, or none. Show the other "
            "models if --work has them. Repeatable.",
            metavar="MODEL",
            panel=OF_KAREL,
        ),
    ] = None,
    at_once: Annotated[
        int,
        option(
            "Train N models at a time, each in its own process. One model does not fill a large "
            "GPU.",
            metavar="N",
            panel=OF_KAREL,
        ),
    ] = 1,
    minutes: Annotated[
        float | None,
        option(
            "Stop after this many minutes, and exit with 75 if work is left. The same command "
            "continues from --work."
        ),
    ] = None,
    steps: Annotated[
        int | None,
        option("Number of training steps, instead of the scale's.", panel=OF_CALCULATOR),
    ] = None,
    as_json: Json = False,
) -> None:
    """Repeat experiments of the paper, and show the paper's numbers next to ours."""
    from unskew.experiments.terminal import result_tables
    from unskew.models.runs import write_json

    need_torch()
    order = Order(experiment, scale, work, only or None, at_once, steps)
    _check(order, minutes)
    _check_files(order, output, report, figure)
    results: dict[str, dict[str, Any]] = {}
    place: AbstractContextManager[Path | str]
    place = nullcontext(work) if work else TemporaryDirectory(prefix="unskew-")
    with place as folder, time_limit(minutes):
        for name, result in _results(order, Path(folder)):
            results[name] = result
            if output is not None:
                write_json(output / f"{name}.json" if experiment == ALL else output, result)
            if not as_json:
                for table in result_tables(result, terminal()):
                    draw(table)
    if figure is not None:
        from unskew.audits.report import write_chart
        from unskew.experiments.page.calculator import cost_figure

        write_chart(cost_figure(results[experiment]["costs"]), figure)
    if report is not None:
        from unskew.experiments.page.page import write_page

        write_page(list(results.values()), report)
    if as_json:
        print_json(results if experiment == ALL else results[experiment])
    for label, path in (("result", output), ("figure", figure), ("report", report)):
        if path is not None:
            echo(f"{label}: {path}", err=as_json)


@contextmanager
def time_limit(minutes: float | None) -> Iterator[None]:
    """Stop the block after this many minutes. It saves what it also saves after Ctrl-C."""
    if minutes is None:
        yield
        return
    is_over = threading.Event()

    def end() -> None:
        is_over.set()
        os.kill(os.getpid(), signal.SIGINT)

    try:
        with call_after(60 * minutes, end):
            yield
    except UnskewError:
        raise
    except BaseException as error:  # a library may replace the interrupt by its own error
        if not is_over.is_set():
            raise
        echo(f"stopped after {minutes:g} minutes; run the same command again to continue", err=True)
        raise typer.Exit(AGAIN) from error


def _check(order: Order, minutes: float | None) -> None:
    """Refuse options that do not fit together before the work begins."""
    from unskew.experiments import CALCULATOR, load_experiment

    if order.experiment != ALL:
        load_experiment(order.experiment)
    if order.steps is not None and order.experiment not in CALCULATOR:
        raise UnskewError(f"--steps is for the Calculator; leave it out of {order.experiment}")
    check_count("--at-once", order.at_once)
    for name, is_given in (("only", bool(order.only)), ("at-once", order.at_once > 1)):
        if is_given and order.experiment in CALCULATOR:
            raise UnskewError(f"--{name} is for Karel's models; leave it out of {order.experiment}")
    work = order.work
    if order.only and work is None:
        raise UnskewError("--only needs a folder with earlier results; give --work")
    if work is not None and not work.is_dir() and (work.exists() or order.only == [NONE]):
        raise UnskewError(f"{work} has no earlier results; give another --work")
    if minutes is not None:
        check_range("--minutes", minutes, 0.01, 100_000)
        if work is None:
            raise UnskewError("--minutes needs a folder to continue from; give --work")


def _check_files(
    order: Order, output: Path | None, report: Path | None, figure: Path | None
) -> None:
    """Refuse files that cannot be written before the work begins."""
    from unskew.audits.report import check_picture
    from unskew.experiments import EXPERIMENTS
    from unskew.io.files import check_writable

    if figure is not None and order.experiment != WITH_FIGURE:
        raise UnskewError(f"--figure is for the Calculator; leave it out of {order.experiment}")
    if output is not None:
        for name in EXPERIMENTS if order.experiment == ALL else [""]:
            check_writable(output / f"{name}.json" if name else output)
    if figure is not None:
        check_picture(figure, page=False)
    if report is not None:
        if report.suffix.lower() != ".html":
            raise UnskewError(f"{report} is not a page; give a file that ends in .html")
        check_writable(report)


def _results(order: Order, work: Path) -> Iterator[tuple[str, dict[str, Any]]]:
    """Yield the results of the experiments by name; those of Karel share their models."""
    from unskew.experiments import CALCULATOR, EXPERIMENTS, KAREL, load_experiment

    names = EXPERIMENTS if order.experiment == ALL else (order.experiment,)
    karel = {name: load_experiment(name) for name in names if name in KAREL}
    trainings: list[Any] = []
    if karel:
        from unskew.experiments.karel.lab.scales import find_scale

        scale = find_scale(order.scale)
        trainings = [training for e in karel.values() for training, _ in e.trainings(scale)]
        _check_only(order.only or [], trainings)
    wanted = [name for name in names if name in CALCULATOR]
    earlier = {name: _earlier(order, work, name) for name in wanted}
    lab: Any = _lab(order, work, list(karel.values())) if karel else None
    if (
        lab
        and order.only == [NONE]
        and not any(earlier.values())
        and not any(map(lab.known, trainings))
    ):
        raise UnskewError(
            f"{work} has no results of scale {order.scale}; give the --work and --scale of an "
            "earlier run"
        )
    if lab and order.at_once > 1:
        _train_at_once(lab, list(karel.values()), order)
    for name, result in earlier.items():
        if result or not order.only:
            yield name, result or _run_calculator(order, work, name)
        else:
            echo(f"{work} has no {name} of scale {order.scale}; it is left out", err=True)
    for name, experiment in karel.items():
        steps = experiment.steps_left(lab, order.only)
        with progress(f"reproducing {name}", steps or None) as advance:
            lab.say = say_progress(advance)
            result = experiment.run(lab, order.only)
        yield name, result  # after the progress bar is gone


def _earlier(order: Order, work: Path, name: str) -> dict[str, Any] | None:
    """Return a result of the Calculator that the work folder has."""
    from unskew.experiments.calculator import earlier_result

    return earlier_result(work, order.scale, order.steps, name)


def _run_calculator(order: Order, work: Path, name: str) -> dict[str, Any]:
    """Run an experiment of the Calculator, and keep its result."""
    from unskew.experiments import load_experiment
    from unskew.experiments.calculator import keep, training_steps

    steps = order.steps or training_steps(order.scale)
    with progress(f"reproducing {name}", steps) as advance:
        experiment = load_experiment(name)
        result: dict[str, Any] = experiment.run(
            order.scale, work / name, say_progress(advance), order.steps
        )
    keep(result, work)
    return result


def _lab(order: Order, work: Path, experiments: list[Any]) -> Any:
    """Open the lab of Karel's experiments. Refuse trainings that would take weeks here."""
    from unskew.experiments.karel.lab.lab import Lab
    from unskew.models.ranks import ALONE

    lab = Lab(order.scale, work / "karel")
    needs_gpu = order.scale == "full" and any(
        experiment.steps_left(lab, order.only) for experiment in experiments
    )
    if needs_gpu and ALONE.device.type == "cpu":
        raise UnskewError(
            "--scale full trains models that need a GPU, and there is none; take --scale small, or "
            "add --only none to print the results in --work"
        )
    return lab


def _train_at_once(lab: Any, experiments: list[Any], order: Order) -> None:
    """Train and score the missing models, ``at_once`` at a time."""
    from unskew.experiments.karel.lab.lanes import jobs_of, run_lanes

    jobs = jobs_of(experiments, lab, order.only)
    if jobs:
        steps = sum(
            job.training.steps for job in jobs if lab.needs_training(job.training, job.exams)
        )
        with progress(f"reproducing {len(jobs)} models", steps or None) as advance:
            run_lanes(lab, jobs, order.at_once, lambda name: say_progress(advance, f"{name}: "))


def _check_only(only: list[str], trainings: list[Any]) -> None:
    """Refuse a model that no experiment has: nothing would be trained."""
    seeds = [f"{training.name}:{training.seed}" for training in trainings]
    names = list(dict.fromkeys([NONE, *(training.name for training in trainings), *seeds]))
    for name in only:
        if name not in names:
            raise unknown("model", name, names)


def say_progress(advance: Advance, name: str = "") -> Say:
    """Return a Say that shows the stages and trainings of an experiment as progress."""
    done = 0

    def stage(text: str) -> None:
        nonlocal done
        done = 0  # each stage may train another model
        advance(0, f"{name}{text}")

    def step(state: Any) -> None:
        nonlocal done
        speed = f"{state.examples_per_second:,.0f} examples/s"
        advance(max(0, state.step - done), f"{name}loss {state.loss:.3f}, {speed}")
        done = state.step

    return Say(stage, step)
