"""Does the pieces of some work on a Ray cluster."""

from __future__ import annotations

import os
import socket
import subprocess
import threading
from collections.abc import Generator, Mapping
from contextlib import chdir, nullcontext
from importlib import import_module
from itertools import islice
from typing import Any

from unskew.core.errors import UnskewError
from unskew.core.processes.crew import PYTHON, Message, close_pipes, is_news, kill
from unskew.core.processes.worker import reported
from unskew.datasets.engines.work import Arrays, Engine, Work


def ray_cluster(address: str | None = None) -> Engine:
    """Share work out to a Ray cluster: one that runs at ``address``, else one on this machine.

    Every node must see the files: a shared file system, or an object store. Relative names are
    those of this process's working directory, on the nodes too. A piece whose node dies is done by
    another one.
    """
    if address is not None:
        _ray(address)  # a cluster that is not there is refused before anything is written
    else:
        _import_ray()

    def run(work: Work) -> Generator[tuple[int, Arrays], None, None]:
        ray = _ray(address)
        try:
            yield from _on_ray(ray, work)
        except ray.exceptions.RayError as error:
            if isinstance(error, ray.exceptions.LocalRayletDiedError):
                ray.shutdown()  # this connection answers nothing any more
            reason = _line(getattr(error, "cause", None) or error).rstrip(".")
            raise UnskewError(f"Ray failed ({reason}); {work.again}") from error

    return run


TASKS_AT_ONCE = 1000  # pieces that are handed to Ray at a time
# Ray speaks HTTP/2: a client that sends its first words and a frame of settings gets a frame back.
_SETTINGS = b"\x04"
_HELLO = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n" + bytes(3) + _SETTINGS + bytes(5)
CONNECT_SECONDS = 60  # that Ray has to connect
KNOCK_SECONDS = 10  # that it has to say that it is there
_REFUSED = ("InvalidAuthToken", "AuthenticationError")  # in what Ray says when a token is wrong
LOST_NODES = 20  # times that a piece is begun again because its node died


def _on_ray(ray: Any, work: Work) -> Generator[tuple[int, Arrays], None, None]:
    """Hand pieces to Ray, a number of them at a time; yield the answer of each finished piece.

    When this ends early, the tasks are killed. What a killed task left half-written is removed by
    a later run, like the files of a node that died (``remove_stale``).
    """
    do = ray.remote(max_retries=LOST_NODES)(_on_a_node)
    task = (work.module, dict(work.task), os.getcwd())
    left, warned = iter(work.numbers), set[str]()
    waiting: list[Any] = []
    try:
        while True:
            some = islice(left, TASKS_AT_ONCE - len(waiting))
            waiting.extend(do.remote(*task, number) for number in some)
            if not waiting:
                return
            ready, waiting = ray.wait(waiting)
            for number, answer, messages in ray.get(ready):
                for message in messages:
                    is_news(message, f"{work.noun} {number}", warned)
                yield number, answer
    except ray.exceptions.LocalRayletDiedError:
        waiting = []  # this connection cancels nothing any more
        raise
    finally:
        for reference in waiting:
            ray.cancel(reference, force=True)
        if waiting:
            ray.wait(waiting, num_returns=len(waiting))  # until none of them can write


def _on_a_node(
    module: str, task: Mapping[str, Any], cwd: str, number: int
) -> tuple[int, Arrays, list[Message]]:
    """Do a piece on a node; return its answer, and what a worker would have told its parent.

    The task (and so the bytes of a part) names its inputs as the user did. So they are read in the
    folder of the command if the node has this folder. A process of Ray runs one task at a time.
    """
    messages: list[Message] = []
    answer: Arrays = ()
    with (
        chdir(cwd) if os.path.isdir(cwd) else nullcontext(),
        reported(lambda **facts: messages.append(facts)),
    ):
        answer = import_module(module).answering(task)(number) or ()
    return number, answer, messages


def _import_ray() -> Any:
    try:
        import ray
    except ImportError:
        raise UnskewError("there is no Ray here; pip install 'unskew[ray]'") from None
    return ray


def _ray(address: str | None) -> Any:
    """Return Ray, connected."""
    import logging

    ray = _import_ray()
    if ray.is_initialized():
        return ray
    try:
        if address is not None:
            knock(address)
            _try(address)
        ray.init(address=address, log_to_driver=False, logging_level=logging.ERROR)
    except (ConnectionError, ValueError, RuntimeError, OSError, ray.exceptions.RayError) as error:
        raise UnskewError(
            f"no Ray cluster at {address or 'this machine'} ({_line(error)}); "
            "start one with: ray start --head"
        ) from error
    return ray


def _line(error: BaseException) -> str:
    """Return the first line of what an error says."""
    return (str(error).strip() or type(error).__name__).splitlines()[0]


def _try(address: str) -> None:
    """Connect in another process, which can be ended when it is seen that we are refused.

    Ray itself asks for twenty seconds, says on stderr alone why it is not let in, and may end
    the whole process.
    """
    code = "import ray, sys; ray.init(sys.argv[1], log_to_driver=False, logging_level='ERROR')"
    process = subprocess.Popen(  # noqa: S603 - the address is no code, and goes to no shell
        [*PYTHON, "-c", code, address],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
        errors="replace",
    )
    patience = threading.Timer(CONNECT_SECONDS, process.kill)
    patience.start()
    last = ""
    try:
        for line in process.stderr or ():
            last = line.strip() or last
            if any(word in line for word in _REFUSED):
                raise UnskewError(
                    f"the Ray cluster at {address} refused us: it asks for its token; set "
                    "RAY_AUTH_MODE=token, and RAY_AUTH_TOKEN or RAY_AUTH_TOKEN_PATH, as there"
                )
        if process.wait():
            raise ConnectionError(last)
    finally:
        patience.cancel()
        kill(process)
        process.wait()
        close_pipes(process)


def knock(address: str) -> None:
    """See whether Ray is there: else it may wait for ever."""
    host, _, port = address.removeprefix("ray://").rpartition(":")
    if not (host and port.isdecimal()):
        return
    with socket.create_connection((host, int(port)), timeout=KNOCK_SECONDS) as door:
        door.sendall(_HELLO)
        if door.recv(9)[3:4] != _SETTINGS:
            raise ConnectionError("what answers there is not Ray")
