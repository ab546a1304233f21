"""The test sets of the experiments at a scale."""

from dataclasses import dataclass
from functools import cache, cached_property

import numpy as np
from numpy.typing import NDArray

from unskew.core.batch import Batch
from unskew.datasets.inputs import content_of
from unskew.datasets.parts.splits import key_hashes
from unskew.domains.karel import DOMAIN
from unskew.domains.karel.recipes import RECIPES, SPECIFICATIONS
from unskew.experiments.karel.lab.scales import Scale
from unskew.models.karel.data.examples import read_examples

ORIGINAL, UNIFORM = "msr-test", "uniform-test"
NESTED = ("while-in-while", "while-in-if")
COVERED = tuple(f"{name}-covered" for name in NESTED)  # the shown worlds take every branch
ACTIONS, PROBLEMS = "actions-test", "problems"
WIDE = (ORIGINAL, UNIFORM)  # models write programs for these with the wide beam


def repeats(name: str) -> int:
    """Return how many tasks a test set has for each program."""
    return SPECIFICATIONS if name == ACTIONS else 1


def narrow_names(scale: Scale) -> list[str]:
    """Return the names of the narrow test sets without ``narrow-``, such as 0.05-0.85-G."""
    return [f"{wall}-{marker}-{kind}" for wall, marker in scale.narrow for kind in scale.counts]


@dataclass(frozen=True)
class TestSet:
    """A test set, or a part of it."""

    examples: Batch
    rows: NDArray[np.int64]  # the row of each example in the whole set
    dropped: int  # programs that the whole set leaves out because they have no valid worlds
    common: NDArray[np.bool_] | None  # whether every set with the same programs has this program


def _of_each_value(values: NDArray[np.generic], n: int) -> NDArray[np.int64]:
    """Return about ``n`` rows, equally many of each value."""
    kinds = np.unique(values)
    return np.sort(np.concatenate([np.flatnonzero(values == k)[: n // len(kinds)] for k in kinds]))


@cache
def content(name: str) -> str:
    """Return a name for the content of a set, and of the set that it takes its programs from."""
    given = RECIPES[name].given if name in RECIPES else ""
    return content_of(f"karel/{name}") + (f" of {content_of(given)}" if given else "")


class TestSets:
    """The test sets by name. Each is made when it is first needed."""

    def __init__(self, scale: Scale) -> None:
        """Use the sizes of a scale."""
        self._scale = scale
        self._made: dict[str, Batch] = {}

    def __getitem__(self, name: str) -> TestSet:
        """Return the test set with this name."""
        whole = self._whole(name)
        rows = np.arange(len(whole))
        if self._scale.tests is not None and self._scale.tests < len(whole):
            rows = rows[: self._scale.tests]
            if name == ACTIONS:  # its rows are sorted by length, and most are long
                actions = np.array(DOMAIN.variable("actions").measure(whole).tolist())
                rows = _of_each_value(actions, self._scale.tests)
        examples = whole.take(rows)
        common = None
        if name in self._same_programs:
            common = np.isin(key_hashes(examples, DOMAIN.key), self._common)
        dropped = RECIPES[name].n - len(whole) if name in RECIPES else 0
        return TestSet(examples, rows, dropped, common)

    def label(self, name: str) -> str:
        """Return a name for the content of a set, and for how many of its rows are used."""
        return f"{content(name)}, {self._scale.tests or 'all'}"

    @property
    def _same_programs(self) -> list[str]:
        """The names of the sets whose programs are those of the original test set."""
        return [ORIGINAL, UNIFORM, *(f"narrow-{name}" for name in narrow_names(self._scale))]

    @cached_property
    def _common(self) -> NDArray[np.uint64]:
        """The keys of the programs that every one of these sets has."""
        keys = [key_hashes(self._whole(name), DOMAIN.key) for name in self._same_programs]
        common = keys[0]
        for other in keys[1:]:
            common = np.intersect1d(common, other)
        return common

    def _whole(self, name: str) -> Batch:
        if name not in self._made:
            self._made[name] = read_examples(f"karel/{name}")
        return self._made[name]
