"""Who makes the parts of a dataset: this process, several, or a Ray cluster. All are one map.

A part depends on its recipe and number alone (``parts``), so an engine only spreads numbers.
"""

from __future__ import annotations

import json
import os
import queue
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from pathlib import Path
from typing import IO, TypeAlias

from unskew.errors import UnskewError, check_count
from unskew.recipe import Recipe

# Makes some parts of a recipe in a folder, in any order, and yields each number when it is done.
Engine: TypeAlias = Callable[[Recipe, Path, Sequence[int]], Iterator[int]]


def processes(workers: int) -> Engine:
    """Make parts in so many processes beside this one."""
    check_count("workers", workers, "use at least one")

    def run(recipe: Recipe, folder: Path, indices: Sequence[int]) -> Iterator[int]:
        todo: queue.SimpleQueue[int] = queue.SimpleQueue()
        for index in indices:
            todo.put(index)
        done: queue.SimpleQueue[int | str] = queue.SimpleQueue()
        crew = [_start() for _ in range(min(workers, len(indices)))]
        task = json.dumps({"recipe": recipe.to_dict(), "folder": str(folder)})
        for worker in crew:
            threading.Thread(target=_feed, args=(worker, task, todo, done), daemon=True).start()
        try:
            for _ in indices:
                answer = done.get()
                if isinstance(answer, str):
                    raise UnskewError(answer)
                yield answer
        finally:
            for worker in crew:
                _stop(worker)

    return run


def _start() -> subprocess.Popen[str]:
    """Start a worker in a session of its own: an interrupt from the keyboard is not for it."""
    return subprocess.Popen(
        [sys.executable, "-m", "unskew.worker"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        encoding="utf-8",
        env={**os.environ, "PYTHONUTF8": "1"},
        start_new_session=True,
    )


def _stop(worker: subprocess.Popen[str]) -> None:
    worker.kill()
    for pipe in (worker.stdin, worker.stdout):
        if pipe is not None:
            with suppress(OSError):
                pipe.close()
    worker.wait()


def _feed(
    worker: subprocess.Popen[str],
    task: str,
    todo: queue.SimpleQueue[int],
    done: queue.SimpleQueue[int | str],
) -> None:
    """Hand a worker one number after the other, and pass on what it answers."""
    if worker.stdin is None or worker.stdout is None:
        done.put("a worker has no pipes; run with one worker")
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
                done.put(answer.get("error") or _died(worker))
                return
            done.put(index)
    except (OSError, ValueError):
        done.put(_died(worker))


def _tell(pipe: IO[str], line: str) -> None:
    pipe.write(line + "\n")
    pipe.flush()


def _died(worker: subprocess.Popen[str]) -> str:
    code = worker.wait()
    return (
        f"a worker ended with code {code} (killed, or out of memory); run the same command again, "
        "with fewer workers if memory is short"
    )
