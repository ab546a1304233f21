"""Makes proposals of measures: names them, puts numbers into bins, leaves out what says nothing."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from typing import Any, TypeAlias

from unskew.audits.binning import choose_edges, readable_edges
from unskew.core.variables.coded import Coded
from unskew.core.variables.intervals import in_intervals, is_number
from unskew.core.variables.measures.measure import Measure
from unskew.core.variables.measures.names import MEASURES, changed_name
from unskew.discovery.proposal import Field, Null, Proposal

MOST_NUMBERS = 100  # different numbers that are also put into bins
MOST_VALUES = 1000  # different values of a feature
LARGEST_SHARE = 0.25  # of the rows that may have a value of their own
FEWEST = 20  # rows in which any number of different values is taken

SAME = "features that are the same in all rows"
MANY = "features with too many different values"
# A proposal, or why one was left out.
Made: TypeAlias = Proposal | str


def of_measure(
    field: Field,
    name: str,
    *arguments: str | int,
    null: Null = "even",
    references: Sequence[Field] = (),
    chance: tuple[Coded, ...] = (),
    least: int | None = None,
) -> Iterator[Made]:
    """Yield the proposals of one measure of a field.

    ``references`` are the field by chance; ``chance`` is the measure by chance.
    """
    measure = MEASURES[name]
    measure = measure.with_arguments(*arguments) if arguments else measure
    yield from of_values(
        measure.of_path(field.path),
        sentence(measure, field.path),
        (field.path,),
        field.measured(measure),
        null=null,
        chance=(*chance, *(reference.measured(measure) for reference in references)),
        least=least,
    )


def of_measures(field: Field, names: Iterable[str], **more: Any) -> Iterator[Made]:
    """Yield the proposals of several measures of a field."""
    for name in names:
        yield from of_measure(field, name, **more)


def sentence(measure: Measure, *paths: str) -> str:
    """Return what a measure of a path says of a row, for a person."""
    return f"{' and '.join(paths)}: {measure.doc}"


def of_values(
    name: str,
    doc: str,
    paths: tuple[str, ...],
    values: Coded,
    *,
    null: Null = "even",
    chance: tuple[Coded, ...] = (),
    least: int | None = None,
) -> Iterator[Made]:
    """Yield a proposal; for many different numbers, one of their bins, or both."""
    there = [value for value in values.distinct if value is not None]
    if not there:
        return
    null = "bell" if null == "chance" and not chance else null
    varies = len(values.distinct) > 1 or any(
        set(reference.distinct) != set(values.distinct) for reference in chance
    )
    if not varies:
        yield SAME
        return
    numbers = all(map(is_number, there))
    most = max(FEWEST, min(MOST_VALUES, int(LARGEST_SHARE * len(values))))
    edges = choose_edges(values) if numbers else ()
    if numbers and not edges and len(there) > MOST_NUMBERS:
        edges = _edges_of_many(values)
    if edges:
        edges = _with_zero(there, edges)
        yield Proposal(
            changed_name("bins", name, edges),
            f"{doc}, in {len(edges) + 1} bins",
            paths,
            in_intervals(values, edges),
            null,
            tuple(in_intervals(reference, edges) for reference in chance),
        )
    if len(there) <= most:
        yield Proposal(name, doc, paths, values, null, chance, least)
    elif not edges:
        yield MANY


def _with_zero(numbers: Sequence[Any], edges: tuple[float, ...]) -> tuple[float, ...]:
    """Return edges that keep 0 apart, where it is the smallest number: it means nothing at all."""
    above = min((number for number in numbers if number > 0), default=0)
    if min(numbers) != 0 or not above or edges[0] <= above:
        return edges
    return (float(f"1e{math.floor(math.log10(above))}"), *edges)


def _edges_of_many(values: Coded) -> tuple[float, ...]:
    """Return the edges of bins for numbers that repeat, but have many different values.

    The 1 % of the rows at each end do not decide: outliers would make all bins but one empty.
    """
    numbers = sorted(value for value in values.tolist() if is_number(value))
    few = len(numbers) // 100
    return readable_edges(float(numbers[few]), float(numbers[-few - 1]))
