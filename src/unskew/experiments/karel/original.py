"""The original test set, and the same programs in uniform worlds (section 4.2).

The paper: "73.52 % generalization accuracy" on the original test set, 27.9 % in uniform worlds.
"""

from __future__ import annotations

from unskew.experiments.karel.lab.cells import (
    FIRST_CONSISTENT,
    GENERALIZES,
    CellPlan,
    TablePlan,
    grid,
)
from unskew.experiments.karel.lab.lab import Exam
from unskew.experiments.karel.lab.plan import Experiment
from unskew.experiments.karel.lab.scales import Scale
from unskew.experiments.karel.lab.test_sets import ORIGINAL, UNIFORM
from unskew.experiments.karel.lab.trainings import regimes

PAPER = {ORIGINAL: 73.52, UNIFORM: 27.9}
COLUMNS = {"original test set": ORIGINAL, "same programs, uniform worlds": UNIFORM}
MODELS = (
    "baseline, whole",
    "baseline, passes",
    "baseline",
    "baseline, twice as long",
)
WAYS = {
    "exact": "exact match",
    "consistent": "consistent with the shown pairs",
    GENERALIZES: "generalizes",
    FIRST_CONSISTENT: "first consistent candidate",
    f"{GENERALIZES}, any": "any candidate",
}


def tables(scale: Scale) -> list[TablePlan]:
    """Return the generalization on both test sets, and other ways to count on the original one."""
    paper = {"baseline": {column: PAPER[test] for column, test in COLUMNS.items()}}
    both = grid(MODELS, {column: Exam(test) for column, test in COLUMNS.items()}, paper)
    ways = tuple(
        CellPlan(
            model,
            title,
            model,
            Exam(ORIGINAL),
            PAPER[ORIGINAL] if way == GENERALIZES else None,
            solved=way,
        )
        for model in MODELS
        for way, title in WAYS.items()
    )
    return [
        TablePlan("Generalization of the baseline", both, note=regimes(scale)),
        TablePlan("The original test set, counted in other ways", ways),
    ]


EXPERIMENT = Experiment(
    "karel-original",
    "Original and uniform worlds",
    "4.2",
    "How well does a model do in uniform worlds if it is trained on data like the original's?",
    tables,
    failures=("baseline",),
)
