"""The test sets of the experiments at a scale, and the programs that all of them have."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from unskew.batch import Batch
from unskew.domains.karel import DOMAIN
from unskew.domains.karel.recipes import RECIPES
from unskew.experiments.karel.scales import Scale
from unskew.generation import make
from unskew.keys import key_hashes
from unskew.models.karel_reading import read_examples

ORIGINAL, UNIFORM = "msr-test", "uniform-test"
NESTED = ("while-in-while", "while-in-if")
ACTIONS, PROBLEMS = "actions-test", "problems"
WIDE = (ORIGINAL, UNIFORM)  # decoded with the wide beam


def narrow_names(scale: Scale) -> list[str]:
    """Return the narrow sets of a scale, without ``narrow-``: 0.05-0.85-G and so on."""
    return [f"{wall}-{marker}-{kind}" for wall, marker in scale.narrow for kind in scale.counts]


@dataclass(frozen=True)
class TestSet:
    """Examples, how many of the programs asked for had none, and which programs all sets have."""

    examples: Batch
    dropped: int
    common: NDArray[np.bool_] | None  # of sets that are made of the original test programs


class TestSets:
    """Test sets by name, each made when it is first asked for."""

    def __init__(self, scale: Scale) -> None:
        """Take the sizes of a scale."""
        self._scale = scale
        self._made: dict[str, Batch] = {}

    def __getitem__(self, name: str) -> TestSet:
        """Return a test set."""
        examples = self._examples(name)
        asked = self._rows(name)
        common = None
        if name in self._same_programs:
            common = np.isin(key_hashes(examples, DOMAIN), self._common)
        return TestSet(examples, 0 if asked is None else asked - len(examples), common)

    @property
    def _same_programs(self) -> list[str]:
        return [ORIGINAL, UNIFORM, *(f"narrow-{name}" for name in narrow_names(self._scale))]

    @cached_property
    def _common(self) -> NDArray[np.uint64]:
        """Keys of the programs for which every set of them has worlds."""
        keys = [key_hashes(self._examples(name), DOMAIN) for name in self._same_programs]
        common = keys[0]
        for other in keys[1:]:
            common = np.intersect1d(common, other)
        return common

    def _rows(self, name: str) -> int | None:
        """Return how many programs a set is made for; None where it is a table."""
        if name not in RECIPES:
            return None
        return min(RECIPES[name].n, self._scale.tests or RECIPES[name].n)

    def _examples(self, name: str) -> Batch:
        if name not in self._made:
            self._made[name] = self._make(name)
        return self._made[name]

    def _make(self, name: str) -> Batch:
        rows = self._rows(name)
        if rows is None:
            return read_examples(f"karel/{name}")
        recipe = RECIPES[name]
        if name == ACTIONS and rows < recipe.n:  # its programs come by length: take some of each
            whole = make(recipe, 0)
            return whole.take(np.linspace(0, len(whole) - 1, rows).astype(np.int64))
        if recipe.given:
            return make(replace(recipe, n=rows, shard_size=rows), 0)
        return make(recipe, 0).head(rows)  # the very programs that the sets above are given
