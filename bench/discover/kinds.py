"""A kind of planted skew: what it measures of a row, and what planting makes of the data.

The kinds of each type are functions in ``dev/TYPE.py`` and ``test/TYPE.py``. A kind is in ``dev``
if the CRC-32 of ``TYPE/NAME`` is even, and in ``test`` otherwise.
"""

from __future__ import annotations

import zlib
from collections.abc import Callable, Hashable
from dataclasses import dataclass
from importlib import import_module
from typing import Any, TypeAlias

import numpy as np

Row: TypeAlias = dict[str, Any]
Truth: TypeAlias = Callable[[Row], Hashable]
Change: TypeAlias = Callable[[Row, np.random.Generator], Row]
Natural: TypeAlias = Callable[[np.random.Generator, int], list[Row]]

TYPES = ("expressions", "karel", "chat", "tables", "lists", "images")
SPLITS = ("dev", "test")


@dataclass(frozen=True)
class Kind:
    """A planted variable.

    Args:
        name: the name of the truth function.
        doc: what it measures, in words.
        truth: returns the value of a row.
        score: how much planting favours a value, 0 to 1.
        change: makes a row that has a favoured value; None if rows that have it are chosen.
        answers: for a shortcut, the answer that goes with a value.
        variants: the variants of natural data in which it can be planted.
    """

    name: str
    doc: str
    truth: Truth
    score: Callable[[Any], float]
    change: Change | None
    answers: Callable[[Any], Any] | None
    variants: tuple[str, ...]


def skew(
    *variants: str,
    favours: Any = True,
    score: Callable[[Any], float] | None = None,
    change: Callable[[Row], Row] | None = None,
    drawn: Change | None = None,
) -> Callable[[Truth], Kind]:
    """Make a kind of a truth function: one value is favoured, or each has a score.

    ``change`` makes a row that has a favoured value; ``drawn`` does so with a generator.
    """
    scored = score or (lambda value: float(value == favours))
    changed: Change | None = drawn
    if change is not None:
        make_row = change
        changed = lambda row, _: make_row(row)  # noqa: E731 - so it is one name for both

    def make(truth: Truth) -> Kind:
        return Kind(_name(truth), _doc(truth), truth, scored, changed, None, variants)

    return make


def shortcut(*variants: str, answers: Callable[[Any], Any]) -> Callable[[Truth], Kind]:
    """Make a kind in which the answer follows from a value that should not matter."""

    def make(truth: Truth) -> Kind:
        return Kind(_name(truth), _doc(truth), truth, lambda _: 0.0, None, answers, variants)

    return make


def catalogue(split: str, kind_of_data: str) -> dict[str, Kind]:
    """Return the kinds of a split for one type of data, by name and in the order of names."""
    module = import_module(f"bench.discover.{split}.{kind_of_data}")
    kinds = [value for value in vars(module).values() if isinstance(value, Kind)]
    return {kind.name: kind for kind in sorted(kinds, key=lambda kind: kind.name)}


def natural(kind_of_data: str) -> dict[str, Natural]:
    """Return the makers of natural data of a type, by variant."""
    variants: dict[str, Natural] = import_module(f"bench.discover.natural.{kind_of_data}").VARIANTS
    return variants


def split_of(kind_of_data: str, name: str) -> str:
    """Return the split in which a kind belongs."""
    return SPLITS[zlib.crc32(f"{kind_of_data}/{name}".encode()) % 2]


def _name(truth: Truth) -> str:
    return truth.__name__


def _doc(truth: Truth) -> str:
    return (truth.__doc__ or "").strip().rstrip(".")
