"""Several models at a time, each trained and scored by a process of its own (``lane``).

One training does not fill a large GPU: its small LSTM steps leave room for another's
convolutions. What the processes leave in the folder is all that matters: whoever asks the lab
afterwards finds it there.
"""

from __future__ import annotations

import json
import os
import queue
import shutil
import signal
import subprocess
import threading
import time
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from unskew.core.errors import UnskewError
from unskew.core.processes import PYTHON
from unskew.experiments.karel.lab.lab import Exam, Lab
from unskew.experiments.karel.lab.plan import Experiment
from unskew.experiments.karel.lab.trainings import Training
from unskew.experiments.say import Say
from unskew.io.files import remove_left
from unskew.models.ranks import ALONE
from unskew.models.training import Progress

LANE = ("-m", "unskew.experiments.karel.lab.lane")
SECONDS_TO_SAVE = 60.0  # that a process has to save its step when it is to end
MPS = "nvidia-cuda-mps-control"  # lets processes compute on one GPU at the same time
MPS_PLACE = "CUDA_MPS_PIPE_DIRECTORY"
MPS_DEFAULT = Path("/tmp/nvidia-mps/control")  # noqa: S108 - where one that runs already listens


@dataclass(frozen=True)
class Job:
    """A model that is not there yet, or not scored on all that is asked for."""

    training: Training
    exams: tuple[Exam, ...]

    @property
    def name(self) -> str:
        """Its name, and which seed."""
        return f"{self.training.name}:{self.training.seed}"

    @property
    def question(self) -> dict[str, Any]:
        """The same as a process is asked for it."""
        exams = [exam.key for exam in self.exams]
        return {"model": self.training.name, "seed": self.training.seed, "exams": exams}


def jobs_of(
    experiments: Iterable[Experiment], lab: Lab, only: Sequence[str] | None = None
) -> list[Job]:
    """Return what is still to be done, each model once, whichever experiments ask for it."""
    asked: dict[str, tuple[Training, dict[Exam, None]]] = {}
    for experiment in experiments:
        for each, exams in experiment.wanted(lab.scale, only):
            known = lab.known(each).get("scores", {})
            missing = dict.fromkeys(exam for exam in exams if exam.key not in known)
            asked.setdefault(each.hash, (each, {}))[1].update(missing)
    return [Job(each, tuple(exams)) for each, exams in asked.values() if exams]


def run_lanes(
    lab: Lab,
    jobs: Sequence[Job],
    at_once: int,
    say_of: Callable[[str], Say] = lambda _: Say(),
) -> None:
    """Do all jobs, so many at a time; ``say_of`` gives what is told how one goes, by its name."""
    cores = max(1, (os.cpu_count() or 1) // at_once)
    task = {"scale": lab.name, "work": str(lab.work), "cores": cores}
    with _ends_as_ctrl_c(), _shared_gpu() as environment:
        crew = _Crew(task, {**environment, "OMP_NUM_THREADS": str(cores)}, say_of)
        try:
            crew.run(deque(jobs), at_once)
        finally:
            crew.close()


@contextmanager
def _ends_as_ctrl_c() -> Iterator[None]:
    """Take what schedulers and closing terminals send for a Ctrl-C, so that all is saved."""
    kinds = (signal.SIGTERM, signal.SIGHUP)
    if threading.current_thread() is not threading.main_thread():  # which alone hears them
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


class _Crew:
    """The processes, what each is at, and what they say."""

    def __init__(
        self,
        task: Mapping[str, Any],
        environment: Mapping[str, str],
        say_of: Callable[[str], Say],
    ) -> None:
        self._task, self._environment, self._say_of = task, environment, say_of
        self._lanes: list[subprocess.Popen[str]] = []
        self._said: queue.SimpleQueue[tuple[int, dict[str, Any]]] = queue.SimpleQueue()

    def run(self, jobs: deque[Job], at_once: int) -> None:
        """Hand out jobs until all are done; the first that cannot be done ends all."""
        busy: dict[int, tuple[str, Say]] = {}

        def hand(number: int) -> None:
            job = jobs.popleft()
            busy[number] = job.name, self._say_of(job.name)
            self._tell(number, job.question)

        for number in range(min(at_once, len(jobs))):
            self._employ(number)
            hand(number)
        while busy:
            number, said = self._said.get()
            name, say = busy.get(number, ("", Say()))
            if "stage" in said:
                say.stage(said["stage"])
            elif "step" in said:
                say.step(Progress(**said["step"]))
            elif "done" in said:
                del busy[number]
                if jobs:
                    hand(number)
            elif name:  # of one that had nothing more to do it is only the end
                raise UnskewError(said.get("error") or self._died(number, name))

    def _employ(self, number: int) -> None:
        lane = subprocess.Popen(  # noqa: S603 - this very Python, and a module of ours
            [*PYTHON, *LANE],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            encoding="utf-8",
            env={**os.environ, **self._environment, "PYTHONUTF8": "1"},
            start_new_session=True,  # an interrupt from the keyboard is not for it
        )
        self._lanes.append(lane)
        threading.Thread(target=self._listen, args=(number, lane), daemon=True).start()
        self._tell(number, self._task)

    def _tell(self, number: int, facts: Mapping[str, Any]) -> None:
        pipe = self._lanes[number].stdin
        if pipe is not None:
            with suppress(OSError):  # it is gone, and its last words say so
                pipe.write(json.dumps(facts) + "\n")
                pipe.flush()

    def _listen(self, number: int, lane: subprocess.Popen[str]) -> None:
        """Pass on what a process says; nothing at all when it has ended."""
        with suppress(ValueError):
            for line in lane.stdout or ():
                self._said.put((number, json.loads(line)))
        self._said.put((number, {}))

    def _died(self, number: int, name: str) -> str:
        code = self._lanes[number].wait()
        return (
            f"the process that trained {name} ended with code {code}; run the same command "
            "again, with a lower --at-once if memory is short"
        )

    def close(self) -> None:
        """Ask all to save what they are at and to end; one that takes too long is killed.

        All are killed if there is an interrupt meanwhile. What a killed one was writing is removed.
        """
        until = time.monotonic() + SECONDS_TO_SAVE
        try:
            for lane in self._lanes:
                lane.terminate()
            for lane in self._lanes:
                with suppress(subprocess.TimeoutExpired):
                    lane.wait(max(0.0, until - time.monotonic()))
        finally:
            for lane in self._lanes:
                lane.kill()
                lane.wait()
                for pipe in (lane.stdin, lane.stdout):
                    if pipe is not None:
                        with suppress(OSError):
                            pipe.close()
            remove_left(Path(self._task["work"]), {lane.pid for lane in self._lanes})


@contextmanager
def _shared_gpu() -> Iterator[dict[str, str]]:
    """Let processes compute on a GPU at the same time; without MPS they take turns.

    Gives what their environment needs. A daemon that runs already is left as it is.
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
    """Run a command with something to read; whether it ended well."""
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
