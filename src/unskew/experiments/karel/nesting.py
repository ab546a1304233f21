"""Programs with nested control flow (section 4.3): while in while, while in if.

The paper does not say whether the worlds that are shown enter the inner loop. Like the original
ones, ours often do not, so that a program without it will do; the *covered* sets are the same
programs on worlds that take every branch. Nor does it say how its accuracy counts, so exact
matches are told too.
"""

from __future__ import annotations

from dataclasses import replace

from unskew.experiments.karel.lab.lab import Exam
from unskew.experiments.karel.lab.plan import Cell, Experiment, Table
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
EXACT = "The paper says accuracy, not of which kind."


def tables(scale: Scale) -> list[Table]:
    """Each model on each set, counted in two ways; the paper's numbers are its baseline's."""
    cells = [
        Cell(model, _title(test), model, Exam(test),
             PAPER.get(test) if model.startswith("baseline") else None)
        for model in MODELS
        for test in (*NESTED, *COVERED)
    ]  # fmt: skip
    exact = [replace(cell, solved="exact") for cell in cells]
    return [
        Table("Generalization on nested control flow", tuple(cells), note=regimes(scale)),
        Table("Exact matches on nested control flow", tuple(exact), note=EXACT),
    ]


def _title(test: str) -> str:
    return test.replace("-covered", ", covered").replace("-", " ")


EXPERIMENT = Experiment(
    "karel-nesting",
    "Nested control flow",
    "4.3",
    "Can the baseline write the nested loops that its training set seldom has?",
    tables,
    failures=("baseline",),
)
