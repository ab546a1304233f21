"""A process that trains and scores one model after another, as the one that started it says.

The first line that it reads is JSON: a scale, a folder and how many cores it may use. Each later
one names a model and what to score it on. It answers with lines of JSON: ``stage`` and ``step``
while it works, ``done`` when a model is, ``error`` when one cannot be. Asked to stop (SIGTERM),
or when its parent is gone, it saves the step that it is at, and ends.
"""

from __future__ import annotations

import json
import os
import queue
import signal
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import asdict
from pathlib import Path
from types import FrameType
from typing import IO, Any, NoReturn

import torch

from unskew.errors import UnskewError
from unskew.experiments.karel.lab import Exam, Lab
from unskew.experiments.karel.trainings import training
from unskew.experiments.saying import Say
from unskew.models.ranks import ALONE
from unskew.models.runs import Stop
from unskew.worker import STOPPED, end, leave, own_pipes


def main() -> None:
    """Serve one parent until it says stop or is gone."""
    asked, answered = own_pipes()
    # A shell's background job would ignore it, and training would not be told of a stop.
    signal.signal(signal.SIGINT, signal.default_int_handler)
    signal.signal(signal.SIGTERM, leave)
    stop = Stop()
    with (
        suppress(BrokenPipeError),  # broken when the parent was killed
        os.fdopen(answered, "w", encoding="utf-8") as answers,
    ):
        lines = _lines(asked, stop)
        task = json.loads(next(lines))
        signal.signal(signal.SIGTERM, _stops(Path(task["work"]), stop))
        try:
            serve(task, lines, answers)
        except KeyboardInterrupt:
            pass  # a training that was told to stop has saved its step
        finally:
            signal.signal(signal.SIGTERM, leave)
    sys.exit(STOPPED)


def _stops(work: Path, stop: Stop) -> Callable[[int, FrameType | None], None]:
    """Return what SIGTERM does: a training saves its step and stops, all else ends at once.

    A training holds interrupts back (``held_interrupts``) and looks for them between its steps.
    Told twice, by the parent and by its end, it still saves. Nothing is raised here: see ``end``.
    """

    def told(_: int, frame: FrameType | None) -> None:
        holder = signal.getsignal(signal.SIGINT)
        if holder is signal.default_int_handler or not callable(holder):
            _end(work)
        if not stop.asked:
            stop.asked = True
            holder(signal.SIGINT, frame)

    return told


def _end(work: Path) -> NoReturn:
    """End now, but wait for the GPU: under MPS, work that is cut off may end other lanes too."""
    try:
        if ALONE.device.type == "cuda":
            torch.cuda.synchronize()
    finally:
        end(work)


def _lines(asked: int, stop: Stop) -> Iterator[bytes]:
    """Yield lines as they come until told to stop; the end of the lines, at any time, tells so."""
    found: queue.SimpleQueue[bytes] = queue.SimpleQueue()

    def listen() -> None:
        # Without a buffer, for whose lock the end of the process would wait.
        with os.fdopen(asked, "rb", buffering=0) as questions:
            for line in questions:
                found.put(line)
        os.kill(os.getpid(), signal.SIGTERM)

    threading.Thread(target=listen, daemon=True).start()
    while not stop.asked:  # it is asked here where a training failed that was to stop
        yield found.get()


def serve(task: dict[str, Any], questions: Iterator[bytes], answers: IO[str]) -> None:
    """Train and score what each line asks for."""

    def tell(**facts: Any) -> None:
        with suppress(BrokenPipeError):  # nobody listens: a stop is on its way, and a step to save
            answers.write(json.dumps(facts) + "\n")
            answers.flush()

    say = Say(lambda text: tell(stage=text), lambda now: tell(step=asdict(now)))
    lab = Lab(task["scale"], Path(task["work"]), say, cores=task["cores"])
    for line in questions:
        job = json.loads(line)
        try:
            each = training(job["model"], lab.scale, job["seed"])
            lab.entry(each, [Exam.of(key) for key in job["exams"]])
        except UnskewError as error:
            tell(error=str(error))
        except Exception as error:  # a line says more to the parent than a traceback here
            tell(error=f"{job['model']}, seed {job['seed']}: {type(error).__name__}: {error}")
        else:
            tell(done=True)


if __name__ == "__main__":
    main()
