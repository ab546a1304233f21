"""Work that can be shared out: numbered pieces, and engines that do them here or elsewhere.

The answer for a piece depends only on the task and the number, so an engine only hands out numbers.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Collection, Generator, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

Arrays: TypeAlias = Sequence[NDArray[Any]]


@dataclass(frozen=True)
class Work:
    """A task of many pieces.

    ``module`` is a module of unskew: its ``answering(task)`` returns the function that does a piece
    by its number, and its main program does so for a parent process. ``noun`` names a piece in
    errors. ``again`` says what happens if the command is run again after a failure. ``clean``
    removes what processes with these numbers left half-written.
    """

    module: str
    task: Mapping[str, Any]
    numbers: Sequence[int]
    noun: str
    again: str = "run the same command again"
    clean: Callable[[Collection[int]], object] = lambda _: None


# Does all pieces, in any order, and yields the number and the answer of each that is done.
Engine: TypeAlias = Callable[[Work], Generator[tuple[int, Arrays], None, None]]


def in_order(
    answers: Iterator[tuple[int, Arrays]], numbers: Sequence[int]
) -> Iterator[tuple[int, Arrays]]:
    """Yield the answers in the order of their numbers; keep those that come early."""
    early: dict[int, Arrays] = {}
    left = iter(numbers)
    wanted = next(left, None)
    for number, answer in answers:
        early[number] = answer
        while wanted is not None and wanted in early:
            yield wanted, early.pop(wanted)
            wanted = next(left, None)


def json_array(data: Any) -> NDArray[np.uint8]:
    """Return plain data as an array, so that it can be part of an answer."""
    return np.frombuffer(json.dumps(data).encode(), dtype=np.uint8)


def array_json(array: NDArray[np.uint8]) -> Any:
    """Return the plain data that ``json_array`` made this of."""
    return json.loads(array.tobytes())
