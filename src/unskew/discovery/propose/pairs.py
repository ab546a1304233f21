"""Features of two fields together, such as an input and an output."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import combinations

import numpy as np

from unskew.core.variables.measures.names import MEASURES
from unskew.core.variables.measures.pairs import of_parts, parts
from unskew.discovery.proposal import Field
from unskew.discovery.propose.make import Made, of_values, sentence

MOST_PAIRS = 60
_NUMBERS = ("compare", "difference", "divides", "carries", "same")
_TEXTS = ("same", "length_change", "changed", "contained", "third_of", "shared_words")
_LISTS = ("same", "length_change", "changed", "reordered")
_ARRAYS = ("same", "changed", "length_change")
_OF_KINDS = {
    ("number", "number"): _NUMBERS,
    ("text", "text"): _TEXTS,
    ("text", "label"): ("contained", "third_of", "same"),
    ("text", "number"): ("contained",),
    ("label", "label"): ("same",),
    ("list", "list"): _LISTS,
    ("list", "number"): ("contained", "place_in"),
    ("list", "label"): ("contained", "place_in"),
    ("list", "text"): ("contained", "place_in"),
    ("array", "array"): _ARRAYS,
}
_FLIPPED = {(b, a) for a, b in _OF_KINDS if a != b}


def pairs(fields: Sequence[Field], rng: np.random.Generator) -> Iterator[Made]:
    """Propose how two fields differ. By chance, the second ones are shuffled between the rows."""
    views = {id(field): parts(field.values) for field in fields}
    done: set[tuple[str, str, str]] = set()
    used = 0
    for one, other in sorted(combinations(fields, 2), key=_depth):
        a, b = (other, one) if (one.kind, other.kind) in _FLIPPED else (one, other)
        names = _OF_KINDS.get((a.kind, b.kind), ())
        if not names or a.path == b.path or _nested(a.path, b.path):
            continue
        if used == MOST_PAIRS:
            yield f"pairs of fields beyond the first {MOST_PAIRS}"
            continue
        used += 1
        first, second = views[id(a)], views[id(b)]
        order = rng.permutation(len(second)).tolist()
        mixed = [second[row] for row in order]
        for name in names:
            if (name, a.path, b.path) in done:
                continue
            done.add((name, a.path, b.path))
            measure = MEASURES[name]
            yield from of_values(
                measure.of_path(a.path, b.path),
                sentence(measure, a.path, b.path),
                (a.path, b.path),
                of_parts(measure, first, second),
                null="hill",
                chance=(of_parts(measure, first, mixed),),
            )


def _depth(pair: tuple[Field, Field]) -> int:
    """Return how deep two fields are: columns come first."""
    return sum(field.path.count(".") + field.path.count("[") for field in pair)


def _nested(a: str, b: str) -> bool:
    return a.startswith((f"{b}.", f"{b}[")) or b.startswith((f"{a}.", f"{a}["))
