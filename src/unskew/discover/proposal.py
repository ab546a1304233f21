"""A proposal: a feature of the data that may matter, and its value in each row of a sample."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias

import numpy as np

from unskew.core.variables.coded import Coded

# What the values of a path are. It decides which proposers look at them.
Kind: TypeAlias = Literal[
    "number", "label", "text", "list", "messages", "array", "date", "flag", "other"
]

# What a feature would look like in data without skew:
# - "even": all its values come equally often. This is so for what a generator chooses: a number in
#   its range, a label, a length, a number of items.
# - "bell": evenly, or like a bell curve. This is so for sums and means of many parts.
# - "chance": as in rows in which the parts are shuffled. This is so for what follows from the
#   parts: the sum of a list, or how many characters a text of seven words has.
Null: TypeAlias = Literal["even", "bell", "chance"]


@dataclass(frozen=True)
class Field:
    """The values of one path in the rows of a sample, as Python values; None where none is."""

    path: str
    kind: Kind
    values: Sequence[Any]


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
        chance: for the null "chance", its values in rows whose parts are shuffled.
        least: for numbers that count something, the smallest count that could come.
    """

    name: str
    doc: str
    paths: tuple[str, ...]
    values: Coded
    null: Null = "even"
    chance: Coded | None = None
    least: int | None = None


# Looks at the values of a path and proposes features of them. The generator is for shuffling.
Proposer: TypeAlias = Callable[[Field, np.random.Generator], Iterable[Proposal]]
