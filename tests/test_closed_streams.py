"""A shell may close stdin, stdout or stderr (`>&-`), or stop reading: never a traceback."""

import subprocess
import sys

import pytest

from tests.commands import complaints
from unskew.datasets.verify import verify

UNSKEW = f"{sys.executable} -m unskew"
CHATTY = """
import os

def draw(rng):
    print("printed", flush=True)
    os.system("echo told")
    return {"n": int(rng.integers(9))}
"""
SHUT = ["", "<&-", ">&-", "2>&-", ">&- 2>&-", "<&- >&- 2>&-"]


def shell(line: str, folder) -> subprocess.CompletedProcess:
    return subprocess.run(["bash", "-c", line], cwd=folder, capture_output=True, text=True)


@pytest.mark.parametrize("shut", SHUT)
@pytest.mark.parametrize("command", ["list calculator", "audit calculator/dcfg -n 100"])
def test_what_is_printed_on_a_closed_stream_goes_nowhere(command, shut, tmp_path):
    done = shell(f"{UNSKEW} {command} {shut}", tmp_path)
    assert (done.returncode, complaints(done.stderr)) == (0, "")
    assert bool(done.stdout) is (">&-" not in shut.replace("2>&-", ""))


@pytest.mark.parametrize("shut", SHUT)
def test_no_file_takes_the_place_of_a_closed_stream(shut, tmp_path):
    (tmp_path / "chatty.py").write_text(CHATTY)
    line = f"{UNSKEW} generate chatty:draw -n 30 --shard-size 10 --workers 2 -o made {shut}"
    done = shell(line, tmp_path)
    assert done.returncode == 0, done.stderr
    assert verify(str(tmp_path / "made")).faults == []


def test_a_trace_that_nobody_reads_to_its_end_is_left_in_silence(tmp_path):
    line = f"{UNSKEW} show karel/problems --trace -n 20 | head -1; echo ${{PIPESTATUS[0]}}"
    done = shell(line, tmp_path)
    assert done.stdout.splitlines()[-1] == "141"
    assert complaints(done.stderr) == ""
