"""A crew of workers: questions and answers, whatever can happen to a worker, and its end."""

import os
import signal
import subprocess
import sys
import threading
import warnings

import numpy as np
import pytest

from tests.waiting import HANG, is_alive, until
from unskew.core.errors import HealthWarning, UnskewError
from unskew.core.processes.crew import Crew, send
from unskew.core.processes.worker import STOPPED

# A question is a line of Python; its value is the answer. The task is one that is done first.
WORKER = """
import os, signal, sys, warnings
from contextlib import suppress
from pathlib import Path
import numpy as np
from unskew.core.errors import HealthWarning, UnskewError
from unskew.core.processes.worker import serve

def stay():
    while True:
        signal.pause()

def fail(error):
    raise error

def rubbish():
    for pipe in range(3, 9):
        with suppress(OSError):
            os.write(pipe, b"rubbish\\n")

def begin(task, parent):
    exec(task)
    names = {**globals(), **locals()}
    return lambda question: eval(question, names)

if __name__ == "__main__":
    serve(begin)
"""


@pytest.fixture
def crew(tmp_path, monkeypatch, children):
    """Return what starts a crew of such workers; it is closed after the test."""
    (tmp_path / "calculating.py").write_text(WORKER)
    monkeypatch.setenv("PYTHONPATH", str(tmp_path), prepend=os.pathsep)
    monkeypatch.chdir(tmp_path)
    crews = []

    def start(workers=1, task="", **more):
        crews.append(Crew("calculating", task, workers, **more))
        return crews[-1]

    yield start
    for crew_ in crews:
        crew_.close()
    assert not children()


def test_each_question_is_answered_once(crew):
    questions = {f"{i} squared": f"[np.array({i}**2)]" for i in range(20)}
    answers = {
        name: int(message["arrays"][0])
        for name, message in crew(3, "offset = 1").do(questions)
        if message["done"] == questions[name]
    }
    assert answers == {f"{i} squared": i**2 for i in range(20)}


@pytest.mark.parametrize("shape", [(), (0, 1), (3, 0, 2), (4, 5), (70_000, 20)])
@pytest.mark.parametrize("kind", ["u1", "<i8", "<f4"])
def test_arrays_come_as_they_were_sent(crew, shape, kind):
    own = crew()
    own.ask(0, "arrays", f"[np.ones({shape}, {kind!r}).T, np.zeros(3)]")
    _, _, message = own.answer()
    first, second = message["arrays"]
    assert first.dtype == kind
    assert np.array_equal(first, np.ones(shape).T)
    assert np.array_equal(second, np.zeros(3))


def test_a_worker_answers_in_order_and_may_say_more(crew):
    own = crew(2)
    for number in range(4):
        own.ask(number % 2, f"question {number}", f"parent.tell(heard={number})")
    messages = [own.answer() for _ in range(8)]
    for worker in (0, 1):
        told = [(name, message) for number, name, message in messages if number == worker]
        assert [name for name, _ in told] == [
            f"question {n}" for n in (worker,) * 2 + (worker + 2,) * 2
        ]
        assert [message.get("heard") for _, message in told] == [worker, None, worker + 2, None]


def test_each_kind_of_health_warning_is_passed_on_once_when_it_comes(crew):
    warn = "warnings.warn('homogenizing x costs {}', HealthWarning)"
    other = "warnings.warn('not for the parent', FutureWarning)"
    questions = {str(i): f"({warn.format(i)}, {other})[2:]" for i in range(4)}
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        assert len(list(crew().do(questions))) == 4
    assert [(w.category, str(w.message)) for w in caught] == [
        (HealthWarning, "homogenizing x costs 0")
    ]


@pytest.mark.parametrize(
    ("question", "message"),
    [
        ("fail(UnskewError('x is 1; allowed is 2'))", "x is 1; allowed is 2"),
        ("1 / 0", "ratio: ZeroDivisionError: division by zero"),
        ("sys.exit(3)", "ratio: SystemExit: 3"),
        (
            "os._exit(0)",
            "ratio: a worker ended with code 0 (something that it called ended it); "
            "take os._exit, or what else ends the process, out of the code that it runs",
        ),
        (
            "os.kill(os.getpid(), signal.SIGKILL)",
            "ratio: a worker ended with code -9 (killed, or out of memory); "
            "run the same command again, with fewer models if memory is short",
        ),
        (
            "rubbish()",
            "ratio: a worker gave an answer that cannot be read (JSONDecodeError: Expecting value: "
            "line 1 column 1 (char 0)); "
            "run the same command again, with fewer models if memory is short",
        ),
    ],
)
def test_what_goes_wrong_is_one_line_for_ever(crew, question, message):
    own = crew(2, fewer="fewer models")
    with pytest.raises(UnskewError) as first:
        list(own.do({"ratio": question}))
    assert str(first.value) == message
    for _ in range(2):  # nobody waits for an answer that never comes
        with pytest.raises(UnskewError):
            own.answer()


def test_a_task_that_cannot_be_begun_is_an_error(crew):
    with pytest.raises(UnskewError, match="first: ZeroDivisionError"):
        list(crew(2, "1 / 0").do({"first": "1"}))


def test_a_worker_that_ends_matters_when_it_is_asked(crew):
    own = crew(2)
    own.ask(1, "number", "[np.array(os.getpid())]")
    number = int(own.answer()[2]["arrays"][0])
    os.kill(number, signal.SIGKILL)
    until(lambda: not is_alive(number))
    own.ask(0, "one", "[]")
    assert own.answer()[1] == "one"
    own.ask(1, "two", "[]")
    with pytest.raises(UnskewError, match="two: a worker ended with code -9"):
        own.answer()


@pytest.mark.parametrize("questions", [0, 1])
def test_whoever_waits_when_it_is_closed_hears_of_it(crew, questions):
    own, heard = crew(2, "Path('begun').touch()"), []

    def wait():
        with pytest.raises(UnskewError, match="the workers are closed") as closed:
            own.answer()
        heard.append(closed)

    for number in range(questions):
        own.ask(number, "for ever", "stay()")
        until(lambda: os.path.exists("begun"))
    waiting = threading.Thread(target=wait)
    waiting.start()
    own.close()
    waiting.join()
    assert len(heard) == 1
    with pytest.raises(UnskewError, match="the workers are closed"):
        own.answer()


def test_no_process_and_no_thread_is_left_and_the_files_are_cleaned(crew, children):
    """Also when the workers have answers that nobody took, or ignore a stop."""
    before, cleaned = set(threading.enumerate()), []
    own = crew(3, clean=cleaned.append)
    workers = children()
    own.ask(0, "much", "[np.zeros(10_000_000)]")
    own.ask(
        1,
        "deaf",
        "signal.signal(signal.SIGTERM, signal.SIG_IGN) and Path('deaf').touch() or stay()",
    )
    until(lambda: os.path.exists("deaf"))
    own.close()
    assert not any(map(is_alive, workers))
    assert set(threading.enumerate()) <= before
    assert cleaned == [workers]
    own.close()


def test_an_interrupt_while_they_start_leaves_none(crew, monkeypatch):
    start, started, before = subprocess.Popen, [], set(threading.enumerate())

    def third_fails(*args, **more):
        if len(started) == 2:
            raise KeyboardInterrupt
        started.append(start(*args, **more))
        return started[-1]

    monkeypatch.setattr(subprocess, "Popen", third_fails)
    with pytest.raises(KeyboardInterrupt):
        crew(3)
    assert all(process.poll() is not None for process in started)
    assert set(threading.enumerate()) <= before


def test_time_to_save_is_used(crew):
    own = crew(1, "parent.clean = lambda: Path('saved').touch()")
    own.ask(0, "for ever", "Path('begun').touch() or stay()")
    until(lambda: os.path.exists("begun"))
    own.close(seconds_to_save=HANG)
    assert os.path.exists("saved")


def test_a_worker_without_a_parent_ends_quietly(crew):
    """It cleans up first. Its parent closed all pipes, as the system does for a killed one."""
    crew(0)
    worker = subprocess.Popen(
        [sys.executable, "-m", "calculating"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )
    send(worker.stdin, {"task": "parent.clean = lambda: Path('cleaned').touch()"})
    send(worker.stdin, {"question": "Path('begun').touch() or stay()"})
    until(lambda: os.path.exists("begun"), worker)
    worker.stdout.close()
    worker.stdin.close()
    assert worker.wait(HANG) == STOPPED
    assert worker.stderr.read() == b""
    assert os.path.exists("cleaned")
    worker.stderr.close()


def test_an_interrupt_from_the_keyboard_is_not_for_workers(crew):
    own = crew()
    own.ask(0, "group", "[np.array([os.getpgrp() == os.getpid(), os.getpgid(os.getppid())])]")
    leads, parents_group = own.answer()[2]["arrays"][0]
    assert leads
    assert parents_group == os.getpgrp()
