"""What can be audited or shown: examples, a source, a dataset, a file; read as batches."""

from __future__ import annotations

import hashlib
import io
import json
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from unskew.balance.homogenizer import ENDLESS
from unskew.core.batch import EXAMPLE, Batch
from unskew.core.domain import Domain
from unskew.core.errors import UnskewError, unknown
from unskew.core.recipe import Trust
from unskew.core.repeatable import warn_of_unrepeatable
from unskew.core.rng import generator
from unskew.core.source import Source, own_source
from unskew.domains import domain_names, load_domain
from unskew.io.dataset import RECIPE, Dataset, read_parquet
from unskew.io.iterables import ROWS, check_iterable, chunked
from unskew.io.location import (
    ObjectPath,
    Place,
    files_below,
    known_sha256,
    place,
    plain_errors,
    stamp,
)
from unskew.io.lookup import (
    built_in_domain,
    find_source,
    find_table,
    recipe_domain,
    source_names,
)
from unskew.io.object_store import is_address

if TYPE_CHECKING:
    import pyarrow as pa

_TABLE_ROWS = 1 << 16  # in a batch
FILES = (".parquet", ".jsonl")
TEXT = ".txt"  # of a domain whose examples people write by hand


@dataclass
class Target:
    """Something to read as batches, and the domain whose variables apply.

    ``read(n)`` yields the first ``n`` examples, or all of what ends where ``n`` is None.
    ``content()`` is a checksum of what a file or a dataset holds, and ``where(row)`` says in
    which row of which file an example stands.
    """

    label: str
    read: Callable[[int | None], Iterator[Batch]]
    domain: Domain | None = None
    endless: bool = False
    dropped: Counter[str] = field(default_factory=Counter)
    dataset: Dataset | None = None  # where it is one
    content: Callable[[], str] = lambda: ""
    where: Callable[[int], str] = lambda row: f"row {row + 1}"


def open_target(
    target: Any,
    settings: Mapping[str, Any] | None = None,
    seed: int = 0,
    trust: Trust = False,
) -> Target:
    """Open whatever a user may point at.

    Code that a dataset names is imported only if ``trust`` says so; a name given here is the
    person's own, so its code is imported.
    """
    if settings and not isinstance(target, str):
        raise UnskewError(f"settings are {dict(settings)}; only a source that is named takes any")
    if isinstance(target, Dataset):
        return _open_dataset(target)
    if isinstance(target, (Path, ObjectPath)):
        return _open_path(place(target), trust)
    if isinstance(target, str):
        return _open_name(target, settings, seed, trust)
    if callable(target) or isinstance(target, Source):
        return _open_source(own_source(target), seed)
    check_iterable(target)
    return Target("examples", lambda n: _first(chunked(target), n))


def _open_name(name: str, settings: Mapping[str, Any] | None, seed: int, trust: Trust) -> Target:
    if not name:
        raise UnskewError("the name is empty; give a source, a file or a folder")
    path = place(name)
    with plain_errors(path, reading=True):
        exists = path.exists()
    table = find_table(name)
    if not exists and table is not None:
        return Target(name, lambda n: _first(iter([table()]), n), built_in_domain(name))
    of_domain = name.partition("/")[0] in domain_names()
    if not exists and not is_address(name) and (":" in name or of_domain):
        return _open_source(find_source(name, settings), seed)
    if settings:
        raise UnskewError(f"{name} takes no settings ({', '.join(settings)}); only sources do")
    short = isinstance(path, Path) and len(path.parts) <= 2
    if not exists and short and path.suffix not in (*FILES, TEXT):
        step = "check the path; unskew list names the sources"
        raise unknown("source or file", name, source_names(), step)
    return _open_path(path, trust)


def _open_source(source: Source, seed: int) -> Target:
    dropped: Counter[str] = Counter()

    def read(n: int | None) -> Iterator[Batch]:
        if source.is_own:
            warn_of_unrepeatable(source)
        rng = generator(seed, source.name, "audit")
        left = ENDLESS if n is None else n
        while left > 0:
            batch, reasons = source.draw(rng, min(left, source.chunk))
            dropped.update(reasons)
            left -= len(batch)
            yield batch

    return Target(source.name, read, source.domain, endless=True, dropped=dropped)


def _open_dataset(dataset: Dataset) -> Target:
    return Target(
        str(dataset.folder),
        lambda n: _first(dataset.batches(), n),
        recipe_domain(dataset.recipe),
        dropped=dataset.tally.dropped,
        dataset=dataset,
        content=lambda: _digest(dataset.checksums),
        where=lambda row: _where(row, zip(dataset.parts, dataset.part_rows, strict=True)),
    )


def _open_path(path: Place, trust: Trust) -> Target:
    with plain_errors(path, reading=True):
        if not path.exists():
            raise UnskewError(f"{path} does not exist; check the path")
        if path.is_dir() and (path / RECIPE).is_file():
            return _open_dataset(Dataset.open(path, trust))
        if path.is_file() and path.suffix == TEXT:
            return _open_text(path)
        files = [path] if path.is_file() else files_below(path)
    readable = [file for file in files if file.suffix in FILES]
    if not readable:
        raise UnskewError(f"{path} holds no {' or '.join(FILES)} file; point at one")
    domain = _domain_of_file(readable[0])

    def read(n: int | None) -> Iterator[Batch]:
        return _first((batch for file in readable for batch in _read_file(file, domain, n)), n)

    def sizes() -> Iterator[tuple[Place, int]]:
        for file in readable:
            yield file, sum(len(batch) for batch in _read_file(file, None, None))

    def content() -> str:
        with plain_errors(path, reading=True):
            return _digest(f"{file.name} {known_sha256(file, stamp(file))}" for file in readable)

    return Target(str(path), read, domain, content=content, where=lambda row: _where(row, sizes()))


def _open_text(path: Place) -> Target:
    """Open a text file of the domain that reads such."""
    with plain_errors(path, reading=True), path.open("rb") as file:
        text = file.read().decode("utf-8-sig", "replace")
    domain = next(d for d in map(load_domain, domain_names()) if d.formats.read_text is not None)
    rows = domain.formats.read_text(text, str(path)) if domain.formats.read_text is not None else []
    batch = Batch.from_arrow(Batch.of(rows).to_arrow())
    return Target(
        str(path),
        lambda n: _first(iter([batch]), n),
        domain,
        content=lambda: _digest([text]),
        where=lambda row: f"{path} row {row + 1}",
    )


def _digest(lines: Iterable[str]) -> str:
    return hashlib.sha256("\n".join(lines).encode()).hexdigest()


def _where(row: int, sizes: Iterable[tuple[Place, int]]) -> str:
    """Say in which file the row-th example of several stands; there rows count from 1."""
    left = row
    for file, rows in sizes:
        if left < rows:
            return f"{file} row {left + 1}"
        left -= rows
    raise UnskewError(f"there is no row {row + 1}; the files have changed, run it again")


def _read_file(path: Place, domain: Domain | None, n: int | None) -> Iterator[Batch]:
    """Yield the batches of a file, none larger than what is wanted of it."""
    if path.suffix == ".parquet":
        batches = read_parquet(path, _TABLE_ROWS if n is None else min(n, _TABLE_ROWS))
    else:
        rows = ROWS if n is None else min(n, ROWS)
        batches = chunked(_read_jsonl(path), rows, lambda row: f"{path} row {row + 1}")
    return batches if domain is None else _as_examples(batches, domain, path)


def _domain_of_file(path: Place) -> Domain | None:
    """Return the domain whose examples the first row of a file is one of."""
    row = next((row for batch in _read_file(path, None, 1) for row in batch.examples()), None)
    if not isinstance(row, dict):
        return None
    for domain in map(load_domain, domain_names()):
        try:
            if domain.formats.read_row is not None and domain.formats.read_row(row) is not None:
                return domain
        except UnskewError:
            return domain  # meant as one; reading it will say what is wrong, and where
    return None


def _as_examples(batches: Iterator[Batch], domain: Domain, path: Place) -> Iterator[Batch]:
    """Turn the rows of a file into the domain's columns, where they are not that already."""
    number, schema = 0, None
    for batch in batches:
        if _is_read(batch, domain, path, number):
            number += len(batch)
            yield batch
            continue
        rows, where = [], f"{path} from row {number + 1} on"
        for row in batch.examples():
            number += 1
            rows.append(_read_row(row, domain, f"{path} row {number}"))
        try:
            table = alike(Batch.of(rows).to_arrow(), schema)
        except UnskewError as error:
            raise UnskewError(f"{where}: {error}") from error
        schema = table.schema
        yield Batch.from_arrow(table)


def _is_read(batch: Batch, domain: Domain, path: Place, number: int) -> bool:
    """Whether a batch is examples in the domain's columns; ``number`` rows were before it."""
    if batch.is_plain:
        return False
    if domain.formats.are_examples is not None:
        return domain.formats.are_examples(batch)
    first = next(batch.head(1).examples())
    if _read_row(first, domain, f"{path} row {number + 1}") != first:
        return False
    _refuse_gaps(batch, domain, path, number)
    return True


def alike(table: pa.Table, schema: pa.Schema | None) -> pa.Table:
    """Give a table the columns of an earlier one, empty where it has none, or refuse it."""
    import pyarrow as pa

    if schema is None or table.schema.equals(schema):
        return table
    try:
        if not set(table.column_names) <= set(schema.names):
            raise KeyError(*set(table.column_names).difference(schema.names))
        for name in set(schema.names).difference(table.column_names):
            table = table.append_column(name, pa.nulls(len(table)))
        return table.select(schema.names).cast(schema)
    except (pa.ArrowException, KeyError) as error:
        reason = str(error).splitlines()[0]
        raise UnskewError(
            f"the columns are not the same in all rows ({reason}); make them equal"
        ) from error


def _read_row(row: Any, domain: Domain, where: str) -> dict[str, Any]:
    try:
        read = (
            domain.formats.read_row(row)
            if domain.formats.read_row and isinstance(row, dict)
            else None
        )
    except UnskewError as error:
        raise UnskewError(f"{where}: {error}") from error
    if read is None:
        if isinstance(row, dict) and domain.key in row and row[domain.key] is None:
            raise UnskewError(f"{where}: there is no {domain.key}; leave the row out")
        raise UnskewError(
            f"{where} is no example of {domain.name}, though the first row is; keep them apart"
        )
    return read


def _refuse_gaps(batch: Batch, domain: Domain, path: Place, before: int) -> None:
    for name, column in batch.columns.items():
        if name in domain.formats.may_lack or isinstance(column, np.ndarray):
            continue
        if column.null_count:
            first = int(np.flatnonzero(column.is_null().to_numpy(zero_copy_only=False))[0])
            raise UnskewError(
                f"{path}: column {name!r} has {column.null_count} rows without a value, the first "
                f"is row {before + first + 1}; leave them out"
            )


def _read_jsonl(path: Place) -> Iterator[Any]:
    with (
        plain_errors(path, reading=True),
        io.TextIOWrapper(path.open("rb"), encoding="utf-8-sig") as lines,
    ):
        number = 0
        try:
            for line in lines:
                number += 1
                if line.strip():
                    yield json.loads(line)
        except UnicodeDecodeError as error:
            raise UnskewError(f"{path} is no UTF-8 text ({error.reason}); convert it") from error
        except (ValueError, RecursionError) as error:
            raise UnskewError(
                f"{path} line {number} is no JSON ({error}); it may be truncated: mend that line"
            ) from error


def _first(batches: Iterator[Batch], n: int | None) -> Iterator[Batch]:
    left = ENDLESS if n is None else n
    for batch in batches:
        yield batch.head(left) if len(batch) > left else batch
        left -= len(batch)
        if left <= 0:
            return


def column_names(batch: Batch) -> list[str]:
    """Return the columns of a table, or the keys of examples that are dicts."""
    if not batch.is_plain:
        return list(batch.columns)
    rows = batch.columns[EXAMPLE].tolist()
    if not all(isinstance(row, dict) for row in rows):
        return []
    return list(dict.fromkeys(key for row in rows for key in row if isinstance(key, str)))
