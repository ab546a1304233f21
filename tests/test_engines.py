"""Many workers, kills at random moments, two generators at once: always the same files."""

import hashlib
import os
import random
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from tests.commands import complaints
from tests.datasets import finished_contents
from tests.waiting import HANG, is_alive, until
from unskew import Recipe, UnskewError, generate
from unskew.core.processes.crew import send
from unskew.core.processes.worker import STOPPED
from unskew.datasets.engines import processes
from unskew.datasets.parts.part import NOTES, finished_part
from unskew.datasets.run import part_work

SMALL = Recipe("calculator/dcfg", 3_000, homogenize=("length",), seed=5, shard_size=100)
KAREL = Recipe("karel/msr", 600, shard_size=100)
PRICED = Recipe(
    "calculator/dcfg", 3_000, homogenize=("length", "max_depth"), budget=3.0, shard_size=100
)


def command(recipe: Recipe, folder: Path, workers: int) -> list[str]:
    path = folder.with_name("recipe-to-run.json")
    path.write_text(recipe.to_json(), encoding="utf-8")
    flags = ["-o", str(folder), "--workers", str(workers)]
    return [sys.executable, "-m", "unskew", "generate", str(path), *flags]


@pytest.fixture(scope="module")
def whole(tmp_path_factory):
    folder = tmp_path_factory.mktemp("whole")
    return {
        recipe.hash: finished_contents(generate(recipe, folder / recipe.hash).folder)
        for recipe in (SMALL, KAREL, PRICED)
    }


@pytest.mark.parametrize("recipe", [SMALL, KAREL, PRICED], ids=["calculator", "karel", "budget"])
@pytest.mark.parametrize("workers", [1, 2, 5, pytest.param(16, marks=pytest.mark.long)])
def test_any_number_of_workers_makes_the_same_files(whole, recipe, workers, tmp_path):
    made = generate(recipe, tmp_path / "made", engine=processes(workers))
    assert finished_contents(made.folder) == whole[recipe.hash]


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


@pytest.mark.parametrize("recipe", [SMALL, PRICED], ids=["epsilon", "budget"])
@pytest.mark.parametrize("kills_wanted", [6, pytest.param(50, marks=pytest.mark.long)])
def test_killed_at_random_it_goes_on_and_ends_with_the_same_files(
    whole, tmp_path, recipe, kills_wanted
):
    """With one worker or two; what was made stays, and nothing is made twice."""
    rng = random.Random(0)  # noqa: S311 - when to kill is no secret
    kills = rounds = in_the_midst = 0
    while kills < kills_wanted or in_the_midst < kills_wanted // 2:
        rounds += 1
        folder = tmp_path / f"round-{rounds}"
        while struck(
            process := subprocess.Popen(command(recipe, folder, rng.choice((1, 2)))), folder, rng
        ):
            kills += 1
            parts = [finished_part(folder, recipe, i) for i in range(recipe.shards)]
            in_the_midst += 0 < sum(part is not None for part in parts) < recipe.shards
        assert process.returncode == 0
        assert finished_contents(folder) == whole[recipe.hash]


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
    assert [process.wait(HANG) for process in both] == [0, 0]
    assert finished_contents(folder) == whole[SMALL.hash]


# The process that starts workers tries a sampler, too; what ends or waits is for workers alone.
IN_WORKER = """
import os, signal, time
from pathlib import Path
import __main__

in_worker = getattr(__main__.__spec__, "name", "") == "unskew.datasets.workers.parts"

"""


def test_a_worker_that_is_killed_is_told_of(tmp_path, monkeypatch):
    (tmp_path / "dying.py").write_text(
        IN_WORKER + "def draw(rng):\n    if in_worker: os.kill(os.getpid(), signal.SIGKILL)\n"
    )
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("PYTHONPATH", str(tmp_path), prepend=os.pathsep)
    recipe = Recipe("dying:draw", 20, shard_size=10)
    with pytest.raises(UnskewError, match=r"a worker ended with code -9 .*run the same command"):
        generate(recipe, tmp_path / "made", engine=processes(2))


def test_an_error_in_a_worker_is_one_line(tmp_path, monkeypatch):
    (tmp_path / "raising.py").write_text("def draw(rng):\n    raise ValueError('a\\nb')\n")
    monkeypatch.chdir(tmp_path)
    recipe = Recipe("raising:draw", 20, shard_size=10)
    with pytest.raises(UnskewError, match="sampler 'raising:draw' raised ValueError"):
        generate(recipe, tmp_path / "made", engine=processes(2))


@pytest.mark.parametrize("workers", [1, 2])
def test_a_sampler_that_exits_does_not_end_the_command(tmp_path, workers):
    (tmp_path / "leaving.py").write_text("import sys\ndef draw(rng):\n    sys.exit(0)\n")
    recipe = Recipe("leaving:draw", 20, shard_size=10)
    run = subprocess.run(
        command(recipe, tmp_path / "made", workers), cwd=tmp_path, capture_output=True, text=True
    )
    assert run.returncode == 2
    assert run.stderr.startswith(
        "error: sampler 'leaving:draw' raised SystemExit: 0 (leaving.py line 3);"
    )
    assert complaints(run.stderr).count("\n") == 1


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
        timeout=HANG,
    )
    assert run.returncode == 0, run.stderr
    assert run.stdout.startswith("dataset: ")
    assert not {"printed", "written", "echoed"} & set(run.stdout.split())
    assert {"printed", "written", "echoed"} <= set(run.stderr.split())


HELD = """
def draw(rng):
    if in_worker:
        Path(f"drawing-{os.getpid()}").touch()
    while in_worker and not Path("go").exists():
        time.sleep(0.01)
    return {"n": 1}
"""


def test_workers_end_with_their_parent(tmp_path):
    """No process is left when the parent was killed: its workers make no part after this one."""
    (tmp_path / "held.py").write_text(IN_WORKER + HELD)
    recipe = Recipe("held:draw", 1_000, shard_size=1)
    process = subprocess.Popen(command(recipe, tmp_path / "made", 2), cwd=tmp_path)
    until(lambda: len(list(tmp_path.glob("drawing-*"))) == 2, process)
    process.kill()
    process.wait()
    (tmp_path / "go").touch()
    workers = [int(path.name.removeprefix("drawing-")) for path in tmp_path.glob("drawing-*")]
    until(lambda: not any(map(is_alive, workers)))
    assert made(tmp_path / "made") <= 2


def test_no_workers_at_all_is_refused(tmp_path):
    with pytest.raises(UnskewError, match="workers is 0"):
        processes(0)


def test_notes_lie_apart_from_the_data(whole):
    notes = [name for name in whole[SMALL.hash] if name.startswith(NOTES)]
    assert len(notes) == SMALL.shards


# Stopping.


@pytest.fixture
def worker_of():
    """Start workers that make a part, and leave none behind: not even where a test fails."""
    started = []

    def start(code: str, folder: Path) -> subprocess.Popen:
        (folder / "own.py").write_text(code)
        recipe = Recipe("own:draw", 1_000)
        (folder / "recipe.json").write_text(recipe.to_json())
        process = subprocess.Popen(
            [sys.executable, "-m", "unskew.datasets.workers.parts"], cwd=folder,
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
        )  # fmt: skip
        started.append(process)
        send(process.stdin, {"task": {"recipe": recipe.to_dict(), "folder": str(folder)}})
        send(process.stdin, {"question": 0})
        return process

    yield start
    for process in started:
        process.kill()
        ended(process)


def ended(process: subprocess.Popen) -> tuple[int, bytes]:
    """Wait for the end of a worker; return its exit code and what it said on stderr."""
    errors = b"" if process.stderr.closed else process.stderr.read()
    for pipe in (process.stdin, process.stdout, process.stderr):
        pipe.close()
    return process.wait(HANG), errors


# Each module says "here" and waits there for ever, but for a signal that ends the process.
HERE = """
import ctypes, os, signal, sys, threading, time
import numba
import numpy as np

def here():
    print("here", file=sys.stderr, flush=True)
    while True:
        signal.pause()

"""

PLACES = {
    "a sampler": "def draw(rng): here()",
    "a __del__": """
class Slow:
    def __del__(self):
        here()

def draw(rng):
    while True:
        Slow()
""",
    "the hook for what is raised in a __del__": """
class Broken:
    def __del__(self):
        raise ValueError

sys.unraisablehook = lambda lost: here()

def draw(rng):
    while True:
        Broken()
""",
    "what catches everything": """
def draw(rng):
    while True:
        try:
            here()
        except BaseException:
            pass
""",
}


@pytest.mark.parametrize("times", [3, pytest.param(30, marks=pytest.mark.long)])
@pytest.mark.parametrize("place", PLACES)
def test_a_worker_that_is_stopped_ends_wherever_it_is(place, times, tmp_path, worker_of):
    """Where exceptions are swallowed, too: it ends at the first signal, without a word."""
    crew = []
    for number in range(times):
        folder = tmp_path / str(number)
        folder.mkdir()
        crew.append(worker_of(HERE + PLACES[place], folder))
    for process in crew:
        assert process.stderr.readline() == b"here\n"
        process.terminate()
    for process in crew:
        assert ended(process) == (STOPPED, b"")


KERNEL = """
rest = ctypes.CDLL(None).sched_yield
rest.argtypes, rest.restype = (), ctypes.c_int

@numba.njit(nogil=True)
def wait(flag):
    while flag[1] == 0:
        flag[0] = 1
        rest()  # a call of which the compiler knows nothing, so it looks at the flag again

wait(np.ones(2))

def draw(rng):
    flag = np.zeros(2)

    def release():
        while flag[0] == 0:
            time.sleep(0.01)
        print("here", file=sys.stderr, flush=True)  # the kernel runs
        with open("gate"):  # waits until somebody opens it to write
            flag[1] = 1

    threading.Thread(target=release).start()
    wait(flag)
    return {"n": 1}
"""


def test_a_worker_that_is_stopped_in_a_kernel_ends_right_after_it(tmp_path, worker_of):
    """Nothing of Python runs in it. The parent does not wait for it (see below)."""
    os.mkfifo(tmp_path / "gate")
    process = worker_of(HERE + KERNEL, tmp_path)
    assert process.stderr.readline() == b"here\n"
    gate = os.open(tmp_path / "gate", os.O_RDWR)  # opened so, nobody has to wait for a reader
    process.terminate()
    assert ended(process) == (STOPPED, b"")
    os.close(gate)


WRITING = """
import os, signal, sys
from pathlib import Path

def write_half(path, data, plain=Path.write_bytes):
    if path.name.endswith(".part"):
        plain(path, data[:10])
        print("here", file=sys.stderr, flush=True)
        while True:
            signal.pause()
    return plain(path, data)

Path.write_bytes = write_half

def draw(rng):
    return {"n": 1}
"""


def test_a_worker_that_is_stopped_while_it_writes_leaves_nothing(tmp_path, worker_of):
    process = worker_of(WRITING, tmp_path)
    assert process.stderr.readline() == b"here\n"
    assert list(tmp_path.rglob("*.part"))
    process.terminate()
    assert ended(process) == (STOPPED, b"")
    assert not list(tmp_path.rglob("*.part"))


# One worker of two does this for ever; the other one fails then, so that both are stopped.
FAILING = """
import ctypes, os, signal, time
from pathlib import Path

def draw(rng):
    try:
        Path("first").touch(exist_ok=False)
    except FileExistsError:
        while not Path("begun").exists():
            time.sleep(0.01)
        while WAITS_FOR and not list(Path("made").rglob(WAITS_FOR)):
            time.sleep(0.01)
        raise ValueError
    Path("process").write_text(str(os.getpid()))
    Path("begun").touch()
    return stay()
"""

STAYS = {
    "ignores a stop": """
WAITS_FOR = ""

def stay():
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    while True:
        signal.pause()
""",
    "never gives the interpreter back": """
WAITS_FOR = ""

def stay():
    while True:
        ctypes.PyDLL(None).pause()  # with the interpreter's lock
""",
    "writes": """
WAITS_FOR = "*.part"

def write_half(path, data, plain=Path.write_bytes):
    plain(path, data[:10])
    while True:
        signal.pause()

def stay():
    Path.write_bytes = write_half
    return {"n": 1}
""",
}


@pytest.mark.parametrize("stays", STAYS)
def test_a_worker_that_cannot_be_told_to_stop_is_killed_and_leaves_nothing(
    stays, tmp_path, monkeypatch
):
    (tmp_path / "own.py").write_text(FAILING + STAYS[stays])
    monkeypatch.chdir(tmp_path)
    folder = Path("made")
    folder.mkdir()
    recipe = Recipe("own:draw", 2, shard_size=1)
    (folder / "recipe.json").write_text(recipe.to_json())
    with pytest.raises(UnskewError, match="ValueError"):
        list(processes(2)(part_work(recipe, folder, [0, 1])))
    assert not is_alive(int(Path("process").read_text()))
    assert not list(folder.rglob("*.part"))
