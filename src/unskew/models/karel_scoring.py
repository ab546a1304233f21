"""Scoring synthesizers: what share of a dataset's tasks they solve, in all and by variable."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray

from unskew.batch import Batch
from unskew.domains.karel import DOMAIN
from unskew.domains.karel.examples import INPUTS, world_numbers
from unskew.domains.karel.judging import Share
from unskew.domains.karel.syntax import to_tokens
from unskew.errors import UnskewError
from unskew.models.karel import Synthesizer
from unskew.models.karel_data import Tasks
from unskew.models.karel_solving import SHOWN, solve
from unskew.models.packed import Steps
from unskew.tally import plain


@dataclass(frozen=True)
class Score:
    """Shares of the tasks by how a solution is counted, and generalization by variable."""

    tasks: int
    shown: int  # pairs, or as many as there are
    beam: int
    shares: dict[str, Share]
    by: dict[str, list[tuple[Any, Share]]]  # variable: (value, generalization of the first)
    solved: NDArray[np.bool_]  # (tasks,) whether the first candidate generalizes
    misses: dict[int, str]  # task: the first candidate, of the first tasks that it does not solve

    def to_dict(self) -> dict[str, Any]:
        """Return plain data."""
        return {
            "tasks": self.tasks,
            "shown": self.shown,
            "beam": self.beam,
            "shares": {name: _numbers(share) for name, share in self.shares.items()},
            "by": {
                name: [{"value": plain(value), **_numbers(share)} for value, share in rows]
                for name, rows in self.by.items()
            },
            "misses": [{"row": row, "predicted": text} for row, text in self.misses.items()],
        }


def score(
    model: Synthesizer,
    batch: Batch,
    beam: int,
    *,
    shown: int | None = None,
    by: Sequence[str] = (),
    misses: int = 0,
    dtype: torch.dtype = torch.float32,
) -> Score:
    """Decode and judge the examples of a batch; the first ``shown`` pairs are seen.

    Left out, five are, or as many as there are: what is beyond is held out. Probabilities are
    computed in float32 unless said otherwise, so that scores depend neither on the device nor on
    how many are decoded at once. Of the first ``misses`` tasks that are not solved, what was
    predicted is kept.
    """
    numbers = world_numbers(batch, INPUTS)
    fewest = int(numbers.min(initial=SHOWN))
    if shown is not None and not 1 <= shown <= fewest:
        raise UnskewError(f"shown is {shown}; examples have {fewest} pairs: show 1 to {fewest}")
    solved: dict[str, NDArray[np.bool_]] = {}
    said: dict[int, str] = {}
    for pairs in np.unique(numbers).tolist():
        alike = np.flatnonzero(numbers == pairs)
        tasks = Tasks.of(batch.take(alike))
        found = solve(model, tasks, beam, shown=shown, dtype=dtype)
        for name, each in found.judged.shares().items():
            solved.setdefault(name, np.zeros(len(batch), np.bool_))[alike] = each
        for place in np.flatnonzero(~found.judged.generalizes[:, 0])[:misses].tolist():
            said[int(alike[place])] = to_tokens(found.programs[place, 0])
    return Score(
        len(batch),
        shown or SHOWN,
        beam,
        {name: Share.of(each) for name, each in solved.items()},
        {name: _by(name, batch, solved["generalizes"]) for name in by},
        solved["generalizes"],
        {row: said[row] for row in sorted(said)[:misses]},
    )


@torch.no_grad()
def mean_loss(model: Synthesizer, batch: Batch, *, shown: int = SHOWN, rows: int = 512) -> float:
    """Return the negative log-likelihood of a token of the programs, in nats, pairs being shown."""
    device = next(model.parameters()).device
    tasks = Tasks.of(batch)
    lengths = tasks.lengths()
    order = lengths.argsort(descending=True, stable=True)
    total = 0.0
    for start in range(0, len(order), rows):
        part = order[start : start + rows]
        steps = Steps.of(lengths[part].tolist(), device)
        worlds = tasks.worlds[part, :shown].to(device)
        programs = tasks.programs[part].to(device)
        total += float(model.loss(worlds, programs, steps, torch.float32)) * len(steps)
    return total / int(lengths.sum())


def _by(name: str, batch: Batch, solved: NDArray[np.bool_]) -> list[tuple[Any, Share]]:
    """Return the share that is solved for each value of a variable."""
    values = DOMAIN.variable(name).measure(batch)
    found, codes = np.unique(np.asarray(values), return_inverse=True)
    return [(value, Share.of(solved[codes == code])) for code, value in enumerate(found.tolist())]


def _numbers(share: Share) -> dict[str, Any]:
    low, high = share.interval
    return {"hits": share.hits, "n": share.n, "share": share.share, "low": low, "high": high}
