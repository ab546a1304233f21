"""What the synthesizer is trained on and tested with: datasets, files, named recipes, sources."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from unskew.core.batch import Batch
from unskew.core.errors import UnskewError, check_count
from unskew.datasets.open import open_input, open_target
from unskew.datasets.parts.splits import key_hashes, keys_in
from unskew.domains.karel import DOMAIN
from unskew.domains.karel.examples import INPUTS, OUTPUTS, PROGRAM, check, world_numbers, world_rows
from unskew.models.karel.data.tasks import Tasks, joined
from unskew.models.samples import Sample, join, read_sample

# Left out of the training by default. The test programs of actions alone are
# not here: they are all there are of one to three actions.
TEST_SETS = ("karel/msr-test", "karel/msr-val", "karel/while-in-while", "karel/while-in-if")
HELD_OUT = 512  # number of tasks that check a run


@dataclass(frozen=True)
class Reading:
    """Tasks to train on, and what was left out because a test set has it."""

    tasks: Tasks
    left_out: int  # examples
    shared: int  # distinct programs of theirs


def read_examples(name: str, n: int | None = None, seed: int = 0) -> Batch:
    """Return the first examples of a target: a dataset, file, table, recipe or source."""
    target = open_target(name, seed=seed)
    if target.endless and n is None:
        raise UnskewError(f"{name} is a source without end; say how many, or give a dataset")
    batches = [_columns(batch, name) for batch in target.read(n)]
    if not batches:
        raise UnskewError(f"{name} gave no examples; there is nothing to read")
    return join(batches)


def read_scored(name: str, n: int | None = None, seed: int = 0) -> Sample:
    """Return what a model is scored on, with columns besides Karel's own."""
    sample = read_sample(open_target(name, seed=seed), n)
    _columns(sample.examples, name)
    return sample


def read_worlds(name: str, row: int = 1) -> NDArray[np.uint8]:
    """Return the worlds of one example of a target, (pairs, 2, 260); rows count from 1."""
    check_count("row", row, "rows count from 1")
    target = open_target(name)
    start = 0
    for batch in target.read(row):
        if row <= start + len(batch):
            for column in (INPUTS, OUTPUTS):
                if column not in batch.columns:
                    raise UnskewError(f"{name} has no {column}; give a problem, or Karel examples")
            example = batch.slice(row - start - 1, 1)
            return np.stack([world_rows(example, c)[0] for c in (INPUTS, OUTPUTS)], axis=1)
        start += len(batch)
    raise UnskewError(f"{name} has {start} examples, and no row {row}; give a smaller --row")


def read_held_out(name: str) -> Tasks:
    """Return at most ``HELD_OUT`` tasks that check a run, evenly spaced in the dataset."""
    examples = read_scored(name, HELD_OUT).examples
    pairs = np.unique(world_numbers(examples, INPUTS)).tolist()
    if len(pairs) > 1:
        raise UnskewError(
            f"--check is {name}, whose examples have {pairs[0]} to {pairs[-1]} pairs; give a "
            "dataset whose examples all have the same number, like karel/msr-val"
        )
    return Tasks.of(examples)


def read_tasks(names: Sequence[str], excluded: Sequence[str]) -> Reading:
    """Return all tasks of datasets to train on, without the programs of the excluded ones."""
    parts, left_out, shared = [], 0, set[int]()
    keys = [keys_in(open_input(name), DOMAIN.key) for name in excluded]
    excluded_keys = np.concatenate([np.empty(0, np.uint64), *keys])
    for name in names:
        batch = read_examples(name)
        hashes = key_hashes(batch, DOMAIN.key)
        known = np.isin(hashes, excluded_keys)
        left_out += int(known.sum())
        shared |= set(np.unique(hashes[known]).tolist())
        kept = batch.filter(~known)
        if len(kept) == 0:
            raise UnskewError(
                f"all programs of {name} are left out, because they are in {', '.join(excluded)}; "
                "exclude less, or give another dataset"
            )
        _refuse_wrong(kept, name)
        parts.append(Tasks.of(kept))
    pairs = {part.worlds.shape[1] for part in parts}
    if len(pairs) > 1:
        raise UnskewError(f"the datasets have {sorted(pairs)} pairs an example; give one number")
    return Reading(joined(parts), left_out, len(shared))


def _refuse_wrong(batch: Batch, name: str) -> None:
    """Check on a sample that programs make their outputs, so that no model learns false ones."""
    sample = batch.head(1000)
    wrong = np.flatnonzero(~check(sample))
    if len(wrong):
        raise UnskewError(
            f"{name}: the program of row {int(wrong[0]) + 1} does not make its outputs; "
            "check the dataset with unskew verify"
        )


def _columns(batch: Batch, name: str) -> Batch:
    """Return Karel's own columns."""
    missing = [column for column in (PROGRAM, INPUTS, OUTPUTS) if column not in batch.columns]
    if missing:
        raise UnskewError(f"{name} has no {' and no '.join(missing)}; give Karel examples")
    return Batch({column: batch.columns[column] for column in (PROGRAM, INPUTS, OUTPUTS)})
