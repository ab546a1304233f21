"""Looking at the files of a dataset: are they those that its recipe, manifest and notes tell of?"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import reduce
from operator import add
from typing import TYPE_CHECKING, Any

from unskew.core.errors import UnskewError
from unskew.core.json_text import parse_json
from unskew.core.recipe import Recipe
from unskew.core.tally import Tally
from unskew.datasets.part import NOTES, Footer, note_name, part_name, read_footer, read_note
from unskew.io.dataset import CARD, MANIFEST
from unskew.io.location import Place, files_below, inside, plain_errors, sha256

if TYPE_CHECKING:
    import pyarrow as pa


@dataclass
class Verified:
    """What ``verify`` found: how much it checked, the faults, and what it did not check."""

    rows: int = 0
    checked: int = 0  # rows that the domain's check looked at
    rechecked: int = 0  # rows that were also checked in a second, slow way
    repeated_rows: int = 0
    repeated_keys: int = 0
    faults: list[str] = field(default_factory=list)
    skipped: list[str] = field(default_factory=list)  # what was not checked, and why

    def to_dict(self) -> dict[str, Any]:
        """Return plain data, ready for JSON."""
        return {
            "rows": self.rows,
            "checked": self.checked,
            "rechecked": self.rechecked,
            "repeated_rows": self.repeated_rows,
            "repeated_keys": self.repeated_keys,
            "faults": self.faults,
            "skipped": self.skipped,
        }


@dataclass(frozen=True)
class Whole:
    """A part that is what its checksum says."""

    index: int
    split: str
    path: Place
    footer: Footer


def inspect_files(folder: Place, recipe: Recipe, found: Verified) -> list[Whole]:
    """Compare files, manifest and notes with the recipe; return the parts that can be read."""
    manifest = _read_manifest(folder, found)
    named = _named(manifest, found)
    if manifest.get("recipe") != recipe.hash:
        found.faults.append(f"{MANIFEST} is of another recipe than recipe.json")
    with plain_errors(folder, reading=True):
        if not (folder / CARD).is_file():
            found.faults.append(f"{CARD} is missing")
    whole = _whole_parts(folder, recipe, named, found)
    for part in whole:
        _check_footer(recipe, part, named, found)
    _check_schemas(whole, found)
    _check_sums(manifest, named, found)
    _check_notes(folder, recipe, manifest, named, found)
    return whole


def _read_manifest(folder: Place, found: Verified) -> Mapping[str, Any]:
    path = inside(folder, MANIFEST)
    if not path.is_file():
        raise UnskewError(f"{folder} is not finished; run its generate command again")
    with plain_errors(path, reading=True):
        try:
            manifest = parse_json(path.read_text(encoding="utf-8"))
        except ValueError as error:
            found.faults.append(f"{MANIFEST} cannot be read ({error})")
            return {}
    if isinstance(manifest, dict):
        return manifest
    found.faults.append(f"{MANIFEST} is no JSON object")
    return {}


def _named(manifest: Mapping[str, Any], found: Verified) -> dict[str, Mapping[str, Any]]:
    """Return what the manifest says of each file, where it can be understood."""
    kinds = {"file": str, "rows": int, "sha256": str}
    parts = manifest.get("parts")
    named: dict[str, Mapping[str, Any]] = {}
    for number, part in enumerate(parts if isinstance(parts, list) else ()):
        said = part if isinstance(part, dict) else {}
        wrong = [key for key, kind in kinds.items() if type(said.get(key)) is not kind]
        if wrong:
            found.faults.append(f"{MANIFEST}: part {number} has no right {', '.join(wrong)}")
        elif said["file"] in named:
            found.faults.append(f"{MANIFEST} names {said['file']} twice")
        if isinstance(said.get("file"), str):
            named[said["file"]] = said
    return named


def _whole_parts(
    folder: Place, recipe: Recipe, named: Mapping[str, Mapping[str, Any]], found: Verified
) -> list[Whole]:
    """Look for the recipe's parts and for files that are none; compare checksums."""
    names = [part_name(recipe, index) for index in range(recipe.shards)]
    data = inside(folder, "data")
    files = [path for path in files_below(data) if path == data / path.name]
    there = {f"data/{path.name}" for path in files if path.suffix == ".parquet"}
    found.faults += [f"{name} is not in {MANIFEST}" for name in sorted(there - set(named))]
    for name in sorted(set(named) - set(names)):
        found.faults.append(f"{name} is in {MANIFEST}, but no part of the recipe")
    if [name for name in named if name in names] != [name for name in names if name in named]:
        found.faults.append(f"{MANIFEST} has the parts in another order than the recipe")
    whole = []
    for index, name in enumerate(names):
        if name not in there:
            found.faults.append(f"{name} is missing")
            continue
        path = folder / name
        with plain_errors(path, reading=True):
            checksum = sha256(path)
        if name in named and checksum != named[name].get("sha256"):
            found.faults.append(f"{name} is not what its checksum says")
            continue
        try:
            footer = read_footer(path)
        except (OSError, ValueError) as error:
            reason = str(error).splitlines()[0]
            found.faults.append(f"{name} cannot be read as Parquet ({reason})")
            continue
        whole.append(Whole(index, recipe.shard_at(index).split, path, footer))
    return whole


def _check_footer(
    recipe: Recipe, part: Whole, named: Mapping[str, Mapping[str, Any]], found: Verified
) -> None:
    """Compare what a part says of itself with the recipe and the manifest."""
    name, footer = part_name(recipe, part.index), part.footer
    if footer.recipe != recipe.hash:
        found.faults.append(f"{name} is of another recipe ({footer.recipe or 'it names none'})")
    elif footer.shard != part.index:
        found.faults.append(f"{name} is part {footer.shard} of the recipe, not {part.index}")
    said = named.get(name, {}).get("rows", footer.rows)
    if said != footer.rows:
        found.faults.append(f"{name} has {footer.rows:,} rows, {MANIFEST} says {said!r}")
    asked = recipe.shard_rows(part.index)
    fewer = footer.rows < asked and not (recipe.given or recipe.distinct)
    if fewer or footer.rows > asked:
        found.faults.append(f"{name} has {footer.rows:,} rows, the recipe asks for {asked:,}")


def _check_schemas(whole: Sequence[Whole], found: Verified) -> None:
    """Compare the columns and their types over all parts; what most have is taken as right."""
    if not whole:
        return
    usual, *others = (s for s, _ in Counter(part.footer.schema for part in whole).most_common())
    odd = set()
    for schema in others:
        both = _together(usual, schema)
        if both is None:
            odd.add(schema)
        else:
            usual = both
    for part in whole:
        if part.footer.schema in odd:
            found.faults.append(
                f"data/{part.path.name}: columns {_columns(part.footer.schema)}; elsewhere "
                f"{_columns(usual)}"
            )


def _together(schema: pa.Schema, other: pa.Schema) -> pa.Schema | None:
    """Return the types of both, if they go together; what no row has a value of has no type."""
    import pyarrow as pa

    if schema.names != other.names:
        return None
    try:
        return pa.unify_schemas([schema, other])
    except pa.ArrowException:
        return None


def _columns(schema: pa.Schema) -> str:
    return ", ".join(f"{column.name} {column.type}" for column in schema)


def _check_sums(
    manifest: Mapping[str, Any], named: Mapping[str, Mapping[str, Any]], found: Verified
) -> None:
    """Check that the manifest agrees with itself: all rows, and what its tally says was kept."""
    counts = [said.get("rows") for said in named.values()]
    rows = sum(count for count in counts if isinstance(count, int))
    if manifest.get("rows") != rows:
        found.faults.append(
            f"{MANIFEST} says {manifest.get('rows')!r} rows, its parts have {rows:,}"
        )
    tally = manifest.get("tally")
    kept = tally.get("kept") if isinstance(tally, dict) else None
    if kept != rows:
        found.faults.append(f"{MANIFEST}: the tally has {kept!r} kept, the parts have {rows:,}")


def _check_notes(
    folder: Place,
    recipe: Recipe,
    manifest: Mapping[str, Any],
    named: Mapping[str, Mapping[str, Any]],
    found: Verified,
) -> None:
    """Compare the manifest with the notes of the parts, where they are there."""
    tallies = []
    for index in range(recipe.shards):
        name = part_name(recipe, index)
        note = read_note(folder, name)
        if note is not None:
            tallies.append(note.tally)
            said = named.get(name, {})
            if said and (note.rows, note.sha256) != (said.get("rows"), said.get("sha256")):
                found.faults.append(f"{MANIFEST} says otherwise of {name} than its note")
        elif (folder / note_name(name)).is_file():
            found.faults.append(f"{note_name(name)} is not what its digest says")
    if len(tallies) < recipe.shards:
        found.skipped.append(f"the tally was not added up: not all notes are in {NOTES}")
    elif reduce(add, tallies, Tally()).to_dict() != manifest.get("tally"):
        found.faults.append(f"{MANIFEST}: the tally is not what the notes add up to")
