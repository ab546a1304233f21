"""What is left of a run on Ray that ends early: no task that still works or writes."""

import os
import signal
from pathlib import Path

import pytest

from tests.waiting import beside, is_alive, until
from unskew import Recipe, UnskewError, generate
from unskew.datasets.engines.ray import ray_cluster

ray = pytest.importorskip("ray")

# Every process that makes a part leaves its number. The one that takes the file "fail" fails as
# soon as another works too; all others work for ever.
WAITING = """
import os
import time
from pathlib import Path

def draw(rng):
    if Path("made", "recipe.json").exists():
        Path(f"busy-{os.getpid()}").touch()
        try:
            Path("fail").unlink()
        except FileNotFoundError:
            while True:
                time.sleep(0.01)
        while len(list(Path().glob("busy-*"))) < 2:
            time.sleep(0.01)
        raise ValueError("this part fails")
    return {"n": int(rng.integers(9))}
"""
RECIPE = Recipe("waiting_source:draw", 60, shard_size=10)


@pytest.fixture
def local(tmp_path, monkeypatch):
    """A cluster on this machine, in a folder with the source."""
    (tmp_path / "waiting_source.py").write_text(WAITING)
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(str(tmp_path))
    monkeypatch.setenv("RAY_ACCEL_ENV_VAR_OVERRIDE_ON_ZERO", "0")
    ray.init("local", num_cpus=2, include_dashboard=False, log_to_driver=False)
    yield tmp_path
    ray.shutdown()


def busy() -> list[int]:
    """The processes that began a part."""
    return [int(path.name.partition("-")[2]) for path in Path().glob("busy-*")]


@pytest.mark.filterwarnings("ignore")
def test_no_task_works_on_after_one_has_failed(local):
    Path("fail").touch()
    with pytest.raises(UnskewError, match="this part fails"):
        generate(RECIPE, "made", engine=ray_cluster())
    assert len(busy()) >= 2
    # The process of the task that failed waits for another task; of the rest, none may be alive.
    until(lambda: sum(map(is_alive, busy())) <= 1)
    assert not list(Path("made", "data").glob("*.parquet"))


@pytest.mark.filterwarnings("ignore")
def test_no_task_works_on_after_ctrl_c(local):
    with (
        beside(lambda: len(busy()) >= 2, lambda: os.kill(os.getpid(), signal.SIGINT)),
        pytest.raises(KeyboardInterrupt),
    ):
        generate(RECIPE, "made", engine=ray_cluster())
    assert len(busy()) >= 2
    until(lambda: not any(map(is_alive, busy())))
