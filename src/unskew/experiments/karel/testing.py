"""The test sets of the experiments at a scale, and the programs that all of them have."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache, cached_property

import numpy as np
from numpy.typing import NDArray

from unskew.batch import Batch
from unskew.domains.karel import DOMAIN
from unskew.domains.karel.recipes import RECIPES, SPECIFICATIONS
from unskew.experiments.karel.scales import Scale
from unskew.inputs import content_of
from unskew.keys import key_hashes
from unskew.models.karel_reading import read_examples

ORIGINAL, UNIFORM = "msr-test", "uniform-test"
NESTED = ("while-in-while", "while-in-if")
COVERED = tuple(f"{name}-covered" for name in NESTED)  # the shown worlds take every branch
ACTIONS, PROBLEMS = "actions-test", "problems"
WIDE = (ORIGINAL, UNIFORM)  # decoded with the wide beam


def repeats(name: str) -> int:
    """Return how many tasks of a set one program has."""
    return SPECIFICATIONS if name == ACTIONS else 1


def narrow_names(scale: Scale) -> list[str]:
    """Return the narrow sets of a scale, without ``narrow-``: 0.05-0.85-G and so on."""
    return [f"{wall}-{marker}-{kind}" for wall, marker in scale.narrow for kind in scale.counts]


@dataclass(frozen=True)
class TestSet:
    """Examples of a set, all or some, and what is to be known of them."""

    examples: Batch
    rows: NDArray[np.int64]  # where they stand in the whole set
    dropped: int  # programs for which the whole set has no worlds
    common: NDArray[np.bool_] | None  # whether all sets of the programs of msr-test have it


def _of_each(values: NDArray[np.generic], n: int) -> NDArray[np.int64]:
    """Return about n rows, as many of each value as there are."""
    kinds = np.unique(values)
    return np.sort(np.concatenate([np.flatnonzero(values == k)[: n // len(kinds)] for k in kinds]))


@cache
def _content(name: str) -> str:
    """Name the content of a set, and of what it is made of: its recipe only has its name."""
    given = RECIPES[name].given if name in RECIPES else ""
    return content_of(f"karel/{name}") + (f" of {content_of(given)}" if given else "")


class TestSets:
    """Test sets by name, each made when it is first asked for."""

    def __init__(self, scale: Scale) -> None:
        """Take the sizes of a scale."""
        self._scale = scale
        self._made: dict[str, Batch] = {}

    def __getitem__(self, name: str) -> TestSet:
        """Return a test set."""
        whole = self._whole(name)
        rows = np.arange(len(whole))
        if self._scale.tests is not None and self._scale.tests < len(whole):
            rows = rows[: self._scale.tests]
            if name == ACTIONS:  # its programs come by length, most of them long
                rows = _of_each(DOMAIN.variable("actions").measure(whole), self._scale.tests)
        examples = whole.take(rows)
        common = None
        if name in self._same_programs:
            common = np.isin(key_hashes(examples, DOMAIN.key), self._common)
        dropped = RECIPES[name].n - len(whole) if name in RECIPES else 0
        return TestSet(examples, rows, dropped, common)

    def label(self, name: str) -> str:
        """Name the content of a set: its recipe, its table, and how much of it is taken."""
        return f"{_content(name)}, {self._scale.tests or 'all'}"

    @property
    def _same_programs(self) -> list[str]:
        return [ORIGINAL, UNIFORM, *(f"narrow-{name}" for name in narrow_names(self._scale))]

    @cached_property
    def _common(self) -> NDArray[np.uint64]:
        """Keys of the programs for which every set of them has worlds."""
        keys = [key_hashes(self._whole(name), DOMAIN.key) for name in self._same_programs]
        common = keys[0]
        for other in keys[1:]:
            common = np.intersect1d(common, other)
        return common

    def _whole(self, name: str) -> Batch:
        if name not in self._made:
            self._made[name] = read_examples(f"karel/{name}")
        return self._made[name]
