"""Running recipes: ``shard`` is pure, generation maps it over the shards that are missing."""

from __future__ import annotations

import json
from collections.abc import Callable
from functools import reduce
from operator import add
from pathlib import Path
from typing import TYPE_CHECKING, Any

from unskew.batch import concatenate
from unskew.dataset import (
    MANIFEST,
    RECIPE,
    Dataset,
    finished_part,
    part_path,
    sha256,
    write_part,
)
from unskew.errors import UnskewError
from unskew.files import plain_errors, write_text
from unskew.given import given_rows, given_size
from unskew.homogenizer import Homogenizer, KeptBatches
from unskew.names import domain_of, find_source, find_variables
from unskew.recipe import Recipe
from unskew.salient import joint
from unskew.streams import stream
from unskew.tally import Tally

if TYPE_CHECKING:
    from unskew.batch import Batch

Advance = Callable[[int], None]
DERIVED_AT_ONCE = 4096  # given examples made anew at once


def shard(recipe: Recipe, index: int, advance: Advance = lambda _: None) -> tuple[Batch, Tally]:
    """Make one shard. The same recipe and index give the same examples anywhere, in any order."""
    if recipe.given:
        return _derived(recipe, index, advance)
    kept = kept_batches(recipe, index)
    batches = []
    for batch in kept.take(recipe.shard_rows(index)):
        batches.append(batch)
        advance(len(batch))
    return concatenate(batches), kept.tally


def _derived(recipe: Recipe, index: int, advance: Advance) -> tuple[Batch, Tally]:
    """Make a shard of given examples anew."""
    derive = find_source(recipe.source, recipe.parameters).derive
    if derive is None:
        raise UnskewError(f"{recipe.source} makes nothing of given examples; leave given out")
    rng = stream(recipe.seed, recipe.source, "draw", index)
    tally = Tally()
    batches = []
    start = index * recipe.shard_size
    stop = start + recipe.shard_rows(index)
    rows = given_rows(recipe.given, start, stop, lambda base, i: shard(base, i)[0])
    for first in range(0, len(rows), DERIVED_AT_ONCE):
        part = rows.slice(first, DERIVED_AT_ONCE)
        made, dropped = derive(rng, part)
        tally += Tally(len(made), len(made), dropped)
        batches.append(made)
        advance(len(part))
    return concatenate(batches), tally


def kept_batches(recipe: Recipe, index: int) -> KeptBatches:
    """Return the endless run of kept batches that a shard is the beginning of."""
    source = find_source(recipe.source, recipe.parameters)
    homogenizer = None
    if recipe.homogenize:
        variables = find_variables(recipe.homogenize, domain_of(recipe.source))
        rng = stream(recipe.seed, recipe.source, "accept", index)
        homogenizer = Homogenizer(joint(variables), recipe.epsilon, rng)
    return KeptBatches(source, stream(recipe.seed, recipe.source, "draw", index), homogenizer)


def generate(recipe: Recipe, folder: str | Path, advance: Advance = lambda _: None) -> Dataset:
    """Run a recipe into a folder. Run again after a stop, it goes on with what is missing."""
    path = Path(folder)
    kept_batches(recipe, 0)  # names and parameters are checked before anything is written
    if recipe.given and recipe.n > given_size(recipe.given):
        raise UnskewError(
            f"n is {recipe.n}, but {recipe.given} has {given_size(recipe.given)} examples; "
            "ask for no more"
        )
    _claim(path, recipe)
    tallies: list[Tally] = []
    parts: list[dict[str, Any]] = []
    for index in range(recipe.shards):
        part = part_path(path, index, recipe.shards)
        found = finished_part(part, recipe, index)
        if found is None:
            batch, made = shard(recipe, index, advance)
            tally = Tally.from_dict(made.to_dict())  # as it will be read when the run goes on
            write_part(part, batch.to_arrow(), recipe, index, tally)
            rows = len(batch)
        else:
            rows, tally = found
            advance(recipe.shard_rows(index))
        tallies.append(tally)
        parts.append({"file": str(part.relative_to(path)), "rows": rows, "sha256": sha256(part)})
    manifest = {
        "recipe": recipe.hash,
        "rows": sum(part["rows"] for part in parts),
        "parts": parts,
        "tally": reduce(add, tallies).to_dict(),
    }
    write_text(path / MANIFEST, json.dumps(manifest, indent=2, ensure_ascii=False) + "\n")
    return Dataset.open(path)


def _claim(folder: Path, recipe: Recipe) -> None:
    """Make the folder this recipe's, unless something else is in it."""
    with plain_errors(folder):
        if folder.exists() and not folder.is_dir():
            raise UnskewError(f"{folder} is a file; choose a new folder")
        occupied = folder.is_dir() and any(
            entry.name != RECIPE and not entry.name.endswith(".part") for entry in folder.iterdir()
        )
    if (folder / RECIPE).is_file():
        if Recipe.read(folder / RECIPE).hash != recipe.hash:
            raise UnskewError(
                f"{folder} was made by another recipe; choose a new folder or remove that one"
            )
    elif occupied:
        raise UnskewError(f"{folder} is not empty and no dataset; choose a new folder")
    else:
        write_text(folder / RECIPE, recipe.to_json())
