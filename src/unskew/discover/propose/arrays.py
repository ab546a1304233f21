"""Features of arrays and images: size, brightness, colours, parts, where what is filled stands."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

import numpy as np

from unskew.core.variables.measures.names import MEASURES
from unskew.core.variables.measures.pictures import colour_name
from unskew.discover.proposal import Field
from unskew.discover.propose.make import Made, of_measure, of_measures

MOST_CELLS = 24  # different cells, each proposed
LOOK = 300  # arrays in which different cells are looked for
_CHOSEN = (
    *("shape", "rows", "columns", "area", "main_colour", "colours"),
    *("brighter_half", "brighter_side", "centre_row", "centre_column"),
    *("mirrored", "upside_down"),
)
_SUMS = (
    *("brightness", "contrast", "darkest", "brightest", "redness", "greenness", "blueness"),
    *("filled_cells", "filled", "parts", "largest_part", "filled_rows", "filled_columns", "edges"),
)


def arrays(field: Field, _: np.random.Generator) -> Iterator[Made]:
    """Propose features of arrays, and the share of each kind of cell."""
    yield from of_measures(field, _CHOSEN)
    yield from of_measures(field, _SUMS, null="bell")
    cells: Counter[str] = Counter()
    for view in field.views(MEASURES["rows"])[:LOOK]:
        if view is not None:
            colours, _codes, counts = view.coded
            if len(counts) > 4 * MOST_CELLS:  # a photograph
                yield "colours of pictures with very many"
                return
            for colour, count in zip(colours.tolist(), counts.tolist(), strict=True):
                cells[colour_name(colour)] += count
    names = [name for name, _ in cells.most_common()]
    yield from [f"colours beyond the {MOST_CELLS} most frequent"] * max(0, len(names) - MOST_CELLS)
    for name in names[:MOST_CELLS]:
        for measure in ("share", "cells"):
            least = 0 if measure == "cells" else None
            yield from of_measure(field, measure, name, null="bell", least=least)
    digits = sorted(name for name in names if name.isdigit() and name != "0")
    if 1 < len(digits) <= MOST_CELLS:  # how many cells hold anything that is counted
        yield from of_measure(field, "share", *digits, null="bell")
