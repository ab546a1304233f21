"""Judges programs that were proposed for examples: do they do what the pairs show (section 4)?

A task is an example: its first pairs are shown, the rest is held out. A proposal is consistent if
it makes the outputs of the shown pairs, and generalizes if it makes the outputs of all pairs. A
run that crashes or does not end makes no output.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from unskew.core.arrays import Bytes, Flags, Ints
from unskew.core.errors import UnskewError
from unskew.core.interval import wilson
from unskew.domains.karel.language.compiler import FINE, compile_programs
from unskew.domains.karel.running.interpreter import run
from unskew.domains.karel.world import BYTES

RUNS_AT_ONCE = 1 << 19  # their worlds take 130 MB


@dataclass(frozen=True)
class Judged:
    """Which proposals are right: four arrays (tasks, proposals) of bool."""

    valid: Flags  # it is a program
    exact: Flags  # it is the program of the task, token for token
    consistent: Flags  # it is right on the shown pairs
    generalizes: Flags  # it is right on all pairs, shown and held out

    def first_consistent(self) -> Ints:
        """Return for each task the number of its first consistent proposal; 0 if it has none."""
        first: Ints = np.argmax(self.consistent, axis=1)
        return first

    def shares(self) -> dict[str, Flags]:
        """Return which tasks are solved, for each way of counting."""
        tasks = np.arange(len(self.valid))
        chosen = self.first_consistent()
        return {
            "valid": self.valid[:, 0],
            "exact": self.exact[:, 0],
            "consistent": self.consistent[:, 0],
            "generalizes": self.generalizes[:, 0],
            "exact, any": np.logical_or.reduce(self.exact, axis=1),
            "consistent, any": np.logical_or.reduce(self.consistent, axis=1),
            "generalizes, any": np.logical_or.reduce(self.generalizes, axis=1),
            "generalizes, first consistent": self.generalizes[tasks, chosen],
        }


def judge(proposals: Bytes, programs: Bytes, inputs: Bytes, outputs: Bytes, shown: int) -> Judged:
    """Run proposed programs, and return which of them are right.

    Args:
        proposals: token ids (tasks, proposals, width), the best proposal of a task first. A row
            that is no program solves nothing.
        programs: the program of each task, (tasks, width).
        inputs: packed worlds (tasks, k, 260).
        outputs: what the program of the task makes of them.
        shown: how many of the k pairs were shown; the others were held out.
    """
    tasks, many, _ = proposals.shape
    k = inputs.shape[1]
    if not 1 <= shown <= k:
        raise UnskewError(f"shown is {shown}; the tasks have {k} pairs: show 1 to {k}")
    same = np.empty((tasks * many, k), dtype=np.bool_)
    code = compile_programs(proposals.reshape(tasks * many, -1))
    valid = code.status == FINE
    same[~valid] = False
    numbers = np.flatnonzero(valid)
    step = max(1, RUNS_AT_ONCE // k)
    for start in range(0, len(numbers), step):
        rows = numbers[start : start + step]
        before = inputs[rows // many].reshape(-1, BYTES)
        ran = run(code, before, np.repeat(rows, k))
        right = (ran.worlds.reshape(len(rows), k, BYTES) == outputs[rows // many]).all(axis=2)
        same[rows] = right & (ran.status.reshape(len(rows), k) == 0)
    same = same.reshape(tasks, many, k)
    return Judged(
        valid.reshape(tasks, many),
        _equal(proposals, programs),
        np.logical_and.reduce(same[..., :shown], axis=2),
        np.logical_and.reduce(same, axis=2),
    )


def _equal(proposals: Bytes, programs: Bytes) -> Flags:
    """Return whether each proposal is the task's own program; they may differ in padding."""
    width = min(proposals.shape[2], programs.shape[1])
    alike = (proposals[..., :width] == programs[:, None, :width]).all(axis=2)
    rest = proposals[..., width:].any(axis=2) | programs[:, None, width:].any(axis=2)
    equal: Flags = alike & ~rest
    return equal


@dataclass(frozen=True)
class Share:
    """How many of n cases are hits, and Wilson's 95 % interval of this share."""

    hits: int
    n: int

    @property
    def share(self) -> float:
        """``hits`` divided by ``n``."""
        return self.hits / self.n if self.n else math.nan

    @property
    def interval(self) -> tuple[float, float]:
        """Return the lower and upper end of the interval; all of [0, 1] if n is 0."""
        return wilson(self.share, self.n)

    @classmethod
    def of(cls, solved: Flags) -> Share:
        """Return the share of True."""
        return cls(int(solved.sum()), len(solved))
