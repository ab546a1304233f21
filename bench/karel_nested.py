"""How the shipped model solves tasks whose programs have a loop inside a loop or inside an if.

`python -m bench.karel_nested -o results/karel_nested.json` counts the tasks that the model solves,
and how many of them it solves by a program that nests in the same way. This takes a few minutes
on two cores.
"""

import numpy as np

from bench.results import options, save
from unskew.core.batch import Batch
from unskew.domains.karel import DOMAIN
from unskew.domains.karel.examples import PROGRAM, program_column
from unskew.experiments.karel.lab.test_sets import COVERED, NESTED
from unskew.models.karel.data.examples import read_examples
from unskew.models.karel.data.tasks import Tasks
from unskew.models.karel.decode.solve import solve
from unskew.models.karel.train.run import shipped_synthesizer

TASKS, BEAM = 500, 8


def main() -> None:
    chosen = options(__doc__).parse_args()
    sets = {}
    for name in (*NESTED, *COVERED):
        sets[name] = counted(name)
        print(name, sets[name])
    save(chosen.output, {"tasks": TASKS, "beam": BEAM, "sets": sets})


def counted(name: str) -> dict[str, int]:
    """Count the tasks of a set, the solved tasks, and the written programs that nest."""
    examples = read_examples(f"karel/{name}", TASKS)
    solutions = solve(shipped_synthesizer(), Tasks.of(examples), BEAM)
    solved = solutions.judged.generalizes[:, 0]
    written = Batch({PROGRAM: program_column(np.ascontiguousarray(solutions.programs[:, 0]))})
    nests = np.asarray(DOMAIN.variable(name.removesuffix("-covered")).measure(written), np.bool_)
    return {
        "tasks": len(examples),
        "solved": int(solved.sum()),
        "nesting": int(nests.sum()),
        "by nesting": int((solved & nests).sum()),
    }


if __name__ == "__main__":
    main()
