"""The number of pairs shown (section 5.1): training with five, or with one to five."""

from __future__ import annotations

from unskew.experiments.karel.lab.cells import TablePlan, grid
from unskew.experiments.karel.lab.lab import Exam
from unskew.experiments.karel.lab.plan import Experiment
from unskew.experiments.karel.lab.scales import Scale
from unskew.experiments.karel.lab.test_sets import ORIGINAL, UNIFORM

MODELS = ("baseline", "baseline, 1 to 5 pairs", "uniform")
TITLES = {ORIGINAL: "original test set", UNIFORM: "uniform test set"}


def tables(_: Scale) -> list[TablePlan]:
    """Return the accuracy by number of shown pairs; a program must be right for all six pairs."""
    return [
        TablePlan(
            f"Generalization by pairs shown, {title}",
            grid(
                MODELS,
                {str(n): Exam(test, None if n == 5 else n) for n in range(1, 6)},
            ),
            form="lines",
            sides=("model", "pairs shown"),
        )
        for test, title in TITLES.items()
    ]


EXPERIMENT = Experiment(
    "karel-grids",
    "Number of grids",
    "5.1",
    "How much worse is a model that sees fewer pairs, and does training with one to five help?",
    tables,
)
