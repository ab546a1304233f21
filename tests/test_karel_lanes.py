"""Several models at a time: the same numbers as one after another, and what goes wrong is told."""

import json
import os
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest
import typer

from tests.waiting import HANG, is_alive, until
from unskew.cli.reproduce import AGAIN, time_limit
from unskew.core.errors import UnskewError
from unskew.core.processes.crew import send
from unskew.core.processes.worker import STOPPED
from unskew.experiments.karel.lab import lanes
from unskew.experiments.karel.lab.lab import Exam, Lab
from unskew.experiments.karel.lab.lanes import Job, jobs_of, run_lanes
from unskew.experiments.karel.lab.mps import MPS, MPS_PLACE, shared_gpu
from unskew.experiments.karel.lab.plan import Experiment
from unskew.experiments.karel.lab.scales import SCALES
from unskew.experiments.karel.lab.tables import CellPlan, TablePlan
from unskew.experiments.karel.lab.trainings import training
from unskew.experiments.say import Say
from unskew.models.checkpoint import load_checkpoint
from unskew.models.runs import CHECKPOINT, ends_as_ctrl_c

SMOKE = SCALES["smoke"]
MODELS = ("baseline, passes", "msr stream")


def asking(*tests, models=MODELS):
    cells = tuple(CellPlan(m, test, m, Exam(test)) for m in models for test in tests)
    return Experiment("x", "x", "", "?", lambda _: [TablePlan("t", cells)])


def scores(lab):
    return {name: lab.known(training(name, SMOKE))["scores"] for name in MODELS}


@pytest.fixture(scope="module")
def alone(tmp_path_factory):
    """What one process finds."""
    lab = Lab("smoke", tmp_path_factory.mktemp("alone"))
    asking("problems").run(lab)
    return scores(lab)


def test_two_at_a_time_find_what_one_finds(alone, tmp_path):
    lab = Lab("smoke", tmp_path)
    jobs = jobs_of([asking("problems")], lab)
    told = []

    def say_of(name):
        return Say(lambda text: told.append((name, text)), lambda now: told.append((name, now)))

    run_lanes(lab, jobs, 2, say_of)
    assert scores(lab) == alone
    for job in jobs:
        mine = [message for name, message in told if name == job.name]
        assert mine[0].startswith((f"training {job.training.name}", "64 examples"))
        assert mine[-1] == f"scoring {job.training.name} on problems"
        assert [message.step for message in mine if not isinstance(message, str)][-1] == SMOKE.short
    assert jobs_of([asking("problems")], lab) == []


def test_a_model_is_done_once_whoever_asks_for_it(tmp_path):
    lab = Lab("smoke", tmp_path)
    same = ("msr 64", "baseline, passes")  # two names of one model
    asked = [asking("problems", "msr-test"), asking("problems", "uniform-test", models=same)]
    jobs = jobs_of(asked, lab)
    assert [job_.name for job_ in jobs] == [f"{name}:0" for name in MODELS]
    assert [exam.key for exam in jobs[0].exams] == ["problems", "msr-test", "uniform-test"]
    assert [job_.name for job_ in jobs_of(asked, lab, ["msr stream:0"])] == ["msr stream:0"]
    assert jobs_of(asked, lab, ["none"]) == []


def job(name="baseline, passes", *tests):
    return Job(training(name, SMOKE), tuple(map(Exam, tests or ("problems",))))


def test_what_one_cannot_do_ends_all(tmp_path):
    lab = Lab("smoke", tmp_path)
    bad = training("uniform, passes", SMOKE)
    (tmp_path / "entries").mkdir()
    (tmp_path / "entries" / f"{bad.hash}.json").write_text("{}")
    with pytest.raises(UnskewError, match="not the entry of uniform, passes; remove it"):
        run_lanes(lab, [job("msr stream"), job("uniform, passes")], 2)


def test_a_process_that_is_killed_is_named(tmp_path, children):
    def kill(_):
        for worker in children():
            os.kill(worker, signal.SIGKILL)

    with pytest.raises(UnskewError, match=r"^baseline, passes:0: a worker ended with code -9"):
        run_lanes(Lab("smoke", tmp_path), [job()], 2, lambda _: Say(kill))


# Stopping.


# A lane whose third step takes until it is told to stop: there it is, for the test, among "seen".
# Where it ends by itself, and is not killed, it is among "ended" then.
HELD = """
import os, signal, time
from pathlib import Path
from unskew.core.processes.worker import serve
from unskew.experiments.karel.lab import lane
from unskew.models.karel.train import run as karel_run

seen, ended = Path(os.environ["SEEN"]), Path(os.environ["ENDED"])

class Held(karel_run.TrainingStep):
    def run(self, number, done):
        if number == 2:
            told, note = [], signal.getsignal(signal.SIGINT)
            signal.signal(signal.SIGINT, lambda *args: (told.append(1), note(*args)))
            (seen / str(os.getpid())).touch()
            while not told:
                time.sleep(0.01)
            WHEN_TOLD
            signal.signal(signal.SIGINT, note)
        super().run(number, done)

def begin(task, parent):
    answer = lane.begin(task, parent)
    clean = parent.clean
    parent.clean = lambda: (clean(), (ended / str(os.getpid())).touch())
    return answer

if __name__ == "__main__":
    karel_run.TrainingStep = Held
    serve(begin)
"""


@pytest.fixture
def seen(tmp_path, monkeypatch):
    """Where lanes leave their process numbers when they are at their third step."""
    for name in ("seen", "ended"):
        (tmp_path / name).mkdir()
        monkeypatch.setenv(name.upper(), str(tmp_path / name))
    monkeypatch.setenv("PYTHONPATH", str(tmp_path), prepend=os.pathsep)
    (tmp_path / "held_lane.py").write_text(HELD.replace("WHEN_TOLD", ""))
    monkeypatch.setattr(lanes, "LANE", "held_lane")
    monkeypatch.setattr(lanes, "SECONDS_TO_SAVE", HANG)
    return tmp_path / "seen"


def interrupt_when(*happened, kind=signal.SIGINT):
    """Interrupt this process when the first thing happened, and again when the next one did."""

    def send():
        for event in happened:
            until(event)
            os.kill(os.getpid(), kind)

    thread = threading.Thread(target=send)
    thread.start()
    return thread


def steps_saved(work):
    checkpoints = (work / "runs").glob(f"*/{CHECKPOINT}")
    return [load_checkpoint(path)[1]["step"] for path in checkpoints]


@pytest.mark.parametrize("kind", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_what_ends_processes_is_taken_for_ctrl_c_while_lanes_run(kind):
    before = signal.getsignal(kind)
    with pytest.raises(KeyboardInterrupt), ends_as_ctrl_c():
        signal.raise_signal(kind)
    assert signal.getsignal(kind) == before


def test_lanes_save_their_steps_when_all_is_stopped(tmp_path, seen):
    """By what schedulers send; Ctrl-C and the clock are the same."""
    thread = interrupt_when(lambda: len(list(seen.iterdir())) == 2, kind=signal.SIGTERM)
    with pytest.raises(KeyboardInterrupt):
        run_lanes(Lab("smoke", tmp_path / "work"), [job(), job("uniform, passes")], 2)
    thread.join()
    names = {path.name for path in seen.iterdir()}
    assert not any(map(is_alive, names))
    assert {path.name for path in (tmp_path / "ended").iterdir()} == names, "none was killed"
    assert steps_saved(tmp_path / "work") == [3, 3]


DEAF = """
import os, signal
from pathlib import Path
from unskew.io.files import write_by

folder = Path(os.environ["SEEN"])

def write_half(path):
    path.touch()
    (folder / str(os.getpid())).touch()
    while True:
        signal.pause()

if __name__ == "__main__":
    signal.signal(signal.SIGTERM, lambda *_: (folder / f"{os.getpid()}.told").touch())
    left = Path(os.environ["ENDED"]).with_name("work")
    left.mkdir(exist_ok=True)
    write_by(left / f"half-{os.getpid()}", write_half)
"""


def test_a_second_interrupt_leaves_no_lane_behind(tmp_path, seen):
    """Nor what they were writing."""
    (tmp_path / "held_lane.py").write_text(DEAF)
    work = tmp_path / "work"

    def writing():
        return len(list(work.glob("*.part"))) == len(list(seen.iterdir())) == 2

    def told():
        return len(list(seen.glob("*.told"))) == 2

    thread = interrupt_when(writing, told)
    with pytest.raises(KeyboardInterrupt):
        run_lanes(Lab("smoke", work), [job(), job("msr stream")], 2)
    thread.join()
    assert not any(is_alive(path.stem) for path in seen.iterdir())
    assert list(work.iterdir()) == []


def asked_lane(folder, code):
    """Start a lane that runs some code, and ask it for a model."""
    process = subprocess.Popen(
        [sys.executable, "-c", code],
        stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
    )  # fmt: skip
    send(process.stdin, {"task": {"scale": "smoke", "work": str(folder), "cores": 1}})
    send(process.stdin, {"question": job().question})
    return process


def lane_at_its_third_step(seen, folder, when_told=""):
    process = asked_lane(folder, HELD.replace("WHEN_TOLD", when_told))
    until(lambda: list(seen.iterdir()), process)
    return process


def test_a_lane_whose_parent_is_gone_saves_its_step_and_ends(tmp_path, seen):
    process = lane_at_its_third_step(seen, tmp_path)
    messages, errors = process.communicate(timeout=HANG)  # closes what it reads from
    assert process.returncode == STOPPED
    assert errors == b""
    assert [sorted(json.loads(line)) for line in messages.splitlines()] == [["arrays", "stage"]] * 2
    assert steps_saved(tmp_path) == [3]


def test_a_lane_that_is_told_twice_still_saves_its_step(tmp_path, seen):
    """By its parent, and then by its parent's end."""
    wait = "while not (ended / 'again').exists(): time.sleep(0.01)"
    process = lane_at_its_third_step(
        seen, tmp_path, f"(ended / 'told').touch()\n            {wait}"
    )
    ended = tmp_path / "ended"
    process.terminate()
    until((ended / "told").exists, process)
    process.terminate()
    (ended / "again").touch()
    process.communicate(timeout=HANG)
    assert process.returncode == STOPPED
    assert steps_saved(tmp_path) == [3]


def test_a_lane_that_fails_when_it_is_told_to_stop_ends_all_the_same(tmp_path, seen):
    process = lane_at_its_third_step(seen, tmp_path, "raise ValueError('full')")
    process.terminate()
    messages = process.stdout.read()
    assert process.wait(HANG) == STOPPED
    assert "ValueError: full" in json.loads(messages.splitlines()[-1])["error"]
    process.communicate()


# Lanes that are not training: what they do can be done again, so they end at once.
ELSEWHERE = """
import sys, time
from unskew.core.processes.worker import serve
from unskew.experiments.karel.lab import lab
from unskew.experiments.karel.lab import lane

class Swallowing:
    def __del__(self):
        print("here", file=sys.stderr, flush=True)
        while True:
            time.sleep(1)

def known(self, training):
    try:
        Swallowing()
    except BaseException:
        Swallowing()

lab.Lab.known = known
serve(lane.begin)
"""


def test_a_lane_that_is_stopped_where_exceptions_are_swallowed_ends_at_once(tmp_path):
    process = asked_lane(tmp_path, ELSEWHERE)
    assert process.stderr.readline() == b"here\n"
    process.terminate()
    assert process.communicate(timeout=HANG) == (b"", b"")
    assert process.returncode == STOPPED


def test_time_that_is_up_is_said_and_has_its_exit_code(tmp_path):
    """What it is that is stopped then, and saved, the tests above have."""
    options = ["--scale", "small", "--work", str(tmp_path), "--at-once", "2", "--minutes", "0.1"]
    only = ["--only", "msr 1,024"]
    command = [sys.executable, "-m", "unskew", "reproduce", "karel-passes", *options, *only]
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=HANG)
    assert done.returncode == AGAIN, done.stderr
    assert done.stdout == ""
    assert "Traceback" not in done.stderr
    last = done.stderr.splitlines()[-1]
    assert last == "stopped after 0.1 minutes; run the same command again to continue"


def test_time_is_up_inside_only():
    with pytest.raises(typer.Exit) as stopped, time_limit(0.005):
        time.sleep(HANG)
    assert stopped.value.exit_code == AGAIN
    before = set(threading.enumerate())
    with time_limit(10):
        assert set(threading.enumerate()) > before
    until(lambda: set(threading.enumerate()) <= before)
    with time_limit(None):
        assert set(threading.enumerate()) <= before


def test_what_else_ends_it_is_not_taken_for_the_clock():
    with pytest.raises(UnskewError, match="mistake"), time_limit(10):
        raise UnskewError("a mistake")
    with pytest.raises(KeyboardInterrupt), time_limit(10):
        signal.raise_signal(signal.SIGINT)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["karel-passes", "--at-once", "0"], "--at-once is 0; allowed is a whole number"),
        (["calculator", "--at-once", "2"], "--at-once is for Karel's models"),
        (["karel-passes", "--minutes", "5"], "give --work"),
        (["karel-passes", "--minutes", "0", "--work", "w"], "--minutes is 0.0; allowed is"),
    ],
)
def test_wrong_paces_are_refused(options, message, run):
    code, out, errors = run("reproduce", *options)
    assert (code, out) == (2, "")
    assert message in errors
    assert len(errors.splitlines()) == 1


# A GPU that processes share.

CONTROL = """#!/bin/sh
echo "$0 $* $CUDA_MPS_PIPE_DIRECTORY $(if [ "$1" != -d ]; then cat; fi)" >> "$(dirname "$0")/log"
exit {code}
"""


@pytest.fixture
def control(tmp_path, monkeypatch):
    """Return what makes a daemon's control, which notes how it was called."""
    monkeypatch.setenv("PATH", f"{tmp_path}:{os.environ['PATH']}")
    monkeypatch.delenv(MPS_PLACE, raising=False)

    def make(code=0):
        path = tmp_path / MPS
        path.write_text(CONTROL.format(code=code))
        path.chmod(0o755)
        return tmp_path / "log"

    return make


def test_the_gpu_is_shared_while_they_run(control, tmp_path):
    log = control()
    with shared_gpu("cuda", tmp_path / "none") as environment:
        place = environment[MPS_PLACE]
        assert log.read_text().split()[1:] == ["-d", place]
        assert Path(place).is_dir()
    assert log.read_text().splitlines()[1].split()[1:] == [place, "quit"]
    assert not Path(place).exists()


def test_without_a_daemon_they_take_turns(control, tmp_path):
    control(code=1)
    with shared_gpu("cuda", tmp_path / "none") as environment:
        assert environment == {}
    log = control()
    log.write_text("")
    (tmp_path / "none").touch()  # one that runs already
    with shared_gpu("cuda", tmp_path / "none") as environment:
        assert environment == {}
    (tmp_path / "none").unlink()
    with shared_gpu("cpu", tmp_path / "none") as environment:
        assert environment == {}
    assert log.read_text() == ""


def test_questions_are_json(tmp_path):
    asked = json.loads(json.dumps(job("msr stream", "problems", "msr-test").question))
    assert asked == {"model": "msr stream", "seed": 0, "exams": ["problems", "msr-test"]}
