"""Examples that are given as Python objects one by one; what gives none is refused by name."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from itertools import islice
from typing import Any

from unskew.core.batch import Batch
from unskew.core.errors import RowError, UnskewError, brief
from unskew.core.processes.stop import RAISED, interrupt
from unskew.core.usercode import own_code, raised
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


class Given:
    """Yields what an iterable gives. An error of its code is one line with the row."""

    def __init__(self, target: Iterable[Any], step: str) -> None:
        """Begin to iterate; ``step`` says what to do about an error."""
        self._what, self._step, self._done = kind_name(target), step, 0
        self._stops = interrupt()
        with own_code(self._what, step):
            self._values = iter(target)

    def __iter__(self) -> Given:
        """Return itself."""
        return self

    def __next__(self) -> Any:
        """Return the next value."""
        try:
            value = next(self._values)
        except (StopIteration, UnskewError):
            raise
        except RAISED as error:  # own_code for each value would take longer than most iterables
            after = f" after {self._done:,} examples" if self._done else ""
            raise UnskewError(
                f"{self._what} raised {raised(error)}{after}; {self._step}"
            ) from error
        if self._stops is not None:
            self._stops.raise_again()
        self._done += 1
        return value


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
