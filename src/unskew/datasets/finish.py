"""The end of a run: leaves out repeats, and writes the card and, last, the manifest.

Two runs of one recipe may end side by side, on two machines, on a disk or in a store without
locks. They need no lock, because one name never stands for two contents. A part without repeats
depends only on the recipe, like every part: it is made from the parts as they were drawn, which
have other names, so every run writes the same bytes. The parts as drawn are removed only when
every part is in its place; a run that misses one of them finds the part itself instead.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import replace
from functools import partial, reduce
from operator import add
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from unskew.core.batch import Batch
from unskew.core.errors import UnskewError
from unskew.core.recipe import Recipe
from unskew.core.tally import Tally, noted
from unskew.datasets.card import card
from unskew.datasets.parts.part import (
    DRAWN,
    NOTES,
    Part,
    finished_part,
    make_part,
    part_batch,
    part_name,
    write_part,
)
from unskew.datasets.parts.pilots import balanced_variables, frozen_facts
from unskew.datasets.parts.splits import REPEATED, SeenKeys
from unskew.io.dataset import CARD, MANIFEST, Dataset
from unskew.io.files import remove, write_text
from unskew.io.location import Place, files_below, read_bytes
from unskew.io.lookup import recipe_key, recipe_variables

A = TypeVar("A")
B = TypeVar("B")
THREADS = 8  # compare the checksums of parts


def finish(folder: Place, recipe: Recipe, at_start: Sequence[Part | None]) -> Dataset:
    """Write the card and the manifest unless they are there already; return the dataset.

    ``at_start`` are the parts that were whole when the run began. If one was not, all parts are
    read again: the run may have been long.
    """
    whole = [part for part in at_start if part is not None]
    parts = whole if len(whole) == recipe.shards else _parts(folder, recipe)
    tally = reduce(add, (part.tally for part in parts))
    _write(folder / CARD, card(recipe, parts, tally))
    rule = frozen_facts(folder) if recipe.has_goal else {}
    _write(folder / MANIFEST, manifest(recipe, parts, tally, rule))
    if recipe.distinct:
        _remove_drawn(folder)
    return replace(Dataset.open(folder), recipe=recipe)  # which has the trust of the caller


def _remove_drawn(folder: Place) -> None:
    """Remove the parts as they were drawn."""
    for path in files_below(folder / NOTES):
        if DRAWN in path.name and not path.name.endswith(".part"):
            with suppress(UnskewError):  # a user who may write but not remove keeps them
                remove(path)


def manifest(recipe: Recipe, parts: Sequence[Part], tally: Tally, rule: Mapping[str, Any]) -> str:
    """Return the text of the manifest. ``rule`` is how examples were kept, if a goal was given."""
    data = {
        "recipe": recipe.hash,
        "rows": sum(part.rows for part in parts),
        "parts": [{"file": part.file, "rows": part.rows, "sha256": part.sha256} for part in parts],
        "tally": tally.to_dict(),
        **({"balance": dict(rule)} if rule else {}),
    }
    return json.dumps(data, indent=2, ensure_ascii=False) + "\n"


def at_once(read: Callable[[A], B], items: Iterable[A]) -> list[B]:
    """Read several items at a time, because an object store answers slowly."""
    with ThreadPoolExecutor(THREADS) as pool:
        return list(pool.map(read, items))


def _parts(folder: Place, recipe: Recipe) -> list[Part]:
    """Return every part; if no key may repeat, make the parts without repeats first."""
    parts: Iterable[Part | None]
    if recipe.distinct:
        seen = SeenKeys(recipe_key(recipe))
        parts = (_distinct_part(folder, recipe, i, seen) for i in range(recipe.shards))
    else:
        parts = at_once(partial(finished_part, folder, recipe), range(recipe.shards))
    whole: list[Part] = []
    for index, part in enumerate(parts):
        if part is None:  # the keys of this part are not known, so no later part can be made
            raise UnskewError(f"part {index} of {folder} is not whole; run the same command again")
        whole.append(part)
    return whole


def _distinct_part(folder: Place, recipe: Recipe, index: int, seen: SeenKeys) -> Part | None:
    """Return a part without the keys of earlier parts; make it if it is not there yet."""
    for drawn in (False, True, False):  # the last try: another run may just have written the part
        try:
            part = finished_part(folder, recipe, index, drawn=drawn)
            data = read_bytes(folder / part.file) if part is not None else b""
        except (FileNotFoundError, UnskewError):
            if not drawn:
                raise
            continue  # another run has finished the part, and removed it as drawn
        if part is None:
            continue
        keep = seen.first(part_batch(data))
        return _first_only(folder, recipe, index, part, data, keep) if drawn else part
    return None


def _first_only(
    folder: Place, recipe: Recipe, index: int, drawn: Part, data: bytes, keep: NDArray[np.bool_]
) -> Part:
    """Write a part as drawn to its own place, without the rows that repeat a key."""
    repeats = int((~keep).sum())
    if not repeats:
        return write_part(folder, replace(drawn, file=part_name(recipe, index)), data)
    batch = part_batch(data)
    tally = replace(
        drawn.tally,
        kept=drawn.tally.kept - repeats,
        dropped=drawn.tally.dropped + Counter({REPEATED: repeats}),
        kept_values=_kept_without(recipe, drawn.tally.kept_values, batch.filter(~keep)),
    )
    return make_part(recipe, folder, index, batch.filter(keep), tally)


def _kept_without(
    recipe: Recipe, kept: dict[str, Counter[Hashable]], repeats: Batch
) -> dict[str, Counter[Hashable]]:
    """Subtract repeats from the histogram of the kept values.

    The histogram stays as it is if the user's variable cannot measure stored examples.
    """
    if not recipe.homogenize:
        return kept
    variables = recipe_variables(recipe)
    chosen = balanced_variables(variables, recipe.jointly or not recipe.has_goal)
    left: dict[str, Counter[Hashable]] = {}
    for variable in chosen:
        try:
            values = variable.measure(repeats).tolist()
        except UnskewError:
            return kept
        left[variable.name] = kept[variable.name].copy()
        left[variable.name].subtract(map(noted, values))
        if min(left[variable.name].values()) < 0:
            return kept
    return {name: +counts for name, counts in left.items()}


def _write(path: Place, text: str) -> None:
    """Write a text, unless the file holds it already."""
    try:
        if path.read_text(encoding="utf-8") == text:
            return
    except (OSError, ValueError):
        pass  # there is no file, or it holds no text
    write_text(path, text)
