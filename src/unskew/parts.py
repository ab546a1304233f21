"""One part of a dataset: made from a recipe and a number, written, and known by its checksum.

A part is a Parquet file and a note of it: rows, checksum, tally and the histograms of its
variables. What has no note, or is not what its note says, is not there. A part depends on
nothing but its recipe and number, so anyone may make it, anywhere, any number of times: the
bytes are the same.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import PurePosixPath
from typing import TYPE_CHECKING, Any

import numpy as np

from unskew.errors import UnskewError
from unskew.names import domain_of, find_variables
from unskew.recipe import Recipe
from unskew.salient import joint
from unskew.store import Place, sha256, write_bytes, write_text
from unskew.tally import Tally, plain

if TYPE_CHECKING:
    import pyarrow as pa

    from unskew.batch import Batch
    from unskew.salient import SalientVariable

NOTES = ".unskew"  # the folder of the notes
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

    def to_dict(self) -> dict[str, Any]:
        """Return plain data; ``from_dict`` reads it back."""
        return {
            "file": self.file,
            "rows": self.rows,
            "sha256": self.sha256,
            "tally": self.tally.to_dict(),
            "values": dict(self.values),
        }

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> Part:
        """Read what ``to_dict`` wrote."""
        return cls(
            data["file"],
            data["rows"],
            data["sha256"],
            Tally.from_dict(data["tally"]),
            data["values"],
        )


def part_name(recipe: Recipe, index: int) -> str:
    """Return where a part lies, in the layout that Hugging Face ``datasets`` reads."""
    shard = recipe.shard_at(index)
    return f"data/{shard.split}-{shard.index:05d}-of-{shard.of:05d}.parquet"


def make_part(
    recipe: Recipe,
    folder: Place,
    index: int,
    shard: Callable[[], tuple[Batch, Tally]],
) -> Part:
    """Make a part with what ``shard`` returns, write it and then its note."""
    batch, tally = shard()
    table = batch.to_arrow()
    facts = {"recipe": recipe.hash, "shard": index}
    data = _parquet(table.replace_schema_metadata({_META: json.dumps(facts).encode()}))
    name = part_name(recipe, index)
    checksum = hashlib.sha256(data).hexdigest()
    part = Part(name, len(batch), checksum, tally, measured(recipe, batch))
    write_bytes(folder / name, data)
    note = json.dumps(part.to_dict(), ensure_ascii=False)
    write_text(_note(folder, name), note)
    return Part.from_dict(json.loads(note))  # as it will be read when the run goes on


def finished_part(folder: Place, recipe: Recipe, index: int) -> Part | None:
    """Return what is known of a part that is there and whole; else None."""
    name = part_name(recipe, index)
    try:
        part = Part.from_dict(json.loads(_note(folder, name).read_text(encoding="utf-8")))
        return part if part.file == name and is_whole(folder, part) else None
    except (OSError, ValueError, LookupError, TypeError, AttributeError):
        return None


def is_whole(folder: Place, part: Part) -> bool:
    """Whether a part's file is what its checksum says."""
    try:
        return sha256(folder / part.file) == part.sha256
    except OSError:
        return False


def measured(recipe: Recipe, batch: Batch) -> dict[str, list[list[Any]]]:
    """Count the values of the variables that a dataset's card shows."""
    from unskew.codebook import Codebook

    found = {}
    for variable in card_variables(recipe):
        codebook = Codebook(variable)
        try:
            codes = codebook.encode(variable.measure(batch))
        except UnskewError:
            continue  # too many values for a histogram
        counts = np.bincount(codes, minlength=len(codebook.values)).tolist()
        pairs = zip(map(plain, codebook.values), counts, strict=True)
        found[variable.name] = [[value, count] for value, count in pairs]
    return found


def card_variables(recipe: Recipe) -> list[SalientVariable]:
    """Return what is measured of a recipe's examples: its domain's variables and its own."""
    domain = domain_of(recipe.source)
    names = list(domain.main or domain.variables) if domain is not None else []
    chosen = [domain.variable(name) for name in names] if domain is not None else []
    own = find_variables([name for name in recipe.homogenize if name not in names], domain)
    return [*chosen, *([joint(own)] if len(own) == 1 else own)]


def _note(folder: Place, name: str) -> Place:
    return folder / NOTES / f"{PurePosixPath(name).stem}.json"


def _parquet(table: pa.Table) -> bytes:
    import pyarrow as pa
    import pyarrow.parquet as pq

    buffer = pa.BufferOutputStream()
    # Zstandard would be 40 % smaller and take twice as long, more than a tenth of the drawing.
    pq.write_table(table, buffer, compression="snappy")
    data: bytes = buffer.getvalue().to_pybytes()
    return data
