"""A crew: processes of unskew that work for this one and answer its questions.

``worker``, next to this module, is the side of the workers. Each worker has a session and pipes of
its own, so an interrupt from the keyboard does not reach it, and what it prints does not come
between its answers. A message is a line of JSON. The bytes of its arrays follow the line.
"""

from __future__ import annotations

import json
import math
import os
import queue
import signal
import subprocess
import sys
import threading
import time
from collections import deque
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from itertools import islice
from typing import IO, Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from unskew.core.compiled import say_on_stderr
from unskew.core.errors import UnskewError, is_new, warn_user

# With -P, a file of the current folder (perhaps a stranger's) cannot replace a library.
PYTHON = (sys.executable, "-P")
CLOSED = "the workers are closed"
Message: TypeAlias = dict[str, Any]


def send(pipe: IO[bytes], message: Mapping[str, Any], arrays: Sequence[NDArray[Any]] = ()) -> None:
    """Write a message and the arrays that belong to it."""
    kinds = [(array.dtype.str, array.shape) for array in arrays]
    pipe.write(json.dumps({**message, "arrays": kinds}).encode() + b"\n")
    for array in arrays:
        pipe.write(np.ascontiguousarray(array).data)
    pipe.flush()


def receive(pipe: IO[bytes]) -> Message:
    """Read a message with its arrays; raise ``EOFError`` at the end, and inside a message."""
    line = pipe.readline()
    if not line.endswith(b"\n"):
        raise EOFError
    message: Message = json.loads(line)
    message["arrays"] = [_array(pipe, kind, shape) for kind, shape in message["arrays"]]
    return message


def _array(pipe: IO[bytes], kind: str, shape: Sequence[int]) -> NDArray[Any]:
    """Read an array."""
    size = np.dtype(kind).itemsize * math.prod(shape)
    data = pipe.read(size)
    if len(data) < size:
        raise EOFError
    return np.frombuffer(data, kind).reshape(shape)


def is_news(message: Message, name: str, warned: set[str]) -> bool:
    """Return whether a message is news; pass on warnings and notices, each once; raise an error."""
    if "error" in message:
        raise UnskewError(
            message["error"] if message["expected"] else f"{name}: {message['error']}"
        )
    if "warning" in message and is_new(message["warning"], warned):
        warn_user(message["warning"])
    if "notice" in message and is_new(message["notice"], warned):
        say_on_stderr(message["notice"])
    return not {"warning", "notice"} & set(message)


@dataclass
class _Worker:
    process: subprocess.Popen[bytes]
    listener: threading.Thread  # reads the messages of the process
    asked: deque[str] = field(default_factory=deque)  # the questions that have no answer yet


class Crew:
    """Workers that answer questions. Always close it, so that no worker is left."""

    def __init__(
        self,
        module: str,
        task: Any,
        workers: int,
        *,
        environment: Mapping[str, str] | None = None,
        fewer: str = "fewer workers",
        clean: Callable[[Collection[int]], object] = lambda _: None,
    ) -> None:
        """Start the workers. Each runs ``module`` and is given ``task``.

        Args:
            module: Its main program calls ``serve`` (``core/processes/worker``).
            task: Plain data that the worker needs for all questions.
            workers: The number of workers.
            environment: Variables of the environment that the workers have besides ours.
            fewer: What to change if memory is short, for the error that a worker has died.
            clean: Called after the end with the process numbers of all workers. It removes the
                files that killed workers left half-written.
        """
        self._fewer, self._clean = fewer, clean
        self._workers: list[_Worker] = []
        self._messages: queue.SimpleQueue[tuple[int, Message]] = queue.SimpleQueue()
        self._warned: set[str] = set()
        self._is_open = True
        try:
            for _ in range(workers):
                self._start(module, task, environment or {})
        except BaseException:  # also Ctrl-C: nobody else can close a crew that does not exist yet
            self.close()
            raise

    def ask(self, worker: int, name: str, question: Any) -> None:
        """Give a question to a worker, which answers in order. Errors say ``name``."""
        self._workers[worker].asked.append(name)
        self._tell(worker, {"question": question})

    def answer(self) -> tuple[int, str, Message]:
        """Wait for a message, and return the worker, the name of its question, and the message.

        The last message about a question is ``done``. Raise if a worker reports an error, if it
        ends, or if its answer cannot be read. After this, every further call raises too.
        """
        while True:
            number, message = self._messages.get()
            try:
                if not self._is_open:
                    raise UnskewError(CLOSED)
                worker = self._workers[number]
                if not worker.asked:  # the worker ended when it had nothing to do
                    continue
                name = worker.asked[0]
                if "lost" in message:
                    raise UnskewError(self._lost(worker.process, name, message["lost"]))
                if is_news(message, name, self._warned):
                    if "done" in message:
                        worker.asked.popleft()
                    return number, name, message
            except UnskewError:
                self._messages.put((number, message))
                raise

    def do(self, questions: Mapping[str, Any]) -> Iterator[tuple[str, Message]]:
        """Give each question to a worker that is free; yield the messages with the names."""
        left = iter(questions.items())

        def give(number: int) -> None:
            for name, question in islice(left, 1):
                self.ask(number, name, question)

        for number in range(len(self._workers)):
            give(number)
        while any(worker.asked for worker in self._workers):
            number, name, message = self.answer()
            if "done" in message:
                give(number)
            yield name, message

    def close(self, seconds_to_save: float = 0.0) -> None:
        """End all workers. Whoever waits for an answer then hears that the crew is closed.

        The workers are asked to save their work first if they have time for this. Otherwise, and
        at an interrupt meanwhile, they are killed at once, whatever they are doing.
        """
        self._is_open = False
        try:
            if seconds_to_save:
                until = time.monotonic() + seconds_to_save
                for worker in self._workers:
                    worker.process.terminate()
                for worker in self._workers:
                    with suppress(subprocess.TimeoutExpired):
                        worker.process.wait(max(0.0, until - time.monotonic()))
        finally:
            try:
                for worker in self._workers:
                    kill(worker.process)
                for worker in self._workers:
                    worker.process.wait()
                    if worker.listener.is_alive():
                        worker.listener.join()
                    close_pipes(worker.process)
            finally:
                self._clean({worker.process.pid for worker in self._workers})
        self._messages.put((0, {}))  # for whoever waits for an answer, or will ask for one

    def _start(self, module: str, task: Any, environment: Mapping[str, str]) -> None:
        """Start a worker, and the thread that reads its messages."""
        process = subprocess.Popen(  # noqa: S603 - this very Python, and a module of ours
            [*PYTHON, "-m", module],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            env={**os.environ, **environment},
            start_new_session=True,
        )
        number = len(self._workers)
        listener = threading.Thread(target=self._listen, args=(number, process), daemon=True)
        self._workers.append(_Worker(process, listener))
        listener.start()
        self._tell(number, {"task": task})

    def _tell(self, number: int, message: Message) -> None:
        pipe = self._workers[number].process.stdin
        try:
            if pipe is not None:
                send(pipe, message)
        except (OSError, ValueError):  # the worker has ended, or the crew was closed
            self._messages.put((number, {"lost": ""}))

    def _listen(self, number: int, process: subprocess.Popen[bytes]) -> None:
        """Pass on the messages of a worker, and why there are no more."""
        reason = ""
        try:
            while process.stdout is not None:
                self._messages.put((number, receive(process.stdout)))
        except EOFError:
            pass
        except Exception as error:  # whoever waits for an answer must hear of any error
            reason = f"{type(error).__name__}: {error}"
        self._messages.put((number, {"lost": reason}))

    def _lost(self, process: subprocess.Popen[bytes], name: str, reason: str) -> str:
        """Return the error for a worker that has ended, or whose answer cannot be read."""
        kill(process)
        code = process.wait()
        if reason:
            how = f"gave an answer that cannot be read ({reason})"
        elif code < 0:
            how = f"ended with code {code} (killed, or out of memory)"
        else:
            how = f"ended with code {code} (something that it called ended it)"
        again = f"run the same command again, with {self._fewer} if memory is short"
        mend = "take os._exit, or what else ends the process, out of the code that it runs"
        return f"{name}: a worker {how}; {again if reason or code < 0 else mend}"


def kill(process: subprocess.Popen[Any]) -> None:
    """Kill a process at once; if it has a session of its own, also all that it started."""
    if process.returncode is not None:  # another process may have its number by now
        return
    try:
        os.killpg(process.pid, signal.SIGKILL)
    except (ProcessLookupError, PermissionError):  # it leads no session, or it is gone
        process.kill()


def close_pipes(process: subprocess.Popen[Any]) -> None:
    """Close the pipes to a process that has ended."""
    for pipe in (process.stdin, process.stdout, process.stderr):
        if pipe is not None:
            with suppress(OSError):  # there may be text that nobody read
                pipe.close()
