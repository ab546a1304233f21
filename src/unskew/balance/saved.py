"""Where homogenizing stands after some draws: as plain data, and read back from it."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from unskew.core.errors import UnskewError, brief
from unskew.core.tally import Tally
from unskew.core.values.value_data import value_data, value_of

AGAIN = "give what state_dict() returned, unchanged"


@dataclass(frozen=True)
class Counts:
    """How often each value of one variable was drawn and kept, in the order of the values."""

    values: Sequence[Hashable]
    drawn: NDArray[np.int64]
    kept: NDArray[np.int64]

    def to_list(self) -> list[list[Any]]:
        """Return plain data, ready for JSON; refuse values that JSON cannot hold."""
        rows = zip(self.values, self.drawn.tolist(), self.kept.tolist(), strict=False)
        return [[value_data(value), drawn, kept] for value, drawn, kept in rows]

    @classmethod
    def from_list(cls, rows: Any) -> Counts:
        """Return the counts of plain data that ``to_list`` made."""
        return cls(
            [value_of(value) for value, _, _ in rows],
            np.array([_count(drawn) for _, drawn, _ in rows], dtype=np.int64),
            np.array([_count(kept) for _, _, kept in rows], dtype=np.int64),
        )


@dataclass(frozen=True)
class HomogenizerState:
    """The counts of a homogenizer, and the numbers that its kernel keeps.

    There may be more values than counts: the values that came last have no count yet.
    """

    counts: Counts
    kernel: NDArray[np.int64]
    rng: str
    drawn: int
    kept: int
    drought: int
    next_look: int
    warned: frozenset[str]

    def to_dict(self) -> dict[str, Any]:
        """Return plain data, ready for JSON; refuse values that JSON cannot hold."""
        return {
            "values": self.counts.to_list(),
            "kernel": self.kernel.tolist(),
            "rng": self.rng,
            "drawn": self.drawn,
            "kept": self.kept,
            "drought": self.drought,
            "next_look": self.next_look,
            "warned": sorted(self.warned),
        }

    @classmethod
    def from_dict(cls, data: Any) -> HomogenizerState:
        """Return the state of plain data that ``to_dict`` made."""
        return cls(
            Counts.from_list(data["values"]),
            np.array([_count(data["kernel"][i]) for i in range(3)], dtype=np.int64),
            data["rng"],
            _count(data["drawn"]),
            _count(data["kept"]),
            _count(data["drought"]),
            _count(data["next_look"]),
            frozenset(map(str, data["warned"])),
        )


@dataclass(frozen=True)
class BalancerState:
    """The counts of a balancer, for each variable. Its rule is frozen, so it is not in here."""

    counts: Sequence[Counts]
    rng: str
    drawn: int
    kept: int
    drought: int
    warned: frozenset[str]

    def to_dict(self) -> dict[str, Any]:
        """Return plain data, ready for JSON; refuse values that JSON cannot hold."""
        return {
            "counts": [counts.to_list() for counts in self.counts],
            "rng": self.rng,
            "drawn": self.drawn,
            "kept": self.kept,
            "drought": self.drought,
            "warned": sorted(self.warned),
        }

    @classmethod
    def from_dict(cls, data: Any) -> BalancerState:
        """Return the state of plain data that ``to_dict`` made."""
        return cls(
            [Counts.from_list(rows) for rows in data["counts"]],
            data["rng"],
            _count(data["drawn"]),
            _count(data["kept"]),
            _count(data["drought"]),
            frozenset(map(str, data["warned"])),
        )


@dataclass(frozen=True)
class DrawState:
    """Where drawing stands: the generator, the size of the next chunk, and the counts."""

    rng: str
    chunk: int
    tally: Tally
    homogenizer: HomogenizerState | BalancerState

    def to_dict(self) -> dict[str, Any]:
        """Return plain data, ready for JSON."""
        return {
            "rng": self.rng,
            "chunk": self.chunk,
            "tally": self.tally.to_dict(),
            "homogenizer": self.homogenizer.to_dict(),
        }

    @classmethod
    def from_dict(cls, data: Any) -> DrawState:
        """Return the state of plain data that ``to_dict`` made. Anything else is an error."""
        try:
            chosen = data["homogenizer"]
            kind = HomogenizerState if "kernel" in chosen else BalancerState
            homogenizer = kind.from_dict(chosen)
            chunk = max(1, _count(data["chunk"]))
            return cls(data["rng"], chunk, Tally.from_dict(data["tally"]), homogenizer)
        except (AttributeError, LookupError, TypeError, ValueError, OverflowError) as error:
            raise UnskewError(f"{brief(data)} is no state of homogenizing; {AGAIN}") from error


def _count(value: Any) -> int:
    if type(value) is not int or value < 0:
        raise ValueError(f"{value!r} is no count")
    return value
