"""Tallies: how many examples were drawn, dropped and kept, by reason and by value."""

from __future__ import annotations

import math
from collections import Counter
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from unskew.core.errors import UnskewError, brief
from unskew.core.values.json_text import hashable

if TYPE_CHECKING:
    from collections.abc import Hashable, Mapping

_AGAIN = "the file was altered: make it again"
_DETAIL = " · "  # stands between a kind and its detail in the text of a reason


@dataclass(frozen=True)
class Reason:
    """Why examples were dropped: a kind and, for a detail, the value of one of their variables.

    A dropped example is counted once under its kind. A source may count the example again under
    details, to show which examples the kind drops. Counts are kept by the text of the reason:
    JSON holds texts, and a user's own source counts texts.
    """

    kind: str
    variable: str = ""
    value: str = ""

    def __str__(self) -> str:
        """Return the text: ``kind``, or ``kind · variable: value`` for a detail."""
        detail = f"{_DETAIL}{self.variable}: {self.value}" if self.variable else ""
        return f"{self.kind}{detail}"

    @classmethod
    def read(cls, text: str) -> Reason:
        """Read a reason from its text; a text without a variable is a kind."""
        kind, _, detail = text.partition(_DETAIL)
        variable, _, value = detail.rpartition(": ")
        return cls(kind, variable, value) if variable else cls(text)


def by_kind(dropped: Mapping[str, int]) -> dict[str, int]:
    """Return the counts of the kinds alone; their sum is the number of dropped examples."""
    return {text: count for text, count in dropped.items() if not Reason.read(text).variable}


@dataclass
class Tally:
    """What happened to the draws, as counts. Tallies can be added.

    ``dropped`` counts by reason the examples that were not valid, or that are not for this split
    or dataset. Homogenizing threw away ``drawn - kept`` examples. The two are counted apart: a sum
    of both would hide a bias.
    """

    drawn: int = 0
    kept: int = 0
    dropped: Counter[str] = field(default_factory=Counter)
    drawn_values: dict[str, Counter[Hashable]] = field(default_factory=dict)
    kept_values: dict[str, Counter[Hashable]] = field(default_factory=dict)

    @property
    def cost(self) -> float:
        """Draws for each kept example; infinite if nothing is kept."""
        return self.drawn / self.kept if self.kept else float("inf")

    def __add__(self, other: Tally) -> Tally:
        """Add two tallies; neither is changed."""
        return Tally(
            self.drawn + other.drawn,
            self.kept + other.kept,
            self.dropped + other.dropped,
            _add(self.drawn_values, other.drawn_values),
            _add(self.kept_values, other.kept_values),
        )

    def to_dict(self) -> dict[str, Any]:
        """Return plain data. A histogram is a list of [value, drawn, kept], in order of value."""
        return {
            "drawn": self.drawn,
            "kept": self.kept,
            "dropped": dict(sorted(self.dropped.items())),
            "values": {
                name: [
                    [plain(value), count, self.kept_values.get(name, Counter())[value]]
                    for value, count in sorted(counts.items(), key=_order)
                ]
                for name, counts in sorted(self.drawn_values.items())
            },
        }

    @classmethod
    def from_dict(cls, data: dict[str, Any]) -> Tally:
        """Return the tally of plain data that ``to_dict`` made. Anything else is an error."""
        if not isinstance(data, dict):
            raise UnskewError(f"the tally is {brief(data)}, which is no JSON object; {_AGAIN}")
        tally = cls(_count(data, "drawn"), _count(data, "kept"))
        dropped = _names(data, "dropped")
        tally.dropped = Counter({reason: _count(dropped, reason) for reason in dropped})
        for name, rows in _names(data, "values").items():
            histogram = _histogram(name, rows)
            tally.drawn_values[name] = Counter({value: drawn for value, drawn, _ in histogram})
            tally.kept_values[name] = Counter({value: kept for value, _, kept in histogram if kept})
        return tally


def plain(value: Hashable) -> Any:
    """Return a value that JSON can hold: anything but numbers, texts and tuples becomes a text."""
    if isinstance(value, (tuple, list)):
        return [plain(part) for part in value]
    if value is None or isinstance(value, (str, int)):
        return value
    return value if isinstance(value, float) and math.isfinite(value) else str(value)


def noted(value: Hashable) -> Hashable:
    """Return a value as ``Tally.from_dict`` reads it back."""
    return hashable(plain(value))


def _add(
    left: dict[str, Counter[Hashable]], right: dict[str, Counter[Hashable]]
) -> dict[str, Counter[Hashable]]:
    total = {name: counts.copy() for name, counts in left.items()}
    for name, counts in right.items():
        total.setdefault(name, Counter()).update(counts)  # unlike +, this keeps zeros
    return total


def _count(data: Mapping[str, Any], name: str) -> int:
    value = data.get(name)
    if type(value) is not int or value < 0:
        raise UnskewError(f"the tally has {name} = {brief(value)}, which is no count; {_AGAIN}")
    return value


def _names(data: Mapping[str, Any], name: str) -> dict[str, Any]:
    counts = data.get(name)
    if not isinstance(counts, dict):
        raise UnskewError(
            f"the tally has {name} = {brief(counts)}, not names with values; {_AGAIN}"
        )
    return counts


def _histogram(name: str, rows: Any) -> list[tuple[Hashable, int, int]]:
    """Read rows of a value, how often it was drawn, and how often it was kept."""
    histogram = []
    for number, row in enumerate(rows if isinstance(rows, list) else [rows]):
        value, *counts = row if isinstance(row, list) and row else [None]
        whole = [count for count in counts if type(count) is int and count >= 0]
        if len(counts) != 2 or len(whole) != 2 or _has_dict(value):
            raise UnskewError(
                f"the tally of {name!r} has {brief(row)} in row {number + 1}, not a value and two "
                f"counts; {_AGAIN}"
            )
        histogram.append((hashable(value), whole[0], whole[1]))
    return histogram


def _has_dict(value: Any) -> bool:
    return isinstance(value, dict) or (isinstance(value, list) and any(map(_has_dict, value)))


def _order(item: tuple[Any, int]) -> tuple[int, Any]:
    value = item[0]
    number = isinstance(value, (int, float))
    return (0, value) if number else (1, str(value))
