"""A frozen rule: one table for each variable says with which probability a draw is kept.

A rule is fitted once, to a pilot sample. Then it never changes, so all parts of a dataset, all
workers and all machines keep draws by the same rule.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from unskew.balance.best.cells import Cells, Codes, Shares, cells_of
from unskew.balance.best.population import Population
from unskew.balance.best.raking import Raked
from unskew.balance.codebook import Codebook
from unskew.core.errors import UnskewError
from unskew.core.values.value_data import value_data, value_of

if TYPE_CHECKING:
    from unskew.core.batch import Batch
    from unskew.core.variables.variable import SalientVariable


DIGITS = 6  # of a table: two machines that fit the same rule may differ in the last digits


@dataclass(frozen=True)
class Pilot:
    """A sample of a source: the code of each variable of each example."""

    codebooks: tuple[Codebook, ...]
    codes: Codes

    @property
    def sizes(self) -> tuple[int, ...]:
        """The number of values of each variable."""
        return tuple(len(codebook.values) for codebook in self.codebooks)

    def cells(self) -> Cells:
        """Return the combinations of values in the sample."""
        return cells_of(self.codes, self.sizes)

    def population(self) -> Population:
        """Return the sample by its combinations of values."""
        return Population(
            tuple(codebook.variable.name for codebook in self.codebooks),
            tuple(codebook.values for codebook in self.codebooks),
            self.cells(),
            len(self.codes),
        )

    def shares(self) -> list[Shares]:
        """Return the share of each value of each variable."""
        return [
            np.bincount(column, minlength=size) / len(self.codes)
            for column, size in zip(self.codes.T, self.sizes, strict=True)
        ]


def pilot_of(variables: Sequence[SalientVariable], batches: Iterable[Batch]) -> Pilot:
    """Measure the variables of all batches."""
    codebooks = tuple(Codebook(variable) for variable in variables)
    codes = [
        np.stack([codebook.measure(batch) for codebook in codebooks], axis=1) for batch in batches
    ]
    if not codes:
        raise UnskewError("the pilot sample is empty; draw at least one example")
    return Pilot(codebooks, np.concatenate(codes))


class Rule:
    """Keeps a draw with probability min(1, exp(Σ table of variable j at its value))."""

    def __init__(
        self,
        variables: Sequence[SalientVariable],
        values: Sequence[Sequence[Hashable]],
        tables: Sequence[NDArray[np.float64]],
        draws: float,
    ) -> None:
        """Take a table for each variable; ``values`` are those of its entries, in order.

        ``draws`` is the expected cost of a kept example.
        """
        self.variables, self.draws = tuple(variables), draws
        self.values = tuple(tuple(known) for known in values)
        rounded = [np.round(table, DIGITS) for table in tables]
        self._tables = tuple(np.append(table, table.max()) for table in rounded)
        self.codebooks = tuple(map(Codebook, self.variables))
        for codebook, known in zip(self.codebooks, self.values, strict=True):
            codebook.learn(known)

    @classmethod
    def of(cls, pilot: Pilot, fit: Raked) -> Rule:
        """Return the rule of a fit to a pilot sample."""
        variables = [codebook.variable for codebook in pilot.codebooks]
        values = [codebook.values for codebook in pilot.codebooks]
        return cls(variables, values, fit.tables, max(1.0, fit.draws))  # a float may be below 1

    def codes(self, batch: Batch) -> list[NDArray[np.int64]]:
        """Return the code of each row, for each variable."""
        return [codebook.measure(batch) for codebook in self.codebooks]

    def matrix(self) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
        """Return the tables as rows of a matrix, and how many entries each has.

        The last entry of a table is for values that the pilot sample did not have.
        """
        sizes = np.array([len(table) for table in self._tables], dtype=np.int64)
        matrix = np.zeros((len(sizes), sizes.max()))
        for row, table in zip(matrix, self._tables, strict=True):
            row[: len(table)] = table
        return matrix, sizes

    def chances_of(self, codes: Sequence[NDArray[np.int64]]) -> NDArray[np.float64]:
        """Return the probability with which each row is kept, by its codes.

        A value that the pilot sample did not have is rare: it counts like the value that is kept
        most readily.
        """
        scores = np.zeros(len(codes[0]))
        for column, table in zip(codes, self._tables, strict=True):
            scores += table[np.minimum(column, len(table) - 1)]
        chances: NDArray[np.float64] = np.exp(np.minimum(scores, 0.0))
        return chances

    def chances(self, batch: Batch) -> NDArray[np.float64]:
        """Return the probability with which each row is kept."""
        return self.chances_of(self.codes(batch))

    def to_dict(self) -> dict[str, Any]:
        """Return the tables as plain data, ready for JSON; refuse values that it cannot hold."""
        named = zip(self.variables, self.values, self._tables, strict=True)
        tables = {
            variable.name: {"values": list(map(value_data, values)), "table": table[:-1].tolist()}
            for variable, values, table in named
        }
        return {"draws": self.draws, "tables": tables}

    @classmethod
    def from_dict(cls, variables: Sequence[SalientVariable], data: Mapping[str, Any]) -> Rule:
        """Return the rule of variables that ``to_dict`` wrote."""
        try:
            draws = float(data["draws"])
            named = [data["tables"][variable.name] for variable in variables]
            values = [list(map(value_of, item["values"])) for item in named]
            tables = [np.array(item["table"], dtype=float) for item in named]
            fitting = 1 <= draws < float("inf") and all(
                table.shape == (len(set(known)),) == (len(known),)
                and len(table)
                and np.isfinite(table).all()
                for known, table in zip(values, tables, strict=True)
            )
        except (KeyError, OverflowError, TypeError, ValueError) as error:
            raise UnskewError(f"the tables are damaged ({error}); fit them again") from None
        if not fitting:
            raise UnskewError(
                "the tables are damaged (there is not one number for each value); fit them again"
            )
        return cls(variables, values, tables, draws)
