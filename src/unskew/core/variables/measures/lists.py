"""Measures of lists: their order, repeats, sums and extremes."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Hashable, Sequence
from functools import cached_property
from itertools import pairwise
from typing import Any

from unskew.core.values.json_text import json_text
from unskew.core.values.nesting import MAX_DEPTH
from unskew.core.variables.measures.measure import Measure
from unskew.core.variables.measures.numbers import number_of
from unskew.core.variables.path import is_list


class Items:
    """The items of one list. What several measures need is worked out once."""

    def __init__(self, items: Any) -> None:
        """Take the items: a list, a tuple or an array."""
        self.items: Sequence[Any] = items.tolist() if hasattr(items, "tolist") else items

    @cached_property
    def keys(self) -> list[Hashable]:
        """The items as values that can be compared: lists and dicts are texts."""
        return [
            item
            if type(item).__hash__ is not None and not isinstance(item, tuple)
            else json_text(item)
            for item in self.items
        ]

    @cached_property
    def counts(self) -> Counter[Hashable]:
        """How often each item comes."""
        return Counter(self.keys)

    @cached_property
    def texts(self) -> Counter[str]:
        """How often each item comes, as text."""
        return Counter(str(item) for item in self.items if item is not None)

    @cached_property
    def numbers(self) -> list[int | float] | None:
        """The items, if all of them are numbers; None if one is not."""
        numbers = [number_of(item) for item in self.items if not isinstance(item, str)]
        there = [number for number in numbers if number is not None]
        return there if len(there) == len(self.items) else None

    @cached_property
    def ordered(self) -> Sequence[Any] | None:
        """The items, if they are numbers or all texts; None if they have no order."""
        if self.numbers is not None:
            return self.numbers
        return self.items if all(isinstance(item, str) for item in self.items) else None

    def occurrences(self, wanted: Sequence[str]) -> int:
        """Return how often any of some items comes."""
        return sum(self.texts[one] for one in wanted)


def items_of(value: Any) -> Items | None:
    """Return the view of a list; None for another value."""
    return Items(value) if is_list(value) else None


def _ordered(value: Any) -> Sequence[Any] | None:
    view = items_of(value)
    return None if view is None else view.ordered


def order(items: Items) -> str | None:
    """Return whether items go up, down, stay level, or are mixed; None for fewer than two."""
    ordered = items.ordered
    if ordered is None or len(ordered) < 2:
        return None
    up = any(a < b for a, b in pairwise(ordered))
    down = any(a > b for a, b in pairwise(ordered))
    return "mixed" if up and down else "up" if up else "down" if down else "level"


def peaks(items: Items) -> int | None:
    """Return how many items are larger than the items next to them."""
    numbers = items.numbers
    if numbers is None:
        return None
    return sum(a < b > c for a, b, c in zip(numbers, numbers[1:], numbers[2:], strict=False))


def levels(value: Any) -> int:
    """Return how many lists and dicts are inside each other."""
    deepest, level = 0, [value]
    while level and deepest <= MAX_DEPTH:
        inside = [v for v in level if isinstance(v, dict) or is_list(v)]
        if not inside:
            break
        deepest += 1
        level = [item for v in inside for item in (v.values() if isinstance(v, dict) else v)]
    return deepest


def _constant_step(items: Items) -> bool | None:
    numbers = items.numbers
    if numbers is None or len(numbers) < 2:
        return None
    return len({b - a for a, b in pairwise(numbers)}) == 1


def _of(name: str, doc: str, of: Callable[..., Hashable], **more: Any) -> Measure:
    return Measure(name, doc, "a list", of, items_of, on_json=True, **more)


def _of_numbers(name: str, doc: str, of: Callable[[list[int | float]], Hashable]) -> Measure:
    """Return a measure of the items of a list of numbers; None for an empty list."""
    return Measure(
        name,
        doc,
        "a list of numbers",
        lambda items: of(items.numbers) if items.numbers else None,
        items_of,
        on_json=True,
    )


def _total(numbers: list[int | float]) -> int | float:
    return sum(numbers) if all(type(n) is int for n in numbers) else math.fsum(numbers)


MEASURES = (
    _of("distinct", "number of different items", lambda i: len(i.counts)),
    _of("repeats", "number of items that came before", lambda i: len(i.keys) - len(i.counts)),
    _of(
        "most_frequent",
        "how often the most frequent item comes",
        lambda i: max(i.counts.values(), default=0),
    ),
    _of(
        "doubles",
        "number of items that are equal to the one before",
        lambda i: sum(a == b for a, b in pairwise(i.keys)),
    ),
    _of("order", "order of the items: up, down, level or mixed", order),
    _of(
        "is_symmetric",
        "yes or no: are the items the same backwards",
        lambda i: i.keys == i.keys[::-1],
    ),
    _of(
        "ends_alike",
        "yes or no: is the first item equal to the last one",
        lambda i: i.keys[0] == i.keys[-1] if i.keys else None,
    ),
    _of_numbers("sum", "sum of the items", _total),
    _of_numbers("sum_parity", "even or odd sum", lambda n: ("even", "odd")[int(_total(n)) % 2]),
    _of_numbers("mean", "mean of the items", lambda n: _total(n) / len(n)),
    _of_numbers("smallest", "smallest item", min),
    _of_numbers("largest", "largest item", max),
    _of_numbers("range", "largest item less the smallest one", lambda n: max(n) - min(n)),
    _of_numbers("place_of_largest", "place of the largest item, from 0", lambda n: n.index(max(n))),
    _of_numbers(
        "place_of_smallest", "place of the smallest item, from 0", lambda n: n.index(min(n))
    ),
    _of_numbers("negatives", "number of items below 0", lambda n: sum(x < 0 for x in n)),
    _of_numbers("zeros", "number of items that are 0", lambda n: sum(x == 0 for x in n)),
    _of_numbers("evens", "number of even items", lambda n: sum(x % 2 == 0 for x in n)),
    _of("peaks", "number of items larger than both neighbours", peaks),
    _of("constant_step", "yes or no: do all items have the same distance", _constant_step),
)
