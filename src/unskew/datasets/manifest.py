"""Compares the files of a dataset with its recipe, its manifest and its notes."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from functools import reduce
from operator import add
from typing import TYPE_CHECKING, Any, TypeAlias

from unskew.core.errors import UnskewError
from unskew.core.recipe import Recipe
from unskew.core.tally import Tally
from unskew.core.values.json_text import parse_json
from unskew.datasets.parts.part import NOTES, Footer, note_name, part_name, read_footer, read_note
from unskew.datasets.parts.pilots import RULE, frozen_facts
from unskew.io.dataset import CARD, MANIFEST
from unskew.io.location import Place, files_below, inside, plain_errors, sha256

if TYPE_CHECKING:
    import pyarrow as pa

Entries: TypeAlias = Mapping[str, Mapping[str, Any]]  # what the manifest says of each file


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
        return asdict(self)


@dataclass(frozen=True)
class Whole:
    """A part with the checksum that the manifest gives."""

    index: int
    split: str
    path: Place
    footer: Footer


def inspect_files(folder: Place, recipe: Recipe, verified: Verified) -> list[Whole]:
    """Compare files, manifest and notes with the recipe; return the parts that can be read."""
    manifest = _read_manifest(folder, verified)
    entries = _entries(manifest, verified)
    if manifest.get("recipe") != recipe.hash:
        verified.faults.append(f"{MANIFEST} is of another recipe than recipe.json")
    if recipe.has_goal and manifest.get("balance") != frozen_facts(folder):
        verified.faults.append(f"{MANIFEST} does not have the rule of {RULE}")
    with plain_errors(folder, reading=True):
        if not (folder / CARD).is_file():
            verified.faults.append(f"{CARD} is missing")
    whole = _whole_parts(folder, recipe, entries, verified)
    for part in whole:
        _check_footer(recipe, part, entries, verified)
    _check_schemas(whole, verified)
    _check_sums(manifest, entries, verified)
    _check_notes(folder, recipe, manifest, entries, verified)
    return whole


def _read_manifest(folder: Place, verified: Verified) -> Mapping[str, Any]:
    path = inside(folder, MANIFEST)
    if not path.is_file():
        raise UnskewError(f"{folder} is not finished; run its generate command again")
    with plain_errors(path, reading=True):
        try:
            manifest = parse_json(path.read_text(encoding="utf-8"))
        except ValueError as error:
            verified.faults.append(f"{MANIFEST} cannot be read ({error})")
            return {}
    if isinstance(manifest, dict):
        return manifest
    verified.faults.append(f"{MANIFEST} is no JSON object")
    return {}


def _entries(manifest: Mapping[str, Any], verified: Verified) -> Entries:
    """Return the entry of each file that the manifest names; report wrong entries."""
    kinds = {"file": str, "rows": int, "sha256": str}
    parts = manifest.get("parts")
    entries: dict[str, Mapping[str, Any]] = {}
    for number, part in enumerate(parts if isinstance(parts, list) else ()):
        entry = part if isinstance(part, dict) else {}
        name = entry.get("file")
        wrong = [key for key, kind in kinds.items() if type(entry.get(key)) is not kind]
        if wrong:
            verified.faults.append(f"{MANIFEST}: part {number} has no right {', '.join(wrong)}")
        elif name in entries:
            verified.faults.append(f"{MANIFEST} names {name} twice")
        if isinstance(name, str):
            entries[name] = entry
    return entries


def _whole_parts(
    folder: Place, recipe: Recipe, entries: Entries, verified: Verified
) -> list[Whole]:
    """Return the recipe's parts that are whole; report files that are missing or belong nowhere."""
    names = [part_name(recipe, index) for index in range(recipe.shards)]
    data = inside(folder, "data")
    files = [path for path in files_below(data) if path == data / path.name]
    there = {f"data/{path.name}" for path in files if path.suffix == ".parquet"}
    verified.faults += [f"{name} is not in {MANIFEST}" for name in sorted(there - set(entries))]
    for name in sorted(set(entries) - set(names)):
        verified.faults.append(f"{name} is in {MANIFEST}, but no part of the recipe")
    if [name for name in entries if name in names] != [name for name in names if name in entries]:
        verified.faults.append(f"{MANIFEST} has the parts in another order than the recipe")
    whole = []
    for index, name in enumerate(names):
        if name not in there:
            verified.faults.append(f"{name} is missing")
            continue
        path = folder / name
        with plain_errors(path, reading=True):
            checksum = sha256(path)
        if name in entries and checksum != entries[name].get("sha256"):
            verified.faults.append(f"{name} does not match its checksum")
            continue
        try:
            footer = read_footer(path)
        except (OSError, ValueError) as error:
            reason = str(error).splitlines()[0]
            verified.faults.append(f"{name} cannot be read as Parquet ({reason})")
            continue
        whole.append(Whole(index, recipe.shard_at(index).split, path, footer))
    return whole


def _check_footer(recipe: Recipe, part: Whole, entries: Entries, verified: Verified) -> None:
    """Compare the footer of a part with the recipe and the manifest."""
    name, footer = part_name(recipe, part.index), part.footer
    if footer.recipe != recipe.hash:
        verified.faults.append(f"{name} is of another recipe ({footer.recipe or 'it names none'})")
    elif footer.shard != part.index:
        verified.faults.append(f"{name} is part {footer.shard} of the recipe, not {part.index}")
    rows = entries.get(name, {}).get("rows", footer.rows)
    if rows != footer.rows:
        verified.faults.append(f"{name} has {footer.rows:,} rows, {MANIFEST} says {rows!r}")
    asked = recipe.shard_rows(part.index)
    fewer = footer.rows < asked and not (recipe.given or recipe.distinct)
    if fewer or footer.rows > asked:
        verified.faults.append(f"{name} has {footer.rows:,} rows, the recipe asks for {asked:,}")


def _check_schemas(whole: Sequence[Whole], verified: Verified) -> None:
    """Compare the columns and their types over all parts; the most frequent ones are right."""
    if not whole:
        return
    usual, *others = (s for s, _ in Counter(part.footer.schema for part in whole).most_common())
    odd = set()
    for schema in others:
        both = _unified(usual, schema)
        if both is None:
            odd.add(schema)
        else:
            usual = both
    for part in whole:
        if part.footer.schema in odd:
            verified.faults.append(
                f"data/{part.path.name}: columns {_columns(part.footer.schema)}; elsewhere "
                f"{_columns(usual)}"
            )


def _unified(schema: pa.Schema, other: pa.Schema) -> pa.Schema | None:
    """Return a schema for both, or None; a column in which no row has a value fits any type."""
    import pyarrow as pa

    if schema.names != other.names:
        return None
    try:
        return pa.unify_schemas([schema, other])
    except pa.ArrowException:
        return None


def _columns(schema: pa.Schema) -> str:
    return ", ".join(f"{column.name} {column.type}" for column in schema)


def _check_sums(manifest: Mapping[str, Any], entries: Entries, verified: Verified) -> None:
    """Compare the manifest's number of rows with its entries, and with its tally."""
    counts = [entry.get("rows") for entry in entries.values()]
    rows = sum(count for count in counts if isinstance(count, int))
    if manifest.get("rows") != rows:
        verified.faults.append(
            f"{MANIFEST} says {manifest.get('rows')!r} rows, its parts have {rows:,}"
        )
    tally = manifest.get("tally")
    kept = tally.get("kept") if isinstance(tally, dict) else None
    if kept != rows:
        verified.faults.append(f"{MANIFEST}: the tally has {kept!r} kept, the parts have {rows:,}")


def _check_notes(
    folder: Place,
    recipe: Recipe,
    manifest: Mapping[str, Any],
    entries: Entries,
    verified: Verified,
) -> None:
    """Compare the manifest with the notes of the parts, if they are there."""
    tallies = []
    for index in range(recipe.shards):
        name = part_name(recipe, index)
        note = read_note(folder, name)
        if note is not None:
            tallies.append(note.tally)
            entry = entries.get(name, {})
            if entry and (note.rows, note.sha256) != (entry.get("rows"), entry.get("sha256")):
                verified.faults.append(f"{MANIFEST} does not agree with the note of {name}")
        elif (folder / note_name(name)).is_file():
            verified.faults.append(f"{note_name(name)} does not match its digest")
    if len(tallies) < recipe.shards:
        verified.skipped.append(f"the tally was not added up: not all notes are in {NOTES}")
    elif reduce(add, tallies, Tally()).to_dict() != manifest.get("tally"):
        verified.faults.append(f"{MANIFEST}: the tally is not what the notes add up to")
