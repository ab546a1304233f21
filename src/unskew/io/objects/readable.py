"""What a live object is: a table, a dataset, an array, a dict of columns, or plain examples.

No library is imported: an object is known by the protocols and the methods that it has.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from itertools import chain, islice
from typing import Any, Protocol

from unskew.core.batch import Batch
from unskew.core.errors import UnskewError
from unskew.io.iterables import (
    Given,
    batch_rows,
    check_iterable,
    chunked,
    is_read_once,
    kind_name,
)
from unskew.io.objects import frames
from unskew.io.objects.columns import as_array, read_columns, read_numpy
from unskew.io.objects.known import is_hugging_face, is_loader, is_table, is_torch_data
from unskew.io.objects.torch_data import loaded_examples, torch_examples
from unskew.io.tables import SPLIT, Columns, with_column


class Read(Protocol):
    """Yields the first ``n`` examples, or all; ``columns`` are the only ones that will be used."""

    def __call__(self, n: int | None, columns: Columns = None, /) -> Iterator[Batch]:
        """Yield batches. The last may have more examples than are wanted."""
        ...


@dataclass(frozen=True)
class Readable:
    """An object that can be read; ``repeatable`` says whether it can be read more than once."""

    read: Read
    repeatable: bool = True


def readable_object(target: Any) -> Readable:
    """Return how to read an object; refuse what holds no examples."""
    if isinstance(target, Mapping):
        return _mapping(target)
    if is_hugging_face(target):
        return Readable(lambda n, columns=None: frames.read_hugging_face(target, n, columns))
    if callable(getattr(target, "collect", None)) and hasattr(target, "collect_schema"):
        return Readable(lambda n, columns=None: frames.read_lazy_frame(target, n, columns))
    if hasattr(target, "__arrow_c_stream__"):
        read_once = hasattr(target, "read_next_batch")
        return _once(lambda _, columns=None: frames.read_stream(target, columns), target, read_once)
    if hasattr(target, "__arrow_c_array__"):
        return Readable(lambda _, columns=None: frames.read_array(target, columns))
    if hasattr(target, "to_batches") and hasattr(target, "schema"):  # a dataset of Arrow
        return Readable(lambda _, columns=None: frames.read_arrow_dataset(target, columns))
    if hasattr(target, "__dataframe__"):
        return Readable(lambda _, columns=None: frames.read_interchange(target, columns))
    if is_loader(target):
        return Readable(lambda n, _=None: chunked(loaded_examples(target), batch_rows(n)))
    if is_torch_data(target):
        return Readable(lambda n, _=None: chunked(torch_examples(target), batch_rows(n)))
    array = as_array(target)
    if array is not None:
        return Readable(lambda _, columns=None: read_numpy(array, columns))
    check_iterable(target)
    return _once(
        lambda n, columns=None: _examples(target, n, columns), target, is_read_once(target)
    )


def _once(read: Read, target: object, read_once: bool) -> Readable:
    """Return how to read an object, which may be gone after it has been read."""
    if not read_once:
        return Readable(read)
    begun: list[bool] = []

    def first_time(n: int | None, columns: Columns = None, /) -> Iterator[Batch]:
        if begun:
            raise UnskewError(
                f"{kind_name(target)} can be read only once; pass a list, a table or a file"
            )
        begun.append(True)
        return read(n, columns)

    return Readable(first_time, repeatable=False)


def _mapping(target: Mapping[Any, Any]) -> Readable:
    """Read a dict of splits, or a dict of columns."""
    if target and all(map(is_table, target.values())):
        splits = {str(name): readable_object(value) for name, value in target.items()}
        return Readable(
            lambda n, columns=None: _splits(target, splits, n, columns),
            all(split.repeatable for split in splits.values()),
        )
    return Readable(lambda _, columns=None: read_columns(target, columns))


def _splits(
    target: object, splits: Mapping[str, Readable], n: int | None, columns: Columns
) -> Iterator[Batch]:
    """Yield one split after the other, each row with the name of its split."""
    what = f"{kind_name(target)} has"
    parts = ((name, split.read(n, columns)) for name, split in splits.items())
    for name, batch in _alike(parts, what, "split", "audit one split, data[{!r}], or"):
        yield with_column(batch, SPLIT, name) if columns is None or SPLIT in columns else batch


def _alike(
    parts: Iterable[tuple[Any, Iterator[Batch]]], what: str, kind: str, step: str
) -> Iterator[tuple[Any, Batch]]:
    """Yield the batches of all parts with their names; refuse a part with other columns."""
    first: tuple[Any, list[str]] | None = None
    for name, batches in parts:
        for batch in batches:
            names = sorted(batch.columns)
            first = first or (name, names)
            if names != first[1]:
                odd = sorted(set(names) ^ set(first[1]))[0]
                has = name if odd in names else first[0]
                raise UnskewError(
                    f"{what} a column {odd!r} in {kind} {has!r} alone; {step.format(name)} remove "
                    "the column"
                )
            yield name, batch


def _examples(target: Iterable[Any], n: int | None, columns: Columns) -> Iterator[Batch]:
    """Read examples one by one; if the first is a table, they all are tables."""
    # ``Given`` calls ``iter()`` once: some datasets are their own iterators, and a second call
    # restarts them.
    is_list = type(target) in (list, tuple)
    iterator = iter(target) if is_list else Given(target, "mend it, or pass a list of examples")
    begin = list(islice(iterator, 1))
    examples = chain(begin, iterator)
    if not (begin and is_table(begin[0])):
        return chunked(examples, batch_rows(n))
    tables = enumerate(readable_object(table).read(n, columns) for table in examples)
    return (batch for _, batch in _alike(tables, "one of the tables has", "number", ""))
