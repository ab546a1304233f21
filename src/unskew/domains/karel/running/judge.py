"""Judging programs that were proposed for examples: do they do what the pairs show (section 4)?

A task is an example of which the first pairs were shown and the rest was held out. A proposal is
consistent if it makes the outputs of the shown pairs, and generalizes if it makes those of all of
them; a run that crashes or does not end makes nothing.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from unskew.core.errors import UnskewError
from unskew.domains.karel.language.compiler import FINE, compile_programs
from unskew.domains.karel.running.interpreter import run
from unskew.domains.karel.world import BYTES

AT_ONCE = 1 << 19  # runs whose worlds are held at once: 130 MB


@dataclass(frozen=True)
class Judged:
    """Which proposals are right: four arrays (tasks, proposals) of bool."""

    valid: NDArray[np.bool_]  # it is a program
    exact: NDArray[np.bool_]  # it is the program of the task, token for token
    consistent: NDArray[np.bool_]  # it is right on the shown pairs
    generalizes: NDArray[np.bool_]  # it is right on all pairs, shown and held out

    def first_consistent(self) -> NDArray[np.int64]:
        """Return for each task the number of its first consistent proposal; 0 if it has none."""
        first: NDArray[np.int64] = np.argmax(self.consistent, axis=1)
        return first

    def shares(self) -> dict[str, NDArray[np.bool_]]:
        """Return which tasks are solved, for each way of counting."""
        tasks = np.arange(len(self.valid))
        chosen = self.first_consistent()
        return {
            "valid": self.valid[:, 0],
            "exact": self.exact[:, 0],
            "consistent": self.consistent[:, 0],
            "generalizes": self.generalizes[:, 0],
            "exact, any": _any(self.exact),
            "consistent, any": _any(self.consistent),
            "generalizes, any": _any(self.generalizes),
            "generalizes, first consistent": self.generalizes[tasks, chosen],
        }


def judge(
    proposals: NDArray[np.uint8],
    programs: NDArray[np.uint8],
    inputs: NDArray[np.uint8],
    outputs: NDArray[np.uint8],
    shown: int,
) -> Judged:
    """Run proposed programs, and return which of them are right.

    Args:
        proposals: token ids (tasks, proposals, width), the best proposal of a task first. A row
            that is no program solves nothing.
        programs: the program of each task, (tasks, width).
        inputs: packed worlds (tasks, k, 260).
        outputs: what the program of the task makes of them.
        shown: how many of the k pairs were shown; the others were held out.
    """
    tasks, each, _ = proposals.shape
    k = inputs.shape[1]
    if not 1 <= shown <= k:
        raise UnskewError(f"shown is {shown}; the tasks have {k} pairs: show 1 to {k}")
    same = np.empty((tasks * each, k), dtype=np.bool_)
    code = compile_programs(proposals.reshape(tasks * each, -1))
    valid = code.status == FINE
    same[~valid] = False
    numbers = np.flatnonzero(valid)
    for start in range(0, len(numbers), max(1, AT_ONCE // k)):
        rows = numbers[start : start + max(1, AT_ONCE // k)]
        before = inputs[rows // each].reshape(-1, BYTES)
        ran = run(code, before, np.repeat(rows, k))
        right = (ran.worlds.reshape(len(rows), k, BYTES) == outputs[rows // each]).all(axis=2)
        same[rows] = right & (ran.status.reshape(len(rows), k) == 0)
    same = same.reshape(tasks, each, k)
    return Judged(
        valid.reshape(tasks, each),
        _equal(proposals, programs),
        _all(same[..., :shown]),
        _all(same),
    )


def _any(flags: NDArray[np.bool_]) -> NDArray[np.bool_]:
    found: NDArray[np.bool_] = np.logical_or.reduce(flags, axis=-1)
    return found


def _all(flags: NDArray[np.bool_]) -> NDArray[np.bool_]:
    found: NDArray[np.bool_] = np.logical_and.reduce(flags, axis=-1)
    return found


def _equal(proposals: NDArray[np.uint8], programs: NDArray[np.uint8]) -> NDArray[np.bool_]:
    """Whether each proposal is the task's own program; either may be padded further."""
    width = min(proposals.shape[2], programs.shape[1])
    alike = (proposals[..., :width] == programs[:, None, :width]).all(axis=2)
    rest = proposals[..., width:].any(axis=2) | programs[:, None, width:].any(axis=2)
    equal: NDArray[np.bool_] = alike & ~rest
    return equal


def wilson(share: float, n: float) -> tuple[float, float]:
    """Return Wilson's 95 % interval of a share of n; all of [0, 1] where nothing was counted."""
    if n == 0:
        return 0.0, 1.0
    z = 1.959964
    spread = z * z / n
    middle = (share + spread / 2) / (1 + spread)
    half = math.sqrt(share * (1 - share) * spread + spread * spread / 4) / (1 + spread)
    return max(0.0, middle - half), min(1.0, middle + half)


@dataclass(frozen=True)
class Share:
    """A share: ``hits`` of ``n``, with its 95 % interval (Wilson's)."""

    hits: int
    n: int

    @property
    def share(self) -> float:
        """``hits`` divided by ``n``."""
        return self.hits / self.n if self.n else math.nan

    @property
    def interval(self) -> tuple[float, float]:
        """The two ends of the interval; 0 and 1 if ``n`` is 0."""
        return wilson(self.share, self.n)

    @classmethod
    def of(cls, solved: NDArray[np.bool_]) -> Share:
        """Return the share of True."""
        return cls(int(solved.sum()), len(solved))
