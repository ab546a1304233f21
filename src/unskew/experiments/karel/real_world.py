"""Real-world problems (section 5.2). The paper's 36 are lost; ours are others."""

from __future__ import annotations

from unskew.domains.karel.formats.problems import problems
from unskew.experiments.karel.lab.lab import Exam
from unskew.experiments.karel.lab.plan import GENERALIZES, Cell, Experiment, Table
from unskew.experiments.karel.lab.scales import Scale
from unskew.experiments.karel.lab.test_sets import PROBLEMS

PAPER = {
    "baseline": 4,
    "uniform, 5 pairs": 7,
    "baseline, 1 to 5 pairs": 12,
    "uniform": 11,  # trained with 1 to 5 pairs
    "beyond, wider": None,
    "beyond, longer": None,
}
OTHERS = 36
WAYS = {GENERALIZES: "first candidate", f"{GENERALIZES}, any": "any candidate of the beam"}


def tables(_: Scale) -> list[Table]:
    """How many problems are solved; a problem has one to four pairs, and all are shown."""
    cells = [
        Cell(model, title, model, Exam(PROBLEMS), paper if way == GENERALIZES else None, solved=way)
        for model, paper in PAPER.items()
        for way, title in WAYS.items()
    ]
    title = f"Problems solved (the paper's: of {OTHERS} others)"
    return [Table(title, tuple(cells), f"problems of {len(problems())}", paper_of=OTHERS)]


EXPERIMENT = Experiment(
    "karel-real-world",
    "Real-world problems",
    "5.2",
    "How many problems that people made for people does each model solve?",
    tables,
    failures=("baseline",),
)
