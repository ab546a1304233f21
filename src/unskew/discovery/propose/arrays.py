"""Features of arrays and images: size, brightness, colours, parts, where what is filled stands."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

import numpy as np

from unskew.core.variables.coded import as_coded
from unskew.core.variables.measures.names import MEASURES
from unskew.core.variables.measures.pictures import colour_name
from unskew.discovery.proposal import Field, Null
from unskew.discovery.propose.make import Made, of_measure, of_measures

MOST_CELLS = 24  # different cells, each proposed
MOST_COLOURS = 200  # different cells of pictures whose cells are proposed
LOOK = 300  # arrays in which different cells are looked for
MOST_SHUFFLED = 1000  # arrays whose cells are shuffled
LARGEST_SHUFFLED = 2_000_000  # cells of them together
_CHOSEN = (
    "first_numbered",
    "lowest_numbered",
    "shape",
    "rows",
    "columns",
    "area",
    "main_colour",
    "quadrant",
    "brighter_half",
)
_SUMS = (
    "numbered",
    *("brightness", "contrast", "darkest", "brightest", "redness", "greenness", "blueness"),
    *("filled_cells", "filled", "parts", "largest_part", "filled_rows", "filled_columns", "edges"),
    *("colours", "centre_row", "centre_column"),
)
_FOLLOWS = ("mirrored", "upside_down", "touches_edge", "filled_shape")


def arrays(field: Field, rng: np.random.Generator) -> Iterator[Made]:
    """Propose features of arrays, and the share of each kind of cell."""
    references = shuffled(field, rng)
    yield from of_measures(field, (*_CHOSEN, "brighter_side"))
    yield from of_measures(field, _SUMS, null="bell", references=references)
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
    digits = [name for name in names if name.isdigit() and name != "0"]
    numbered = np.zeros(len(field.values), dtype=np.int64)
    if len(digits) > 1:
        measure = MEASURES["cells"].with_arguments(*digits)
        counts = field.measured(measure).tolist()
        numbered[:] = [count if isinstance(count, int) else 0 for count in counts]
    for name in names[:MOST_CELLS]:
        yield from of_measure(field, "share", name, null="bell")
        drawn = as_coded(rng.binomial(numbered, 1 / max(1, len(digits))))
        chance = (drawn,) if name in digits and len(digits) > 1 else ()
        null: Null = "chance" if chance else "bell"
        yield from of_measure(field, "cells", name, null=null, chance=chance, least=0)
        if cells[name] <= 2 * LOOK:  # something that stands in one place
            for measure_of_place in ("row_of", "column_of"):
                yield from of_measure(field, measure_of_place, name)


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
