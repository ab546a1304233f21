"""A process that trains and scores one model after another, as the one that started it says.

The first line that it reads is JSON: a scale, a folder and how many cores it may use. Each later
one names a model and what to score it on. It answers with lines of JSON: ``stage`` and ``step``
while it works, ``done`` when a model is, ``error`` when one cannot be. It ends when nothing more
comes; asked to stop (SIGTERM), it saves the step that it is at, and ends.
"""

from __future__ import annotations

import json
import os
import signal
import sys
from contextlib import suppress
from dataclasses import asdict
from pathlib import Path
from typing import IO, Any

from unskew.errors import UnskewError
from unskew.experiments.karel.lab import Exam, Lab
from unskew.experiments.karel.trainings import training
from unskew.experiments.saying import Say
from unskew.worker import own_pipes


def main() -> None:
    """Serve one parent until it has no more models, or says stop."""
    asked, answered = own_pipes()
    with (
        suppress(BrokenPipeError),  # broken when the parent was killed
        os.fdopen(asked, "r", encoding="utf-8") as questions,
        os.fdopen(answered, "w", encoding="utf-8") as answers,
    ):
        # A shell's background job would ignore it.
        signal.signal(signal.SIGINT, signal.default_int_handler)
        signal.signal(signal.SIGTERM, lambda *_: signal.raise_signal(signal.SIGINT))
        try:
            serve(questions, answers)
        except KeyboardInterrupt:
            sys.exit(128 + signal.SIGTERM)
        finally:  # Python that is ending would print an interrupt that comes in its midst
            signal.signal(signal.SIGTERM, signal.SIG_DFL)


def serve(questions: IO[str], answers: IO[str]) -> None:
    """Train and score what each line asks for."""

    def tell(**facts: Any) -> None:
        answers.write(json.dumps(facts) + "\n")
        answers.flush()

    task = json.loads(questions.readline() or "null")
    if task is None:
        return
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
