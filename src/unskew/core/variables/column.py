"""Variables of data by name: a column, a path into it, or a measure of paths.

``path`` and ``measures/names`` have the grammar of these names, ``measures`` says what each measure
returns.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable
from typing import Any

from unskew.core.batch import Batch
from unskew.core.errors import UnskewError
from unskew.core.usercode import own_code
from unskew.core.values.missing import is_missing
from unskew.core.variables.changes import changed
from unskew.core.variables.measures.basic import HAS
from unskew.core.variables.measures.measure import VALUE
from unskew.core.variables.measures.names import Name, parse_name
from unskew.core.variables.measures.pairs import pairs_measured
from unskew.core.variables.measures.refusals import wrong_pair
from unskew.core.variables.packed import Packed, pack
from unskew.core.variables.reader import Reader
from unskew.core.variables.variable import SalientVariable


def column_variable(name: str, *, known: bool = True) -> SalientVariable:
    """Return the variable that a name of data means: a column, a path, or a measure of a path.

    A row that does not have it counts as None. Unless the name is known to be right, the first
    batch must have a row that has it.
    """
    meaning = _meaning(name)
    if meaning is None or not (meaning.change or meaning.measure.paths > 1):
        return SalientVariable(name, Reader(name, known).values, doc=about(name), reads=name)
    if meaning.measure.paths > 1:
        inner = _of_pairs(meaning, known)
    else:
        inside = meaning.measure.of_path(*meaning.paths)
        inner = SalientVariable(inside, Reader(inside, known).values)
    if meaning.change:
        inner = changed(inner, meaning.change, meaning.numbers)
    # A column may have the whole name.
    column = Reader(name, known)
    return SalientVariable(
        name,
        lambda batch: (column.values if column.is_column(batch) else inner.measure)(batch),
        doc=about(name),
        reads=name,
    )


def about(name: str) -> str:
    """Return how a name is measured, for a person."""
    meaning = _meaning(name)
    if meaning is None:
        return VALUE.doc
    doc = meaning.measure.doc
    if meaning.measure.name == HAS:
        doc = f"yes or no: does {meaning.paths[0]} hold {meaning.measure.arguments[0]!r}"
    if not meaning.change:
        return doc
    how = {
        "bins": f"in {len(meaning.numbers) + 1} bins",
        "clip": " to ".join(f"{number:g}" for number in meaning.numbers),
        "round_to": f"to multiples of {meaning.numbers[0]:g}",
    }
    return f"{doc}, {how[meaning.change]}"


def _meaning(name: str) -> Name | None:
    """Return what a name means; None if it is no measure: it may be the name of a column."""
    try:
        return parse_name(name)
    except UnskewError:
        return None


def _of_pairs(meaning: Name, known: bool) -> SalientVariable:
    """Return the measure of two paths. Each pair of different values is measured once."""
    readers, measure = [Reader(path, known) for path in meaning.paths], meaning.measure
    first_batch = True

    def measured_pairs(batch: Batch) -> Packed:
        nonlocal first_batch
        leaves = [reader.leaves(batch) for reader in readers]
        values = pairs_measured(measure, *leaves)
        if first_batch and not known and not any(v is not None for v in values.distinct):
            both = [pair for pair in zip(*leaves, strict=True) if not any(map(is_missing, pair))]
            if both:
                raise wrong_pair(measure, meaning.paths, both[0])
        first_batch = False
        return values

    return SalientVariable(measure.of_path(*meaning.paths), measured_pairs)


def function_variable(
    name: str, function: Callable[[Any], Hashable], path: str, *, known: bool = True
) -> SalientVariable:
    """Return the variable that calls a user's function with what each row has at a path.

    Each different value is measured once. A missing value stays missing.
    """
    reader = Reader(path, known)

    def values(batch: Batch) -> Packed:
        done: dict[tuple[type, Any], Hashable] = {}

        def value(leaf: Any) -> Hashable:
            if is_missing(leaf):
                return None
            if type(leaf).__hash__ is None or isinstance(leaf, tuple):
                return function(leaf)
            key = (type(leaf), leaf)
            if key not in done:
                done[key] = function(leaf)
            return done[key]

        with own_code(f"variable {name!r}", f"make it take every value of {path}"):
            measured = [value(leaf) for leaf in reader.leaves(batch)]
        return pack(measured)

    return SalientVariable(name, values, doc=(function.__doc__ or "").strip().partition("\n")[0])
