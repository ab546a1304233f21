"""Running recipes: ``shard`` is pure, generation maps it over the shards that are missing."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Sequence
from functools import partial
from typing import TYPE_CHECKING, TextIO

from unskew.balance.homogenizer import Homogenizer, KeptBatches
from unskew.core.batch import concatenate
from unskew.core.errors import HealthWarning, RowError, UnskewError, is_new
from unskew.core.recipe import Recipe
from unskew.core.repeatable import refuse_unrepeatable
from unskew.core.rng import generator
from unskew.core.tally import Tally
from unskew.core.variable import joint
from unskew.datasets.finish import at_once, finish
from unskew.datasets.given import given_place, given_rows, given_size
from unskew.datasets.inputs import check_inputs, contents_of, named_inputs, record_inputs
from unskew.datasets.part import finished_part, make_part
from unskew.datasets.splits import excluded_by, restricted, without
from unskew.io.dataset import RECIPE, Dataset
from unskew.io.location import Place, check_contents, create_text, place, plain_errors, remove_stale
from unskew.io.lookup import recipe_source, recipe_variables

if TYPE_CHECKING:
    from unskew.core.batch import Batch
    from unskew.datasets.engines import Engine

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


def make(recipe: Recipe, index: int) -> Batch:
    """Make the examples of one shard."""
    return shard(recipe, index)[0]


def _derived(recipe: Recipe, index: int, advance: Advance) -> tuple[Batch, Tally]:
    """Make a shard of given examples anew."""
    named_inputs(recipe)
    derive = recipe_source(recipe).derive
    if derive is None:
        raise UnskewError(f"{recipe.source} makes nothing of given examples; leave given out")
    rng = generator(recipe.seed, recipe.source, "draw", index)
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
    source = restricted(recipe_source(recipe), recipe, index, make)
    homogenizer = None
    if recipe.homogenize:
        rng = generator(recipe.seed, recipe.source, "accept", *_labels(recipe, index))
        homogenizer = Homogenizer(joint(recipe_variables(recipe)), recipe.epsilon, rng)
    rng = generator(recipe.seed, recipe.source, "draw", *_labels(recipe, index))
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
    """Run a recipe and write the dataset. After a stop, the same call makes what is missing.

    Args:
        recipe: what to make.
        folder: a path, or a prefix in an object store: ``s3://bucket/prefix``.
        advance: called with a number of examples each time that so many are done.
        engine: who makes the parts (``unskew.datasets.engines``). Without it, this process.
    """
    path = place(folder)
    kept_batches(recipe, 0)  # names and parameters are checked before anything is written
    source = recipe_source(recipe)
    if recipe.given and source.derive is None:
        raise UnskewError(f"{recipe.source} makes nothing of given examples; leave given out")
    if source.is_own and not recipe.given:
        refuse_unrepeatable(source)
    if recipe.given and recipe.n > given_size(recipe.given):
        raise UnskewError(
            f"n is {recipe.n}, but {recipe.given} has {given_size(recipe.given)} examples; "
            "ask for no more"
        )
    contents = contents_of(recipe)
    _claim(path, recipe)
    check_contents(path)  # it may be a stranger's, and files are written into it
    record_inputs(path, contents)
    remove_stale(path)
    numbers = range(recipe.shards)
    found = at_once(partial(finished_part, path, recipe), numbers)
    missing = [index for index in numbers if found[index] is None]
    if recipe.distinct:
        drawn = at_once(partial(finished_part, path, recipe, drawn=True), missing)
        missing = [index for index, part in zip(missing, drawn, strict=True) if part is None]
    advance(recipe.n - sum(map(recipe.shard_rows, missing)))
    if engine is None:
        _run_here(recipe, path, missing, advance)
    elif missing:
        for index in engine(recipe, path, missing):
            advance(recipe.shard_rows(index))
    check_owner(path, recipe)
    return finish(path, recipe, found)


def _run_here(recipe: Recipe, folder: Place, indices: Sequence[int], advance: Advance) -> None:
    """Make parts one after another; say each kind of warning once, when it comes."""
    warned: set[str] = set()
    with warnings.catch_warnings():
        warnings.simplefilter("always", HealthWarning)
        show = warnings.showwarning

        def show_new(
            message: Warning | str,
            category: type[Warning],
            filename: str,
            lineno: int,
            file: TextIO | None = None,
            line: str | None = None,
        ) -> None:
            if not issubclass(category, HealthWarning) or is_new(str(message), warned):
                show(message, category, filename, lineno, file, line)

        warnings.showwarning = show_new
        for index in indices:
            run_part(recipe, folder, index, advance)


def run_part(recipe: Recipe, folder: Place, index: int, advance: Advance = lambda _: None) -> None:
    """Make one part of a dataset, whoever asks for it."""

    def made() -> tuple[Batch, Tally]:
        found = shard(recipe, index, advance)
        check_owner(folder, recipe)
        check_inputs(folder, recipe)  # after they were read: had they changed, it would be seen
        return found

    make_part(recipe, folder, index, made, drawn=recipe.distinct)


def _claim(folder: Place, recipe: Recipe) -> None:
    """Make the folder this recipe's, unless something else is in it."""
    with plain_errors(folder):
        if folder.exists() and not folder.is_dir():
            raise UnskewError(f"{folder} is a file; choose a new folder")
        occupied = folder.is_dir() and any(
            entry.name != RECIPE and not entry.name.endswith(".part") for entry in folder.iterdir()
        )
    if occupied and not (folder / RECIPE).is_file():
        raise UnskewError(f"{folder} is not empty and no dataset; choose a new folder")
    if not (folder / RECIPE).is_file():
        create_text(folder / RECIPE, recipe.to_json())
    check_owner(folder, recipe)


def check_owner(folder: Place, recipe: Recipe) -> None:
    """Refuse a folder that is another recipe's.

    A disk gives a new folder to the first of two runs; a store may give it to both, and the last
    one's recipe stays. So it is read again before a part is written, and before the manifest is.
    """
    if Recipe.read(folder / RECIPE).hash != recipe.hash:
        raise UnskewError(
            f"{folder} was made by another recipe; choose a new folder or remove that one"
        )
