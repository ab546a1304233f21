"""What is said while kernels are compiled, and that warm-up compiles them ahead."""

import os
import subprocess
from pathlib import Path

import pytest

from tests.commands import UNSKEW
from tests.waiting import HANG
from unskew.core.compiled import NOTICE, SLOW, Compiling, compiling, notice_to
from unskew.core.processes.crew import is_news
from unskew.core.processes.worker import reported


class Clock:
    """A clock that a test sets."""

    def __init__(self) -> None:
        self.now = 100.0

    def __call__(self) -> float:
        return self.now


@pytest.fixture
def watched() -> tuple[Compiling, Clock, list[str]]:
    seen: list[str] = []
    clock = Clock()
    return Compiling(seen.append, clock), clock, seen


def test_what_compiles_quickly_is_not_told(watched: tuple[Compiling, Clock, list[str]]) -> None:
    compiling, clock, notices = watched
    for _ in range(3):
        compiling.begin()
        clock.now += SLOW / 4
        compiling.end()
        clock.now += 100 * SLOW  # nothing is compiled in this time
    compiling.begin()
    assert notices == []
    assert compiling.kernels == 4


def test_what_takes_long_is_told_once(watched: tuple[Compiling, Clock, list[str]]) -> None:
    compiling, clock, notices = watched
    for _ in range(9):
        compiling.begin()
        clock.now += SLOW / 4
        compiling.end()
    assert notices == [NOTICE]


def test_kernels_within_a_kernel_do_not_count_its_time_twice(
    watched: tuple[Compiling, Clock, list[str]],
) -> None:
    compiling, clock, notices = watched
    compiling.begin()
    for _ in range(3):
        clock.now += SLOW / 4
        compiling.begin()
        compiling.end()
    assert notices == []
    clock.now += SLOW / 4
    compiling.begin()
    assert notices == [NOTICE]


def test_workers_tell_it_once(capsys: pytest.CaptureFixture[str]) -> None:
    told: list[dict[str, str]] = []
    with reported(lambda **facts: told.append(facts)):
        compiling().say(NOTICE)
    warned: set[str] = set()
    assert [is_news(message, "part 1", warned) for message in told * 2] == [False, False]
    assert capsys.readouterr().err == f"{NOTICE}\n"


def test_the_notice_goes_back_to_stderr(capsys: pytest.CaptureFixture[str]) -> None:
    seen: list[str] = []
    with notice_to(seen.append):
        compiling().say("one")
    compiling().say("two")
    assert (seen, capsys.readouterr().err) == (["one"], "two\n")


def run(folder: Path, *arguments: str) -> "subprocess.CompletedProcess[str]":
    """Run a command whose compiled code is kept in a folder."""
    return subprocess.run(
        [*UNSKEW, *arguments],
        capture_output=True,
        text=True,
        cwd=folder,
        env={**os.environ, "NUMBA_CACHE_DIR": str(folder / "kernels")},
        timeout=HANG,
    )


def kernels(folder: Path) -> int:
    return len(list((folder / "kernels").rglob("*.nbc")))


@pytest.mark.long
def test_after_a_warm_up_nothing_is_compiled(tmp_path: Path) -> None:
    first = run(tmp_path, "warm-up")
    assert first.stdout.startswith("compiled ")
    assert run(tmp_path, "warm-up").stdout == "everything is compiled already\n"
    before = kernels(tmp_path)
    assert before > 80
    for command in (
        ("audit", "karel/msr", "-n", "50"),
        ("show", "karel/problems", "--trace"),
        ("generate", "karel/while-in-while-covered", "-n", "4", "-o", "made"),
        ("verify", "made"),
        ("generate", "karel/uniform", "--given", "made", "-n", "3", "-o", "given"),
        ("generate", "calculator/dcfg", "--homogenize", "length", "-n", "300", "-o", "even"),
    ):
        done = run(tmp_path, *command)
        assert (done.returncode, NOTICE in done.stderr) == (0, False), done.stderr
    assert kernels(tmp_path) == before


@pytest.mark.long
def test_a_first_audit_says_what_it_waits_for(tmp_path: Path) -> None:
    """Karel takes far longer to compile than the time after which it is told."""
    done = run(tmp_path, "audit", "karel/msr", "-n", "50")
    assert done.stderr.count(NOTICE) == 1
