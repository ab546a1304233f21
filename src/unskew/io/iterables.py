"""Examples that are given as Python objects: read in batches, tables and texts refused by name."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from itertools import islice
from typing import Any

from unskew.core.batch import Batch
from unskew.core.collected import Collected
from unskew.core.errors import RowError, UnskewError, brief

ROWS = 4096  # examples in a batch

_ROWS_OF_TABLES = {
    "pandas": "pass df.to_dict('records')",
    "polars": "pass df.to_dicts()",
    "pyarrow": "pass table.to_pylist()",
}
_COLUMNS = ("DataFrame", "LazyFrame", "Table", "RecordBatch")


def chunked(
    examples: Iterable[Any],
    rows: int = ROWS,
    where: Callable[[int], str] = lambda row: f"row {row + 1}",
) -> Iterator[Batch]:
    """Yield examples as batches; ``where`` says where the row-th of them stands."""
    iterator, start = iter(examples), 0
    while True:
        collected = Collected()
        for example in islice(iterator, rows):
            collected.add(example)
        if not len(collected):
            return
        try:
            batch = collected.batch()
        except RowError as error:
            raise error.at(where(start + error.row)) from error
        yield batch
        start += len(batch)


def check_iterable(target: object) -> None:
    """Refuse what is not an iterable of examples, and say what to pass instead.

    Iterating a table gives its columns or their names, a dict its keys, bytes numbers: an audit
    of those would look right and mean nothing.
    """
    step = _instead(target)
    if step is not None:
        raise UnskewError(f"{_kind(target)} cannot be read yet; {step}")
    if not isinstance(target, Iterable):
        raise UnskewError(
            f"{brief(target)} cannot be read; pass examples, draw(rng), a source's name or a file"
        )


def _instead(target: object) -> str | None:
    """Return what to pass instead of something that is no iterable of examples; else None."""
    kinds = _kinds(target)
    for library, step in _ROWS_OF_TABLES.items():
        if any((library, name) in kinds for name in _COLUMNS):
            return f"{step}, or write a .parquet file"
    if ("datasets", "DatasetDict") in kinds or ("datasets", "IterableDatasetDict") in kinds:
        return "pass one of its splits: data['train']"
    if isinstance(target, Mapping):
        return (
            "pass a list of examples; of columns, [dict(zip(d, row)) for row in zip(*d.values())]"
        )
    if isinstance(target, (set, frozenset)):
        return "a set has no order that stays; pass a list, as sorted() makes one"
    if isinstance(target, (bytes, bytearray, memoryview)):
        return "pass a list of examples, or the path of a file"
    dimensions = getattr(target, "ndim", None)
    is_array = ("numpy", "ndarray") in kinds or ("torch", "Tensor") in kinds
    if is_array and isinstance(dimensions, int) and dimensions != 1:
        return f"it has {dimensions} dimensions; pass a list of its rows: array.tolist()"
    if ("torch", "Dataset") in kinds and not isinstance(target, Iterable):
        return "pass [data[i] for i in range(len(data))]"
    return None


def _kinds(target: object) -> set[tuple[str, str]]:
    """Return the library and the name of each class that an object is of; none is imported."""
    return {(kind.__module__.partition(".")[0], kind.__name__) for kind in type(target).__mro__}


def _kind(target: object) -> str:
    """Name the kind of an object: a pandas DataFrame, a dict object."""
    library, name = type(target).__module__.partition(".")[0], type(target).__name__
    return f"a {name} object" if library == "builtins" else f"a {library} {name}"
