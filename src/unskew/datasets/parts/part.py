"""One part of a dataset: made from a recipe and a number, written, and known by its checksum.

A part is a Parquet file and a note about it: rows, checksum, tally and the histograms of its
variables. The footer of the file names the recipe and the number of the part. The note ends with a
digest of its own text. A part without a note, or with another checksum than its note says, counts
as missing. A part depends only on its recipe and its number, so anyone may make it, anywhere and
any number of times: the bytes are the same.

If no key may repeat, a part depends on the parts before it too. Such a part is first written as it
was drawn, next to the notes and under another name, and later to its own place (``finish``). So
one name never stands for two contents.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import PurePosixPath
from typing import TYPE_CHECKING, Any

from unskew.balance.codebook import Codebook
from unskew.balance.histogram import Histogram
from unskew.core.batch import Batch
from unskew.core.errors import UnskewError
from unskew.core.recipe import Recipe
from unskew.core.tally import Tally, plain
from unskew.core.values.json_text import parse_json
from unskew.io.files import write_bytes, write_text
from unskew.io.location import Place, inside, parquet_file, sha256
from unskew.io.lookup import recipe_domain, recipe_variables
from unskew.io.object_store import store_errors

if TYPE_CHECKING:
    import pyarrow as pa

    from unskew.core.variables.variable import SalientVariable

NOTES = ".unskew"  # the folder of the notes
DRAWN = ".drawn"  # in the name of a part as it was drawn, before repeats are left out
_META = b"unskew"  # the key in a file's footer of the recipe's hash and the part's number


@dataclass(frozen=True)
class Part:
    """What the note of a finished part says."""

    file: str  # below the dataset's folder
    rows: int
    sha256: str
    tally: Tally
    # How often each value of a variable occurs, as plain data: {name: [[value, count], …]}.
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
        """Read what ``to_dict`` wrote; raise ``TypeError`` for counts of another form."""
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
    """The footer of a part's file, which is read without the rows."""

    recipe: str  # the recipe's hash; empty if the footer has none
    shard: int  # the part's number; -1 if the footer has none
    rows: int
    schema: pa.Schema


def part_name(recipe: Recipe, index: int, *, drawn: bool = False) -> str:
    """Return the path of a part in its dataset, as Hugging Face ``datasets`` expects it."""
    shard = recipe.shard_at(index)
    name = f"{shard.split}-{shard.index:05d}-of-{shard.of:05d}"
    return f"{NOTES}/{name}{DRAWN}.parquet" if drawn else f"data/{name}.parquet"


def make_part(
    recipe: Recipe, folder: Place, index: int, batch: Batch, tally: Tally, *, drawn: bool = False
) -> Part:
    """Write the examples of a part, and then its note."""
    data = part_bytes(recipe, index, batch)
    name = part_name(recipe, index, drawn=drawn)
    checksum = hashlib.sha256(data).hexdigest()
    part = Part(name, len(batch), checksum, tally, *measured(recipe, batch))
    return write_part(folder, part, data)


def part_bytes(recipe: Recipe, index: int, batch: Batch) -> bytes:
    """Return the bytes of a part's file: the examples, and the footer that names the part."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    facts = {"recipe": recipe.hash, "shard": index}
    table = batch.to_arrow().replace_schema_metadata({_META: json.dumps(facts).encode()})
    buffer = pa.BufferOutputStream()
    # Zstandard would be 40 % smaller and take twice as long, more than a tenth of the drawing.
    pq.write_table(table, buffer, compression="snappy")
    data: bytes = buffer.getvalue().to_pybytes()
    return data


def part_batch(data: bytes) -> Batch:
    """Return the examples of a part's file."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    return Batch.from_arrow(pq.ParquetFile(pa.BufferReader(data)).read())


def write_part(folder: Place, part: Part, data: bytes) -> Part:
    """Write a part's file and then its note; return the part as the note will be read."""
    write_bytes(folder / part.file, data)
    note = part.to_dict()
    text = json.dumps({**note, "digest": _digest(note)}, ensure_ascii=False)
    write_text(folder / note_name(part.file), text)
    return Part.from_dict(json.loads(text))


def finished_part(folder: Place, recipe: Recipe, index: int, *, drawn: bool = False) -> Part | None:
    """Return a part that is there and whole; else None.

    A part of another recipe or number does not count, whatever its note says.
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
    """Return what the note of a part says; None if there is no note, or if it was altered."""
    try:
        note = parse_json(inside(folder, note_name(name)).read_text(encoding="utf-8"))
        if note.pop("digest") != _digest(note):
            return None
    except (OSError, ValueError, LookupError, TypeError, AttributeError):
        return None
    try:
        return Part.from_dict(note)
    except (LookupError, TypeError, AttributeError, UnskewError):  # a right digest, wrong counts
        return None


def read_footer(path: Place) -> Footer:
    """Read the footer of a part's file."""
    with store_errors(path), parquet_file(path) as file:
        try:
            facts = parse_json(file.metadata.metadata[_META])
            recipe, shard = str(facts["recipe"]), int(facts["shard"])
        except (ValueError, LookupError, TypeError, OverflowError):  # another program wrote it
            recipe, shard = "", -1
        return Footer(recipe, shard, file.metadata.num_rows, file.schema_arrow.remove_metadata())


def measured(recipe: Recipe, batch: Batch) -> tuple[dict[str, list[list[Any]]], dict[str, str]]:
    """Return the counts of the card's variables, and why other variables were not measured."""
    values, left_out = {}, {}
    for variable in card_variables(recipe):
        histogram = Histogram(Codebook(variable))
        try:
            histogram.add(batch)
        except UnskewError as error:  # lists, nan, too many values
            left_out[variable.name] = str(error)
            continue
        counts = histogram.by_value().items()
        values[variable.name] = [[plain(value), count] for value, count in counts]
    return values, left_out


def card_variables(recipe: Recipe) -> list[SalientVariable]:
    """Return the variables of a recipe's card: those of its domain and its own."""
    domain = recipe_domain(recipe)
    names = list(domain.main or domain.variables) if domain is not None else []
    chosen = [domain.variable(name) for name in names] if domain is not None else []
    others = [name for name in recipe.homogenize if name not in names]
    own = dict(zip(recipe.homogenize, recipe_variables(recipe), strict=True))
    return [*chosen, *(own[name] for name in others)]


def note_name(name: str) -> str:
    """Return the path of a part's note in its dataset."""
    return f"{NOTES}/{PurePosixPath(name).stem}.json"


def _digest(note: Mapping[str, Any]) -> str:
    """Return the checksum of a note."""
    return hashlib.sha256(json.dumps(note, sort_keys=True).encode()).hexdigest()
