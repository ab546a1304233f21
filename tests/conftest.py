"""What every test shares: one thread a process, and a way to run a command."""

import os
import signal
import sys

import pytest
from hypothesis import HealthCheck, settings

# Before torch is loaded: two suites on two cores would starve each other.
os.environ.setdefault("OMP_NUM_THREADS", "1")
os.environ.setdefault("MKL_NUM_THREADS", "1")


# How long an example takes says how busy the machine is, and decides nothing.
settings.register_profile("no clock", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("no clock")


@pytest.fixture(autouse=True, scope="session")
def interrupts():
    """Take Ctrl-C as a terminal's job does: a shell's background job would ignore it."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


@pytest.fixture
def run(monkeypatch, capsys):
    """Run a command in this process; return exit code, stdout and stderr."""
    from unskew.cli import main

    def call(*args: object) -> tuple[int, str, str]:
        monkeypatch.setattr(sys, "argv", ["unskew", *map(str, args)])
        with pytest.raises(SystemExit) as stop:
            main()
        out, err = capsys.readouterr()
        return int(stop.value.code or 0), out, err

    return call
