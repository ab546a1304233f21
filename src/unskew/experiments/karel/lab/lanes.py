"""Several models at a time, each trained and scored by a worker process (``lane``).

One training does not fill a large GPU: its small LSTM steps leave room for the convolutions of
another training. The workers leave their results in the folder of the lab.
"""

import os
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

from unskew.core.processes.crew import Crew
from unskew.experiments.karel.lab.lab import Exam, Lab
from unskew.experiments.karel.lab.mps import shared_gpu
from unskew.experiments.karel.lab.plan import Experiment
from unskew.experiments.karel.lab.trainings import Training
from unskew.experiments.say import Say
from unskew.io.files import remove_left
from unskew.models.ranks import ALONE
from unskew.models.runs import ends_as_ctrl_c
from unskew.models.training import Progress

LANE = "unskew.experiments.karel.lab.lane"
SECONDS_TO_SAVE = 60.0  # that a worker has to save its step when it is told to stop


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
    with ends_as_ctrl_c(), shared_gpu(ALONE.device.type) as environment:
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
