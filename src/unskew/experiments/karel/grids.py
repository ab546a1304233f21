"""The number of pairs shown (section 5.1): training with five, or with one to five."""

from __future__ import annotations

from unskew.experiments.karel.lab.lab import Exam
from unskew.experiments.karel.lab.plan import Cell, Experiment, Table
from unskew.experiments.karel.lab.scales import Scale
from unskew.experiments.karel.lab.test_sets import ORIGINAL, UNIFORM

MODELS = ("baseline", "baseline, 1 to 5 pairs", "uniform")
SHOWN = range(1, 6)
TITLES = {ORIGINAL: "original test set", UNIFORM: "uniform test set"}


def tables(_: Scale) -> list[Table]:
    """Accuracy by the number of pairs shown; all six pairs must come out right."""
    return [
        Table(
            f"Generalization by pairs shown, {title}",
            tuple(
                Cell(model, str(shown), model, Exam(test, None if shown == 5 else shown))
                for model in MODELS
                for shown in SHOWN
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
    "What does it cost to show fewer pairs, and does training with one to five help?",
    tables,
)
