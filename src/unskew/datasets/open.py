"""Opens what a user points at: a name, a path or an object becomes a ``Target``."""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from unskew.core.batch import ENDLESS, Batch
from unskew.core.errors import UnskewError, unknown
from unskew.core.recipe import Recipe, Trust
from unskew.core.repeatable import warn_of_unrepeatable
from unskew.core.rng import generator
from unskew.core.source import Source, own_source
from unskew.datasets.target import Section, Target
from unskew.domains import domain_names
from unskew.io.dataset import RECIPE, Dataset, read_parquet
from unskew.io.layout import DataFile, data_files, is_pattern, kind_of
from unskew.io.location import (
    ObjectPath,
    Place,
    known_sha256,
    place,
    plain_errors,
    stamp,
)
from unskew.io.lookup import (
    IF_TRUSTED,
    built_in_domain,
    built_in_names,
    find_recipe,
    find_source,
    find_table,
    is_built_in,
    recipe_domain,
    recipe_key,
    recipe_source,
    recipe_variables,
)
from unskew.io.object_store import is_address
from unskew.io.objects.readable import readable_object
from unskew.io.readers.json_file import is_recipe
from unskew.io.reading import TEXT, domain_of_file, read_file, read_files, read_text
from unskew.io.tables import Columns, first_rows

if TYPE_CHECKING:
    from unskew.datasets.parts.shard import OpenRecipe

JSON = ".json"  # the file of a recipe, or data


def open_target(
    target: Any,
    settings: Mapping[str, Any] | None = None,
    seed: int = 0,
    trust: Trust = False,
) -> Target:
    """Open whatever a user may point at.

    A person gave ``target``, so code that it names is imported. Code, files and addresses that a
    dataset or the file of a recipe names are opened only if ``trust`` says so.
    """
    if settings and not isinstance(target, str):
        raise UnskewError(f"settings are {dict(settings)}; only a source that is named takes any")
    if isinstance(target, Target):
        return target
    if isinstance(target, Dataset):
        return _open_dataset(target)
    if isinstance(target, Recipe):
        return _open_recipe(target.source, target)
    if isinstance(target, (Path, ObjectPath)):
        return _open_path(place(target), trust)
    if isinstance(target, str):
        return _open_name(target, settings, seed, trust)
    if callable(target) or isinstance(target, Source):
        return _open_source(own_source(target), seed)
    readable = readable_object(target)
    return Target(
        "examples",
        lambda n, columns=None: first_rows(readable.read(n, columns), n),
        repeatable=readable.repeatable,
    )


def open_recipe(recipe: Recipe) -> OpenRecipe:
    """Find everything that a recipe names; refuse what it does not trust."""
    from unskew.datasets.parts.shard import OpenRecipe  # files of data need no recipe

    refused = untrusted_inputs(recipe)
    if refused:
        raise UnskewError(f"the data names {', '.join(refused)}, which is not opened; {IF_TRUSTED}")
    return OpenRecipe(
        recipe,
        recipe_source(recipe),
        tuple(recipe_variables(recipe)),
        recipe_key(recipe),
        open_input(recipe.given) if recipe.given else None,
        {name: open_input(name) for name in recipe.exclude},
    )


def open_input(name: str) -> Target:
    """Open what a recipe reads; refuse what never ends."""
    target = open_target(name)
    if target.endless:
        raise UnskewError(f"{name} never ends; name a dataset, a file or a recipe")
    return target


def untrusted_inputs(recipe: Recipe) -> list[str]:
    """Return the files and addresses that a recipe reads but does not trust."""
    return [
        name
        for name in recipe.inputs
        if not (recipe.trusts(name) or find_recipe(name) or find_table(name))
    ]


def named_recipe(name: str, settings: Mapping[str, Any]) -> Recipe | None:
    """Return a built-in recipe with these parameters of its source; None if there is none."""
    recipe = find_recipe(name)
    if recipe is None or not settings:
        return recipe
    parameters = {**recipe.parameters, **settings}
    chosen = find_source(recipe.source, parameters).parameters
    return replace(recipe, parameters={name: chosen[name] for name in parameters})


def _open_name(name: str, settings: Mapping[str, Any] | None, seed: int, trust: Trust) -> Target:
    """Open a name. A built-in name comes first: ./karel/msr is the folder of that name."""
    if not name:
        raise UnskewError("the name is empty; give a source, a file or a folder")
    if is_built_in(name):
        return _open_built_in(name, settings or {}, seed)
    path = place(name)
    with plain_errors(path, reading=True):
        exists = path.exists() or is_pattern(path)
    is_source = ":" in name or name.partition("/")[0] in domain_names()
    if not exists and is_source and not is_address(name):
        return _open_source(find_source(name, settings), seed)
    _refuse_settings(name, settings or {})
    short = isinstance(path, Path) and len(path.parts) <= 2
    if not exists and short and not (kind_of(path) or path.suffix == TEXT):
        step = "check the path; unskew list names the sources"
        if "/" in name:
            step += f"; of the Hugging Face hub, give datasets.load_dataset({name!r})"
        raise unknown("source, recipe or file", name, built_in_names(), step)
    return _open_path(path, trust)


def _open_built_in(name: str, settings: Mapping[str, Any], seed: int) -> Target:
    """Open a source, a recipe or a table of a built-in domain."""
    recipe, table = named_recipe(name, settings), find_table(name)
    if recipe is not None:
        return _open_recipe(name, recipe)
    if table is None:
        return _open_source(find_source(name, settings), seed)
    _refuse_settings(name, settings)
    rows = table()

    def content() -> str:
        from unskew.core.rowhash import content_hashes

        return hashlib.sha256(content_hashes(rows).tobytes()).hexdigest()[:16]

    return Target(
        name,
        lambda n, _=None: first_rows(iter([rows]), n),
        built_in_domain(name),
        sections=(Section(len(rows), lambda: iter([rows])),),
        content=content,
        where=lambda row: f"{name} row {row + 1}",
    )


def _refuse_settings(name: str, settings: Mapping[str, Any]) -> None:
    if settings:
        raise UnskewError(f"{name} takes no settings ({', '.join(settings)}); only sources do")


def _open_source(source: Source, seed: int) -> Target:
    dropped: Counter[str] = Counter()

    def read(n: int | None, _: Columns = None, /) -> Iterator[Batch]:
        if source.is_own:
            warn_of_unrepeatable(source)
        rng = generator(seed, source.name, "audit")
        left, drawn, sampler = ENDLESS if n is None else n, 0, source.sampler
        while left > 0:
            if sampler is not None:  # it may be slow
                batch, reasons = sampler.some(rng, left, drawn)
            else:
                batch, reasons = source.draw(rng, min(left, source.chunk))
            dropped.update(reasons)
            drawn += len(batch)
            left -= len(batch)
            yield batch

    return Target(source.name, read, source.domain, source=source, dropped=dropped)


def _open_recipe(label: str, recipe: Recipe) -> Target:
    """Open a recipe: its examples are made while they are read."""
    from unskew.datasets.parts.shard import shard_batches
    from unskew.datasets.parts.splits import SeenKeys

    dropped: Counter[str] = Counter()

    def section(index: int) -> Iterator[Batch]:
        before, batches = dropped.copy(), shard_batches(open_recipe(recipe), index)
        for batch in batches.take(recipe.shard_rows(index)):
            dropped.update(before + batches.tally.dropped - dropped)
            yield batch

    def read() -> Iterator[Batch]:
        seen = SeenKeys(recipe_key(recipe))
        for index in range(recipe.shards):
            for batch in section(index):
                yield batch.filter(seen.first(batch)) if recipe.distinct else batch

    all_are_kept = not (recipe.given or recipe.distinct)
    sections = [
        Section(recipe.shard_rows(index), partial(section, index))
        for index in range(recipe.shards if all_are_kept else 0)
    ]
    return Target(
        label,
        lambda n, _=None: first_rows((batch for batch in read() if len(batch)), n),
        recipe_domain(recipe),
        recipe=recipe,
        sections=tuple(sections),
        dropped=dropped,
        content=lambda: recipe.hash,
        where=lambda row: f"{label} row {row + 1}",
    )


def _open_dataset(dataset: Dataset) -> Target:
    def section(number: int) -> Iterator[Batch]:
        dataset.check_parts([number])
        yield from read_parquet(dataset.parts[number])

    def piece(path: Place, _: Batch, columns: Columns) -> Iterator[Batch]:
        return read_parquet(path, columns=columns)

    return Target(
        str(dataset.folder),
        lambda n, columns=None: first_rows(dataset.batches(columns), n),
        recipe_domain(dataset.recipe),
        recipe=dataset.recipe,
        dataset=dataset,
        sections=tuple(
            Section(rows, partial(section, number)) for number, rows in enumerate(dataset.part_rows)
        ),
        dropped=dataset.tally.dropped,
        content=lambda: _digest(dataset.checksums),
        where=lambda row: _where(row, zip(dataset.parts, dataset.part_rows, strict=True)),
        place=dataset.folder,
        pieces=tuple(partial(piece, part) for part in dataset.parts),
    )


def _open_path(path: Place, trust: Trust) -> Target:
    with plain_errors(path, reading=True):
        if not (path.exists() or is_pattern(path)):
            raise UnskewError(f"{path} does not exist; check the path")
        if path.is_dir() and (path / RECIPE).is_file():
            return _open_dataset(Dataset.open(path, trust))
        if path.is_file() and path.suffix == TEXT:
            return _open_text(path)
    if path.is_file() and path.suffix == JSON and is_recipe(path):
        return _open_recipe(str(path), Recipe.read(path, trust))
    return _open_files(path, data_files(path))


def _open_files(path: Place, files: Sequence[DataFile]) -> Target:
    """Open files of data. The first of them tells if they are examples of a domain."""
    domain = domain_of_file(files[0].path)

    def sizes() -> Iterator[tuple[Place, int]]:
        """Yield each file with the number of its rows; the last is not read for it."""
        for file in files[:-1]:
            yield file.path, sum(len(batch) for batch in read_file(file.path, None, None))
        yield files[-1].path, ENDLESS

    def content() -> str:
        with plain_errors(path, reading=True):
            paths = [file.path for file in files]
            return _digest(f"{place.name} {known_sha256(place, stamp(place))}" for place in paths)

    def piece(file: DataFile, first: Batch, columns: Columns) -> Iterator[Batch]:
        known = None if first.is_plain else (files[0].path, set(first.columns))
        return read_files([file], domain, None, columns, known)

    return Target(
        str(path),
        lambda n, columns=None: first_rows(read_files(files, domain, n, columns), n),
        domain,
        content=content,
        where=lambda row: _where(row, sizes()),
        place=path,
        pieces=tuple(partial(piece, file) for file in files),
    )


def _open_text(path: Place) -> Target:
    """Open a text file of the domain whose examples people write by hand."""
    text, batch, domain = read_text(path)
    return Target(
        str(path),
        lambda n, _=None: first_rows(iter([batch]), n),
        domain,
        content=lambda: _digest([text]),
        where=lambda row: f"{path} row {row + 1}",
    )


def _digest(lines: Iterable[str]) -> str:
    return hashlib.sha256("\n".join(lines).encode()).hexdigest()


def _where(row: int, sizes: Iterable[tuple[Place, int]]) -> str:
    """Say in which file the row-th example of several files stands; rows count from 1."""
    left = row
    for file, rows in sizes:
        if left < rows:
            return f"{file} row {left + 1}"
        left -= rows
    raise UnskewError(f"there is no row {row + 1}; the files have changed, run it again")
