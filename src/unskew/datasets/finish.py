"""The end of a run: repeats are left out, and the card and, last, the manifest are written.

Two runs of one recipe may end side by side, on two machines, on a disk or in a store that has no
locks. None is needed, for no name ever stands for two contents. A part without repeats is a
function of the recipe, as every part is: it is made of the parts as they were drawn, which lie
under other names, so whoever writes it writes the same bytes. A part as drawn is removed only when
everything is in its place; a run that misses one finds the part itself instead.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Hashable, Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import replace
from functools import partial, reduce
from operator import add
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from unskew.core.batch import Batch
from unskew.core.errors import UnskewError
from unskew.core.recipe import Recipe
from unskew.core.tally import Tally, noted
from unskew.core.variable import joint
from unskew.datasets.card import card
from unskew.datasets.part import (
    DRAWN,
    NOTES,
    Part,
    finished_part,
    make_part,
    part_batch,
    part_name,
    write_part,
)
from unskew.datasets.splits import REPEATED, SeenKeys
from unskew.io.dataset import CARD, MANIFEST, Dataset
from unskew.io.location import Place, files_below, read_bytes, remove, write_text
from unskew.io.lookup import recipe_key, recipe_variables

A = TypeVar("A")
B = TypeVar("B")
READ_AT_ONCE = 8  # parts whose checksums are compared at once


def finish(folder: Place, recipe: Recipe, found: Sequence[Part | None]) -> Dataset:
    """Write what is missing or altered of the card and the manifest; return the dataset.

    ``found`` are the parts that were whole when the run began. If one was not, all are looked at
    again: a long run may lie between.
    """
    whole = [part for part in found if part is not None]
    parts = whole if len(whole) == recipe.shards else _parts(folder, recipe)
    tally = reduce(add, (part.tally for part in parts))
    _write(folder / CARD, card(recipe, parts, tally))
    _write(folder / MANIFEST, manifest(recipe, parts, tally))
    if recipe.distinct:
        _remove_drawn(folder)
    return replace(Dataset.open(folder), recipe=recipe)  # with the trust that it was given


def _remove_drawn(folder: Place) -> None:
    """Remove the parts as they were drawn: every part is in its place."""
    for path in files_below(folder / NOTES):
        if DRAWN in path.name and not path.name.endswith(".part"):
            with suppress(UnskewError):  # who may write but not remove leaves them
                remove(path)


def manifest(recipe: Recipe, parts: Sequence[Part], tally: Tally) -> str:
    """Return the text of the manifest."""
    said = {
        "recipe": recipe.hash,
        "rows": sum(part.rows for part in parts),
        "parts": [{"file": part.file, "rows": part.rows, "sha256": part.sha256} for part in parts],
        "tally": tally.to_dict(),
    }
    return json.dumps(said, indent=2, ensure_ascii=False) + "\n"


def at_once(read: Callable[[A], B], items: Iterable[A]) -> list[B]:
    """Read several at a time, for a store answers slowly."""
    with ThreadPoolExecutor(READ_AT_ONCE) as pool:
        return list(pool.map(read, items))


def _parts(folder: Place, recipe: Recipe) -> list[Part]:
    """Return every part, without repeats where none may be."""
    seen = SeenKeys(recipe_key(recipe))
    read = partial(finished_part, folder, recipe)
    known = [] if recipe.distinct else at_once(read, range(recipe.shards))
    parts: list[Part] = []
    for index in range(recipe.shards):
        part = known[index] if known else _distinct_part(folder, recipe, index, seen)
        if part is None:  # nothing after it may be written: its keys are not known
            raise UnskewError(f"part {index} of {folder} is not whole; run the same command again")
        parts.append(part)
    return parts


def _distinct_part(folder: Place, recipe: Recipe, index: int, seen: SeenKeys) -> Part | None:
    """Return a part that has no key of those before it; make it where it is not there yet."""
    for drawn in (False, True, False):  # and again: another run may have put it there just now
        try:
            part = finished_part(folder, recipe, index, drawn=drawn)
            data = read_bytes(folder / part.file) if part is not None else b""
        except (FileNotFoundError, UnskewError):
            if not drawn:
                raise
            continue  # another run was done with it, and removed it while it was read
        if part is None:
            continue
        keep = seen.first(part_batch(data))
        return _first_only(folder, recipe, index, part, data, keep) if drawn else part
    return None


def _first_only(
    folder: Place, recipe: Recipe, index: int, drawn: Part, data: bytes, keep: NDArray[np.bool_]
) -> Part:
    """Write a part as drawn to its place, without the rows that repeat a key."""
    gone = int((~keep).sum())
    if not gone:
        return write_part(folder, replace(drawn, file=part_name(recipe, index)), data)
    batch = part_batch(data)
    tally = replace(
        drawn.tally,
        kept=drawn.tally.kept - gone,
        dropped=drawn.tally.dropped + Counter({REPEATED: gone}),
        kept_values=_kept_without(recipe, drawn.tally.kept_values, batch.filter(~keep)),
    )
    return make_part(recipe, folder, index, lambda: (batch.filter(keep), tally))


def _kept_without(
    recipe: Recipe, kept: dict[str, Counter[Hashable]], gone: Batch
) -> dict[str, Counter[Hashable]]:
    """Take rows off the histogram of what homogenizing kept.

    A variable of one's own may not read what is stored of an example: then it stays as it is.
    """
    if not recipe.homogenize:
        return kept
    variable = joint(recipe_variables(recipe))
    try:
        values = variable.measure(gone).tolist()
    except UnskewError:
        return kept
    left = kept[variable.name].copy()
    left.subtract(map(noted, values))
    return kept if min(left.values()) < 0 else {variable.name: +left}


def _write(path: Place, text: str) -> None:
    """Write a text where it is not there as it is."""
    try:
        if path.read_text(encoding="utf-8") == text:
            return
    except (OSError, ValueError):
        pass  # it is not there, or nothing that could be kept
    write_text(path, text)
