"""Judging programs that were proposed for examples: do they do what the pairs show (section 4)?

A task is an example of which the first pairs were shown and the rest was held out. A proposal is
consistent if it makes the outputs of the shown pairs, and generalizes if it makes those of all of
them; a run that crashes or does not end makes nothing.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from unskew.core.arrays import Bytes, Flags, Ints
from unskew.core.errors import UnskewError
from unskew.domains.karel.language.compiler import FINE, compile_programs
from unskew.domains.karel.running.interpreter import run
from unskew.domains.karel.world import BYTES

AT_ONCE = 1 << 19  # runs whose worlds are held at once: 130 MB


@dataclass(frozen=True)
class Judged:
    """What each of the proposals, best first, of each task is: (tasks, proposals) each."""

    valid: Flags  # a program at all
    exact: Flags  # the task's own program, token for token
    consistent: Flags  # with the shown pairs
    generalizes: Flags  # to all pairs, shown and held out

    def first_consistent(self) -> Ints:
        """Return which proposal to take: the first consistent one, or the first of all."""
        first: Ints = np.argmax(self.consistent, axis=1)
        return first

    def shares(self) -> dict[str, Flags]:
        """Return for each task whether it is solved, by how that is counted."""
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


def judge(proposals: Bytes, programs: Bytes, inputs: Bytes, outputs: Bytes, shown: int) -> Judged:
    """Judge proposals (tasks, proposals, width) for programs and worlds (tasks, k, 260).

    What is no program, an empty row too, is not valid and solves nothing.
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
        valid.reshape(tasks, each), _equal(proposals, programs), _all(same[..., :shown]), _all(same)
    )


def _any(flags: Flags) -> Flags:
    found: Flags = np.logical_or.reduce(flags, axis=-1)
    return found


def _all(flags: Flags) -> Flags:
    found: Flags = np.logical_and.reduce(flags, axis=-1)
    return found


def _equal(proposals: Bytes, programs: Bytes) -> Flags:
    """Whether each proposal is the task's own program; either may be padded further."""
    width = min(proposals.shape[2], programs.shape[1])
    alike = (proposals[..., :width] == programs[:, None, :width]).all(axis=2)
    rest = proposals[..., width:].any(axis=2) | programs[:, None, width:].any(axis=2)
    equal: Flags = alike & ~rest
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
    """How many of so many, and the 95 % interval of the share (Wilson's)."""

    hits: int
    n: int

    @property
    def share(self) -> float:
        """Return the share itself."""
        return self.hits / self.n if self.n else math.nan

    @property
    def interval(self) -> tuple[float, float]:
        """Return its lower and upper end; all of [0, 1] where nothing was counted."""
        return wilson(self.share, self.n)

    @classmethod
    def of(cls, solved: Flags) -> Share:
        """Count what is True."""
        return cls(int(solved.sum()), len(solved))
