"""Programs with nested control flow (section 4.3): a while in a while, a while in an if.

The paper does not say whether the shown worlds run the inner loop. In ours, as in the original
ones, they often do not; then a program without the inner loop also solves the task. The *covered*
sets have the same programs in worlds that take every branch. The paper also does not say what its
accuracy counts, so there is a table of exact matches too.
"""

from __future__ import annotations

from dataclasses import replace

from unskew.experiments.karel.lab.cells import TablePlan, grid
from unskew.experiments.karel.lab.lab import Exam
from unskew.experiments.karel.lab.plan import Experiment
from unskew.experiments.karel.lab.scales import Scale
from unskew.experiments.karel.lab.test_sets import COVERED, NESTED
from unskew.experiments.karel.lab.trainings import regimes

PAPER = {"while-in-while": 0.64, "while-in-if": 2.23}
MODELS = (
    "baseline, whole",
    "baseline, passes",
    "baseline",
    "uniform",
    "beyond, wider",
    "beyond, longer",
)
EXACT = "The paper reports an accuracy but does not say what it counts."


def tables(scale: Scale) -> list[TablePlan]:
    """Return every model on every set, counted in two ways."""
    paper = {"baseline": {_title(test): number for test, number in PAPER.items()}}
    cells = grid(MODELS, {_title(test): Exam(test) for test in (*NESTED, *COVERED)}, paper)
    exact = tuple(replace(cell, solved="exact") for cell in cells)
    return [
        TablePlan("Generalization on nested control flow", cells, note=regimes(scale)),
        TablePlan("Exact matches on nested control flow", exact, note=EXACT),
    ]


def _title(test: str) -> str:
    return test.replace("-covered", ", covered").replace("-", " ")


EXPERIMENT = Experiment(
    "karel-nesting",
    "Nested control flow",
    "4.3",
    "Can the baseline write nested loops, which are rare in its training set?",
    tables,
    failures=("baseline",),
)
