"""Programs of actions alone (sections 4.3 and 5.3, table 2), and training with more of them."""

from __future__ import annotations

from unskew.experiments.karel.lab.lab import Exam
from unskew.experiments.karel.lab.plan import Cell, Experiment, Table
from unskew.experiments.karel.lab.scales import Scale
from unskew.experiments.karel.lab.test_sets import ACTIONS, ORIGINAL
from unskew.experiments.karel.lab.trainings import regimes

LENGTHS = range(1, 9)
BASELINE = (16.00, 30.00, 44.24, 52.88, 56.56, 66.94, 67.16, 73.06)
AUGMENTED = (20.00, 41.60, 52.24, 61.72, 63.04, 72.20, 72.74, 78.12)
PAPER = {
    "baseline, whole": BASELINE,
    "augmented, whole": AUGMENTED,
    "baseline, passes": BASELINE,
    "augmented, passes": AUGMENTED,
    "baseline": BASELINE,
    "augmented": AUGMENTED,
}
ON_ORIGINAL = {"baseline": 73.52, "augmented": 71.8}
ACTION_ONLY = {"baseline": 99.24}


def tables(scale: Scale) -> list[Table]:
    """By number of actions, and on the original test set."""
    lengths = [
        Cell(model, str(length), model, Exam(ACTIONS), number, by=("actions", length))
        for model, paper in PAPER.items()
        for length, number in zip(LENGTHS, paper, strict=True)
    ]
    original = []
    for model in PAPER:
        kind = model.partition(",")[0]
        whole = Cell(model, "original test set", model, Exam(ORIGINAL), ON_ORIGINAL[kind])
        alone = Cell(
            model, "its programs of actions alone", model, Exam(ORIGINAL), ACTION_ONLY.get(kind),
            by=("control_flow", 0),
        )  # fmt: skip
        original += [whole, alone]
    return [
        Table(
            "Generalization by number of actions",
            tuple(lengths),
            form="lines",
            note=regimes(scale),
            sides=("model", "actions in the program"),
        ),
        Table("Generalization on the original test set", tuple(original)),
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
