"""Training on narrow worlds (section 5.4, figure 3): twelve models, each on all twelve sets.

The paper gives ranges: each model solves 60 to 70 % of its own distribution.
"""

from __future__ import annotations

from dataclasses import replace

from unskew.experiments.karel.lab.cells import TablePlan, grid
from unskew.experiments.karel.lab.lab import Exam
from unskew.experiments.karel.lab.plan import Experiment
from unskew.experiments.karel.lab.scales import Scale
from unskew.experiments.karel.lab.test_sets import ORIGINAL, narrow_names

RANGES = (
    "The paper (section 5.4): each narrow model solves 60 to 70 % of its own distribution, the "
    "uniform model 57 to 80 % (table 1 and figure 2)."
)
ALIKE = (
    "All models of this table see one to five pairs. They begin with weights that see what a "
    "program changed; most models of the other tables do not."
)
OTHERS = {"narrow uniform": "uniform", "narrow msr": "msr"}  # trained for as long, to compare


def tables(scale: Scale) -> list[TablePlan]:
    """Return every narrow model, a uniform one and an original-like one on every narrow set."""
    names = narrow_names(scale)
    titles = {f"narrow {name}": name for name in names} | OTHERS
    exams = {name: Exam(f"narrow-{name}") for name in names} | {"original": Exam(ORIGINAL)}
    return [
        TablePlan(
            "Generalization by training and by test set",
            tuple(replace(cell, row=titles[cell.model]) for cell in grid(titles, exams)),
            form="heatmap",
            says=RANGES,
            note=ALIKE,
            sides=("trained on", "tested on"),
        )
    ]


EXPERIMENT = Experiment(
    "karel-narrow-training",
    "Training on narrow worlds",
    "5.4, figure 3",
    "How well does a model that is trained on one narrow distribution do on another?",
    tables,
)
