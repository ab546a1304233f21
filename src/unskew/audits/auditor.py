"""Measures batches of examples and makes an audit of them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from unskew.audits.audit import Audit
from unskew.audits.binning import about_bins, choose_edges, in_bins
from unskew.audits.records import VariableAudit, in_order
from unskew.balance.codebook import Codebook
from unskew.balance.histogram import Histogram
from unskew.core.errors import RowError, UnskewError
from unskew.core.rowhash import row_hashes
from unskew.core.variables.combine import interval_labels
from unskew.core.variables.variable import many_values

if TYPE_CHECKING:
    from unskew.core.batch import Batch
    from unskew.core.domain import Domain
    from unskew.core.recipe import Recipe
    from unskew.core.variables.variable import SalientVariable, Values

MANY_VALUES = 200  # a column with more values in its first batch is not measured unasked
SAMPLES = 3  # examples that a report shows


class _Column:
    """Counts the values of one variable, or the bins of its values."""

    def __init__(self, variable: SalientVariable, edges: tuple[float, ...]) -> None:
        self.variable, self._edges = variable, edges
        self._histogram = Histogram(Codebook(variable))
        self._histogram.codebook.learn(interval_labels(edges) if edges else ())

    def add(self, values: Values) -> None:
        binned = in_bins(values, self._edges) if self._edges else values
        self._histogram.add_codes(self._histogram.codebook.encode(binned))

    def result(self) -> VariableAudit:
        variable, edges, counts = self.variable, self._edges, self._histogram.by_value()
        declared = self._histogram.codebook.declared
        if not declared and not edges:
            counts = {value: counts[value] for value in in_order(counts)}
        doc = ", ".join(filter(None, [variable.doc, about_bins(edges) if edges else ""]))
        return VariableAudit(variable.name, counts, declared, doc, edges)


class Auditor:
    """Measures batches one after another.

    Memory holds the counts, and eight bytes for each example to find duplicates. The first batch
    decides which variables are counted in bins.
    """

    def __init__(
        self,
        variables: Sequence[SalientVariable],
        like: Audit | None = None,
        *,
        optional: bool = False,
    ) -> None:
        """Start with nothing measured.

        ``like`` is an audit with the bins to use. If the variables are ``optional``, those that
        no histogram can show are left out.
        """
        self._variables, self._like, self._optional = tuple(variables), like, optional
        self._columns: list[_Column] = []
        self._hashes: list[NDArray[np.uint64]] = []
        self._samples: list[Any] = []
        self.left_out: dict[str, str] = {}  # variables that are not measured, and why

    @property
    def n(self) -> int:
        """Number of examples measured so far."""
        return sum(map(len, self._hashes))

    @property
    def names(self) -> list[str]:
        """Names of the variables that are measured."""
        return [column.variable.name for column in self._columns]

    def add(self, batch: Batch) -> None:
        """Measure one more batch."""
        if not self._hashes:
            self._begin(batch)
        else:
            for column in self._columns:
                column.add(self._measure(column.variable, batch))
        self._hashes.append(row_hashes(batch))
        if len(self._samples) < SAMPLES:
            self._samples += batch.head(SAMPLES - len(self._samples)).examples()

    def _begin(self, batch: Batch) -> None:
        """Measure the first batch, and choose bins by its values."""
        for variable in self._variables:
            try:
                values = self._measure(variable, batch)
                edges = self._edges(variable, values)
                if self._optional and not edges:
                    _check_few_values(values)
            except UnskewError as error:
                if not self._optional:
                    raise
                reason = str(error).removeprefix(f"column {variable.name!r} ")
                self.left_out[variable.name] = reason
                continue
            column = _Column(variable, edges)
            column.add(values)
            self._columns.append(column)

    def _edges(self, variable: SalientVariable, values: Values) -> tuple[float, ...]:
        """Return the edges of bins for a variable: those of the other audit, or new ones."""
        if variable.support is not None or variable.parts:
            return ()
        other = self._like.variables.get(variable.name) if self._like is not None else None
        return choose_edges(values) if other is None else other.edges

    def _measure(self, variable: SalientVariable, batch: Batch) -> Values:
        try:
            return variable.measure(batch)
        except RowError as error:  # it counts rows from the start of the batch
            raise RowError(self.n + error.row, error.said) from error

    def result(
        self,
        label: str,
        dropped: Mapping[str, int] | None = None,
        left_out: Mapping[str, str] | None = None,
        domain: Domain | None = None,
        recipe: Recipe | None = None,
    ) -> Audit:
        """Return the audit of everything measured."""
        if not self._hashes:
            raise UnskewError(f"{label} gave no examples; there is nothing to audit")
        hashes = np.concatenate(self._hashes)
        return Audit(
            label,
            len(hashes),
            len(np.unique(hashes)),
            {column.variable.name: column.result() for column in self._columns},
            dict(dropped or {}),
            {**(left_out or {}), **self.left_out},
            tuple(self._samples),
            domain,
            recipe,
        )


def _check_few_values(values: Values) -> None:
    """Refuse values that no histogram can show."""
    try:
        distinct = len(set(values.tolist()))
    except TypeError as error:  # a tuple that holds a list
        raise UnskewError(str(error)) from error
    if distinct > MANY_VALUES:
        raise UnskewError(many_values(values.tolist()))
