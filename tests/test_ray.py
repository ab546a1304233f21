"""Datasets made on a real Ray cluster of several nodes, of which one dies: the same files."""

import contextlib
import http.server
import os
import signal
import socket
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest

from tests.test_engines import contents
from unskew import Recipe, UnskewError, generate
from unskew.engines import _knock, ray_cluster

ray = pytest.importorskip("ray")
from ray.cluster_utils import Cluster  # noqa: E402 - only where Ray is

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


@pytest.mark.filterwarnings("ignore")
def test_a_node_that_dies_changes_nothing(cluster, tmp_path):
    made, nodes = cluster
    _knock(made.address)
    plain = generate(RECIPE, tmp_path / "plain")
    killed = threading.Event()
    done_by_then: list[int] = []

    def kill_when_some_are_done() -> None:
        data = tmp_path / "ray" / "data"
        while not killed.is_set() and len(list(data.glob("*.parquet"))) < 3:
            time.sleep(0.05)
        done_by_then.append(len(list(data.glob("*.parquet"))))
        with contextlib.suppress(Exception):
            made.remove_node(nodes[0], allow_graceful=False)
        killed.set()

    thread = threading.Thread(target=kill_when_some_are_done)
    thread.start()
    found = generate(RECIPE, tmp_path / "ray", engine=ray_cluster())
    thread.join(60)
    assert killed.is_set()
    assert done_by_then[0] < RECIPE.shards - 3  # it died while there was much to do
    assert contents(found.folder) == contents(plain.folder)


@pytest.mark.filterwarnings("ignore")
def test_relative_inputs_are_those_of_the_command(cluster, tmp_path, monkeypatch):
    """The nodes were started elsewhere; the recipe, and so the bytes, have the names as given."""
    monkeypatch.chdir(tmp_path)
    generate(Recipe("karel/actions", 60), "base")
    recipe = Recipe("karel/actions", 60, seed=4, exclude=("base",), shard_size=30)
    given = Recipe("karel/uniform", 60, {"tries": 200}, given="base", shard_size=30)
    for number, asked in enumerate((recipe, given)):
        plain = generate(asked, f"plain-{number}")
        found = generate(asked, f"ray-{number}", engine=ray_cluster())
        assert contents(found.folder) == contents(plain.folder)


def test_a_cluster_that_asks_for_a_token_is_told_from_none(tmp_path, monkeypatch):
    """It is known at once, in one line, and not said that there is no cluster."""
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
        deadline = time.monotonic() + 60
        while time.monotonic() < deadline:
            with contextlib.suppress(OSError):
                _knock(f"127.0.0.1:{port}")
                break
            time.sleep(0.5)
        begun = time.monotonic()
        with pytest.raises(UnskewError, match=r"refused us: it asks for its token; set RAY_AUTH_"):
            ray_cluster(f"127.0.0.1:{port}")
        assert time.monotonic() - begun < 15
    finally:
        os.killpg(head.pid, signal.SIGTERM)
        with contextlib.suppress(subprocess.TimeoutExpired):
            head.wait(20)
        with contextlib.suppress(ProcessLookupError):
            os.killpg(head.pid, signal.SIGKILL)
        head.wait()


def test_a_cluster_that_is_not_there_is_one_line(tmp_path):
    with pytest.raises(UnskewError, match=r"no Ray cluster at 127\.0\.0\.1:1 .*ray start --head"):
        generate(RECIPE, tmp_path / "made", engine=ray_cluster("127.0.0.1:1"))
    assert list(tmp_path.iterdir()) == []


def test_what_is_no_ray_is_told_from_it():
    with http.server.HTTPServer(("127.0.0.1", 0), http.server.BaseHTTPRequestHandler) as other:
        threading.Thread(target=other.handle_request, daemon=True).start()
        with pytest.raises(UnskewError, match="what answers there is not Ray"):
            ray_cluster(f"127.0.0.1:{other.server_port}")
