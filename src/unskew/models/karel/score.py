"""Scoring synthesizers: what share of a dataset's tasks they solve, in all and by variable."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray

from unskew.audits.audit import in_order
from unskew.balance.codebook import Codebook
from unskew.core.batch import Batch
from unskew.core.errors import UnskewError
from unskew.core.tally import plain
from unskew.core.variable import SalientVariable
from unskew.domains.karel import DOMAIN
from unskew.domains.karel.examples import INPUTS, world_numbers
from unskew.domains.karel.language.syntax import to_tokens
from unskew.domains.karel.running.judge import Share
from unskew.io.lookup import find_variables
from unskew.models.karel.data.tasks import Tasks
from unskew.models.karel.decode.solve import SHOWN, solve
from unskew.models.karel.network.packed import Steps
from unskew.models.karel.network.synthesizer import Synthesizer

AT_ONCE = 512  # tasks that are decoded before progress is told; scores do not depend on it


@dataclass(frozen=True)
class Score:
    """The share of the tasks that a model solves, by the way of counting and by variable.

    If no pair of a task is held out, to generalize is the same as to be consistent.
    """

    tasks: int
    shown: int  # the most pairs that a model sees
    shown_range: tuple[int, int]  # the fewest and the most pairs shown of a task
    held_out: tuple[int, int]  # the fewest and the most pairs held out of a task
    beam: int
    shares: dict[str, Share]
    by: dict[str, list[tuple[Any, Share]]]  # variable: (value, share that generalizes)
    solved: NDArray[np.bool_]  # (tasks,) whether the first candidate generalizes
    misses: dict[int, str]  # task: its first candidate, for some tasks that are not solved
    of: int | None = None  # all tasks, if only some were scored

    def to_dict(self) -> dict[str, Any]:
        """Return plain data."""
        return {
            "tasks": self.tasks,
            **({} if self.of is None else {"of": self.of}),
            "shown": self.shown,
            "shown_from": self.shown_range[0],
            "shown_to": self.shown_range[1],
            "held_out": list(self.held_out),
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
    of: int | None = None,
    dtype: torch.dtype = torch.float32,
    advance: Callable[[int], None] = lambda _: None,
) -> Score:
    """Write programs for the examples of a batch with a model, and return how many are right.

    Args:
        model: a synthesizer.
        batch: Karel examples.
        beam: the number of candidates for each task, 1 to 64.
        shown: how many pairs the model sees. Without it, the first five, or all if there are fewer.
        by: names of variables. The shares are also counted for each of their values.
        misses: of how many unsolved tasks to keep the first candidate.
        of: the number of all tasks, if the batch has only some of them.
        dtype: the type of the arithmetic. In float32, scores depend neither on the device nor on
            how many tasks are decoded at once.
        advance: called with a number of examples each time that so many are done.
    """
    seen = shown_pairs(batch, shown)
    groups = {variable.name: _groups(variable, batch) for variable in variables(batch, by)}
    pairs = world_numbers(batch, INPUTS)
    solved: dict[str, NDArray[np.bool_]] = {}
    said: dict[int, str] = {}
    for rows in _alike(pairs):
        tasks = Tasks.of(batch.take(rows))
        found = solve(model, tasks, beam, shown=int(seen[rows[0]]), dtype=dtype)
        for name, each in found.judged.shares().items():
            solved.setdefault(name, np.zeros(len(batch), np.bool_))[rows] = each
        for place in np.flatnonzero(~found.judged.generalizes[:, 0])[:misses].tolist():
            said[int(rows[place])] = to_tokens(found.programs[place, 0])
        advance(len(rows))
    right = solved["generalizes"]
    held_out = pairs - seen
    return Score(
        tasks=len(batch),
        shown=shown or SHOWN,
        shown_range=(int(seen.min()), int(seen.max())),
        held_out=(int(held_out.min()), int(held_out.max())),
        beam=beam,
        shares={name: Share.of(each) for name, each in solved.items()},
        by={
            name: [(value, Share.of(right[rows])) for value, rows in each]
            for name, each in groups.items()
        },
        solved=right,
        misses={row: said[row] for row in sorted(said)[:misses]},
        of=of,
    )


def shown_pairs(batch: Batch, shown: int | None) -> NDArray[np.int64]:
    """Return how many pairs of each example are shown: so many, or five where there are."""
    pairs = world_numbers(batch, INPUTS)
    if len(pairs) == 0:
        raise UnskewError("there are no examples to score; give some")
    if shown is None:
        return np.minimum(pairs, SHOWN)
    fewest, most = int(pairs.min()), int(pairs.max())
    if not 1 <= shown <= fewest:
        step = f"show {_range(1, fewest)}" + (", or leave it out" if fewest < most else "")
        raise UnskewError(f"shown is {shown}; examples have {_range(fewest, most)} pairs: {step}")
    return np.full(len(pairs), shown)


def variables(batch: Batch, names: Sequence[str]) -> list[SalientVariable]:
    """Return the variables that scores are told by: Karel's, columns, functions of one's own."""
    return find_variables(names, DOMAIN, list(batch.columns))


def check_scored(batch: Batch, shown: int | None, by: Sequence[str]) -> None:
    """Refuse what cannot be scored so, before anything is decoded."""
    shown_pairs(batch, shown)
    for variable in variables(batch, by):
        _groups(variable, batch)


def _alike(pairs: NDArray[np.int64]) -> Iterator[NDArray[np.int64]]:
    """Yield rows that have as many pairs, some at a time."""
    for number in np.unique(pairs):
        rows = np.flatnonzero(pairs == number)
        for start in range(0, len(rows), AT_ONCE):
            yield rows[start : start + AT_ONCE]


@torch.no_grad()
def mean_loss(model: Synthesizer, tasks: Tasks, *, shown: int = SHOWN) -> float:
    """Return the negative log-likelihood of a token of the programs, in nats, pairs being shown."""
    device = next(model.parameters()).device
    lengths = tasks.lengths()
    order = lengths.argsort(descending=True, stable=True)
    total = 0.0
    for start in range(0, len(order), AT_ONCE):
        part = order[start : start + AT_ONCE]
        steps = Steps.of(lengths[part].tolist(), device)
        worlds = tasks.worlds[part, :shown].to(device)
        programs = tasks.programs[part].to(device)
        total += float(model.loss(worlds, programs, steps, torch.float32)) * len(steps)
    return total / int(lengths.sum())


def _groups(variable: SalientVariable, batch: Batch) -> list[tuple[Hashable, NDArray[np.int64]]]:
    """Return the values of a variable in their order, each with the rows that have it."""
    seen = Codebook(replace(variable, support=None))  # of a declared value none may be there
    codes = seen.measure(batch)
    places = {value: code for code, value in enumerate(seen.values)}
    return [(value, np.flatnonzero(codes == places[value])) for value in in_order(seen.values)]


def _range(low: int, high: int) -> str:
    return str(low) if low == high else f"{low} to {high}"


def _numbers(share: Share) -> dict[str, Any]:
    low, high = share.interval
    return {"hits": share.hits, "n": share.n, "share": share.share, "low": low, "high": high}
