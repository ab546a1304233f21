"""Why the baseline breaks: how often a fixed set is seen, at equal compute. Not in the paper."""

from __future__ import annotations

from unskew.experiments.karel.lab.lab import Exam
from unskew.experiments.karel.lab.plan import Cell, Experiment, Table
from unskew.experiments.karel.lab.scales import Scale
from unskew.experiments.karel.lab.test_sets import ORIGINAL, UNIFORM, narrow_names

FIGURE = "Generalization by size of the training set at equal compute"
KINDS = {"msr": "trained on worlds like the original's", "uniform": "trained on uniform worlds"}


def tables(scale: Scale) -> list[Table]:
    """Every size, and a stream, on the original, the uniform and the narrow sets."""
    names = narrow_names(scale)
    few = dict.fromkeys((names[0], names[len(scale.counts) - 1], names[-1]))  # G, A, and many walls
    tests = [ORIGINAL, UNIFORM, *(f"narrow-{name}" for name in few)]
    seen = scale.short * scale.batch
    sizes = {f"{size:,}": f"{size:,} ({seen / size:.0f} passes)" for size in scale.sizes}
    sizes["stream"] = "stream"
    return [
        Table(
            f"{FIGURE}, {title}",
            tuple(
                Cell(test, column, f"{kind} {size}", Exam(test))
                for test in tests
                for size, column in sizes.items()
            ),
            form="lines",
            sides=("tested on", "examples in the training set"),
            figure=FIGURE,
            label=title,
        )
        for kind, title in KINDS.items()
    ]


EXPERIMENT = Experiment(
    "karel-passes",
    "Why the baseline breaks",
    "",
    "How much of the failure on other worlds comes from going through a fixed set many times?",
    tables,
)
