"""The examples that a rule is fitted to: their variables, and the combinations of values."""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass

from unskew.balance.best.cells import Cells, Shares
from unskew.balance.best.targets import UNIFORM, Target, target_shares
from unskew.core.errors import unknown

MOST_CELLS = 1 << 16  # combinations that a fit begins with; more would take seconds


@dataclass(frozen=True)
class Population:
    """Examples by their combinations of values: draws of a source, or the rows of data."""

    names: tuple[str, ...]  # of the variables
    values: tuple[Sequence[Hashable], ...]  # of each variable, in the order of their codes
    cells: Cells
    examples: int
    are_rows: bool = False  # of data, of which no more can be drawn

    @property
    def unit(self) -> str:
        """What the examples are called in a message."""
        return "rows" if self.are_rows else "draws"

    def shares(self) -> list[Shares]:
        """Return the share of each value of each variable."""
        return self.cells.margins(self.cells.shares)

    def targets(self, wanted: Mapping[str, Target]) -> list[Shares]:
        """Return the share that each value should get, for each variable; else uniform."""
        for name in wanted:
            if name not in self.names:
                raise unknown("target for variable", name, self.names)
        return [
            target_shares(wanted.get(name, UNIFORM), known, p, name)
            for name, known, p in zip(self.names, self.values, self.shares(), strict=True)
        ]
