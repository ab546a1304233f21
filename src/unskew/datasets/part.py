"""One part of a dataset: made from a recipe and a number, written, and known by its checksum.

A part is a Parquet file and a note of it: rows, checksum, tally and the histograms of its
variables. The file says in its footer of which recipe and number it is; the note ends in a digest
of all it says. What has no note, or is not what its note says, is not there. A part depends on
nothing but its recipe and number, so anyone may make it, anywhere, any number of times: the
bytes are the same.

Where no key may repeat, a part depends on those before it too. It is first made as it was drawn,
beside the notes and under a name of its own, and written to its place later (``finishing``): so
no name ever stands for two contents.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import PurePosixPath
from typing import TYPE_CHECKING, Any

from unskew.core.batch import Batch
from unskew.core.errors import UnskewError
from unskew.core.json_text import parse_json
from unskew.core.recipe import Recipe
from unskew.core.tally import Tally, plain
from unskew.io.location import Place, inside, parquet_file, sha256, write_bytes, write_text
from unskew.io.lookup import recipe_domain, recipe_variables
from unskew.io.object_store import store_errors

if TYPE_CHECKING:
    import pyarrow as pa

    from unskew.core.variable import SalientVariable

NOTES = ".unskew"  # the folder of the notes
DRAWN = ".drawn"  # in the name of a part as it was drawn, before repeats are left out
_META = b"unskew"  # in each file: the recipe's hash and the part's number


@dataclass(frozen=True)
class Part:
    """What is known of a finished part."""

    file: str  # below the dataset's folder
    rows: int
    sha256: str
    tally: Tally
    # How often each value of a variable comes, as plain data: {name: [[value, count], …]}.
    values: Mapping[str, list[list[Any]]] = field(default_factory=dict)
    left_out: Mapping[str, str] = field(default_factory=dict)  # variables not measured, and why

    def to_dict(self) -> dict[str, Any]:
        """Return plain data; ``from_dict`` reads it back."""
        return {
            "file": self.file,
            "rows": self.rows,
            "sha256": self.sha256,
            "tally": self.tally.to_dict(),
            "values": dict(self.values),
            **({"left_out": dict(self.left_out)} if self.left_out else {}),
        }

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> Part:
        """Read what ``to_dict`` wrote; raise ``TypeError`` for what it cannot have written."""
        for rows in data["values"].values():
            if not all(len(row) == 2 and type(row[1]) is int for row in rows):
                raise TypeError(f"values are {rows!r}")
        return cls(
            data["file"],
            data["rows"],
            data["sha256"],
            Tally.from_dict(data["tally"]),
            data["values"],
            data.get("left_out", {}),
        )


@dataclass(frozen=True)
class Footer:
    """What a part's file says of itself; read without its rows."""

    recipe: str  # the recipe's hash; empty where it says nothing
    shard: int  # the part's number; -1 where it says nothing
    rows: int
    schema: pa.Schema


def part_name(recipe: Recipe, index: int, *, drawn: bool = False) -> str:
    """Return where a part lies, in the layout that Hugging Face ``datasets`` reads."""
    shard = recipe.shard_at(index)
    name = f"{shard.split}-{shard.index:05d}-of-{shard.of:05d}"
    return f"{NOTES}/{name}{DRAWN}.parquet" if drawn else f"data/{name}.parquet"


def make_part(
    recipe: Recipe,
    folder: Place,
    index: int,
    shard: Callable[[], tuple[Batch, Tally]],
    *,
    drawn: bool = False,
) -> Part:
    """Make a part with what ``shard`` returns, write it and then its note."""
    batch, tally = shard()
    data = part_bytes(recipe, index, batch)
    name = part_name(recipe, index, drawn=drawn)
    checksum = hashlib.sha256(data).hexdigest()
    part = Part(name, len(batch), checksum, tally, *measured(recipe, batch))
    return write_part(folder, part, data)


def part_bytes(recipe: Recipe, index: int, batch: Batch) -> bytes:
    """Return the file of a part: its examples, and in the footer what it is."""
    facts = {"recipe": recipe.hash, "shard": index}
    return _parquet(batch.to_arrow().replace_schema_metadata({_META: json.dumps(facts).encode()}))


def part_batch(data: bytes) -> Batch:
    """Return the examples of a part's file."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    return Batch.from_arrow(pq.ParquetFile(pa.BufferReader(data)).read())


def write_part(folder: Place, part: Part, data: bytes) -> Part:
    """Write a part's file and then its note; return the part as it will be read again."""
    write_bytes(folder / part.file, data)
    said = part.to_dict()
    note = json.dumps({**said, "digest": _digest(said)}, ensure_ascii=False)
    write_text(folder / note_name(part.file), note)
    return Part.from_dict(json.loads(note))


def finished_part(folder: Place, recipe: Recipe, index: int, *, drawn: bool = False) -> Part | None:
    """Return what is known of a part that is there and whole; else None.

    A part of another recipe or number is not there, whatever its note says.
    """
    name = part_name(recipe, index, drawn=drawn)
    part = read_note(folder, name)
    try:
        if part is None or part.file != name or sha256(folder / name) != part.sha256:
            return None
        footer = read_footer(folder / name)
    except (OSError, ValueError):
        return None
    same = (footer.recipe, footer.shard, footer.rows) == (recipe.hash, index, part.rows)
    return part if same else None


def read_note(folder: Place, name: str) -> Part | None:
    """Return what the note of a part says; None where there is none, or it was altered."""
    try:
        said = parse_json(inside(folder, note_name(name)).read_text(encoding="utf-8"))
        if said.pop("digest") != _digest(said):
            return None
    except (OSError, ValueError, LookupError, TypeError, AttributeError):
        return None
    try:
        return Part.from_dict(said)
    except (
        LookupError,
        TypeError,
        AttributeError,
        UnskewError,
    ):  # somebody wrote a right digest of wrong counts
        return None


def read_footer(path: Place) -> Footer:
    """Read what a part's file says of itself."""
    with store_errors(path), parquet_file(path) as file:
        try:
            facts = parse_json(file.metadata.metadata[_META])
            recipe, shard = str(facts["recipe"]), int(facts["shard"])
        except (ValueError, LookupError, TypeError, OverflowError):  # written by something else
            recipe, shard = "", -1
        return Footer(recipe, shard, file.metadata.num_rows, file.schema_arrow.remove_metadata())


def measured(recipe: Recipe, batch: Batch) -> tuple[dict[str, list[list[Any]]], dict[str, str]]:
    """Count the values of the card's variables; say of each other one why it was not measured."""
    from unskew.balance.codebook import Codebook
    from unskew.balance.histogram import Histogram

    values, left_out = {}, {}
    for variable in card_variables(recipe):
        histogram = Histogram(Codebook(variable))
        try:
            histogram.add(batch)
        except UnskewError as error:  # lists, nan, too many values: the error says which
            left_out[variable.name] = str(error)
            continue
        counts = histogram.by_value().items()
        values[variable.name] = [[plain(value), count] for value, count in counts]
    return values, left_out


def card_variables(recipe: Recipe) -> list[SalientVariable]:
    """Return what is measured of a recipe's examples: its domain's variables and its own."""
    domain = recipe_domain(recipe)
    names = list(domain.main or domain.variables) if domain is not None else []
    chosen = [domain.variable(name) for name in names] if domain is not None else []
    others = tuple(name for name in recipe.homogenize if name not in names)
    return [*chosen, *recipe_variables(replace(recipe, homogenize=others))]


def note_name(name: str) -> str:
    """Return where the note of a part lies."""
    return f"{NOTES}/{PurePosixPath(name).stem}.json"


def _digest(said: Mapping[str, Any]) -> str:
    """Return the checksum of what a note says."""
    return hashlib.sha256(json.dumps(said, sort_keys=True).encode()).hexdigest()


def _parquet(table: pa.Table) -> bytes:
    import pyarrow as pa
    import pyarrow.parquet as pq

    buffer = pa.BufferOutputStream()
    # Zstandard would be 40 % smaller and take twice as long, more than a tenth of the drawing.
    pq.write_table(table, buffer, compression="snappy")
    data: bytes = buffer.getvalue().to_pybytes()
    return data
