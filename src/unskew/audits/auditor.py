"""Measures batches of examples and makes an audit of them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from unskew.audits.audit import Audit
from unskew.audits.binning import choose_edges
from unskew.audits.counts import ValueCounts
from unskew.audits.remedy import Audited, Joint
from unskew.audits.tallies import Tallies, hashes_of
from unskew.audits.thinned import ThinnedRows
from unskew.balance.codebook import MAX_VALUES, UNNAMED
from unskew.core.distinct import Distinct
from unskew.core.errors import RowError, UnskewError
from unskew.core.rowhash import row_hashes

if TYPE_CHECKING:
    from unskew.core.batch import Batch
    from unskew.core.domain import Domain
    from unskew.core.recipe import Recipe
    from unskew.core.variables.variable import SalientVariable, Values

SAMPLES = 3  # examples that a report shows
MANY_ROWS = 1 << 20  # from here on, rows are hashed by compiled code


class Auditor:
    """Measures batches one after another. Memory holds the counts, and not the examples.

    The first batch decides which variables are counted in bins. To measure several files apart,
    measure the first batch, give each file an auditor of its own (``apart``), and merge what they
    counted in the order of the files: the audit is the same as that of one auditor.
    """

    def __init__(
        self,
        variables: Sequence[SalientVariable],
        bins: Mapping[str, tuple[float, ...]] | None = None,
        *,
        most_named: int = MAX_VALUES,
    ) -> None:
        """Start with nothing measured.

        ``bins`` has the edges of the bins of variables; no edges mean no bins. Any other variable
        gets bins if its numbers hardly repeat. Of a variable with more than ``most_named`` values,
        the first ones are listed, and the others are counted together.
        """
        self._most_named = most_named
        self._variables, self._bins = tuple(variables), dict(bins or {})
        self._begun = False
        self._columns: list[ValueCounts] = []
        self._rows, self._thinned = Distinct(), ThinnedRows(0)
        self._samples: list[Any] = []

    @property
    def n(self) -> int:
        """Number of examples measured so far."""
        return self._rows.total

    @property
    def names(self) -> list[str]:
        """Names of the variables that are measured."""
        return [column.variable.name for column in self._columns]

    def add(self, batch: Batch) -> None:
        """Measure one more batch."""
        try:
            if not self._begun:
                self._begin(batch)
            else:
                self._count([column.variable.measure(batch) for column in self._columns])
            self._rows.add(row_hashes(batch, large=self.n >= MANY_ROWS))
        except RowError as error:  # it counts rows from the start of the batch
            raise RowError(self.n + error.row, error.problem) from error
        self.show(batch)

    def apart(self) -> Auditor:
        """Return an auditor of the same variables and bins that has measured nothing."""
        other = Auditor(self._variables, self._bins, most_named=self._most_named)
        other._begun = self._begun
        other._columns = [column.apart() for column in self._columns]
        other._thinned = ThinnedRows(len(self._columns))
        return other

    def tallies(self) -> Tallies:
        """Return what was counted, without the samples."""
        rows, _ = hashes_of(self._rows)
        thinned = self._thinned
        tallies = [column.tally() for column in self._columns]
        return Tallies(self.n, rows, tallies, thinned.codes(), thinned.every)

    def merge(self, tallies: Tallies) -> None:
        """Add what an auditor of the same variables and bins has counted of later examples."""
        ours = [(column.variable.name, column.edges) for column in self._columns]
        if ours != [(tally.name, tally.edges) for tally in tallies.variables]:
            raise UnskewError(
                "two auditors measure other variables or bins, so their counts cannot be added; "
                "make the second one with apart()"
            )
        codes = np.full_like(tallies.codes, UNNAMED)
        pairs = zip(self._columns, tallies.variables, strict=True)
        for number, (column, tally) in enumerate(pairs):
            theirs, renumbered = tallies.codes[:, number], column.merge(tally)
            named = theirs >= 0
            codes[named, number] = renumbered[theirs[named]]
        self._thinned.merge(codes, tallies.every)
        self._rows.add_different(tallies.rows, tallies.n)

    def show(self, batch: Batch) -> None:
        """Keep the first examples of a batch as samples, until there are enough."""
        if len(self._samples) < SAMPLES:
            self._samples += batch.head(SAMPLES - len(self._samples)).examples()

    def _begin(self, batch: Batch) -> None:
        """Measure the first batch, and choose bins by its values."""
        self._begun = True
        measured: list[Values] = []
        for variable in self._variables:
            values = variable.measure(batch)
            measured.append(values)
            edges = self._edges(variable, values)
            self._columns.append(ValueCounts(variable, edges, self._most_named))
        self._thinned = ThinnedRows(len(self._columns))
        self._count(measured)

    def _count(self, measured: Iterable[Values]) -> None:
        """Count the values of some rows, for each variable."""
        pairs = zip(self._columns, measured, strict=True)
        codes = [column.add(values) for column, values in pairs]
        if codes:
            self._thinned.add(codes)

    def _edges(self, variable: SalientVariable, values: Values) -> tuple[float, ...]:
        """Return the edges of bins for a variable: those that are given, or new ones."""
        if variable.support is not None or variable.parts:
            return ()
        given = self._bins.get(variable.name)
        return choose_edges(values) if given is None else given

    def result(
        self,
        label: str,
        dropped: Mapping[str, int] | None = None,
        left_out: Mapping[str, str] | None = None,
        domain: Domain | None = None,
        recipe: Recipe | None = None,
        audited: Audited | None = None,
    ) -> Audit:
        """Return the audit of everything measured; ``audited`` says what a command calls it."""
        if not self._begun:
            raise UnskewError(f"{label} gave no examples; there is nothing to audit")
        return Audit(
            label,
            self.n,
            self._rows.count(),
            {column.variable.name: column.result() for column in self._columns},
            dict(dropped or {}),
            dict(left_out or {}),
            tuple(self._samples),
            domain,
            recipe,
            Joint(
                {column.variable.name: column.values for column in self._columns},
                self._thinned.codes(),
            ),
            audited or Audited(),
        )
