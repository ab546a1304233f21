"""Features of lists. They are held against lists whose items are shuffled or drawn anew."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from unskew.core.variables.measures.lists import Items, items_of, order
from unskew.core.variables.measures.measure import VALUE
from unskew.core.variables.measures.names import MEASURES
from unskew.core.variables.path import follow, json_inside, parse_path
from unskew.discovery.proposal import Field, Null
from unskew.discovery.propose.make import Made, of_measure, of_measures, of_values

MOST_ITEMS = 40  # different items that are proposed
LONG_ITEM = 60  # characters of an item that is proposed
_SUMS = ("sum", "mean", "smallest", "largest", "range", "negatives", "zeros", "evens", "peaks")
_FOLLOWS = (
    *("distinct", "repeats", "most_frequent", "doubles", "order", "is_symmetric", "ends_alike"),
    *("sum_parity", "place_of_largest", "place_of_smallest", "constant_step"),
)
_COUNTS = frozenset({"repeats", "doubles", "negatives", "zeros", "evens", "peaks"})


def lists(field: Field, rng: np.random.Generator) -> Iterator[Made]:
    """Propose the length of lists, their order, repeats, extremes, ends and items."""
    yield from of_measures(field, ("count",), least=0)
    yield from of_measures(field, ("levels",))
    rows = [None if view is None else view for view in field.views(MEASURES["distinct"])]
    references = _references(field, rng)
    for name in (*_SUMS, *_FOLLOWS):
        null: Null = "hill" if name in _SUMS else "chance"
        least = 0 if name in _COUNTS else None
        yield from of_measure(field, name, null=null, references=references, least=least)
    yield from _ends(field, references)
    yield from _items(field, [row for row in rows if row is not None], references)


def _references(field: Field, rng: np.random.Generator) -> tuple[Field, ...]:
    """Return the field with items shuffled between rows, and with items drawn anew, evenly.

    What holds in all rows holds in these too: sorted items are sorted, and none comes twice.
    """
    views = [items_of(json_inside(v) if isinstance(v, str) else v) for v in field.values]
    rows = [view for view in views if view is not None and len(view.items)]
    pool = [item for view in rows for item in view.items]
    if not pool or any(isinstance(item, (dict, list)) for item in pool):
        return ()
    never_twice = all(len(view.counts) == len(view.keys) for view in rows)
    long = [view for view in rows if len(view.keys) > 1]
    directions = {order(view) for view in long}
    numbers = all(type(item) in (int, float) for item in pool)
    distinct = list(dict.fromkeys(pool))

    def remade(draw: Any) -> Field:
        values: list[Any] = []
        for view in views:
            items = [] if view is None else draw(len(view.items))
            if never_twice and len(items) > 1:
                items = _without_repeats(items, distinct, rng)
            if len(directions) == 1 and directions <= {"up", "down"} and _can_be_sorted(items):
                items = sorted(items, reverse=directions == {"down"})
            values.append(None if view is None else items)
        return field.with_values(values)

    mixed = iter(rng.permutation(len(pool)).tolist())
    shuffled = remade(lambda n: [pool[next(mixed)] for _ in range(n)])
    if numbers and all(type(item) is int for item in pool):
        low, high = min(pool), max(pool)
        if high - low < 2**62:
            drawn = iter(rng.integers(low, high, len(pool), endpoint=True).tolist())
            return shuffled, remade(lambda n: [next(drawn) for _ in range(n)])
    if numbers:
        floats = iter(rng.uniform(min(pool), max(pool), len(pool)).tolist())
        return shuffled, remade(lambda n: [next(floats) for _ in range(n)])
    places = iter(rng.integers(0, len(distinct), len(pool)).tolist())
    return shuffled, remade(lambda n: [distinct[next(places)] for _ in range(n)])


def _without_repeats(
    items: Sequence[Any], distinct: Sequence[Any], rng: np.random.Generator
) -> list[Any]:
    """Return items in which none comes twice; others take the place of repeated ones."""
    chosen = dict.fromkeys(items)
    tries = 0
    while len(chosen) < min(len(items), len(distinct)) and tries < 50 * len(items):
        chosen[distinct[int(rng.integers(len(distinct)))]] = None
        tries += 1
    return list(chosen)


def _can_be_sorted(items: Sequence[Any]) -> bool:
    return Items(items).ordered is not None


def _ends(field: Field, references: Sequence[Field]) -> Iterator[Made]:
    """Propose the first and the last item."""
    for step in ("[0]", "[1]", "[-1]"):
        name = f"{field.path}{step}"
        values, *chance = (_at(one, name, field.path) for one in (field, *references))
        if values is not None:
            yield from of_values(
                *(name, f"{name}: value", (field.path,), values),
                null="chance",
                chance=tuple(c for c in chance if c is not None),
            )


def _at(field: Field, name: str, path: str) -> Any:
    """Return the item that each row has at an index; None if these are no values."""
    steps = parse_path(name)
    items = follow(field.values, steps, len(parse_path(path).keys))
    values = field.with_values([v if type(v) in (int, float, str, bool) else None for v in items])
    return values.of_distinct([VALUE.of_view(v) for v in values.views(VALUE)])


def _items(field: Field, rows: Sequence[Items], references: Sequence[Field]) -> Iterator[Made]:
    """Propose which items the lists have, if they are few."""
    counts: Counter[str] = Counter()
    for view in rows:
        counts.update(view.texts.keys())
    names = [name for name, _ in counts.most_common() if 0 < len(name) <= LONG_ITEM]
    if len(counts) > max(MOST_ITEMS, len(rows) // 4):
        yield from ["items of lists with too many different ones"] * len(counts)
        return
    yield from [f"items beyond the {MOST_ITEMS} most frequent"] * (
        len(counts) - len(names[:MOST_ITEMS])
    )
    evenly = references[1:]
    for name in names[:MOST_ITEMS]:
        for measure in ("has", "occurrences"):
            least = 0 if measure == "occurrences" else None
            yield from of_measure(
                field, measure, name, null="chance", references=evenly, least=least
            )
