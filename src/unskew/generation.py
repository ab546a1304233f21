"""Running recipes: ``shard`` is pure, generation maps it over the shards that are missing."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor
from functools import partial, reduce
from operator import add
from typing import TYPE_CHECKING, TypeVar

from unskew.batch import concatenate
from unskew.card import card
from unskew.dataset import CARD, MANIFEST, RECIPE, Dataset
from unskew.engines import Engine
from unskew.errors import RowError, UnskewError
from unskew.given import given_place, given_rows, given_size
from unskew.homogenizer import Homogenizer, KeptBatches
from unskew.inputs import check_inputs, contents_of, record_inputs
from unskew.keys import SeenKeys, excluded_by, first_only, restricted, without
from unskew.names import domain_of, find_source, find_variables
from unskew.parts import finished_part, make_part
from unskew.recipe import Recipe
from unskew.salient import joint
from unskew.store import Place, place, plain_errors, sha256, write_text
from unskew.streams import stream
from unskew.tally import Tally

if TYPE_CHECKING:
    from unskew.batch import Batch

Advance = Callable[[int], None]
A = TypeVar("A")
B = TypeVar("B")
DERIVED_AT_ONCE = 4096  # given examples made anew at once
READ_AT_ONCE = 8  # parts whose checksums are compared at once


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


def make(recipe: Recipe, index: int) -> Batch:
    """Make the examples of one shard."""
    return shard(recipe, index)[0]


def _derived(recipe: Recipe, index: int, advance: Advance) -> tuple[Batch, Tally]:
    """Make a shard of given examples anew."""
    derive = find_source(recipe.source, recipe.parameters).derive
    if derive is None:
        raise UnskewError(f"{recipe.source} makes nothing of given examples; leave given out")
    rng = stream(recipe.seed, recipe.source, "draw", index)
    tally = Tally()
    batches = []
    start = recipe.shard_at(index).index * recipe.shard_size
    stop = start + recipe.shard_rows(index)
    rows = given_rows(recipe.given, start, stop, make)
    excluded = excluded_by(recipe, make)
    for first in range(0, len(rows), DERIVED_AT_ONCE):
        part = rows.slice(first, DERIVED_AT_ONCE)
        try:
            made, dropped = derive(rng, part)
        except RowError as error:
            raise error.at(given_place(recipe.given, start + first + error.row)) from error
        made, leaked = without(made, recipe, excluded)
        dropped += leaked
        tally += Tally(len(made), len(made), dropped)
        batches.append(made)
        advance(len(part))
    return concatenate(batches), tally


def kept_batches(recipe: Recipe, index: int) -> KeptBatches:
    """Return the endless run of kept batches that a shard is the beginning of."""
    source = restricted(find_source(recipe.source, recipe.parameters), recipe, index, make)
    homogenizer = None
    if recipe.homogenize:
        variables = find_variables(recipe.homogenize, domain_of(recipe.source))
        rng = stream(recipe.seed, recipe.source, "accept", *_labels(recipe, index))
        homogenizer = Homogenizer(joint(variables), recipe.epsilon, rng)
    rng = stream(recipe.seed, recipe.source, "draw", *_labels(recipe, index))
    return KeptBatches(source, rng, homogenizer)


def _labels(recipe: Recipe, index: int) -> tuple[str | int, ...]:
    """Return what tells the streams of a shard from those of all others."""
    shard = recipe.shard_at(index)
    return (shard.split, shard.index) if recipe.splits else (index,)


def generate(
    recipe: Recipe,
    folder: str | Place,
    advance: Advance = lambda _: None,
    *,
    engine: Engine | None = None,
) -> Dataset:
    """Run a recipe into a folder. Run again after a stop, it goes on with what is missing.

    ``folder`` is a path, or the address of a prefix in an object store: ``s3://bucket/prefix``.

    ``engine`` makes the parts elsewhere (``unskew.engines``); left out, this process does.
    """
    path = place(folder)
    kept_batches(recipe, 0)  # names and parameters are checked before anything is written
    if recipe.given and find_source(recipe.source, recipe.parameters).derive is None:
        raise UnskewError(f"{recipe.source} makes nothing of given examples; leave given out")
    if recipe.given and recipe.n > given_size(recipe.given):
        raise UnskewError(
            f"n is {recipe.n}, but {recipe.given} has {given_size(recipe.given)} examples; "
            "ask for no more"
        )
    contents = contents_of(recipe)
    _claim(path, recipe)
    record_inputs(path, contents)
    if _is_finished(path, recipe):
        advance(recipe.n)
        return Dataset.open(path)
    found = _at_once(partial(finished_part, path, recipe), range(recipe.shards))
    missing = [index for index, part in enumerate(found) if part is None]
    advance(sum(recipe.shard_rows(index) for index, part in enumerate(found) if part is not None))
    if engine is None:
        for index in missing:
            run_part(recipe, path, index, advance)
    elif missing:
        for index in engine(recipe, path, missing):
            advance(recipe.shard_rows(index))
    return _finish(path, recipe)


def run_part(recipe: Recipe, folder: Place, index: int, advance: Advance = lambda _: None) -> None:
    """Make one part of a dataset, whoever asks for it."""

    def made() -> tuple[Batch, Tally]:
        found = shard(recipe, index, advance)
        check_inputs(folder, recipe)  # after they were read: had they changed, it would be seen
        return found

    make_part(recipe, folder, index, made)


def _finish(folder: Place, recipe: Recipe) -> Dataset:
    """Write the card and, last, the manifest."""
    parts = []
    seen = SeenKeys(recipe)
    read, numbers = partial(finished_part, folder, recipe), range(recipe.shards)
    # Without repeats parts are written anew here, by a second run too: each is read just before.
    found = map(read, numbers) if recipe.distinct else _at_once(read, numbers)
    for index, part in enumerate(found):
        if part is None:
            raise UnskewError(f"part {index} of {folder} is not whole; run the same command again")
        first = first_only(recipe, folder, index, part, seen) if recipe.distinct else part
        parts.append(first)
    tally = reduce(add, (part.tally for part in parts))
    manifest = {
        "recipe": recipe.hash,
        "rows": sum(part.rows for part in parts),
        "parts": [{"file": part.file, "rows": part.rows, "sha256": part.sha256} for part in parts],
        "tally": tally.to_dict(),
    }
    write_text(folder / CARD, card(recipe, parts, tally))
    write_text(folder / MANIFEST, json.dumps(manifest, indent=2, ensure_ascii=False) + "\n")
    return Dataset.open(folder)


def _at_once(read: Callable[[A], B], items: Iterable[A]) -> list[B]:
    """Read several at a time, for a store answers slowly."""
    with ThreadPoolExecutor(READ_AT_ONCE) as pool:
        return list(pool.map(read, items))


def _is_finished(folder: Place, recipe: Recipe) -> bool:
    """Whether the manifest is there and every part is what it says."""
    try:
        dataset = Dataset.open(folder)
        manifest = json.loads((folder / MANIFEST).read_text(encoding="utf-8"))
        same = manifest["recipe"] == recipe.hash and (folder / CARD).is_file()
        checksums = [part["sha256"] for part in manifest["parts"]]
        return same and _at_once(sha256, dataset.parts) == checksums
    except (UnskewError, OSError, ValueError, LookupError, TypeError):
        return False


def _claim(folder: Place, recipe: Recipe) -> None:
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
