"""Examples that are given as Python objects one by one; what gives none is refused by name."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from itertools import islice
from typing import Any

from unskew.core.batch import Batch
from unskew.core.errors import RowError, UnskewError, brief
from unskew.core.usercode.collected import Collected

ROWS = 4096  # examples in a batch


def batch_rows(n: int | None) -> int:
    """Return how many examples are in a batch if ``n`` are wanted; None means all."""
    return ROWS if n is None else min(n, ROWS)


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

    Iterating bytes gives numbers, and the order of a set changes: an audit of those would look
    right and mean nothing.
    """
    step = ""
    if isinstance(target, (set, frozenset)):
        step = "a set has no order that stays; pass a list, as sorted() makes one"
    elif isinstance(target, (bytes, bytearray, memoryview)):
        step = "pass a list of examples, or the path of a file"
    if step:
        raise UnskewError(f"{kind_name(target)} cannot be read; {step}")
    if not isinstance(target, Iterable):
        raise UnskewError(
            f"{brief(target)} cannot be read; pass examples, a table, draw(rng), a source's name "
            "or a file"
        )


def is_read_once(target: object) -> bool:
    """Whether an object is gone once it is read: an iterator, unless its examples are numbered."""
    has_numbers = hasattr(target, "__len__") and hasattr(target, "__getitem__")
    return isinstance(target, Iterator) and not has_numbers


def kind_name(target: object) -> str:
    """Name the kind of an object: a pandas DataFrame, a dict object."""
    library, name = type(target).__module__.partition(".")[0], type(target).__name__
    return f"a {name} object" if library == "builtins" else f"a {library} {name}"
