"""Datasets and counts of a real Ray cluster, of which a node dies: the same files and counts."""

import contextlib
import http.server
import json
import os
import signal
import socket
import subprocess
import sys
import threading
from dataclasses import replace
from pathlib import Path

import pytest

from tests.datasets import finished_contents
from tests.waiting import HANG, beside, until
from unskew import Recipe, UnskewError, audit, generate, resample
from unskew.audits.saved import audit_text
from unskew.datasets.engines import ray as ray_engine
from unskew.datasets.engines.ray import knock, ray_cluster

ray = pytest.importorskip("ray")
from ray.cluster_utils import Cluster  # noqa: E402 - only where Ray is

pytestmark = pytest.mark.usefixtures("engines_at_once")
RECIPE = Recipe("karel/narrow", 640, {"r_wall": 0.85, "r_marker": 0.05}, shard_size=40)


@pytest.fixture
def cluster(monkeypatch):
    """A head and two more nodes, each a set of processes of its own."""
    monkeypatch.setenv("RAY_ACCEL_ENV_VAR_OVERRIDE_ON_ZERO", "0")
    made = Cluster(initialize_head=True, head_node_args={"num_cpus": 1, "include_dashboard": False})
    nodes = [made.add_node(num_cpus=1) for _ in range(2)]
    ray.init(address=made.address, log_to_driver=False)
    yield made, nodes
    ray.shutdown()
    made.shutdown()


# While there is a file of the name "held", no more than a few parts are made.
HELD = """
import time
from pathlib import Path

def draw(rng):
    while Path("held").exists() and len(list(Path("made/data").glob("*.parquet"))) >= 3:
        time.sleep(0.01)
    return {"n": int(rng.integers(9))}
"""
HELD_RECIPE = Recipe("held:draw", 160, shard_size=10)
PRICED_RECIPE = replace(HELD_RECIPE, homogenize=("n",), budget=2.0, target={"n": "sqrt"}, pilot=500)


@pytest.fixture
def held(tmp_path, monkeypatch):
    """The data of a folder that is made, and only begun until this returns."""
    (tmp_path / "held.py").write_text(HELD)
    (tmp_path / "held").touch()
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(str(tmp_path))
    return tmp_path / "made" / "data"


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("recipe", [HELD_RECIPE, PRICED_RECIPE], ids=["plain", "budget"])
def test_a_node_that_dies_changes_nothing(cluster, held, recipe):
    """It dies while it makes a part, and while there is much to do."""
    made, nodes = cluster
    knock(made.address)

    def kill() -> None:
        with contextlib.suppress(Exception):
            made.remove_node(nodes[0], allow_graceful=False)
        Path("held").unlink()

    with beside(lambda: len(list(held.glob("*.parquet"))) >= 3, kill):
        dataset = generate(recipe, "made", engine=ray_cluster())
    assert finished_contents(dataset.folder) == finished_contents(generate(recipe, "plain").folder)


@pytest.mark.filterwarnings("ignore")
def test_a_node_of_ones_own_that_dies_is_one_line_and_the_same_command_goes_on(cluster, held):
    """It is what this process talks to: there is nobody else to ask for parts."""
    made, _ = cluster

    with (
        beside(lambda: len(list(held.glob("*.parquet"))) >= 3, made.head_node.kill_raylet),
        # The other nodes do not end their parts before this is noticed.
        pytest.raises(UnskewError, match=r"Ray failed .*raylet died.*run the same command"),
    ):
        generate(HELD_RECIPE, "made", engine=ray_cluster())
    Path("held").unlink()
    assert len(list(held.glob("*.parquet"))) >= 3
    assert not ray.is_initialized()
    dataset = generate(HELD_RECIPE, "made")
    assert finished_contents(dataset.folder) == finished_contents(
        generate(HELD_RECIPE, "plain").folder
    )


@pytest.mark.filterwarnings("ignore")
def test_relative_inputs_are_those_of_the_command(cluster, tmp_path, monkeypatch):
    """The nodes were started elsewhere; the recipe, and so the bytes, have the names as given."""
    monkeypatch.chdir(tmp_path)
    generate(Recipe("karel/actions", 60), "base")
    recipe = Recipe("karel/actions", 60, seed=4, exclude=("base",), shard_size=30)
    given = Recipe("karel/uniform", 60, {"tries": 200}, given="base", shard_size=30)
    for number, asked in enumerate((recipe, given)):
        plain = generate(asked, f"plain-{number}")
        dataset = generate(asked, f"ray-{number}", engine=ray_cluster())
        assert finished_contents(dataset.folder) == finished_contents(plain.folder)


# While there is a file of the name "held", no process but the one that asks measures a row.
COUNTING = """
import os
import time
from pathlib import Path

def of(row):
    if os.getpid() != int(Path("asking").read_text()):
        Path(f"counting-{os.getpid()}").touch()
        while Path("held").exists():
            time.sleep(0.01)
    return row["a"] // 2
"""


@pytest.fixture
def files(tmp_path, monkeypatch):
    """A folder with many files, and a measure that waits."""
    (tmp_path / "counting.py").write_text(COUNTING)
    (tmp_path / "held").touch()
    (tmp_path / "asking").write_text(str(os.getpid()))
    (tmp_path / "data").mkdir()
    for number in range(9):
        rows = [json.dumps({"a": (number * i) % 11, "b": f"{i}"}) + "\n" for i in range(40)]
        (tmp_path / "data" / f"{number}.jsonl").write_text("".join(rows))
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(str(tmp_path))
    return tmp_path / "data"


@pytest.mark.filterwarnings("ignore")
def test_a_node_that_dies_changes_no_count(cluster, files):
    """It dies while it counts the rows of a file."""
    made, nodes = cluster
    by = ["counting:of", "b"]

    def kill() -> None:
        with contextlib.suppress(Exception):
            made.remove_node(nodes[0], allow_graceful=False)
        Path("held").unlink()

    with beside(lambda: len(list(Path().glob("counting-*"))) >= 3, kill):
        shared = audit(files, by, engine=ray_cluster())
    assert audit_text(shared) == audit_text(audit(files, by))
    chosen = resample(files, by, seed=1, path="shared.parquet", engine=ray_cluster())
    alone = resample(files, by, seed=1, path="alone.parquet")
    assert chosen.indices.tolist() == alone.indices.tolist()
    assert Path("shared.parquet").read_bytes() == Path("alone.parquet").read_bytes()


@pytest.mark.filterwarnings("ignore")
def test_functions_are_sent_to_the_nodes_and_their_errors_come_back(cluster, files):
    Path("held").unlink()
    function = {"even": lambda row: row["a"] % 2 == 0}
    assert audit(files, function, engine=ray_cluster()) == audit(files, function)
    with pytest.raises(UnskewError, match=r"'part' raised ZeroDivisionError.*example \{'a': 10"):
        audit(files, {"part": lambda row: 1 // (10 - row["a"])}, engine=ray_cluster())


def is_there(address: str) -> bool:
    """Whether a cluster answers."""
    try:
        knock(address)
    except OSError:
        return False
    return True


def test_a_cluster_that_asks_for_a_token_is_told_from_none(tmp_path, monkeypatch):
    """It is said in one line what is missing, and not that there is no cluster."""
    monkeypatch.setattr(ray_engine, "CONNECT_SECONDS", HANG)
    monkeypatch.setattr(ray_engine, "KNOCK_SECONDS", HANG)
    monkeypatch.setenv("HOME", str(tmp_path))  # where Ray looks for a token
    for name in ("RAY_AUTH_MODE", "RAY_AUTH_TOKEN", "RAY_AUTH_TOKEN_PATH"):
        monkeypatch.delenv(name, raising=False)
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    flags = ["--head", "--block", "--num-cpus=1", "--include-dashboard=false"]
    flags += [f"--port={port}", "--disable-usage-stats"]
    head = subprocess.Popen(
        [Path(sys.executable).with_name("ray"), "start", *flags],
        env={**os.environ, "RAY_AUTH_MODE": "token", "RAY_AUTH_TOKEN": "0123456789abcdef" * 2},
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
    )
    try:
        until(lambda: is_there(f"127.0.0.1:{port}"), head)
        with pytest.raises(UnskewError, match=r"refused us: it asks for its token; set RAY_AUTH_"):
            ray_cluster(f"127.0.0.1:{port}")
    finally:
        os.killpg(head.pid, signal.SIGTERM)
        head.wait(HANG)
        with contextlib.suppress(ProcessLookupError):
            os.killpg(head.pid, signal.SIGKILL)


def test_a_cluster_that_is_not_there_is_one_line(tmp_path):
    with pytest.raises(UnskewError, match=r"no Ray cluster at 127\.0\.0\.1:1 .*ray start --head"):
        generate(RECIPE, tmp_path / "made", engine=ray_cluster("127.0.0.1:1"))
    assert list(tmp_path.iterdir()) == []


def test_what_is_no_ray_is_told_from_it():
    with http.server.HTTPServer(("127.0.0.1", 0), http.server.BaseHTTPRequestHandler) as other:
        threading.Thread(target=other.handle_request, daemon=True).start()
        with pytest.raises(UnskewError, match="what answers there is not Ray"):
            ray_cluster(f"127.0.0.1:{other.server_port}")
