"""Which examples may stand in which split: told by the content of their key, not by a seed.

A key is the column that a domain names (a program, an expression), else the whole row as it is
stored. Its hash decides on which side of the splits it falls, so that no key is in two of them,
and whether it is one of those to leave out.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import cache
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from unskew.batch import Batch, concatenate, is_text
from unskew.errors import UnskewError
from unskew.inputs import content_of, named_inputs, open_input
from unskew.names import find_recipe, recipe_domain
from unskew.recipe import Recipe
from unskew.rowhash import content_hashes, row_hashes
from unskew.source import Source

# Makes the examples of a recipe's shard.
Make: TypeAlias = Callable[[Recipe, int], Batch]
Excluded: TypeAlias = Mapping[str, NDArray[np.uint64]]
OTHER_SPLIT, REPEATED = "belongs to another split", "repeats an earlier key"
IN_VAIN = 1000  # draws in a row that left nothing
FEWEST = 256  # examples drawn at once to make up for what was left out


def key_of(recipe: Recipe) -> str:
    """Return the column whose content tells a recipe's examples apart; empty: the whole row."""
    domain = recipe_domain(recipe)
    return domain.key if domain is not None else ""


def key_hashes(batch: Batch, key: str) -> NDArray[np.uint64]:
    """Return the hash of each row's key: of a column, or of the whole row."""
    if not key:
        return content_hashes(batch)
    stored = _in_columns(batch)
    if key not in stored.columns:
        return content_hashes(stored)
    column = Batch({key: stored.columns[key]})
    return row_hashes(column) if is_text(column.columns[key]) else content_hashes(column)


def restricted(source: Source, recipe: Recipe, index: int, make: Make) -> Source:
    """Return a source of the examples alone that may stand in a shard of the recipe."""
    if not recipe.splits and not recipe.exclude:
        return source
    split = recipe.shard_at(index).split

    @cache
    def excluded() -> Excluded:  # read when it is needed, and once
        return excluded_by(recipe, make)

    def draw(rng: np.random.Generator, n: int) -> tuple[Batch, Counter[str]]:
        kept: list[Batch] = []
        dropped: Counter[str] = Counter()
        have, drawn, in_vain = 0, 0, 0
        while have < n:
            missing = n - have
            wanted = -(-missing * drawn // have) if have else n  # by the share left so far
            # Not too few: what a source draws may depend on the row, as lengths that take turns.
            asked = max(min(wanted, n), FEWEST) if drawn else n
            batch, reasons = source.draw(rng, asked)
            drawn += len(batch)
            dropped += reasons
            keep, why = _allowed(batch, recipe, split, excluded())
            if keep.sum() > missing:  # what comes after the last one needed is not counted
                batch = batch.head(int(np.flatnonzero(keep)[missing - 1]) + 1)
                keep, why = _allowed(batch, recipe, split, excluded())
            batch = batch.filter(keep)
            dropped += why
            have += len(batch)
            in_vain = 0 if len(batch) else in_vain + 1
            if in_vain == IN_VAIN:
                raise UnskewError(
                    f"nothing is left for split {split} of {recipe.source} after "
                    f"{drawn:,} draws; exclude less, or ask for fewer examples"
                )
            if len(batch):
                kept.append(batch)
        return concatenate(kept), dropped

    return replace(source, draw=draw)


def without(batch: Batch, recipe: Recipe, excluded: Excluded) -> tuple[Batch, Counter[str]]:
    """Leave out of a batch what the recipe excludes."""
    if not excluded:
        return batch, Counter()
    keep, why = _allowed(batch, recipe, "", excluded)
    return batch.filter(keep), why


def _allowed(
    batch: Batch, recipe: Recipe, split: str, excluded: Excluded
) -> tuple[NDArray[np.bool_], Counter[str]]:
    """Say which rows may stand in a split, and count the others by reason."""
    hashes = key_hashes(batch, key_of(recipe))
    keep = np.ones(len(batch), dtype=np.bool_)
    why: Counter[str] = Counter()
    if recipe.splits:
        keep = split_of(hashes, recipe) == list(recipe.splits).index(split)
        why[OTHER_SPLIT] = int((~keep).sum())
    for name, keys in excluded.items():
        inside = np.isin(hashes, keys) & keep
        why[_is_in(name)] = int(inside.sum())
        keep &= ~inside
    return keep, +why


def not_wanted(recipe: Recipe) -> set[str]:
    """Return the reasons to drop an example that is valid, but is not for this split or dataset."""
    return {OTHER_SPLIT, REPEATED, *map(_is_in, recipe.exclude)}


def _is_in(name: str) -> str:
    return f"is in {name}"


def split_of(hashes: NDArray[np.uint64], recipe: Recipe) -> NDArray[np.int64]:
    """Return the number of the split that each key belongs to, in proportion to their sizes."""
    sizes = np.array(list(recipe.splits.values()), dtype=float)
    ends = np.cumsum(sizes / sizes.sum())[:-1]
    # The hash is mixed again, so that splits do not depend on what else hashes are used for.
    mixed = hashes * np.uint64(0x9E3779B97F4A7C15)
    found: NDArray[np.int64] = np.searchsorted(ends, mixed / 2.0**64, side="right")
    return found


def excluded_by(recipe: Recipe, make: Make) -> Excluded:
    """Return the keys that a recipe leaves out, by the name of what they are in."""
    if not recipe.exclude:
        return {}
    named_inputs(recipe)
    key = key_of(recipe)
    return {name: excluded_keys(name, make, key) for name in recipe.exclude}


def excluded_keys(name: str, make: Make, key: str) -> NDArray[np.uint64]:
    """Return the keys of a dataset, a file or a named recipe, sorted.

    ``key`` is the column that tells the examples apart which are compared with these.
    """
    return _keys_in(name, content_of(name), make, key)


@cache
def _keys_in(name: str, _: str, make: Make, key: str) -> NDArray[np.uint64]:
    """Return the keys of what has this content; they are read again when it has another."""
    recipe = find_recipe(name)
    if recipe is not None:
        batches = (make(recipe, index) for index in range(recipe.shards))
    else:
        opened = open_input(name)
        if opened.dataset is not None:
            opened.dataset.check_parts()
        batches = (_in_columns(batch) for batch in opened.read(None))
    found = []
    for batch in batches:
        if key and key not in batch.columns:
            raise UnskewError(
                f"{name} has no column {key!r} to tell its examples by; name one that has"
            )
        found.append(key_hashes(batch, key))
    return np.unique(np.concatenate(found)) if found else np.empty(0, np.uint64)


def _in_columns(batch: Batch) -> Batch:
    return Batch.from_arrow(batch.to_arrow()) if batch.is_plain else batch


class SeenKeys:
    """The keys of the parts so far."""

    def __init__(self, recipe: Recipe) -> None:
        """Start with none."""
        self._key = key_of(recipe)
        self._seen = np.empty(0, dtype=np.uint64)

    def first(self, batch: Batch) -> NDArray[np.bool_]:
        """Say which rows have a key that did not come before, and remember them."""
        hashes = key_hashes(batch, self._key)
        keep = np.zeros(len(hashes), dtype=np.bool_)
        keep[np.unique(hashes, return_index=True)[1]] = True
        keep &= ~np.isin(hashes, self._seen)
        self._seen = np.union1d(self._seen, hashes)
        return keep
