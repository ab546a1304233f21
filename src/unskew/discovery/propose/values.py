"""Features of any value: itself, whether it is missing, its type; of dicts, the keys; of dates."""

from __future__ import annotations

from collections.abc import Hashable, Iterator

import numpy as np

from unskew.core.values.missing import is_missing
from unskew.core.variables.measures.measure import VALUE
from unskew.discovery.proposal import Field
from unskew.discovery.propose.make import Made, of_measures, of_values


def labels(field: Field, _: np.random.Generator) -> Iterator[Made]:
    """Propose the value itself."""
    values: list[Hashable] = [VALUE.of_view(view) for view in field.views(VALUE)]
    plain = [value.item() if isinstance(value, np.generic) else value for value in values]
    yield from of_values(
        field.path, f"{field.path}: value", (field.path,), field.of_distinct(plain)
    )


def presence(field: Field, _: np.random.Generator) -> Iterator[Made]:
    """Propose whether the value is missing, and its type."""
    if any(map(is_missing, field.distinct)):
        yield from of_measures(field, ("missing",))
    if len({type(value) for value in field.distinct if not is_missing(value)}) > 1:
        yield from of_measures(field, ("type",))


def dicts(field: Field, _: np.random.Generator) -> Iterator[Made]:
    """Propose the keys of dicts, and how deep they are nested."""
    yield from of_measures(field, ("keys", "key_names", "levels"))


def dates(field: Field, _: np.random.Generator) -> Iterator[Made]:
    """Propose the parts of dates."""
    yield from of_measures(field, ("year", "month", "weekday", "day", "hour", "minute"))
    if any(isinstance(value, str) for value in field.distinct):
        yield from of_measures(field, ("pattern",))
