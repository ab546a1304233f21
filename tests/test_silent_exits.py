"""os._exit in a user's code: a command never ends with exit code 0 and without a result."""

import os
import subprocess
import sys

import pytest

from tests.commands import complaints

OWN = """
import os

def at_once(rng):
    os._exit(0)

def later(rng):
    if rng.random() < 0.01:
        os._exit(0)
    return {"a": int(rng.integers(3))}

def draw(rng):
    return {"a": int(rng.integers(3))}

def leave(example):
    os._exit(0)

def forked(rng):
    child = os.fork()
    if child == 0:
        os._exit(0)
    assert os.waitpid(child, 0)[1] == 0
    return {"a": int(rng.integers(3))}
"""
MANY = ("-n", "1000", "--shard-size", "100", "-o", "made")
COMMANDS = [
    ("audit", "leaving:at_once"),
    ("audit", "leaving:draw", "--by", "leaving:leave", "-n", "9"),
    ("show", "leaving:later", "-n", "1000"),
    ("convert", "leaving:later", "made.jsonl", "-n", "1000"),
    ("generate", "leaving:at_once", *MANY, "--workers", "1"),
    ("generate", "leaving:at_once", *MANY, "--workers", "2"),
    ("generate", "leaving:later", *MANY, "--workers", "1"),
    ("generate", "leaving:later", *MANY, "--workers", "2"),
    ("generate", "leaving:draw", "--homogenize", "leaving:leave", *MANY, "--workers", "2"),
]


@pytest.fixture
def command(tmp_path):
    """Run a command in a process of its own: it may end in any way."""
    (tmp_path / "leaving.py").write_text(OWN)

    def call(*args: str) -> subprocess.CompletedProcess:
        line = [sys.executable, "-m", "unskew", *args]
        return subprocess.run(line, cwd=tmp_path, capture_output=True, text=True)

    return call


@pytest.mark.parametrize("args", COMMANDS, ids=" ".join)
def test_a_command_that_code_ends_has_failed(command, args, tmp_path):
    done = command(*args)
    said = complaints(done.stderr)
    assert (done.returncode, done.stdout, said.count("\n")) == (2, "", 1), said
    assert "out of" in done.stderr  # the next step: take it out of the code
    assert "os._exit" in done.stderr
    assert not (tmp_path / "made" / "manifest.json").exists()
    assert not (tmp_path / "made.jsonl").exists()


def test_a_process_that_code_forks_may_end_as_it_likes(command):
    done = command("generate", "leaving:forked", "-n", "5", "-o", "made", "--workers", "1")
    assert (done.returncode, complaints(done.stderr)) == (0, "")


def test_a_command_leaves_python_as_it_was(run):
    leave = os._exit
    assert run("list", "calculator")[0] == 0
    assert os._exit is leave
