"""Counts the values of one variable for an audit, however many different values there are."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from unskew.audits.binning import about_bins
from unskew.audits.records import Tail, VariableAudit, in_order
from unskew.audits.tallies import ValueTally, hashes_of
from unskew.balance.codebook import MAX_VALUES, Codebook
from unskew.balance.histogram import Histogram
from unskew.core.distinct import Counts, Distinct, Hashes
from unskew.core.hashing.arrow import hash_column
from unskew.core.hashing.objects import hash_objects
from unskew.core.variables.coded import Coded
from unskew.core.variables.intervals import in_intervals, interval_labels
from unskew.core.variables.variable import SalientVariable, Values


class ValueCounts:
    """Counts the values of one variable, or the bins of its values.

    The first values, up to ``most_named``, are counted by name. All others are counted by their
    64-bit hash. So every count is exact, and counts of several files can be added in the order of
    the files.
    """

    def __init__(
        self, variable: SalientVariable, edges: tuple[float, ...] = (), most_named: int = MAX_VALUES
    ) -> None:
        """Start with nothing counted; ``edges`` are those of the bins, if there are any."""
        self.variable, self.edges, self._most_named = variable, edges, most_named
        self._codebook = Codebook(variable, most_named=max(most_named, len(edges) + 1))
        self._histogram = Histogram(self._codebook)
        self._codebook.learn(interval_labels(edges) if edges else ())
        self._others = Distinct(counted=True)

    def add(self, values: Values) -> NDArray[np.int64]:
        """Count the value of each row; return its code, below 0 where it has no name."""
        values = in_intervals(values, self.edges) if self.edges else values
        codes = self._codebook.encode(values)
        named = codes >= 0
        if named.all():
            self._histogram.add_codes(codes)
            return codes
        self._histogram.add_codes(codes[named])
        self._others.add(_hashes(values, ~named))
        return codes

    def apart(self) -> ValueCounts:
        """Return the same with nothing counted."""
        return ValueCounts(self.variable, self.edges, self._most_named)

    def tally(self) -> ValueTally:
        """Return what was counted."""
        values, counts = self._codebook.values, self._histogram.counts
        return ValueTally(self.variable.name, self.edges, values, counts, *hashes_of(self._others))

    @property
    def values(self) -> Sequence[Hashable]:
        """The values that have names, in the order of their codes."""
        return self._codebook.values

    def merge(self, tally: ValueTally) -> NDArray[np.int64]:
        """Add the counts of later rows; return the code here of each value of the tally."""
        codes = self._codebook.encode_objects(tally.values)
        named = codes >= 0
        self._histogram.counts[codes[named]] += tally.counts[named]
        unnamed = [tally.values[i] for i in np.flatnonzero(~named).tolist()]
        self._others.add_counts(hash_objects(unnamed), tally.counts[~named])
        if len(tally.others):
            self._merge_unnamed(tally.others, tally.times)
        return codes

    def _merge_unnamed(self, others: Hashes, times: Counts) -> None:
        """Add counts by hash; some are of values that have a name here."""
        hashes = hash_objects(self._codebook.values)
        order = np.argsort(hashes)
        hashes = hashes[order]
        places = np.minimum(np.searchsorted(hashes, others), len(hashes) - 1)
        named = hashes[places] == others
        self._histogram.counts[order[places[named]]] += times[named]
        self._others.add_counts(others[~named], times[~named])

    def result(self) -> VariableAudit:
        """Return the histogram."""
        variable, edges, counts = self.variable, self.edges, self._histogram.by_value()
        declared = self._codebook.declared
        if not declared and not edges:
            counts = {value: counts[value] for value in in_order(counts)}
        tail = _tail(self._others) if self._others.total else None
        about = [variable.doc, about_bins(edges) if edges else "", tail.about() if tail else ""]
        doc = ", ".join(filter(None, about))
        return VariableAudit(variable.name, counts, declared, doc, edges, tail)


def _tail(others: Distinct) -> Tail:
    times: dict[int, int] = {}
    for _, counts in others.groups():
        for count, values in zip(*np.unique_counts(counts), strict=True):
            times[int(count)] = times.get(int(count), 0) + int(values)
    return Tail(dict(sorted(times.items())))


def _hashes(values: Values, chosen: NDArray[np.bool_]) -> NDArray[np.uint64]:
    """Return the hash of the value of each chosen row."""
    if not isinstance(values, Coded):
        return hash_column(values[chosen])
    rows = values.rows(chosen).in_order()
    distinct: Sequence[Any] = rows.distinct
    hashes: NDArray[np.uint64] = hash_objects(distinct)[rows.codes]
    return hashes
