"""Beyond the paper: one model for all test sets, trained on programs that are homogenized too."""

from __future__ import annotations

from dataclasses import replace

from unskew.experiments.karel.lab.cells import FIRST_CONSISTENT, TablePlan, grid
from unskew.experiments.karel.lab.lab import Exam
from unskew.experiments.karel.lab.plan import Experiment
from unskew.experiments.karel.lab.scales import Scale
from unskew.experiments.karel.lab.test_sets import (
    ACTIONS,
    COVERED,
    NESTED,
    ORIGINAL,
    PROBLEMS,
    UNIFORM,
    narrow_names,
)
from unskew.experiments.terminal import NATS

MODELS = ("baseline", "uniform", "beyond", "beyond, wider", "beyond, longer")


def tables(scale: Scale) -> list[TablePlan]:
    """Return the baseline, the paper's remedy and our models on every test set, in three ways.

    The first table counts the first candidate, as the paper does. The second counts the first
    candidate that is consistent with the shown pairs; anyone can find it by running the
    candidates. The third has the loss of the true programs. It also compares models that solve
    nothing because they are too small or trained too short.
    """
    tests = [ORIGINAL, UNIFORM, *(f"narrow-{name}" for name in narrow_names(scale))]
    tests += [*NESTED, *COVERED, ACTIONS, PROBLEMS]
    cells = grid(MODELS, {test: Exam(test) for test in tests})
    consistent = tuple(replace(cell, solved=FIRST_CONSISTENT) for cell in cells)
    losses = tuple(cell for cell in cells if cell.exam.test != PROBLEMS)  # which have 1 to 4 pairs
    return [
        TablePlan("Generalization on every test set", cells, form="heatmap", worst=True),
        TablePlan(
            "The same, with the first candidate that is consistent with the shown pairs",
            consistent,
            form="heatmap",
            worst=True,
        ),
        TablePlan("Loss of the true programs", losses, unit=NATS, form="heatmap"),
    ]


EXPERIMENT = Experiment(
    "karel-beyond",
    "One model for all of it",
    "",
    "Does homogenizing worlds, programs and the number of pairs give one model that does well on "
    "every test set?",
    tables,
    failures=("beyond, longer", "beyond, wider"),
)
