"""Runs a recipe: makes the parts that are missing, and writes the dataset."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import TextIO

from unskew.balance.best.goal import Balance
from unskew.core.errors import HealthWarning, UnskewError, is_new
from unskew.core.recipe import Recipe
from unskew.core.repeatable import refuse_unrepeatable
from unskew.datasets.engines.work import Engine
from unskew.datasets.finish import at_once, finish
from unskew.datasets.inputs import RECORD, contents_of, record_inputs
from unskew.datasets.open import open_recipe
from unskew.datasets.parts.part import NOTES, finished_part
from unskew.datasets.parts.pilots import freeze, frozen_rule, warn
from unskew.datasets.parts.shard import OpenRecipe, shard_batches
from unskew.datasets.run import Advance, check_owner, part_work, run_part
from unskew.io.dataset import RECIPE, Dataset
from unskew.io.files import create_text, remove, remove_stale
from unskew.io.location import Place, check_contents, files_below, place, plain_errors


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
    opened = open_recipe(recipe)  # names and parameters are checked before anything is written
    if not recipe.has_goal:
        shard_batches(opened, 0)
    if opened.given is not None:
        size = opened.given.size()
        if recipe.n > size:
            raise UnskewError(
                f"n is {recipe.n}, but {recipe.given} has {size} examples; ask for no more"
            )
    elif opened.source.is_own:
        refuse_unrepeatable(opened.source)
    contents = contents_of(recipe)
    fitted = _fitted(opened, path) if recipe.has_goal else None
    is_new = _claim(path, recipe)
    try:
        check_contents(path)  # it may be a stranger's, and files are written into it
        record_inputs(path, contents)
        remove_stale(path)
        if fitted is not None:
            freeze(path, recipe, fitted)
        return _run(recipe, path, advance, engine)
    except UnskewError:
        if is_new:
            _give_back(path)
        raise


def _run(recipe: Recipe, path: Place, advance: Advance, engine: Engine | None) -> Dataset:
    """Make the parts that are missing, and finish the dataset."""
    numbers = range(recipe.shards)
    parts = at_once(partial(finished_part, path, recipe), numbers)
    missing = [index for index in numbers if parts[index] is None]
    if recipe.distinct:
        drawn = at_once(partial(finished_part, path, recipe, drawn=True), missing)
        missing = [index for index, part in zip(missing, drawn, strict=True) if part is None]
    advance(recipe.n - sum(map(recipe.shard_rows, missing)))
    if engine is None:
        _run_here(recipe, path, missing, advance)
    elif missing:
        for index, _ in engine(part_work(recipe, path, missing)):
            advance(recipe.shard_rows(index))
    check_owner(path, recipe)
    return finish(path, recipe, parts)


def _fitted(opened: OpenRecipe, folder: Place) -> Balance | None:
    """Fit the rule of a recipe with a goal; None if the dataset was begun with one."""
    with plain_errors(folder, reading=True):
        begun = folder.is_dir() and (folder / RECIPE).is_file()
    if begun:
        check_owner(folder, opened.recipe)
        if frozen_rule(folder, opened.recipe, opened.variables) is not None:
            return None
    balance = opened.balanced()
    warn(balance.warnings)
    return balance


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


def _claim(folder: Place, recipe: Recipe) -> bool:
    """Make the folder this recipe's, unless something else is in it; return whether it is new."""
    with plain_errors(folder):
        if folder.exists() and not folder.is_dir():
            raise UnskewError(f"{folder} is a file; choose a new folder")
        occupied = folder.is_dir() and any(
            entry.name != RECIPE and not entry.name.endswith(".part") for entry in folder.iterdir()
        )
    if occupied and not (folder / RECIPE).is_file():
        raise UnskewError(f"{folder} is not empty and no dataset; choose a new folder")
    is_new = not (folder / RECIPE).is_file()
    if is_new:
        create_text(folder / RECIPE, recipe.to_json())
    check_owner(folder, recipe)
    return is_new


def _give_back(folder: Place) -> None:
    """Remove what a run left that failed before it made anything: another recipe may follow."""
    with suppress(OSError, UnskewError):
        left = {f"{folder / name}" for name in (RECIPE, f"{NOTES}/{RECORD}")}
        if {str(path) for path in files_below(folder)} - left:
            return
        for name in (f"{NOTES}/{RECORD}", RECIPE):
            remove(folder / name)
        if isinstance(folder, Path):
            for empty in (folder / NOTES, folder / "data", folder):
                if empty.is_dir():
                    empty.rmdir()
