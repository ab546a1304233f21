"""Scoring synthesizers: the share of a dataset's tasks that they solve, also by variable."""

from collections.abc import Callable, Hashable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any, TypeAlias

import numpy as np
import torch
from numpy.typing import NDArray

from unskew.audits.records import in_order
from unskew.balance.codebook import Codebook
from unskew.core.batch import Batch
from unskew.core.errors import UnskewError
from unskew.core.tally import plain
from unskew.core.variables.variable import SalientVariable
from unskew.domains.karel import DOMAIN
from unskew.domains.karel.examples import INPUTS, world_numbers
from unskew.domains.karel.language.syntax import to_tokens
from unskew.domains.karel.running.judge import Share
from unskew.io.lookup import find_variables
from unskew.models.karel.data.tasks import Tasks, span
from unskew.models.karel.decode.solve import SHOWN, solve
from unskew.models.karel.network.packed import Steps
from unskew.models.karel.network.synthesizer import Synthesizer

TASKS_PER_REPORT = 512  # tasks decoded between two reports; scores do not depend on the number
Groups: TypeAlias = list[tuple[Hashable, NDArray[np.int64]]]  # values, and the rows that have them


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
    advance: Callable[[int], None] = lambda _: None,
) -> Score:
    """Write programs for Karel examples with a model, and return how many are right.

    The scores depend neither on the device nor on how many tasks are decoded at once.

    Args:
        model: a synthesizer.
        batch: Karel examples.
        beam: the number of candidates for each task, 1 to 64.
        shown: how many pairs the model sees. Without it, the first five, or all if there are fewer.
        by: names of variables. The shares are also counted for each of their values.
        misses: of how many unsolved tasks to keep the first candidate.
        of: the number of all tasks, if the batch has only some of them.
        advance: called with a number of examples each time that so many are done.
    """
    counts = shown_pairs(batch, shown)
    groups = _groups(batch, by)
    pairs = world_numbers(batch, INPUTS)
    solved: dict[str, NDArray[np.bool_]] = {}
    predicted: dict[int, str] = {}
    for rows in _rows_alike(pairs):
        result = solve(model, Tasks.of(batch.take(rows)), beam, shown=int(counts[rows[0]]))
        for name, flags in result.judged.shares().items():
            solved.setdefault(name, np.zeros(len(batch), np.bool_))[rows] = flags
        for place in np.flatnonzero(~result.judged.generalizes[:, 0])[:misses].tolist():
            predicted[int(rows[place])] = to_tokens(result.programs[place, 0])
        advance(len(rows))
    generalizes = solved["generalizes"]
    held_out = pairs - counts
    return Score(
        tasks=len(batch),
        shown=shown or SHOWN,
        shown_range=(int(counts.min()), int(counts.max())),
        held_out=(int(held_out.min()), int(held_out.max())),
        beam=beam,
        shares={name: Share.of(flags) for name, flags in solved.items()},
        by={
            name: [(value, Share.of(generalizes[rows])) for value, rows in values]
            for name, values in groups.items()
        },
        solved=generalizes,
        misses={row: predicted[row] for row in sorted(predicted)[:misses]},
        of=of,
    )


def shown_pairs(batch: Batch, shown: int | None) -> NDArray[np.int64]:
    """Return how many pairs of each example are shown; refuse more than an example has."""
    pairs = world_numbers(batch, INPUTS)
    if len(pairs) == 0:
        raise UnskewError("there are no examples to score; give some")
    if shown is None:
        return np.minimum(pairs, SHOWN)
    fewest, most = int(pairs.min()), int(pairs.max())
    if not 1 <= shown <= fewest:
        step = f"show {span(1, fewest)}" + (", or leave it out" if fewest < most else "")
        raise UnskewError(f"shown is {shown}; examples have {span(fewest, most)} pairs: {step}")
    return np.full(len(pairs), shown)


def check_scored(batch: Batch, shown: int | None, by: Sequence[str]) -> None:
    """Refuse arguments that ``score`` would refuse, before anything is decoded."""
    shown_pairs(batch, shown)
    _groups(batch, by)


def _rows_alike(pairs: NDArray[np.int64]) -> Iterator[NDArray[np.int64]]:
    """Yield rows with the same number of pairs, some at a time."""
    for number in np.unique(pairs):
        rows = np.flatnonzero(pairs == number)
        for start in range(0, len(rows), TASKS_PER_REPORT):
            yield rows[start : start + TASKS_PER_REPORT]


@torch.no_grad()
def mean_loss(model: Synthesizer, tasks: Tasks, *, shown: int = SHOWN) -> float:
    """Return the negative log-likelihood of a token of the programs, in nats."""
    device = next(model.parameters()).device
    lengths = tasks.lengths()
    order = lengths.argsort(descending=True, stable=True)
    total = 0.0
    for part in torch.split(order, TASKS_PER_REPORT):
        steps = Steps.of(lengths[part].tolist(), device)
        worlds = tasks.worlds[part, :shown].to(device)
        programs = tasks.programs[part].to(device)
        total += float(model.loss(worlds, programs, steps, torch.float32)) * len(steps)
    return total / int(lengths.sum())


def _groups(batch: Batch, by: Sequence[str]) -> dict[str, Groups]:
    """Return the values of each variable in their order, with the rows that have each value.

    ``by`` names Karel's variables, columns of the batch, or functions of the user.
    """
    variables = find_variables(by, DOMAIN, list(batch.columns))
    return {variable.name: _rows_by_value(variable, batch) for variable in variables}


def _rows_by_value(variable: SalientVariable, batch: Batch) -> Groups:
    codebook = Codebook(replace(variable, support=None))  # no row may have a declared value
    codes = codebook.measure(batch)
    rows = np.argsort(codes, kind="stable")
    groups = np.split(rows, np.searchsorted(codes[rows], np.arange(1, len(codebook.values))))
    of_value = dict(zip(codebook.values, groups, strict=True))
    return [(value, of_value[value]) for value in in_order(codebook.values)]


def _numbers(share: Share) -> dict[str, Any]:
    low, high = share.interval
    return {"hits": share.hits, "n": share.n, "share": share.share, "low": low, "high": high}
