"""Real-world problems (section 5.2). The paper's 36 problems are lost; ours are others."""

from __future__ import annotations

from unskew.domains.karel.formats.problems import problems
from unskew.experiments.karel.lab.cells import GENERALIZES, CellPlan, TablePlan
from unskew.experiments.karel.lab.lab import Exam
from unskew.experiments.karel.lab.plan import Experiment
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


def tables(_: Scale) -> list[TablePlan]:
    """Return how many problems are solved; a problem shows all of its one to four pairs."""
    cells = tuple(
        CellPlan(
            model,
            title,
            model,
            Exam(PROBLEMS),
            paper if way == GENERALIZES else None,
            solved=way,
        )
        for model, paper in PAPER.items()
        for way, title in WAYS.items()
    )
    title = f"Problems solved (the paper: of {OTHERS} other problems)"
    return [TablePlan(title, cells, f"problems of {len(problems())}", paper_of=OTHERS)]


EXPERIMENT = Experiment(
    "karel-real-world",
    "Real-world problems",
    "5.2",
    "How many problems that people wrote for people does each model solve?",
    tables,
    failures=("baseline",),
)
