"""Which plain examples can be read: not nested too deeply, and without sets."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import chain, islice
from typing import Any

from unskew.core.errors import RowError, brief

MAX_DEPTH = 100  # levels of lists, tuples and dicts in an example
MOST = 5_000_000  # containers on one level: far fewer fit into an example that is no accident

_ITEMS: dict[type, Callable[[Any], Iterable[Any]]] = {
    dict: dict.values,
    list: list.__iter__,
    tuple: tuple.__iter__,
}
_TOO_DEEP = (
    f"contains itself, or has more than {MAX_DEPTH} levels of lists and dicts; make it flatter"
)
_HAS_SET = "holds a set, whose order changes from run to run; give a sorted list or tuple"


def check_nesting(examples: Sequence[object]) -> None:
    """Refuse an example that contains itself, is nested too deeply, or holds a set.

    All examples are walked level by level, so that each step is one pass over many values.
    Objects of other classes are not looked into.
    """
    if not _fault(examples):
        return
    for row, example in enumerate(examples):
        fault = _fault([example])
        if fault:
            raise RowError(row, f"{brief(example, 40)} {fault}")


def _fault(examples: Sequence[object]) -> str:
    """Return what is wrong with some of the examples; empty if all can be read."""
    kinds = set(map(type, examples))
    if _has_set(kinds):
        return _HAS_SET
    holders = _containers(kinds)
    if not holders:
        return ""
    level = (
        [value for value in examples if type(value) in holders]
        if kinds - set(holders)
        else examples
    )
    for _ in range(MAX_DEPTH):
        kinds = set(map(type, _inside(level, holders)))
        if _has_set(kinds):
            return _HAS_SET
        inner = _containers(kinds)
        if not inner:
            return ""
        deeper = (value for value in _inside(level, holders) if type(value) in inner)
        level, holders = list(islice(deeper, MOST + 1)), inner
        if len(level) > MOST:
            return _TOO_DEEP
    return _TOO_DEEP


def _has_set(kinds: set[type]) -> bool:
    return any(issubclass(kind, (set, frozenset)) for kind in kinds)


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
