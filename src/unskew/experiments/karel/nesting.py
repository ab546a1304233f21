"""Programs with nested control flow (section 4.3): while in while, while in if."""

from __future__ import annotations

from unskew.experiments.karel.lab import Exam
from unskew.experiments.karel.plan import Cell, Experiment, Table
from unskew.experiments.karel.scales import Scale
from unskew.experiments.karel.testing import NESTED

PAPER = {"while-in-while": 0.64, "while-in-if": 2.23}
MODELS = ("baseline, passes", "baseline", "beyond")


def tables(_: Scale) -> list[Table]:
    """Each model on either set; the paper's numbers are its baseline's."""
    cells = [
        Cell(model, test.replace("-", " "), model, Exam(test),
             PAPER[test] if model != "beyond" else None)
        for model in MODELS
        for test in NESTED
    ]  # fmt: skip
    return [Table("Generalization on nested control flow", tuple(cells))]


EXPERIMENT = Experiment(
    "karel-nesting",
    "Nested control flow",
    "4.3",
    "Can the baseline write the nested loops that its training set seldom has?",
    tables,
    failures=("baseline",),
)
