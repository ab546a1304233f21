"""Who makes the parts of a dataset: this process, several, or a Ray cluster. All are one map.

A part depends on its recipe and number alone (``parts``), so an engine only spreads numbers.
"""

from __future__ import annotations

import json
import logging
import os
import queue
import socket
import subprocess
import threading
import warnings
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import chdir, nullcontext, suppress
from itertools import islice
from typing import IO, Any, TypeAlias

from unskew.core.errors import HealthWarning, UnskewError, check_count, is_new
from unskew.core.processes import PYTHON, kill
from unskew.core.recipe import Recipe
from unskew.io.files import remove_left
from unskew.io.location import Place, place

# Makes some parts of a recipe in a folder, in any order, and yields each number when it is done.
Engine: TypeAlias = Callable[[Recipe, Place, Sequence[int]], Iterator[int]]


def processes(workers: int) -> Engine:
    """Make parts in so many processes beside this one."""
    check_count("workers", workers, "use at least one")

    def run(recipe: Recipe, folder: Place, indices: Sequence[int]) -> Iterator[int]:
        todo: queue.SimpleQueue[int] = queue.SimpleQueue()
        for index in indices:
            todo.put(index)
        done: queue.SimpleQueue[dict[str, Any]] = queue.SimpleQueue()
        crew = [_start() for _ in range(min(workers, len(indices)))]
        task = json.dumps({"recipe": recipe.to_dict(), "folder": str(folder)})
        for worker in crew:
            threading.Thread(target=_feed, args=(worker, task, todo, done), daemon=True).start()
        try:
            yield from _numbers((done.get() for _ in indices), set())
        finally:
            try:
                _kill(*crew)
            finally:  # an interrupt may come while they are ended
                remove_left(folder, {worker.pid for worker in crew})

    return run


def ray_cluster(address: str | None = None) -> Engine:
    """Make parts on a Ray cluster: one that runs at ``address``, else one on this machine.

    Every node must see the folder: a shared file system, or an object store. Relative names of
    what a recipe reads are those of this process's working directory, on the nodes too. A part
    whose node dies is made by another one.
    """
    if address is not None:
        _ray(address)  # a cluster that is not there is refused before anything is written
    else:
        _import_ray()

    def run(recipe: Recipe, folder: Place, indices: Sequence[int]) -> Iterator[int]:
        ray = _ray(address)
        try:
            yield from _numbers(_on_ray(ray, recipe, folder, indices), set())
        except ray.exceptions.RayError as error:
            if isinstance(error, ray.exceptions.LocalRayletDiedError):
                ray.shutdown()  # nothing can be asked of this connection any more
            reason = _line(getattr(error, "cause", None) or error).rstrip(".")
            raise UnskewError(
                f"Ray failed ({reason}); run the same command again, finished parts are kept"
            ) from error

    return run


LAST_SECONDS = 10  # that a worker has to end when it no longer answers
AT_ONCE = 1000  # parts that are handed to Ray at a time
# Ray speaks HTTP/2: who sends its first words and a frame of settings gets one in answer.
_SETTINGS = b"\x04"
_HELLO = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n" + bytes(3) + _SETTINGS + bytes(5)
CONNECT_SECONDS = 60  # that Ray has to connect
KNOCK_SECONDS = 10  # that it has to say that it is there
_REFUSED = ("InvalidAuthToken", "AuthenticationError")  # in what Ray says when a token is wrong
LOST_NODES = 20  # times that a part is begun again because its node died


def _on_ray(
    ray: Any, recipe: Recipe, folder: Place, indices: Sequence[int]
) -> Iterator[dict[str, Any]]:
    """Hand parts to Ray, so many at a time; yield each answer when it comes."""
    make = ray.remote(max_retries=LOST_NODES)(_on_a_node)
    task = (recipe.to_json(), str(folder.resolve()), os.getcwd())
    todo = iter(indices)
    waiting: list[Any] = []
    while True:
        waiting += [make.remote(*task, i) for i in islice(todo, AT_ONCE - len(waiting))]
        if not waiting:
            return
        ready, waiting = ray.wait(waiting)
        yield from ray.get(ready)


def _on_a_node(recipe: str, folder: str, cwd: str, index: int) -> dict[str, Any]:
    """Make a part on a node, whose processes run elsewhere than the command did.

    The recipe, and with it the bytes of the part, names its inputs as the user did; so they are
    read where the user stood. A process of Ray runs one task at a time.
    """
    from unskew.datasets.worker import answer

    with chdir(cwd) if os.path.isdir(cwd) else nullcontext():
        return answer(Recipe.from_dict(json.loads(recipe)), place(folder), index)


def _import_ray() -> Any:
    try:
        import ray
    except ImportError:
        raise UnskewError("there is no Ray here; pip install 'unskew[ray]'") from None
    return ray


def _ray(address: str | None) -> Any:
    """Return Ray, connected."""
    ray = _import_ray()
    if ray.is_initialized():
        return ray
    try:
        if address is not None:
            _knock(address)
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
                    "RAY_AUTH_MODE=token, and RAY_AUTH_TOKEN or RAY_AUTH_TOKEN_PATH, here as there"
                )
        if process.wait():
            raise ConnectionError(last)
    finally:
        patience.cancel()
        _kill(process)


def _knock(address: str) -> None:
    """See whether Ray is there: else it may wait for ever."""
    host, _, port = address.removeprefix("ray://").rpartition(":")
    if not (host and port.isdecimal()):
        return
    with socket.create_connection((host, int(port)), timeout=KNOCK_SECONDS) as door:
        door.sendall(_HELLO)
        if door.recv(9)[3:4] != _SETTINGS:
            raise ConnectionError("what answers there is not Ray")


def _numbers(answers: Iterable[dict[str, Any]], warned: set[str]) -> Iterator[int]:
    """Yield the numbers of the parts that are done; say each kind of warning once."""
    for answer in answers:
        if "error" in answer:
            raise UnskewError(answer["error"])
        for warning in answer["warnings"]:
            if is_new(warning, warned):
                warnings.warn(warning, HealthWarning, stacklevel=2)
        yield answer["done"]


def _start() -> subprocess.Popen[str]:
    """Start a worker in a session of its own: an interrupt from the keyboard is not for it."""
    return subprocess.Popen(  # noqa: S603 - this very Python, and a module of ours
        [*PYTHON, "-m", "unskew.datasets.worker"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        encoding="utf-8",
        env={**os.environ, "PYTHONUTF8": "1"},
        start_new_session=True,
    )


def _kill(*workers: subprocess.Popen[str]) -> None:
    """End processes at once, whatever they are doing.

    There is nothing to wait for: whole parts stay, and a half-written one is named after its
    process, so it can be found and removed by whoever ended that process.
    """
    for worker in workers:
        kill(worker)
    for worker in workers:
        worker.wait()
        for pipe in (worker.stdin, worker.stdout, worker.stderr):
            if pipe is not None:
                with suppress(OSError):
                    pipe.close()


def _feed(
    worker: subprocess.Popen[str],
    task: str,
    todo: queue.SimpleQueue[int],
    done: queue.SimpleQueue[dict[str, Any]],
) -> None:
    """Hand a worker one number after the other, and pass on what it answers."""
    if worker.stdin is None or worker.stdout is None:
        done.put({"error": "a worker has no pipes; run with one worker"})
        return
    try:
        _tell(worker.stdin, task)
        while True:
            try:
                index = todo.get_nowait()
            except queue.Empty:
                worker.stdin.close()
                return
            _tell(worker.stdin, str(index))
            answer = json.loads(worker.stdout.readline() or "{}")
            if answer.get("done") != index:
                done.put({"error": answer.get("error") or _died(worker)})
                return
            done.put(answer)
    except (OSError, ValueError):
        done.put({"error": _died(worker)})


def _tell(pipe: IO[str], line: str) -> None:
    pipe.write(line + "\n")
    pipe.flush()


def _died(worker: subprocess.Popen[str]) -> str:
    try:
        how = f"ended with code {worker.wait(LAST_SECONDS)} (killed, or out of memory)"
    except subprocess.TimeoutExpired:
        worker.kill()
        how = "gave no answer that can be read, and was ended"
    return f"a worker {how}; run the same command again, with fewer workers if memory is short"
