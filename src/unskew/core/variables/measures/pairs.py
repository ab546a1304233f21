"""Measures of two values together, such as an input and an output."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from unskew.core.values.json_text import json_text
from unskew.core.values.missing import is_missing
from unskew.core.variables.coded import Coded, as_coded
from unskew.core.variables.measures.lists import items_of
from unskew.core.variables.measures.measure import Measure
from unskew.core.variables.measures.numbers import number_of
from unskew.core.variables.measures.pictures import picture_of
from unskew.core.variables.measures.text import Text, text_of
from unskew.core.variables.packed import pack


class Part:
    """One value of a pair, with the views that measures of pairs need."""

    def __init__(self, value: Any) -> None:
        """Take the value; a number of NumPy is a number of Python."""
        self.value = value.tolist() if isinstance(value, (np.ndarray, np.generic)) else value
        self.number = None if isinstance(self.value, bool) else number_of(self.value)
        self.text: Text | None = text_of(self.value)
        self._key: str | None = None

    @property
    def key(self) -> str:
        """What is equal for equal values."""
        if self._key is None:
            self._key = self.text.text if self.text is not None else json_text(self.value)
        return self._key

    @property
    def sequence(self) -> Sequence[Any] | None:
        """The tokens of a text, the items of a list, or the cells of an array; else None."""
        if self.text is not None:
            return self.text.tokens
        items = items_of(self.value)
        return None if items is None else items.items


def part_of(value: Any) -> Part | None:
    """Return the view of one value of a pair; None for a missing one."""
    return None if is_missing(value) else Part(value)


def parts(values: Sequence[Any]) -> list[Part | None]:
    """Return the view of each value; equal values have the same one."""
    known: dict[Any, Part | None] = {}
    views: list[Part | None] = []
    for value in values:
        try:
            key = (type(value), value)
            if key not in known:
                known[key] = part_of(value)
            views.append(known[key])
        except TypeError:  # a list or a dict
            views.append(part_of(value))
    return views


def pairs_measured(measure: Measure, first: Sequence[Any], second: Sequence[Any]) -> Coded:
    """Return the measure of the two values of each row, with each different one held once."""
    return of_parts(measure, parts(first), parts(second))


def of_parts(
    measure: Measure, first: Sequence[Part | None], second: Sequence[Part | None]
) -> Coded:
    """Return the measure of two views of each row. Each different pair is measured once."""
    known: dict[tuple[int, int], Hashable] = {}
    values: list[Hashable] = []
    for a, b in zip(first, second, strict=True):
        key = (id(a), id(b))
        if key not in known:
            known[key] = None if a is None or b is None else measure.of(a, b)
        values.append(known[key])
    return as_coded(pack(values))


def _same(a: Part, b: Part) -> bool:
    if a.number is not None and b.number is not None:
        return a.number == b.number
    return a.key == b.key


def _compare(a: Part, b: Part) -> str | None:
    x, y = a.number, b.number
    if x is None or y is None:
        return None
    return "less" if x < y else "more" if x > y else "equal"


def _difference(a: Part, b: Part) -> float | None:
    return None if a.number is None or b.number is None else b.number - a.number


def _divides(a: Part, b: Part) -> bool | None:
    whole = isinstance(a.number, int) and isinstance(b.number, int)
    return b.number % a.number == 0 if whole and a.number else None  # type: ignore[operator]


def _carries(a: Part, b: Part) -> int | None:
    """Return the number of carries when two whole numbers are added by hand."""
    if not (isinstance(a.number, int) and isinstance(b.number, int)):
        return None
    x, y = abs(a.number), abs(b.number)
    return (_digit_sum(x) + _digit_sum(y) - _digit_sum(x + y)) // 9


def _digit_sum(number: int) -> int:
    return sum(map(int, str(number)))


def _length_change(a: Part, b: Part) -> int | None:
    x, y = a.sequence, b.sequence
    if x is None or y is None:
        return None
    return len(y) - len(x)


def _changed(a: Part, b: Part) -> int | None:
    """Return in how many places two sequences or pictures differ; of the longer one, the rest."""
    x, y = a.sequence, b.sequence
    if x is None or y is None:
        return None
    left, right = _flat(a), _flat(b)
    if left is not None and right is not None:
        if left.shape != right.shape:
            return None
        return int((left != right).astype(np.int64).sum())
    different = [p != q for p, q in zip(x, y, strict=False)]
    return different.count(True) + abs(len(x) - len(y))


def _flat(part: Part) -> NDArray[Any] | None:
    picture = picture_of(part.value)
    return None if picture is None else picture.cells


def _contained(a: Part, b: Part) -> bool | None:
    """Return whether the second value stands in the first: a text in a text, an item in a list."""
    if b.text is not None and a.text is not None:
        return b.text.text.strip().lower() in a.text.text.lower()
    if a.text is not None and b.number is not None:
        return b.number in a.text.numbers
    items = items_of(a.value)
    return None if items is None else items.texts[str(b.value)] > 0


def _place_in(a: Part, b: Part) -> int | None:
    """Return the place of the second value in the first, a list, from 0."""
    items = items_of(a.value)
    if items is None:
        return None
    texts, wanted = list(map(str, items.items)), str(b.value)
    return texts.index(wanted) if wanted in texts else None


def _third_of(a: Part, b: Part) -> str | None:
    """Return in which third of the first text the second one begins."""
    if a.text is None or b.text is None:
        return None
    whole, wanted = a.text.text.lower(), b.text.text.strip().lower()
    at = whole.find(wanted) if wanted else -1
    return None if at < 0 else ("first", "middle", "last")[3 * at // len(whole)]


def _shared(a: Part, b: Part) -> int | None:
    """Return how many different words two texts share."""
    if a.text is None or b.text is None:
        return None
    return len(set(a.text.names) & set(b.text.names))


def _reordered(a: Part, b: Part) -> bool | None:
    x, y = items_of(a.value), items_of(b.value)
    return None if x is None or y is None else x.counts == y.counts


def _of(name: str, doc: str, of: Any) -> Measure:
    return Measure(
        name,
        doc,
        "two values",
        of,
        paths=2,
        example=f"{name}(input, output)",
    )


MEASURES = (
    _of("same", "yes or no: are they equal", _same),
    _of("compare", "is the first number less, more or equal", _compare),
    _of("difference", "second number less the first", _difference),
    _of("divides", "yes or no: is the second number a multiple of the first", _divides),
    _of("carries", "number of carries when they are added", _carries),
    _of("length_change", "length of the second less that of the first", _length_change),
    _of("changed", "number of places in which they differ", _changed),
    _of("contained", "yes or no: does the first contain the second", _contained),
    _of("place_in", "place of the second in the first, from 0", _place_in),
    _of("third_of", "third of the first text in which the second begins", _third_of),
    _of("shared_words", "number of different words in both", _shared),
    _of("reordered", "yes or no: do they hold the same items", _reordered),
)
