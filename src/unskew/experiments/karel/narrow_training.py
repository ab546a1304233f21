"""Training on narrow worlds (section 5.4, figure 3): twelve models, each on all twelve sets.

The paper gives ranges: on its own distribution each reaches 60 to 70 %.
"""

from __future__ import annotations

from collections.abc import Iterator

from unskew.experiments.karel.lab.lab import Exam
from unskew.experiments.karel.lab.plan import Cell, Experiment, Table
from unskew.experiments.karel.lab.scales import Scale
from unskew.experiments.karel.lab.test_sets import ORIGINAL, narrow_names

RANGES = (
    "The paper's section 5.4: each narrow model solves 60 to 70 % of its own distribution, the "
    "uniform model 57 to 80 % (table 1 and figure 2)."
)
ALIKE = (
    "All models of this table begin with weights that see what a program changed, which most "
    "others do not, and are shown one to five pairs."
)
BESIDE = {"narrow uniform": "uniform", "narrow msr": "msr"}  # trained as long, on as many examples


def tables(scale: Scale) -> list[Table]:
    """Every narrow model, and a uniform and an original-like one, on every narrow set."""
    return [
        Table(
            "Generalization by training and by test set",
            tuple(_cells(scale)),
            form="heatmap",
            says=RANGES,
            note=ALIKE,
            sides=("trained on", "tested on"),
        )
    ]


def _cells(scale: Scale) -> Iterator[Cell]:
    names = narrow_names(scale)
    tests = {f"narrow-{name}": name for name in names} | {ORIGINAL: "original"}
    for model, title in ({f"narrow {name}": name for name in names} | BESIDE).items():
        for test, head in tests.items():
            yield Cell(title, head, model, Exam(test))


EXPERIMENT = Experiment(
    "karel-narrow-training",
    "Training on narrow worlds",
    "5.4, figure 3",
    "How do models that are trained on one narrow distribution do on another?",
    tables,
)
