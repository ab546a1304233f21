"""Beyond the paper: one model for all of it, its programs homogenized too.

Its worst cell is the number to raise.
"""

from __future__ import annotations

from dataclasses import replace

from unskew.experiments.karel.lab.lab import Exam
from unskew.experiments.karel.lab.plan import FIRST_CONSISTENT, Cell, Experiment, Table
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
from unskew.experiments.tables import NATS

MODELS = ("baseline", "uniform", "beyond", "beyond, wider", "beyond, longer")


def tables(scale: Scale) -> list[Table]:
    """The baseline, the paper's remedy and ours on everything, in three ways.

    By the first candidate, as the paper has it; by the first that does what is shown, which
    anyone can see who runs the candidates; and by how likely the programs are, which tells models
    apart that are too small, or trained too short, to solve anything.
    """
    tests = [ORIGINAL, UNIFORM, *(f"narrow-{name}" for name in narrow_names(scale))]
    tests += [*NESTED, *COVERED, ACTIONS, PROBLEMS]
    cells = [Cell(model, test, model, Exam(test)) for model in MODELS for test in tests]
    tried = [replace(cell, solved=FIRST_CONSISTENT) for cell in cells]
    losses = [cell for cell in cells if cell.exam.test != PROBLEMS]  # of one to four pairs
    return [
        Table("Generalization on every test set", tuple(cells), form="heatmap", worst=True),
        Table(
            "The same, taking the first candidate of the beam that does what is shown",
            tuple(tried),
            form="heatmap",
            worst=True,
        ),
        Table("Loss of the true programs", tuple(losses), unit=NATS, form="heatmap"),
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
