"""What happened to the draws: counts by reason, histograms by variable; tallies add."""

from __future__ import annotations

import math
from collections import Counter
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Hashable


DETAIL = " · "  # in a reason: what follows says more of what stands before, and is counted there


@dataclass
class Tally:
    """Counts over draws.

    ``dropped`` counts what was thrown away because it was not valid or, though valid, not for
    this split or dataset (``keys.not_wanted``), by reason. It is kept
    apart from ``drawn - kept``, what homogenizing threw away: mixing them would hide a bias.
    """

    drawn: int = 0
    kept: int = 0
    dropped: Counter[str] = field(default_factory=Counter)
    drawn_values: dict[str, Counter[Hashable]] = field(default_factory=dict)
    kept_values: dict[str, Counter[Hashable]] = field(default_factory=dict)

    @property
    def cost(self) -> float:
        """Draws per kept example; infinite while nothing has been kept."""
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
        """Return plain data; histograms are lists of [value, drawn, kept] in order of value."""
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
        """Read what ``to_dict`` wrote."""
        tally = cls(data["drawn"], data["kept"], Counter(data["dropped"]))
        for name, rows in data["values"].items():
            frozen = [(_hashable(value), drawn, kept) for value, drawn, kept in rows]
            tally.drawn_values[name] = Counter({value: drawn for value, drawn, _ in frozen})
            tally.kept_values[name] = Counter({value: kept for value, _, kept in frozen if kept})
        return tally


def plain(value: Hashable) -> Any:
    """Return a value that JSON can hold: numbers, texts and tuples as they are, else as text."""
    if isinstance(value, (tuple, list)):
        return [plain(part) for part in value]
    if value is None or isinstance(value, (str, int)):
        return value
    return value if isinstance(value, float) and math.isfinite(value) else str(value)


def noted(value: Hashable) -> Hashable:
    """Return a value as ``from_dict`` reads it back."""
    return _hashable(plain(value))


def _add(
    left: dict[str, Counter[Hashable]], right: dict[str, Counter[Hashable]]
) -> dict[str, Counter[Hashable]]:
    total = {name: counts.copy() for name, counts in left.items()}
    for name, counts in right.items():
        total.setdefault(name, Counter()).update(counts)  # unlike +, this keeps zeros
    return total


def _order(item: tuple[Any, int]) -> tuple[int, Any]:
    value = item[0]
    number = isinstance(value, (int, float))
    return (0, value) if number else (1, str(value))


def _hashable(value: Any) -> Hashable:
    return tuple(map(_hashable, value)) if isinstance(value, list) else value
