"""Training on narrow worlds (section 5.4, figure 3): twelve models, each on all twelve sets.

The paper gives ranges: on its own distribution each reaches 60 to 70 %.
"""

from __future__ import annotations

from unskew.experiments.karel.lab import Exam
from unskew.experiments.karel.plan import Cell, Experiment, Table
from unskew.experiments.karel.scales import Scale
from unskew.experiments.karel.testing import ORIGINAL, narrow_names

RANGES = (
    "The paper's section 5.4: each narrow model solves 60 to 70 % of its own distribution, the "
    "uniform model 57 to 80 % (table 1 and figure 2)."
)
BESIDE = {"narrow uniform": "uniform", "narrow msr": "msr"}  # trained as long, on as many examples


def tables(scale: Scale) -> list[Table]:
    """Every narrow model, and a uniform and an original-like one, on every narrow set."""
    names = narrow_names(scale)
    models = {f"narrow {name}": name for name in names} | BESIDE
    cells = [
        Cell(title, test, model, Exam(f"narrow-{test}"))
        for model, title in models.items()
        for test in names
    ]
    cells += [Cell(title, "original", model, Exam(ORIGINAL)) for model, title in models.items()]
    return [
        Table(
            "Generalization by training and by test set",
            tuple(cells),
            form="heatmap",
            note=RANGES,
            sides=("trained on", "tested on"),
        )
    ]


EXPERIMENT = Experiment(
    "karel-narrow-training",
    "Training on narrow worlds",
    "5.4, figure 3",
    "How do models that are trained on one narrow distribution do on another?",
    tables,
)
