"""Feeds one reader with inputs, in a process of its own, and collects the faults.

A reader may return, or raise an ``UnskewError`` of one line. Anything else is a fault: another
exception, the end of the process, or an input that takes too long. An input follows from the
seed, the target's name and its number, so the one that ended a process can be made again.
"""

from __future__ import annotations

import faulthandler
import hashlib
import multiprocessing
import os
import resource
import signal
import time
import traceback
import warnings
import zlib
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np

import unskew
from unskew.core.errors import UnskewError

HANG_SECONDS = 30.0  # for one input
PREPARE_SECONDS = 300.0  # compiling the kernels of a new checkout takes long
MEMORY = 4 << 30  # bytes that the process may take on top of what it has after preparing
LONGEST_ERROR = 4000  # characters: an error must not repeat a whole file
MOST_ENDS = 20  # ends of its process after which a target is given up
PREPARING = -1

Rng = np.random.Generator


@dataclass(frozen=True)
class Reader:
    """How inputs are made, and what reads them."""

    make: Callable[[Rng], bytes]
    read: Callable[[bytes], object]


@dataclass(frozen=True)
class Target:
    """A reader by name; ``prepare`` is given an empty folder.

    ``speed`` is about how many inputs a second it reads: targets share inputs in proportion.
    """

    name: str
    prepare: Callable[[Path], Reader]
    speed: int


@dataclass(frozen=True)
class Fault:
    """What went wrong, where, and with which input."""

    kind: str  # the exception's class, "ended by SIGSEGV", "takes too long"
    where: str  # the innermost line of unskew
    printed: str
    data: bytes

    @property
    def key(self) -> tuple[str, str]:
        """Name the cause, as far as it can be told."""
        return self.kind, self.where


@dataclass
class Result:
    """What became of the inputs of a target."""

    name: str
    inputs: int = 0
    refused: int = 0
    seconds: float = 0.0
    faults: dict[tuple[str, str], Fault] = field(default_factory=dict)  # the shortest of each
    times: dict[tuple[str, str], int] = field(default_factory=dict)

    def add(self, fault: Fault) -> None:
        """Count a fault, and keep its input where it is the shortest of its cause."""
        self.times[fault.key] = self.times.get(fault.key, 0) + 1
        known = self.faults.get(fault.key)
        if known is None or len(fault.data) < len(known.data):
            self.faults[fault.key] = fault


def made_input(target: Target, reader: Reader, seed: int, number: int) -> bytes:
    """Return an input by its number; the same for the same seed."""
    rng = np.random.default_rng([seed, zlib.crc32(target.name.encode()), number])
    return reader.make(rng)


def outcome(reader: Reader, data: bytes) -> Fault | bool:
    """Read an input; return whether it was refused, or the fault."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            reader.read(data)
    except UnskewError as error:
        return _wrong_words(error, data) or True
    except Exception as error:
        return Fault(type(error).__name__, _where(error), _line(error), data)
    return False


def _wrong_words(error: UnskewError, data: bytes) -> Fault | None:
    text = str(error)
    if "\n" in text or "\r" in text:
        return Fault("error of several lines", _where(error), repr(text[:300]), data)
    if not text or len(text) > LONGEST_ERROR:
        kind = "error of no words" if not text else "error that is too long"
        return Fault(kind, _where(error), text[:300], data)
    return None


def _line(error: Exception) -> str:
    try:
        return " ".join(str(error)[:300].split())
    except ValueError:  # a number of too many digits
        return ""


def _where(error: BaseException) -> str:
    """Return the innermost line of the package that an exception went through."""
    home = str(Path(unskew.__file__).parent)
    lines = [
        f"{Path(frame.filename).relative_to(home)}:{frame.lineno}"
        for frame in traceback.extract_tb(error.__traceback__)
        if frame.filename.startswith(home)
    ]
    return lines[-1] if lines else "outside unskew"


def fuzz(
    target: Target,
    inputs: int,
    seed: int,
    *,
    seconds: float = float("inf"),
    hang_seconds: float = HANG_SECONDS,
) -> Result:
    """Feed a target with so many inputs, or for so many seconds after it is prepared."""
    result = Result(target.name)
    ends, first = 0, 0
    while first < inputs and ends < MOST_ENDS and result.seconds < seconds:
        left = seconds - result.seconds
        reached = _one_process(target, range(first, inputs), seed, left, hang_seconds, result)
        ends += 1
        first = reached
    return result


def _one_process(
    target: Target, numbers: range, seed: int, left: float, hang_seconds: float, result: Result
) -> int:
    """Feed inputs to one process until it ends; return the number of the next input."""
    context = multiprocessing.get_context("forkserver")
    context.set_forkserver_preload(["fuzz.targets"])  # importing all of it takes seconds
    receive, send = context.Pipe(duplex=False)
    shared = context.RawArray("q", [PREPARING, 0, 0])  # number, inputs read, refused
    seconds = context.RawValue("d", 0.0)
    with TemporaryDirectory(prefix="fuzz-") as folder:
        trace = Path(folder, "trace")
        args = (target, numbers, seed, left, shared, seconds, send, folder)
        process = context.Process(target=_work, args=args, daemon=True)
        process.start()
        send.close()
        hung = _watch(process, receive, shared, hang_seconds, result)
        process.join()
        result.inputs += shared[1]
        result.refused += shared[2]
        result.seconds += seconds.value
        if process.exitcode == 0:
            return numbers.stop
        number = int(shared[0])
        text = trace.read_text(errors="replace") if trace.is_file() else ""
        data = b""
        if number != PREPARING:
            made = Path(folder, "again")
            made.mkdir()
            data = made_input(target, target.prepare(made), seed, number)
        kind = "takes too long" if hung else _ended(process.exitcode)
        result.add(Fault(kind, _traced(text), f"input {number}", data))
        return numbers.stop if number == PREPARING else number + 1


def _watch(process: Any, receive: Any, shared: Any, hang_seconds: float, result: Result) -> bool:
    """Collect faults until the process ends; end one that stays with an input for too long."""
    at, since = shared[0], time.monotonic()
    while True:
        try:
            if receive.poll(0.5):
                result.add(receive.recv())
        except EOFError:
            return False
        if shared[0] != at:
            at, since = shared[0], time.monotonic()
        limit = PREPARE_SECONDS if at == PREPARING else hang_seconds
        if time.monotonic() - since > limit and process.is_alive():
            os.kill(process.pid, signal.SIGABRT)  # faulthandler writes where it was
            process.join()
            return True


def _work(
    target: Target,
    numbers: range,
    seed: int,
    left: float,
    shared: Any,
    seconds: Any,
    send: Any,
    folder: str,
) -> None:
    """Feed inputs; runs in a process of its own."""
    with Path(folder, "trace").open("w", encoding="utf-8") as trace:
        faulthandler.enable(trace)
        work = Path(folder, "work")
        work.mkdir()
        reader = target.prepare(work)
        _limit_memory()
        end = time.monotonic() + left
        for number in numbers:
            data = made_input(target, reader, seed, number)
            shared[0] = number
            begin = time.perf_counter()
            result_of_input = outcome(reader, data)
            seconds.value += time.perf_counter() - begin
            shared[1] += 1
            if isinstance(result_of_input, Fault):
                send.send(result_of_input)
            else:
                shared[2] += result_of_input
            if time.monotonic() > end:
                break
        faulthandler.disable()


def _limit_memory() -> None:
    """Let what takes too much memory fail instead of taking that of the machine."""
    status = Path("/proc/self/statm")
    if status.is_file():
        has = int(status.read_text(encoding="utf-8").split()[0]) * resource.getpagesize()
        resource.setrlimit(resource.RLIMIT_AS, (has + MEMORY, resource.RLIM_INFINITY))


def _ended(code: int | None) -> str:
    if code is not None and code < 0:
        return f"ended by {signal.Signals(-code).name}"
    return f"ended with {code}"


def _traced(text: str) -> str:
    """Return the innermost line of the package in what faulthandler wrote."""
    home = str(Path(unskew.__file__).parent)
    for line in text.splitlines():
        if home in line:
            path, _, rest = line.partition(home)[2].lstrip("/").partition('"')
            return f"{path}:{rest.partition('line ')[2].partition(' ')[0]}"
    return "outside unskew"


def save(target: str, data: bytes, folder: Path) -> Path:
    """Write an input under a name from which ``again`` knows its target."""
    path = folder / f"{target}-{hashlib.sha256(data).hexdigest()[:12]}"
    folder.mkdir(parents=True, exist_ok=True)
    path.write_bytes(data)
    return path
