"""A worker process that trains and scores models. A question names a model and its exams.

It tells its parent of each ``stage`` and ``step``. Asked to stop (SIGTERM), or when its parent is
gone, it saves the step of a training and ends.
"""

import os
import signal
from dataclasses import asdict
from pathlib import Path
from types import FrameType
from typing import Any

import torch

from unskew.core.processes.worker import Answer, Parent, serve
from unskew.experiments.karel.lab.lab import Exam, Lab
from unskew.experiments.karel.lab.trainings import training
from unskew.experiments.say import Say
from unskew.io.files import remove_left
from unskew.models.ranks import ALONE


def begin(task: dict[str, Any], parent: Parent) -> Answer:
    """Return the function that trains and scores a model."""
    work = Path(task["work"])
    parent.clean = lambda: _clean(work)
    parent.gone = lambda: os.kill(os.getpid(), signal.SIGTERM)
    # A background job of a shell ignores interrupts, and so a training would not hear of a stop.
    signal.signal(signal.SIGINT, signal.default_int_handler)
    signal.signal(signal.SIGTERM, lambda _, frame: _stop(parent, frame))
    say = Say(lambda text: parent.tell(stage=text), lambda now: parent.tell(step=asdict(now)))
    lab = Lab(task["scale"], work, say, cores=task["cores"])

    def answer(job: dict[str, Any]) -> None:
        exams = [Exam.of(key) for key in job["exams"]]
        lab.entry(training(job["model"], lab.scale, job["seed"]), exams)

    return answer


def _stop(parent: Parent, frame: FrameType | None) -> None:
    """End now, or after a training has saved its step.

    A training holds interrupts back (``held_interrupts``) and looks for them between its steps.
    A second stop (by the parent, and then by its end) does not interrupt the saving.
    """
    holder = signal.getsignal(signal.SIGINT)
    if holder is signal.default_int_handler or not callable(holder):
        parent.end()
    if not parent.is_stopping:
        parent.is_stopping = True
        holder(signal.SIGINT, frame)


def _clean(work: Path) -> None:
    """Remove what this process left half-written, after the work of the GPU.

    Under MPS, work that is cut off may end other lanes too.
    """
    try:
        if ALONE.device.type == "cuda":
            torch.cuda.synchronize()
    finally:
        remove_left(work, {os.getpid()})


if __name__ == "__main__":
    serve(begin)
