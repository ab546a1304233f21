"""Examples that a recipe starts from: those of a named recipe, a table or a dataset."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import accumulate, pairwise

from unskew.batch import Batch, concatenate
from unskew.dataset import read_parquet
from unskew.errors import UnskewError
from unskew.names import find_recipe, find_table
from unskew.recipe import Recipe
from unskew.store import Place
from unskew.targets import open_target


def given_size(name: str) -> int:
    """Return how many examples there are to start from."""
    recipe, table = find_recipe(name), find_table(name)
    if recipe is not None:
        return recipe.n
    if table is not None:
        return len(table())
    opened = open_target(name)
    if opened.endless:
        raise UnskewError(f"{name} never ends; give a dataset, a table or a named recipe")
    return sum(len(batch) for batch in opened.read(None))


def given_rows(name: str, start: int, stop: int, make: Callable[[Recipe, int], Batch]) -> Batch:
    """Return the examples from ``start`` to before ``stop``; ``make`` makes a recipe's shard."""
    recipe, table = find_recipe(name), find_table(name)
    if recipe is not None:
        size = recipe.shard_size
        shards = (make(recipe, index) for index in range(start // size, -(-stop // size)))
        return _slice(shards, start % size, stop - start)
    if table is not None:
        return _slice(iter([table()]), start, stop - start)
    opened = open_target(name)
    if opened.dataset is None:
        return _slice(opened.read(stop), start, stop - start)
    first = 0
    batches: list[Place] = []
    rows = opened.dataset.part_rows
    for part, (low, high) in zip(
        opened.dataset.parts, pairwise([0, *accumulate(rows)]), strict=True
    ):
        if low < stop and high > start:
            first = first if batches else low
            batches.append(part)
    parts = (batch for part in batches for batch in read_parquet(part))
    return _slice(parts, start - first, stop - start)


def _slice(batches: Iterator[Batch], skip: int, n: int) -> Batch:
    kept = []
    for batch in batches:
        if skip < len(batch) and n > 0:
            part = batch.slice(skip, n)
            kept.append(part)
            n -= len(part)
        skip = max(0, skip - len(batch))
    if not kept:
        raise UnskewError("there are no examples to start from; check what is given")
    return concatenate(kept)
