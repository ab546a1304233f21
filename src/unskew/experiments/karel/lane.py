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
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import asdict
from pathlib import Path
from typing import IO, Any

from unskew.errors import UnskewError
from unskew.experiments.karel.lab import Exam, Lab
from unskew.experiments.karel.trainings import training
from unskew.experiments.saying import Say
from unskew.worker import own_pipes, stop_again


def main() -> None:
    """Serve one parent until it says stop or is gone."""
    asked, answered = own_pipes()
    with (
        suppress(BrokenPipeError),  # broken when the parent was killed
        os.fdopen(answered, "w", encoding="utf-8") as answers,
    ):
        # A shell's background job would ignore it.
        signal.signal(signal.SIGINT, signal.default_int_handler)
        signal.signal(signal.SIGTERM, lambda *_: signal.raise_signal(signal.SIGINT))
        sys.unraisablehook = stop_again
        try:
            serve(_lines(asked), answers)
        except KeyboardInterrupt:
            sys.exit(128 + signal.SIGTERM)
        finally:  # Python that is ending would print an interrupt that comes in its midst
            signal.signal(signal.SIGTERM, signal.SIG_DFL)


def _lines(asked: int) -> Iterator[bytes]:
    """Yield lines as they come; at their end, also in the midst of work, ask to stop."""
    found: queue.SimpleQueue[bytes] = queue.SimpleQueue()

    def listen() -> None:
        # Without a buffer, for whose lock the end of the process would wait.
        with os.fdopen(asked, "rb", buffering=0) as questions:
            for line in questions:
                found.put(line)
        os.kill(os.getpid(), signal.SIGTERM)

    threading.Thread(target=listen, daemon=True).start()
    while True:
        yield found.get()


def serve(questions: Iterator[bytes], answers: IO[str]) -> None:
    """Train and score what each line asks for."""

    def tell(**facts: Any) -> None:
        answers.write(json.dumps(facts) + "\n")
        answers.flush()

    task = json.loads(next(questions))
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
