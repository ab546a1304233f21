"""Several models at a time, each trained and scored by a worker process (``lane``).

One training does not fill a large GPU: its small LSTM steps leave room for the convolutions of
another training. The workers leave their results in the folder of the lab.
"""

import os
import shutil
import signal
import subprocess
import threading
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from unskew.core.processes.crew import Crew
from unskew.experiments.karel.lab.lab import Exam, Lab
from unskew.experiments.karel.lab.plan import Experiment
from unskew.experiments.karel.lab.trainings import Training
from unskew.experiments.say import Say
from unskew.io.files import remove_left
from unskew.models.ranks import ALONE
from unskew.models.training import Progress

LANE = "unskew.experiments.karel.lab.lane"
SECONDS_TO_SAVE = 60.0  # that a worker has to save its step when it is told to stop
MPS = "nvidia-cuda-mps-control"  # lets processes compute on one GPU at the same time
MPS_PLACE = "CUDA_MPS_PIPE_DIRECTORY"
MPS_DEFAULT = Path("/tmp/nvidia-mps/control")  # noqa: S108 - where one that runs already listens


@dataclass(frozen=True)
class Job:
    """A model that must be trained, or scored on some exams."""

    training: Training
    exams: tuple[Exam, ...]

    @property
    def name(self) -> str:
        """The name of the model, and its seed."""
        return f"{self.training.name}:{self.training.seed}"

    @property
    def question(self) -> dict[str, Any]:
        """The question for a worker, as plain data."""
        exams = [exam.key for exam in self.exams]
        return {"model": self.training.name, "seed": self.training.seed, "exams": exams}


def jobs_of(
    experiments: Iterable[Experiment], lab: Lab, only: Sequence[str] | None = None
) -> list[Job]:
    """Return the jobs that are left, one for each model, however many experiments ask for it."""
    asked: dict[str, tuple[Training, dict[Exam, None]]] = {}
    for experiment in experiments:
        for training, exams in experiment.wanted(lab.scale, only):
            scores = lab.known(training).get("scores", {})
            missing = dict.fromkeys(exam for exam in exams if exam.key not in scores)
            asked.setdefault(training.hash, (training, {}))[1].update(missing)
    return [Job(training, tuple(exams)) for training, exams in asked.values() if exams]


def run_lanes(
    lab: Lab, jobs: Sequence[Job], at_once: int, say_of: Callable[[str], Say] = lambda _: Say()
) -> None:
    """Do all jobs, ``at_once`` of them at a time; ``say_of`` gives the Say of a job by its name.

    The first job that cannot be done ends all. At a stop, trainings save their steps.
    """
    cores = max(1, (os.cpu_count() or 1) // at_once)
    task = {"scale": lab.name, "work": str(lab.work), "cores": cores}
    says = {job.name: say_of(job.name) for job in jobs}
    with _ends_as_ctrl_c(), _shared_gpu() as environment:
        crew = Crew(
            LANE,
            task,
            min(at_once, len(jobs)),
            environment={**environment, "OMP_NUM_THREADS": str(cores)},
            fewer="a lower --at-once",
            clean=partial(remove_left, lab.work),
        )
        try:
            for name, message in crew.do({job.name: job.question for job in jobs}):
                if "stage" in message:
                    says[name].stage(message["stage"])
                elif "step" in message:
                    says[name].step(Progress(**message["step"]))
        finally:
            crew.close(SECONDS_TO_SAVE)


@contextmanager
def _ends_as_ctrl_c() -> Iterator[None]:
    """Treat what schedulers and closing terminals send like a Ctrl-C, so that all is saved."""
    kinds = (signal.SIGTERM, signal.SIGHUP)
    if threading.current_thread() is not threading.main_thread():  # no other thread gets signals
        yield
        return
    before = {
        kind: signal.signal(kind, lambda *_: signal.raise_signal(signal.SIGINT)) for kind in kinds
    }
    try:
        yield
    finally:
        for kind, handler in before.items():
            signal.signal(kind, handler)


@contextmanager
def _shared_gpu() -> Iterator[dict[str, str]]:
    """Let processes compute on a GPU at the same time; without MPS they take turns.

    This yields the variables that their environment needs. It leaves a daemon that already runs
    as it is.
    """
    control = shutil.which(MPS)
    running = MPS_PLACE in os.environ or MPS_DEFAULT.exists()
    if control is None or running or ALONE.device.type == "cpu":
        yield {}
        return
    with TemporaryDirectory(prefix="unskew-mps-", ignore_cleanup_errors=True) as folder:
        places = {MPS_PLACE: folder, "CUDA_MPS_LOG_DIRECTORY": folder}
        if not _ran([control, "-d"], places):
            yield {}
            return
        try:
            yield places
        finally:
            _ran([control], places, "quit\n")


def _ran(command: list[str], places: Mapping[str, str], text: str = "") -> bool:
    """Run a command that reads a text; return whether it succeeded."""
    ended = subprocess.run(  # noqa: S603 - what was found on the path, and goes to no shell
        command,
        check=False,
        stdout=subprocess.DEVNULL,  # a pipe would be a daemon's too, and never end
        stderr=subprocess.DEVNULL,
        input=text,
        text=True,
        env={**os.environ, **places},
    )
    return ended.returncode == 0
