"""Datasets made on a real Ray cluster of several nodes, of which one dies: the same files."""

import contextlib
import http.server
import threading
import time

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


def test_a_cluster_that_is_not_there_is_one_line(tmp_path):
    with pytest.raises(UnskewError, match=r"no Ray cluster at 127\.0\.0\.1:1 .*ray start --head"):
        generate(RECIPE, tmp_path / "made", engine=ray_cluster("127.0.0.1:1"))
    assert list(tmp_path.iterdir()) == []


def test_what_is_no_ray_is_told_from_it():
    with http.server.HTTPServer(("127.0.0.1", 0), http.server.BaseHTTPRequestHandler) as other:
        threading.Thread(target=other.handle_request, daemon=True).start()
        with pytest.raises(UnskewError, match="what answers there is not Ray"):
            ray_cluster(f"127.0.0.1:{other.server_port}")
