"""The folder of a run: what was logged and how much of it is believed, by whom it is stopped."""

import json
import os
import signal
import threading

import pytest

from unskew.core.errors import UnskewError
from unskew.models.runs import CONFIG, METRICS, cut_log, held_interrupts, log, settings


def logged(folder):
    return [json.loads(line) for line in (folder / METRICS).read_text().splitlines()]


def test_a_run_killed_at_any_byte_of_a_line_goes_on(tmp_path):
    """The last line is there or not; what is logged next has a line of its own."""
    for step in (1, 2, 3):
        log(tmp_path, {"step": step, "loss": 1.5, "accuracy": None})
    whole = (tmp_path / METRICS).read_bytes()
    last = whole.rindex(b"\n", 0, -1) + 1
    for size in range(last, len(whole) + 1):
        (tmp_path / METRICS).write_bytes(whole[:size])
        cut_log(tmp_path, 3)
        log(tmp_path, {"step": 4})
        steps = [line["step"] for line in logged(tmp_path)]
        assert steps == ([1, 2, 3, 4] if size >= len(whole) - 1 else [1, 2, 4]), size


def test_lines_after_the_checkpoint_are_cut(tmp_path):
    for step in (1, 2, 3):
        log(tmp_path, {"step": step})
    cut_log(tmp_path, 2)
    assert logged(tmp_path) == [{"step": 1}, {"step": 2}]
    cut_log(tmp_path, 0)
    assert logged(tmp_path) == []


@pytest.mark.parametrize("line", [b'{"step": 1', b"[1]", b"{}", b'{"step": "1"}', b"\xff", b""])
def test_other_lines_that_cannot_be_read_are_named(tmp_path, line):
    (tmp_path / METRICS).write_bytes(b'{"step": 1}\n' + line + b'\n{"step": 3}\n')
    with pytest.raises(
        UnskewError, match=r"metrics.jsonl, line 2, is not a line of metrics; restore"
    ):
        cut_log(tmp_path, 3)


@pytest.mark.parametrize("text", ["", "[", "[]", "\xff", pytest.param("[" * 100_000, id="deep")])
def test_settings_that_cannot_be_read_are_refused(tmp_path, text):
    (tmp_path / CONFIG).write_text(text, encoding="latin-1")
    with pytest.raises(UnskewError, match=r"config.json .*; restore it, or train again"):
        settings(tmp_path)


def interrupt():
    os.kill(os.getpid(), signal.SIGINT)


def held(job):
    with held_interrupts() as stop:
        job(stop)


def test_an_interrupt_is_held_back_to_the_end():
    seen = []

    def job(stop):
        seen.append(stop.asked)
        interrupt()
        seen.append(stop.asked)

    with pytest.raises(KeyboardInterrupt):
        held(job)
    assert seen == [False, True]
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler


def test_a_second_interrupt_is_not_held_back():
    def job(_):
        interrupt()
        interrupt()
        pytest.fail("not reached")

    with pytest.raises(KeyboardInterrupt):
        held(job)


def test_what_goes_wrong_meanwhile_comes_first():
    def job(_):
        interrupt()
        raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        held(job)
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler


@pytest.mark.parametrize("raises", [True, False])
def test_an_interrupt_is_answered_as_it_would_have_been(raises):
    """By who was asked before; one who lets it go on does not let what was stopped go on."""
    seen = []

    def answer(number, frame):
        seen.append(number)
        if raises:
            raise SystemExit(3)

    def job(_):
        interrupt()
        assert seen == []

    before = signal.signal(signal.SIGINT, answer)
    try:
        with pytest.raises(SystemExit if raises else KeyboardInterrupt):
            held(job)
    finally:
        signal.signal(signal.SIGINT, before)
    assert seen == [signal.SIGINT]


def test_ignored_interrupts_are_still_ignored_and_threads_hear_none():
    before = signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        with held_interrupts() as stop:
            interrupt()
        assert not stop.asked
    finally:
        signal.signal(signal.SIGINT, before)
    seen = []

    def beside():
        with held_interrupts() as stop:
            seen.append(stop.asked)

    thread = threading.Thread(target=beside)
    thread.start()
    thread.join()
    assert seen == [False]
