"""Which examples may be in which split: the content of their key decides, not a seed.

A key is the column that a domain names (a program, an expression), or else the whole row as it is
stored. The hash of the key decides the split, so no key is in two splits. It also decides whether
an example is one of those to leave out.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from unskew.core.batch import Batch, is_text
from unskew.core.errors import UnskewError
from unskew.core.recipe import Recipe
from unskew.core.rowhash import content_hashes, text_hashes
from unskew.datasets.target import Target

Hashes: TypeAlias = NDArray[np.uint64]
Excluded: TypeAlias = Mapping[str, Hashes]
OTHER_SPLIT, REPEATED = "belongs to another split", "repeats an earlier key"
REMEMBERED = 64  # targets whose keys are kept in memory


def key_hashes(batch: Batch, key: str) -> Hashes:
    """Return the hash of each row's key: of a column, or of the whole row."""
    if not key:
        return content_hashes(batch)
    stored = _in_columns(batch)
    if key not in stored.columns:
        return content_hashes(stored)
    column = stored.columns[key]
    return text_hashes(column) if is_text(column) else content_hashes(Batch({key: column}))


def allowed(
    batch: Batch, recipe: Recipe, key: str, split: str, excluded: Excluded
) -> tuple[NDArray[np.bool_], Counter[str]]:
    """Return which rows may be in a split, and count the other rows by reason."""
    keep = np.ones(len(batch), dtype=np.bool_)
    why: Counter[str] = Counter()
    if not (recipe.splits or excluded):
        return keep, why
    hashes = key_hashes(batch, key)
    if recipe.splits:
        keep = split_of(hashes, recipe) == list(recipe.splits).index(split)
        why[OTHER_SPLIT] = int((~keep).sum())
    for name, keys in excluded.items():
        is_excluded = np.isin(hashes, keys) & keep
        why[_is_in(name)] = int(is_excluded.sum())
        keep &= ~is_excluded
    return keep, +why


def not_wanted(recipe: Recipe) -> set[str]:
    """Return the reasons to drop an example that is valid, but not for this split or dataset."""
    return {OTHER_SPLIT, REPEATED, *map(_is_in, recipe.exclude)}


def _is_in(name: str) -> str:
    return f"is in {name}"


def split_of(hashes: Hashes, recipe: Recipe) -> NDArray[np.int64]:
    """Return the number of the split of each key; shares are in proportion to the splits' sizes."""
    sizes = np.array(list(recipe.splits.values()), dtype=float)
    ends = np.cumsum(sizes / sizes.sum())[:-1]
    # The hash is mixed again, so that splits do not depend on what else hashes are used for.
    mixed = hashes * np.uint64(0x9E3779B97F4A7C15)
    numbers: NDArray[np.int64] = np.searchsorted(ends, mixed / 2.0**64, side="right")
    return numbers


def keys_in(target: Target, key: str) -> Hashes:
    """Return the sorted keys of all examples of a target.

    Args:
        target: A dataset, a file, a table or a recipe.
        key: The column that tells examples apart, here and in the data that is compared.
    """
    return _keys_in(_Content(target.label, target.content(), target), key)


@dataclass(frozen=True)
class _Content:
    """A target as it is now; two of one name and one content are equal."""

    name: str
    content: str
    target: Target = field(compare=False)


@lru_cache(REMEMBERED)
def _keys_in(content: _Content, key: str) -> Hashes:
    target = content.target
    if target.dataset is not None:
        target.dataset.check_parts()
    hashes = []
    for batch in map(_in_columns, target.read(None)):
        if key and key not in batch.columns:
            raise UnskewError(
                f"{content.name} has no column {key!r} to tell its examples by; name one that has"
            )
        hashes.append(key_hashes(batch, key))
    return np.unique(np.concatenate(hashes)) if hashes else np.empty(0, np.uint64)


def _in_columns(batch: Batch) -> Batch:
    return Batch.from_arrow(batch.to_arrow()) if batch.is_plain else batch


class SeenKeys:
    """The keys of the examples so far."""

    def __init__(self, key: str) -> None:
        """Start with none."""
        self._key = key
        self._seen = np.empty(0, dtype=np.uint64)

    def first(self, batch: Batch) -> NDArray[np.bool_]:
        """Return which rows have a key that did not come before, and remember their keys."""
        hashes = key_hashes(batch, self._key)
        keep = np.zeros(len(hashes), dtype=np.bool_)
        keep[np.unique(hashes, return_index=True)[1]] = True
        keep &= ~np.isin(hashes, self._seen)
        self._seen = np.union1d(self._seen, hashes)
        return keep
