"""Why the baseline breaks: how often it sees a fixed set, at equal compute. Not in the paper."""

from __future__ import annotations

from unskew.experiments.karel.lab.cells import CellPlan, TablePlan
from unskew.experiments.karel.lab.lab import Exam
from unskew.experiments.karel.lab.plan import Experiment
from unskew.experiments.karel.lab.scales import Scale
from unskew.experiments.karel.lab.test_sets import ORIGINAL, UNIFORM, narrow_names

FIGURE = "Generalization by size of the training set at equal compute"
KINDS = {"msr": "trained on worlds like the original's", "uniform": "trained on uniform worlds"}


def tables(scale: Scale) -> list[TablePlan]:
    """Return every size of a training set, and a stream, on five kinds of test sets."""
    names = narrow_names(scale)
    few = dict.fromkeys((names[0], names[len(scale.counts) - 1], names[-1]))  # G, A, and many walls
    tests = [ORIGINAL, UNIFORM, *(f"narrow-{name}" for name in few)]
    examples = scale.short * scale.batch
    sizes = {f"{size:,}": f"{size:,} ({examples / size:.0f} passes)" for size in scale.sizes}
    sizes["stream"] = "stream"
    return [
        TablePlan(
            f"{FIGURE}, {title}",
            tuple(
                CellPlan(test, column, f"{source} {size}", Exam(test))
                for test in tests
                for size, column in sizes.items()
            ),
            form="lines",
            sides=("tested on", "examples in the training set"),
            figure=FIGURE,
            label=title,
        )
        for source, title in KINDS.items()
    ]


EXPERIMENT = Experiment(
    "karel-passes",
    "Why the baseline breaks",
    "",
    "How much of the failure in other worlds comes from seeing a fixed set many times?",
    tables,
)
