"""Programs of actions alone (sections 4.3 and 5.3, table 2), and training with more of them."""

from __future__ import annotations

from dataclasses import replace

from unskew.experiments.karel.lab.cells import CellPlan, TablePlan, grid, kind
from unskew.experiments.karel.lab.lab import Exam
from unskew.experiments.karel.lab.plan import Experiment
from unskew.experiments.karel.lab.scales import Scale
from unskew.experiments.karel.lab.test_sets import ACTIONS, ORIGINAL
from unskew.experiments.karel.lab.trainings import regimes

BASELINE = (16.00, 30.00, 44.24, 52.88, 56.56, 66.94, 67.16, 73.06)
AUGMENTED = (20.00, 41.60, 52.24, 61.72, 63.04, 72.20, 72.74, 78.12)
PAPER = {"baseline": BASELINE, "augmented": AUGMENTED}  # by number of actions, from one to eight
WHOLE_SET, ACTIONS_ALONE = "original test set", "its programs of actions alone"
ON_ORIGINAL = {
    "baseline": {WHOLE_SET: 73.52, ACTIONS_ALONE: 99.24},
    "augmented": {WHOLE_SET: 71.8},
}
MODELS = (
    "baseline, whole",
    "augmented, whole",
    "baseline, passes",
    "augmented, passes",
    "baseline",
    "augmented",
)


def tables(scale: Scale) -> list[TablePlan]:
    """Return the generalization by number of actions, and on the original test set."""
    lengths = tuple(
        CellPlan(model, str(length), model, Exam(ACTIONS), number, by=("actions", length))
        for model in MODELS
        for length, number in enumerate(PAPER[kind(model)], start=1)
    )
    columns = {WHOLE_SET: Exam(ORIGINAL), ACTIONS_ALONE: Exam(ORIGINAL)}
    original = tuple(
        replace(cell, by=("control_flow", 0)) if cell.column == ACTIONS_ALONE else cell
        for cell in grid(MODELS, columns, ON_ORIGINAL)
    )
    return [
        TablePlan(
            "Generalization by number of actions",
            lengths,
            form="lines",
            note=regimes(scale),
            sides=("model", "actions in the program"),
        ),
        TablePlan("Generalization on the original test set", original),
    ]


EXPERIMENT = Experiment(
    "karel-actions",
    "Programs of actions alone",
    "4.3 and 5.3, table 2",
    "Can the baseline write short programs without control flow, and does training on more of "
    "them help?",
    tables,
    failures=("baseline",),
)
