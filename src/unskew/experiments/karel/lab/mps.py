"""Lets several processes compute on one GPU at the same time, by NVIDIA's MPS."""

import os
import shutil
import subprocess
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory

MPS = "nvidia-cuda-mps-control"  # the program that starts and ends the daemon
MPS_PLACE = "CUDA_MPS_PIPE_DIRECTORY"
LISTENING = Path("/tmp/nvidia-mps/control")  # noqa: S108 - there if a daemon runs already


@contextmanager
def shared_gpu(device: str, listening: Path = LISTENING) -> Iterator[dict[str, str]]:
    """Let processes compute on a GPU at the same time; without MPS they take turns.

    This yields the variables that their environment needs. It leaves a daemon that already runs
    as it is. On another ``device`` than a GPU there is nothing to do.
    """
    control = shutil.which(MPS)
    running = MPS_PLACE in os.environ or listening.exists()
    if control is None or running or device == "cpu":
        yield {}
        return
    with TemporaryDirectory(prefix="unskew-mps-", ignore_cleanup_errors=True) as folder:
        places = {MPS_PLACE: folder, "CUDA_MPS_LOG_DIRECTORY": folder}
        if not _ran([control, "-d"], places):
            yield {}
            return
        try:
            yield places
        finally:
            _ran([control], places, "quit\n")


def _ran(command: list[str], places: Mapping[str, str], text: str = "") -> bool:
    """Run a command that reads a text; return whether it succeeded."""
    ended = subprocess.run(  # noqa: S603 - what was found on the path, and goes to no shell
        command,
        check=False,
        stdout=subprocess.DEVNULL,  # the daemon would keep a pipe open for ever
        stderr=subprocess.DEVNULL,
        input=text,
        text=True,
        env={**os.environ, **places},
    )
    return ended.returncode == 0
