"""The original test set, and the same programs on uniform worlds (section 4.2).

The paper: "73.52 % generalization accuracy" on the one, 27.9 % on the other.
"""

from __future__ import annotations

from unskew.experiments.karel.lab.lab import Exam
from unskew.experiments.karel.lab.plan import FIRST_CONSISTENT, GENERALIZES, Cell, Experiment, Table
from unskew.experiments.karel.lab.scales import Scale
from unskew.experiments.karel.lab.test_sets import ORIGINAL, UNIFORM
from unskew.experiments.karel.lab.trainings import regimes

PAPER = {ORIGINAL: 73.52, UNIFORM: 27.9}
COLUMNS = {ORIGINAL: "original test set", UNIFORM: "same programs, uniform worlds"}
MODELS = (
    "baseline, whole",
    "baseline, passes",
    "baseline",
    "baseline, twice as long",
)
WAYS = {
    "exact": "exact match",
    "consistent": "consistent with what is shown",
    GENERALIZES: "generalizes",
    FIRST_CONSISTENT: "first consistent candidate",
    f"{GENERALIZES}, any": "any candidate",
}


def tables(scale: Scale) -> list[Table]:
    """Generalization, and for the original test set the other ways to count."""
    both = [
        Cell(model, COLUMNS[test], model, Exam(test), PAPER[test])
        for model in MODELS
        for test in PAPER
    ]
    ways = [
        Cell(model, title, model, Exam(ORIGINAL), PAPER[ORIGINAL] if way == GENERALIZES else None,
             solved=way)
        for model in MODELS
        for way, title in WAYS.items()
    ]  # fmt: skip
    return [
        Table("Generalization of the baseline", tuple(both), note=regimes(scale)),
        Table("The original test set, counted in other ways", tuple(ways)),
    ]


EXPERIMENT = Experiment(
    "karel-original",
    "Original and uniform worlds",
    "4.2",
    "How does a model that is trained on data like the original's do on uniform worlds?",
    tables,
    failures=("baseline",),
)
