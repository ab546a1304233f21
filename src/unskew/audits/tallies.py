"""What was counted of some rows, as arrays and plain data: to be sent to another process and added.

A tally holds values, so it goes over the same door as the values of a saved audit (``value_data``).
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from unskew.core.distinct import Counts, Distinct, Hashes
from unskew.core.values.value_data import value_of, values_data

Arrays: TypeAlias = Sequence[NDArray[Any]]


@dataclass(frozen=True)
class ValueTally:
    """How often each value of a variable occurs; values without a name count by their hash."""

    name: str
    edges: tuple[float, ...]
    values: Sequence[Hashable]
    counts: Counts
    others: Hashes
    times: Counts  # of the others


@dataclass(frozen=True)
class Tallies:
    """What was counted of ``n`` rows: the hash of each different row, and every variable."""

    n: int
    rows: Hashes
    variables: Sequence[ValueTally]
    codes: NDArray[np.int64]  # of every n-th row, a column for each variable
    every: int

    def data(self) -> tuple[dict[str, Any], Arrays]:
        """Return the tallies as plain data and arrays; ``read`` reads them."""
        variables: list[dict[str, Any]] = []
        arrays: list[NDArray[Any]] = [self.rows, self.codes]
        for tally in self.variables:
            arrays += [tally.counts, tally.others, tally.times]
            values = values_data(tally.name, tally.values)
            variables.append({"name": tally.name, "edges": tally.edges, "values": values})
        return {"n": self.n, "every": self.every, "variables": variables}, arrays

    @classmethod
    def read(cls, data: dict[str, Any], arrays: Arrays) -> Tallies:
        """Return the tallies that ``data`` made these of."""
        rows, codes, *held = arrays
        triples = zip(*(held[start::3] for start in range(3)), strict=True)
        variables = [
            ValueTally(
                variable["name"],
                tuple(variable["edges"]),
                list(map(value_of, variable["values"])),
                *triple,
            )
            for variable, triple in zip(data["variables"], triples, strict=True)
        ]
        return cls(data["n"], rows, variables, codes, data["every"])


def hashes_of(distinct: Distinct) -> tuple[Hashes, Counts]:
    """Return all hashes, and their counts."""
    groups = list(distinct.groups())
    if not groups:
        return np.empty(0, np.uint64), np.empty(0, np.int64)
    hashes, counts = zip(*groups, strict=True)
    return np.concatenate(hashes), np.concatenate(counts)
