"""Finished datasets: a folder of Parquet parts, the recipe, and a manifest written last.

DIR/recipe.json  DIR/data/train-00000-of-00002.parquet …  DIR/README.md  DIR/manifest.json
"""

from __future__ import annotations

from dataclasses import dataclass, field
from itertools import chain
from typing import TYPE_CHECKING, Any

from unskew.core.batch import Batch
from unskew.core.errors import UnskewError
from unskew.core.recipe import Recipe, Trust
from unskew.core.tally import Tally
from unskew.core.values.json_text import parse_json
from unskew.io.location import (
    Place,
    inside,
    parquet_file,
    place,
    plain_errors,
    sha256,
    too_large,
)
from unskew.io.object_store import store_errors
from unskew.io.tables import MOST_BYTES, TABLE_ROWS, Columns, check_names, table_batches, wanted

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence


RECIPE, MANIFEST, CARD = "recipe.json", "manifest.json", "README.md"
MOST_ROWS = 1 << 40  # in a part
CODE_BYTES = 2  # of a text that is surely stored as a code, on average


@dataclass(frozen=True)
class Dataset:
    """A finished dataset; open one with ``Dataset.open(folder)``."""

    folder: Place
    recipe: Recipe
    rows: int
    parts: tuple[Place, ...]  # the Parquet files, in order
    tally: Tally  # what was drawn, dropped and kept
    part_rows: tuple[int, ...]  # examples in each file
    checksums: tuple[str, ...]  # of each file
    # Of a recipe with a budget or a closeness, by variable: the total variation from the target
    # before and after, as the pilot sample said it.
    apart: Mapping[str, tuple[float, float]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        """Refuse a wrong number of rows: a stranger may have written the manifest."""
        for rows in self.part_rows:
            if type(rows) is not int or not 0 <= rows <= MOST_ROWS:
                raise ValueError(f"a part has {rows!r} rows")

    @classmethod
    def open(cls, folder: str | Place, trust: Trust = False) -> Dataset:
        """Open a dataset that is finished: a folder, or a prefix in an object store.

        ``trust`` allows to import code that the recipe names: all code, or only these names.
        """
        path = place(folder)
        recipe = recipe_of(path, trust)
        try:
            manifest = parse_json(inside(path, MANIFEST).read_text(encoding="utf-8"))
            parts = tuple(inside(path, part["file"]) for part in manifest["parts"])
            rows = tuple(part["rows"] for part in manifest["parts"])
            tally = Tally.from_dict(manifest["tally"])
            checksums = tuple(part["sha256"] for part in manifest["parts"])
            apart = {
                str(name): (float(before), float(after))
                for name, (before, after) in manifest.get("balance", {})
                .get("total_variation", {})
                .items()
            }
            return cls(path, recipe, sum(rows), parts, tally, rows, checksums, apart)
        except FileNotFoundError:
            raise UnskewError(
                f"{path} is not finished; if it is yours, run its generate command again"
            ) from None
        except PermissionError:
            raise UnskewError(
                f"{path / MANIFEST}: Permission denied; check its permissions"
            ) from None
        except (OSError, ValueError, LookupError, TypeError, AttributeError, UnskewError) as error:
            kind = "" if isinstance(error, UnskewError) else f"{type(error).__name__}: "
            raise UnskewError(
                f"{path / MANIFEST} cannot be read ({kind}{error}); "
                "if the dataset is yours, remove this file and run its generate command again"
            ) from error

    def __len__(self) -> int:
        """Return the number of examples."""
        return self.rows

    def check_parts(self, numbers: Iterable[int] | None = None) -> None:
        """Raise if a part differs from its checksum. ``numbers`` names some parts."""
        for number in range(len(self.parts)) if numbers is None else numbers:
            part = self.parts[number]
            with plain_errors(part, reading=True):
                whole = sha256(part) == self.checksums[number]
            if not whole:
                raise UnskewError(
                    f"{part} does not match its checksum; if the dataset is yours, run its "
                    "generate command again"
                )

    def batches(self, columns: Columns = None) -> Iterator[Batch]:
        """Yield the examples, part after part; ``columns`` are the only ones that will be used."""
        for part in self.parts:
            yield from read_parquet(part, columns=columns)


def recipe_of(folder: str | Place, trust: Trust = False) -> Recipe:
    """Return the recipe of a dataset, finished or not.

    The dataset may be a stranger's, so no code that it names is imported without ``trust``.
    """
    path = place(folder)
    with plain_errors(path, reading=True):
        is_dataset = inside(path, RECIPE).is_file()
    if not is_dataset:
        raise UnskewError(f"{path} is no dataset (no {RECIPE} in it); make one with generate")
    return Recipe.read(path / RECIPE, trust)


def read_parquet(path: Place, rows: int = TABLE_ROWS, columns: Columns = None) -> Iterator[Batch]:
    """Yield a Parquet file batch by batch.

    If ``columns`` are named, they are only measured. Then texts that are stored as dictionaries
    stay dictionaries, which are read and counted faster.
    """
    import pyarrow as pa

    try:
        with store_errors(path):
            file = parquet_file(path)
            names = file.schema_arrow.names
            check_names(names, str(path))
            chosen = None if columns is None else wanted(names, columns)
            coded = [] if chosen is None else _coded_texts(file.metadata, chosen)
            file = parquet_file(path, coded) if coded else file
            at_once = _rows_at_once(file.metadata, rows)
            runs = _runs(file.metadata)
            read = chain.from_iterable(file.iter_batches(at_once, run, chosen) for run in runs)
            yield from table_batches(read, str(path), columns, rows=rows, check=True)
    except PermissionError:
        raise UnskewError(f"{path}: Permission denied; check its permissions") from None
    except MemoryError as error:
        raise too_large(path) from error
    except (OSError, KeyError, ValueError, pa.ArrowNotImplementedError) as error:
        reason = str(error).splitlines()[0]
        raise UnskewError(
            f"{path} cannot be read as Parquet ({reason}); it may be truncated: make it again"
        ) from error


def _coded_texts(metadata: Any, names: Sequence[str]) -> list[str]:
    """Return the columns of texts that repeat so often that they are stored as dictionaries."""
    if not metadata.num_row_groups:
        return []
    group = metadata.row_group(0)
    columns = [group.column(number) for number in range(group.num_columns)]
    return [
        column.path_in_schema
        for number, column in enumerate(columns)
        if column.path_in_schema in names
        and metadata.schema.column(number).logical_type.type == "STRING"
        and column.has_dictionary_page
        and column.total_uncompressed_size <= CODE_BYTES * column.num_values
    ]


def _runs(metadata: Any) -> Iterator[list[int]]:
    """Yield the numbers of row groups that are read together: one, or several small ones.

    A store sends all of a run at once, and it is in memory until the next run is read.
    """
    run: list[int] = []
    size = 0
    for number in range(metadata.num_row_groups):
        group = metadata.row_group(number).total_byte_size
        if run and size + group > MOST_BYTES:
            yield run
            run, size = [], 0
        run.append(number)
        size += group
    if run:
        yield run


def _rows_at_once(metadata: Any, rows: int) -> int:
    """Return how many rows to read at once, at most ``rows``: fewer where rows are large."""
    groups = (metadata.row_group(number) for number in range(metadata.num_row_groups))
    sizes = [group.total_byte_size / group.num_rows for group in groups if group.num_rows > 0]
    return max(1, min(rows, int(MOST_BYTES / max(sizes, default=1)))) if sizes else rows
