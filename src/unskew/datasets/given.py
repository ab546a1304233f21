"""Examples that a recipe starts from: those of a named recipe, a table or a dataset."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import accumulate, pairwise

from unskew.core.batch import Batch, concatenate
from unskew.core.errors import UnskewError
from unskew.core.recipe import Recipe
from unskew.datasets.inputs import open_input
from unskew.io.dataset import read_parquet
from unskew.io.lookup import find_recipe, find_table


def given_size(name: str) -> int:
    """Return how many examples there are to start from."""
    recipe, table = find_recipe(name), find_table(name)
    if recipe is not None and (recipe.given or recipe.distinct):
        raise UnskewError(
            f"{name} leaves out some of its {recipe.n:,} examples when it is made; generate it "
            "first, and give its folder"
        )
    if recipe is not None:
        return recipe.n
    if table is not None:
        return len(table())
    opened = open_input(name)
    if opened.endless:
        raise UnskewError(f"{name} never ends; give a dataset, a table or a named recipe")
    if opened.dataset is not None:
        return len(opened.dataset)
    return sum(len(batch) for batch in opened.read(None))


def given_place(name: str, row: int) -> str:
    """Say where an example stands: the row of a file, counted from 1."""
    if find_recipe(name) is not None or find_table(name) is not None:
        return f"{name} row {row + 1}"
    return open_input(name).where(row)


def given_rows(name: str, start: int, stop: int, make: Callable[[Recipe, int], Batch]) -> Batch:
    """Return the examples from ``start`` to before ``stop``; ``make`` makes a recipe's shard."""
    recipe, table = find_recipe(name), find_table(name)
    if recipe is not None:
        size = recipe.shard_size
        shards = (make(recipe, index) for index in range(start // size, -(-stop // size)))
        return _slice(shards, start % size, stop - start)
    if table is not None:
        return _slice(iter([table()]), start, stop - start)
    opened = open_input(name)
    if opened.dataset is None:
        rows = _slice(opened.read(stop), start, stop - start)
        return Batch.from_arrow(rows.to_arrow()) if rows.is_plain else rows
    starts = [0, *accumulate(opened.dataset.part_rows)]
    wanted = [i for i, (low, high) in enumerate(pairwise(starts)) if low < stop and high > start]
    opened.dataset.check_parts(wanted)
    parts = (batch for i in wanted for batch in read_parquet(opened.dataset.parts[i]))
    return _slice(parts, start - (starts[wanted[0]] if wanted else 0), stop - start)


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
