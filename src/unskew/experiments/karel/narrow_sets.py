"""Narrow test sets (sections 4.2 and 5.1, table 1): the baseline, and training on uniform worlds.

The paper's uniform model sees 1 to 5 pairs in training (section 5.1).
"""

from __future__ import annotations

from unskew.experiments.karel.lab.cells import TablePlan, grid
from unskew.experiments.karel.lab.lab import Exam
from unskew.experiments.karel.lab.plan import Experiment
from unskew.experiments.karel.lab.scales import Scale
from unskew.experiments.karel.lab.test_sets import ORIGINAL, UNIFORM, narrow_names
from unskew.experiments.karel.lab.trainings import regimes

# Table 1; r_wall-r_marker-counts.
BASELINE = {
    "0.05-0.85-G": 24.30, "0.05-0.85-U": 1.32, "0.05-0.85-A": 0.04,
    "0.25-0.65-G": 21.08, "0.25-0.65-U": 2.98, "0.25-0.65-A": 0.08,
    "0.65-0.25-G": 16.63, "0.65-0.25-U": 13.31, "0.65-0.25-A": 6.63,
    "0.85-0.05-G": 15.99, "0.85-0.05-U": 12.88, "0.85-0.05-A": 12.98,
}  # fmt: skip
EVEN = {
    "0.05-0.85-G": 69.37, "0.05-0.85-U": 70.21, "0.05-0.85-A": 68.99,
    "0.25-0.65-G": 63.25, "0.25-0.65-U": 63.74, "0.25-0.65-A": 62.78,
    "0.65-0.25-G": 65.83, "0.65-0.25-U": 67.39, "0.65-0.25-A": 68.09,
    "0.85-0.05-G": 77.32, "0.85-0.05-U": 78.63, "0.85-0.05-A": 80.19,
}  # fmt: skip
PAPER = {  # figure 2 gives no number for the uniform model on the first two sets
    "baseline": {"original": 73.52, "uniform": 27.9, **BASELINE},
    "uniform": EVEN,
}
MODELS = (
    "baseline, whole",
    "uniform, whole",
    "baseline, passes",
    "uniform, passes",
    "baseline",
    "uniform",
)


def tables(scale: Scale) -> list[TablePlan]:
    """Return every model on the original, the uniform and every narrow test set."""
    exams = {"original": Exam(ORIGINAL), "uniform": Exam(UNIFORM)}
    exams |= {name: Exam(f"narrow-{name}") for name in narrow_names(scale)}
    return [
        TablePlan(
            "Generalization by test set (r_wall-r_marker-counts)",
            grid(MODELS, exams, PAPER),
            form="heatmap",
            note=regimes(scale),
        )
    ]


EXPERIMENT = Experiment(
    "karel-narrow-sets",
    "Narrow test sets",
    "4.2 and 5.1, table 1, figure 2",
    "How well do two models do in worlds of narrow distributions: one trained on the original's "
    "worlds, one on uniform worlds?",
    tables,
    failures=("baseline, whole", "baseline"),
)
