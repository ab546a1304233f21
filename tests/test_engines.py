"""Many workers, kills at random moments, two generators at once: always the same files."""

import hashlib
import json
import os
import random
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from unskew import Recipe, UnskewError, engines, generate
from unskew.engines import _died, processes
from unskew.parts import NOTES, finished_part

SMALL = Recipe("calculator/dcfg", 3_000, homogenize=("length",), seed=5, shard_size=100)
KAREL = Recipe("karel/msr", 600, shard_size=100)


def contents(folder: Path) -> dict[str, str]:
    """The checksum of every file below a folder, but for what a killed writer left beside."""
    return {
        str(path.relative_to(folder)): hashlib.sha256(path.read_bytes()).hexdigest()
        for path in sorted(folder.rglob("*"))
        if path.is_file() and not path.name.endswith(".part")
    }


def command(recipe: Recipe, folder: Path, workers: int) -> list[str]:
    path = folder.with_name("recipe-to-run.json")
    path.write_text(recipe.to_json(), encoding="utf-8")
    flags = ["-o", str(folder), "--workers", str(workers)]
    return [sys.executable, "-m", "unskew", "generate", str(path), *flags]


@pytest.fixture(scope="module")
def whole(tmp_path_factory):
    folder = tmp_path_factory.mktemp("whole")
    return {
        recipe.hash: contents(generate(recipe, folder / recipe.hash).folder)
        for recipe in (SMALL, KAREL)
    }


@pytest.mark.parametrize("recipe", [SMALL, KAREL], ids=["calculator", "karel"])
@pytest.mark.parametrize("workers", [1, 2, 5, pytest.param(16, marks=pytest.mark.long)])
def test_any_number_of_workers_makes_the_same_files(whole, recipe, workers, tmp_path):
    made = generate(recipe, tmp_path / "made", engine=processes(workers))
    assert contents(made.folder) == whole[recipe.hash]


@pytest.mark.parametrize(
    ("recipe", "golden"),
    [(SMALL, "6c26a71d95847939"), (KAREL, "a20912907df53e05")],
    ids=["calculator", "karel"],
)
def test_golden_datasets_hold(recipe, golden, tmp_path):
    """A change here is a change of everyone's data: it takes a line in CHANGELOG."""
    digest = hashlib.sha256()
    for batch in generate(recipe, tmp_path / "made").batches():
        for example in batch.examples():
            digest.update(repr(sorted(example.items())).encode())
    assert digest.hexdigest()[:16] == golden


def made(folder: Path) -> int:
    """How many parts a folder has."""
    return len(list((folder / "data").glob("*.parquet")))


def struck(process: subprocess.Popen, folder: Path, rng: random.Random) -> bool:
    """Kill a generator as it starts, or when it has made some more parts; whether it struck."""
    late = rng.random() < 0.75
    wanted = made(folder) + rng.randrange(12)
    moment = time.monotonic() + rng.uniform(0.2, 1.5)
    while process.poll() is None:
        if made(folder) >= wanted if late else time.monotonic() > moment:
            time.sleep(rng.uniform(0, 0.01))
            process.kill()
            break
        time.sleep(0.001)
    return process.wait() == -signal.SIGKILL


@pytest.mark.parametrize("kills_wanted", [6, pytest.param(50, marks=pytest.mark.long)])
def test_killed_at_random_it_goes_on_and_ends_with_the_same_files(whole, tmp_path, kills_wanted):
    """With one worker or two; what was made stays, and nothing is made twice."""
    rng = random.Random(0)  # noqa: S311 - when to kill is no secret
    kills = rounds = in_the_midst = 0
    while kills < kills_wanted:
        rounds += 1
        folder = tmp_path / f"round-{rounds}"
        while struck(
            process := subprocess.Popen(command(SMALL, folder, rng.choice((1, 2)))), folder, rng
        ):
            kills += 1
            found = [finished_part(folder, SMALL, i) for i in range(SMALL.shards)]
            in_the_midst += 0 < sum(part is not None for part in found) < SMALL.shards
        assert process.returncode == 0
        time.sleep(0.2)  # a worker whose parent was killed may still write its last part
        assert contents(folder) == whole[SMALL.hash]
    assert in_the_midst >= kills_wanted // 2


def test_finished_parts_are_kept_after_a_kill(tmp_path):
    """Parts that were whole before the kill are not written again."""
    folder = tmp_path / "made"
    generate(SMALL, folder)
    (folder / "manifest.json").unlink()
    gone = sorted((folder / "data").iterdir())[::3]
    for part in gone:
        part.unlink()
    before = {p: p.stat().st_mtime_ns for p in (folder / "data").iterdir()}
    generate(SMALL, folder, engine=processes(2))
    assert {p: p.stat().st_mtime_ns for p in before} == before
    assert all(part.exists() for part in gone)


def test_two_generators_on_one_folder(whole, tmp_path):
    folder = tmp_path / "both"
    both = [subprocess.Popen(command(SMALL, folder, 2)) for _ in range(2)]
    assert [process.wait(timeout=120) for process in both] == [0, 0]
    assert contents(folder) == whole[SMALL.hash]


def test_a_worker_that_is_killed_is_told_of(tmp_path, monkeypatch):
    (tmp_path / "dying.py").write_text(
        "import os, signal\ndef draw(rng):\n    os.kill(os.getpid(), signal.SIGKILL)\n"
    )
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))
    recipe = Recipe("dying:draw", 20, shard_size=10)
    with pytest.raises(UnskewError, match=r"a worker ended with code -9 .*run the same command"):
        generate(recipe, tmp_path / "made", engine=processes(2))


def test_an_error_in_a_worker_is_one_line(tmp_path, monkeypatch):
    (tmp_path / "raising.py").write_text("def draw(rng):\n    raise ValueError('a\\nb')\n")
    monkeypatch.chdir(tmp_path)
    recipe = Recipe("raising:draw", 20, shard_size=10)
    with pytest.raises(UnskewError, match="sampler 'raising:draw' raised ValueError"):
        generate(recipe, tmp_path / "made", engine=processes(2))


LOUD = """
import os, subprocess, sys

def draw(rng):
    print("printed")
    os.write(1, b"written\\n")
    subprocess.run(["echo", "echoed"])
    return {"n": int(rng.integers(9)), "read": sys.stdin.read()}
"""


def test_a_sampler_that_prints_and_reads_disturbs_nothing(tmp_path):
    (tmp_path / "loud.py").write_text(LOUD)
    recipe = Recipe("loud:draw", 20, shard_size=5)
    run = subprocess.run(
        command(recipe, tmp_path / "made", 2),
        cwd=tmp_path,
        capture_output=True,
        text=True,
        timeout=60,
    )
    assert run.returncode == 0, run.stderr
    assert run.stdout.startswith("dataset: ")
    assert not {"printed", "written", "echoed"} & set(run.stdout.split())
    assert {"printed", "written", "echoed"} <= set(run.stderr.split())


def test_a_worker_without_a_parent_ends_quietly(tmp_path):
    """Its parent is gone when it would answer: no traceback, and nobody is told."""
    task = json.dumps({"recipe": SMALL.to_dict(), "folder": str(tmp_path / "made")})
    worker = subprocess.Popen(
        [sys.executable, "-m", "unskew.worker"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    worker.stdout.close()
    worker.stdin.write(f"{task}\n0\n1\n")
    worker.stdin.flush()
    assert worker.wait(60) == 0
    assert worker.stderr.read() == ""
    worker.stdin.close()
    worker.stderr.close()


def test_a_worker_that_does_not_answer_is_not_waited_for(monkeypatch):
    monkeypatch.setattr("unskew.engines.LAST_SECONDS", 0.1)
    worker = subprocess.Popen(["sleep", "60"])
    assert "gave no answer that can be read" in _died(worker)
    assert worker.wait(10) == -9


def test_workers_end_with_their_parent(tmp_path):
    """No process is left when the parent was killed."""
    slow = Recipe("karel/narrow", 4_000, {"r_wall": 0.85, "r_marker": 0.05}, shard_size=500)
    process = subprocess.Popen(command(slow, tmp_path / "made", 2))
    deadline = time.monotonic() + 60
    while time.monotonic() < deadline and not (children := _children(process.pid)):
        time.sleep(0.1)
    process.kill()
    process.wait()
    while time.monotonic() < deadline and any(map(_alive, children)):
        time.sleep(0.2)
    assert children
    assert not any(map(_alive, children))


def _children(pid: int) -> list[int]:
    path = Path(f"/proc/{pid}/task/{pid}/children")
    return [int(child) for child in path.read_text().split()] if path.exists() else []


def _alive(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    stat = Path(f"/proc/{pid}/stat")
    return not stat.exists() or stat.read_text().rsplit(")", 1)[1].split()[0] != "Z"


def test_no_workers_at_all_is_refused(tmp_path):
    with pytest.raises(UnskewError, match="workers is 0"):
        processes(0)


def test_notes_lie_apart_from_the_data(whole):
    notes = [name for name in whole[SMALL.hash] if name.startswith(NOTES)]
    assert len(notes) == SMALL.shards


SLOW = """
import time
from pathlib import Path
from unskew import worker

def write_bytes(path, data, plain=Path.write_bytes):
    plain(path, data[:10])
    time.sleep(60)

Path.write_bytes = write_bytes
worker.main()
"""


def test_a_worker_that_is_stopped_while_it_writes_leaves_nothing(tmp_path, monkeypatch):
    """It is given time to clear up: here more of it, for a machine that is busy."""
    monkeypatch.setattr(engines, "SECONDS_TO_CLEAR_UP", 30.0)
    process = subprocess.Popen(
        [sys.executable, "-c", SLOW], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    )
    recipe = Recipe("calculator/dcfg", 100)
    (tmp_path / "recipe.json").write_text(recipe.to_json())
    task = json.dumps({"recipe": recipe.to_dict(), "folder": str(tmp_path)})
    process.stdin.write(f"{task}\n0\n")
    process.stdin.flush()
    deadline = time.monotonic() + 30
    while not list(tmp_path.rglob("*.part")):
        assert process.poll() is None
        assert time.monotonic() < deadline
        time.sleep(0.01)
    engines._stop(process)
    assert process.returncode == 128 + signal.SIGTERM
    assert not list(tmp_path.rglob("*.part"))


DELETING = """
import sys, time

class Slow:
    def __del__(self):
        print("deleting", file=sys.stderr, flush=True)
        time.sleep(1)

def draw(rng):
    Slow()
    return {"n": 1}
"""


def test_a_worker_that_is_stopped_where_stops_are_swallowed_ends_all_the_same(tmp_path):
    """What is raised in a ``__del__`` is printed and forgotten; a compiler's objects have some."""
    (tmp_path / "deleting.py").write_text(DELETING)
    recipe = Recipe("deleting:draw", 1_000)
    (tmp_path / "recipe.json").write_text(recipe.to_json())
    process = subprocess.Popen(
        [sys.executable, "-m", "unskew.worker"], cwd=tmp_path,
        stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
    )  # fmt: skip
    process.stdin.write(json.dumps({"recipe": recipe.to_dict(), "folder": str(tmp_path)}) + "\n0\n")
    process.stdin.flush()
    assert process.stderr.readline() == "deleting\n"
    process.terminate()
    _, errors = process.communicate(timeout=30)
    assert process.returncode == 128 + signal.SIGTERM
    assert set(errors.splitlines()) <= {"deleting"}


ENDING = """
import atexit, sys, time
from unskew import worker

def end():
    print("ending", file=sys.__stdout__, flush=True)
    time.sleep(60)

atexit.register(end)
worker.main()
"""


def test_a_worker_that_is_stopped_while_it_ends_says_nothing(tmp_path):
    """All is done and it is on its way out, as most are when they are stopped."""
    process = subprocess.Popen(
        [sys.executable, "-c", ENDING],
        stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
    )  # fmt: skip
    recipe = Recipe("calculator/dcfg", 100)
    (tmp_path / "recipe.json").write_text(recipe.to_json())
    process.stdin.write(json.dumps({"recipe": recipe.to_dict(), "folder": str(tmp_path)}) + "\n0\n")
    process.stdin.close()
    assert json.loads(process.stdout.readline())["done"] == 0
    assert process.stderr.readline() == "ending\n"  # its stdout is stderr by then
    process.terminate()
    assert process.stderr.read() == ""
    assert process.wait() == -signal.SIGTERM
    process.stdout.close()
    process.stderr.close()


def test_a_worker_that_does_not_listen_is_killed(monkeypatch):
    monkeypatch.setattr(engines, "SECONDS_TO_CLEAR_UP", 0.2)
    deaf = "import signal; signal.signal(signal.SIGTERM, signal.SIG_IGN); print(1, flush=True)"
    process = subprocess.Popen(
        [sys.executable, "-c", f"{deaf}; input()"], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    )
    process.stdout.readline()
    engines._stop(process)
    assert process.returncode == -signal.SIGKILL
