"""The depth of plain examples, looked at once, before anything else walks through them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import chain, islice
from typing import Any

from unskew.errors import RowError, brief

MAX_DEPTH = 100  # levels of lists, tuples, sets and dicts in an example
MOST = 5_000_000  # containers on one level: far fewer fit into an example that is no accident

_ITEMS: dict[type, Callable[[Any], Iterable[Any]]] = {
    dict: dict.values,
    list: list.__iter__,
    tuple: tuple.__iter__,
    set: set.__iter__,
    frozenset: frozenset.__iter__,
}


def check_nesting(examples: Sequence[object]) -> None:
    """Refuse an example that is nested too deeply or contains itself.

    All examples are walked level by level, so that each step is one pass over many values.
    """
    if _is_shallow(examples):
        return
    for row, example in enumerate(examples):
        if not _is_shallow([example]):
            raise RowError(
                row,
                f"{brief(example, 40)} contains itself, or has more than {MAX_DEPTH} levels of "
                "lists and dicts; make it flatter",
            )


def _is_shallow(examples: Sequence[object]) -> bool:
    """Whether no example has more than ``MAX_DEPTH`` levels, and no level has too many values."""
    kinds = set(map(type, examples))
    holders = _containers(kinds)
    level = (
        [value for value in examples if type(value) in holders]
        if kinds - set(holders)
        else examples
    )
    for _ in range(MAX_DEPTH):
        inner = _containers(set(map(type, _inside(level, holders))))
        if not inner:
            return True
        deeper = (value for value in _inside(level, holders) if type(value) in inner)
        level, holders = list(islice(deeper, MOST + 1)), inner
        if len(level) > MOST:
            return False
    return False


def _containers(kinds: set[type]) -> dict[type, Callable[[Any], Iterable[Any]]]:
    """Return the kinds that hold other values, each with what lists them."""
    return {
        kind: items for kind in kinds for base, items in _ITEMS.items() if issubclass(kind, base)
    }


def _inside(
    level: Sequence[object], kinds: dict[type, Callable[[Any], Iterable[Any]]]
) -> Iterator[object]:
    """Yield the values in all containers of a level."""
    if len(kinds) == 1:
        (items,) = kinds.values()
        return chain.from_iterable(map(items, level))
    return chain.from_iterable(kinds[type(value)](value) for value in level)
