"""What every test shares: one thread a process, and a way to run a command."""

import os
import signal
import sys

import pytest
from hypothesis import HealthCheck, settings

from tests import waiting
from tests.commands import exit_code

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


@pytest.fixture(autouse=True)
def modules(tmp_path_factory):
    """Forget the modules that a test wrote: another test may write one of the same name."""
    yield
    written = f"{tmp_path_factory.getbasetemp()}{os.sep}"
    for name, module in list(sys.modules.items()):
        if (getattr(module, "__file__", None) or "").startswith(written):
            del sys.modules[name]


@pytest.fixture
def engines_at_once(monkeypatch):
    """Let an engine count whatever is to be counted, however little it is."""
    from unskew.datasets import api

    monkeypatch.setattr(api, "ALONE_SECONDS", 0.0)


@pytest.fixture
def run(capsys):
    """Run a command in this process; return exit code, stdout and stderr."""

    def call(*arguments: object) -> tuple[int, str, str]:
        code = exit_code(*arguments)
        out, err = capsys.readouterr()
        return code, out, err

    return call


@pytest.fixture
def own_module(tmp_path, monkeypatch):
    """Write modules into an empty folder, which becomes the current one, and forget them after."""
    monkeypatch.chdir(tmp_path)
    names = []

    def write(name: str, text: str) -> None:
        (tmp_path / f"{name}.py").write_text(text)
        sys.modules.pop(name, None)
        names.append(name)

    yield write
    for name in names:
        sys.modules.pop(name, None)


@pytest.fixture
def children():
    """Return a function that gives the processes that this process started since the test began."""
    before = waiting.children()
    return lambda: waiting.children() - before
