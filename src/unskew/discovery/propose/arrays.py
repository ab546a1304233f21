"""Features of arrays and images: size, brightness, colours, parts, where what is filled stands."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from unskew.core.variables.coded import as_coded
from unskew.core.variables.measures.names import MEASURES
from unskew.core.variables.measures.pictures import colour_name
from unskew.discovery.proposal import Field, Null
from unskew.discovery.propose.make import Made, of_measure, of_measures

MOST_CELLS = 24  # different cells, each proposed
MOST_COLOURS = 200  # different cells of pictures whose cells are proposed
STRUCTURE = 0.9  # of the roughness of shuffled cells; smoother pictures show something
LOOK = 300  # arrays in which different cells are looked for
MOST_SHUFFLED = 1000  # arrays whose cells are shuffled
LARGEST_SHUFFLED = 2_000_000  # cells of them together
_CHOSEN = (
    "first_numbered",
    "lowest_numbered",
    "rows",
    "columns",
    "main_colour",
    "quadrant",
    "brighter_half",
)
_LIGHT = (
    *("numbered", "brightness", "contrast", "darkest", "brightest"),
    *("redness", "greenness", "blueness", "colours"),
)
_PARTS = (
    *("filled_cells", "filled", "parts", "largest_part", "filled_rows", "filled_columns", "edges"),
    *("centre_row", "centre_column"),
)
_FOLLOWS = ("mirrored", "upside_down", "touches_edge", "filled_shape")


def arrays(field: Field, rng: np.random.Generator) -> Iterator[Made]:
    """Propose features of arrays, and the share of each kind of cell."""
    references = light = shuffled(field, rng)
    null: Null = "hill"
    if _has_structure(field, references):
        light, references, null = (), (turned(field, rng),), "chance"  # turning keeps the light
    yield from of_measures(field, (*_CHOSEN, "brighter_side"), references=references)
    yield from _sizes(field, rng)
    yield from of_measures(field, _LIGHT, null="hill", references=light)
    yield from of_measures(field, _PARTS, null=null, references=references)
    yield from of_measures(field, _FOLLOWS, null="chance", references=references)
    cells: Counter[str] = Counter()
    for view in field.views(MEASURES["rows"])[:LOOK]:
        if view is not None:
            colours, _codes, sizes = view.coded
            if len(cells) > MOST_COLOURS:  # photographs
                yield "colours of pictures with very many"
                return
            for colour, count in zip(colours.tolist(), sizes.tolist(), strict=True):
                cells[colour_name(colour)] += count
    names = [name for name, _ in cells.most_common()]
    yield from [f"colours beyond the {MOST_CELLS} most frequent"] * max(0, len(names) - MOST_CELLS)
    if len(names) > MOST_CELLS and all(name.isdigit() for name in names):
        yield "colours of pictures with very many"
        return
    digits = [name for name in names if name.isdigit() and name != "0"]
    numbered = np.zeros(len(field.values), dtype=np.int64)
    if len(digits) > 1:
        measure = MEASURES["cells"].with_arguments(*digits)
        counts = field.measured(measure).tolist()
        numbered[:] = [count if isinstance(count, int) else 0 for count in counts]
    for name in names[:MOST_CELLS]:
        if set(field.measured(MEASURES["cells"].with_arguments(name)).distinct) <= {
            0,
            1,
        }:  # a part of one choice, such as where a robot looks
            yield from _one(field, name)
            continue
        # of numbered colours, how many cells each has is held against an even draw
        of_share: Null = "hill" if name.isdigit() and len(digits) > 1 else "bell"
        yield from of_measure(field, "share", name, null=of_share)
        drawn = as_coded(rng.binomial(numbered, 1 / max(1, len(digits))))
        chance = (drawn,) if name in digits and len(digits) > 1 else ()
        null = "chance" if chance else "bell"
        yield from of_measure(field, "cells", name, null=null, chance=chance, least=0)
        if cells[name] <= 2 * LOOK:  # something that stands in one place
            for measure_of_place in ("row_of", "column_of"):
                yield from of_measure(field, measure_of_place, name)


def _one(field: Field, name: str) -> Iterator[Made]:
    """Propose whether a cell comes, and where. It may be in as few pictures as it likes."""
    own = field.measured(MEASURES["cells"].with_arguments(name))
    yield from of_measure(field, "cells", name, null="chance", chance=(own,))
    for place in ("row_of", "column_of"):
        yield from of_measure(field, place, name)


def _has_structure(field: Field, references: Sequence[Field]) -> bool:
    """Return whether neighbouring cells have to do with each other, as in drawings of things."""
    if not references:
        return True
    ours, theirs = (
        np.mean([_roughness(view.cells) for view in views if view is not None] or [0.0])
        for views in (field.views(MEASURES["rows"])[:LOOK], references[0].views(MEASURES["rows"]))
    )
    return bool(ours < STRUCTURE * theirs)


def _roughness(cells: NDArray[Any]) -> float:
    """Return how far neighbouring cells differ on average: as numbers, or how often they do."""
    steps = [(cells[1:], cells[:-1]), (cells[:, 1:], cells[:, :-1])]
    if cells.dtype.kind in "iuf":
        apart = [np.abs(a.astype(float) - b.astype(float)) for a, b in steps]
    else:
        apart = [(a != b).astype(float) for a, b in steps]
    every = np.concatenate([part.ravel() for part in apart])
    return float(every.mean()) if every.size else 0.0


def turned(field: Field, rng: np.random.Generator) -> Field:
    """Return some of the arrays, each turned and mirrored at random."""
    views = field.views(MEASURES["rows"])
    turns = rng.integers(0, 4, MOST_SHUFFLED).tolist()
    mirrors = rng.integers(0, 2, MOST_SHUFFLED).tolist()
    arrays = [
        np.rot90(view.cells[:, :: 1 - 2 * mirror], turn)
        for code, turn, mirror in zip(field.codes.tolist(), turns, mirrors, strict=False)
        if (view := views[code]) is not None
    ]
    return field.with_values(arrays)


def _sizes(field: Field, rng: np.random.Generator) -> Iterator[Made]:
    """Propose shape and area, held against pictures with the rows of one and columns of another."""
    views = field.views(MEASURES["rows"])
    sides = [view.cells.shape[:2] for view in (views[code] for code in field.codes) if view]
    if len(set(sides)) > 1:
        rows, columns = np.array(sides).T
        mixed = zip(rows.tolist(), rng.permutation(columns).tolist(), strict=True)
        references = (field.with_values([np.zeros(side) for side in mixed]),)
        yield from of_measures(field, ("shape", "area"), null="chance", references=references)


def shuffled(field: Field, rng: np.random.Generator) -> tuple[Field, ...]:
    """Return some arrays in which the cells of all of them are shuffled."""
    measure = MEASURES["rows"]
    views = [field.views(measure)[code] for code in field.codes[:MOST_SHUFFLED].tolist()]
    arrays = [view.cells for view in views if view is not None]
    flat = [cells.reshape(cells.shape[0] * cells.shape[1], *cells.shape[2:]) for cells in arrays]
    kinds = {(cells.dtype, cells.shape[2:]) for cells in arrays}
    if len(kinds) != 1 or sum(cells.size for cells in arrays) > LARGEST_SHUFFLED:
        return ()
    pool = rng.permutation(np.concatenate(flat))
    ends = np.cumsum([len(cells) for cells in flat])[:-1]
    mixed = [part.reshape(a.shape) for part, a in zip(np.split(pool, ends), arrays, strict=True)]
    return (field.with_values(mixed),)
