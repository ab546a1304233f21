"""A proposal: a feature of the data that may matter, and its value in each row of a sample."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray

from unskew.core.variables.coded import Coded
from unskew.core.variables.column import column_variable
from unskew.core.variables.measures.measure import Measure, viewed
from unskew.core.variables.packed import coded
from unskew.core.variables.variable import SalientVariable

# What the values of a path are. It decides which proposers look at them.
Kind: TypeAlias = Literal[
    "flag", "number", "label", "text", "list", "messages", "dict", "array", "date", "other"
]

# What a feature would look like in data without skew:
# - "even": all its values come equally often. This is so for what a generator chooses: a number in
#   its range, a label, a length, a number of items.
# - "bell": evenly, or like a bell curve. This is so for sums and means of many parts.
# - "hill": rising to one top and falling after it. This is so for what follows from parts that are
#   not known: the largest number of a text, the parts of a picture. Only gaps, peaks and several
#   tops are a skew.
# - "chance": as in one of the samples in ``Proposal.chance``, in which the parts are shuffled or
#   drawn anew. This is so for what follows from the parts: the last digit of a number, or whether
#   a list is in order.
# - "zipf": as Zipf's law says of a word of a large vocabulary. Such proposals of one path are
#   looked at together: a word counts only if it comes in many more rows than the next one.
Null: TypeAlias = Literal["even", "bell", "hill", "chance", "zipf"]


@dataclass(frozen=True)
class Field:
    """The values of one path in the rows of a sample, as Python values; None where none is."""

    path: str
    kind: Kind
    values: Sequence[Any]

    @cached_property
    def _coded(self) -> tuple[list[Any], NDArray[np.int64]]:
        numbers: dict[tuple[type, Any], int] = {}
        try:  # 1, 1.0 and True are equal, and measured differently
            keys = ((type(value), value) for value in self.values)
            codes = [numbers.setdefault(key, len(numbers)) for key in keys]
        except TypeError:  # lists and dicts cannot be hashed
            return list(self.values), np.arange(len(self.values))
        distinct = [value for _, value in numbers]
        return distinct, np.array(codes, dtype=np.int64)

    @property
    def distinct(self) -> list[Any]:
        """The different values; each row has its own where values cannot be compared."""
        return self._coded[0]

    @property
    def codes(self) -> NDArray[np.int64]:
        """The place of each row's value in ``distinct``."""
        return self._coded[1]

    @cached_property
    def _views(self) -> dict[Any, list[Any]]:
        return {}

    def views(self, measure: Measure) -> list[Any]:
        """Return what a measure needs of each different value; worked out once for its family."""
        key = (measure.view, measure.on_json)
        if key not in self._views:
            self._views[key] = [viewed(measure, value) for value in self.distinct]
        return self._views[key]

    def measured(self, measure: Measure) -> Coded:
        """Return the measure of each row."""
        return self.of_distinct(list(map(measure.of_view, self.views(measure))))

    def of_distinct(self, values: Sequence[Hashable]) -> Coded:
        """Return what was measured of each of the ``distinct`` values, for all rows."""
        return coded(values, self.codes)

    def with_values(self, values: Sequence[Any]) -> Field:
        """Return a field of the same path with other values."""
        return replace(self, values=values)


@dataclass(frozen=True)
class Proposal:
    """A feature: how it is named, what it says, and its value in each row of the sample.

    Args:
        name: the name that ``--by`` and ``--homogenize`` take. Measuring the sample by this name
            gives ``values``.
        doc: what it says of a row, for a person: "number of words of prompt".
        paths: the paths that it measures.
        values: the value of each row. Numbers that hardly repeat are in bins, and the name says so.
        null: what its values would be in data without skew.
        chance: its values in samples whose parts are shuffled or drawn anew. They may have fewer
            rows. With the null "chance", the nearest of them counts. With others, the nearest of
            them and of what the null says counts.
        least: for numbers that count something, the smallest count that could come.
        support: all values that could come, where a domain or bins declare them.
        own: the variable, where the name means nothing outside this program: a user's function.
    """

    name: str
    doc: str
    paths: tuple[str, ...]
    values: Coded
    null: Null = "even"
    chance: tuple[Coded, ...] = ()
    least: int | None = None
    support: tuple[Hashable, ...] | None = None
    own: SalientVariable | None = None

    @property
    def variable(self) -> SalientVariable:
        """The variable, ready to measure other rows and to be homogenized."""
        return self.own or column_variable(self.name)


# Looks at the values of a path and proposes features of them. The generator is for shuffling.
# A text in place of a proposal says why one was left out.
Proposer: TypeAlias = Callable[[Field, np.random.Generator], Iterable[Proposal | str]]


@dataclass(frozen=True)
class Proposed:
    """All proposals for a sample; the fields; and how many were left out, by reason."""

    proposals: Sequence[Proposal]
    fields: Sequence[Field]
    left_out: Mapping[str, int]
