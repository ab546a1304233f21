"""How the shipped model solves tasks whose programs have a loop inside a loop or an if.

`python -m bench.karel_nested -o results/karel_nested.json`: of the tasks that it solves, how many
by a program that nests so itself? A few minutes on two cores.
"""

import argparse
import json
from pathlib import Path

import numpy as np

from unskew.core.batch import Batch
from unskew.domains.karel import DOMAIN
from unskew.domains.karel.examples import PROGRAM, program_column
from unskew.experiments.karel.lab.test_sets import COVERED, NESTED
from unskew.experiments.provenance import provenance
from unskew.models.karel.data.examples import read_examples
from unskew.models.karel.data.tasks import Tasks
from unskew.models.karel.decode.solve import solve
from unskew.models.karel.train.run import shipped_synthesizer

TASKS, BEAM = 500, 8


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("-o", "--output", type=Path, help="write the figures as JSON")
    chosen = parser.parse_args()
    found = {}
    for name in (*NESTED, *COVERED):
        found[name] = counted(name)
        print(name, found[name])
    if chosen.output:
        facts = {"tasks": TASKS, "beam": BEAM, "provenance": provenance(), "sets": found}
        chosen.output.write_text(json.dumps(facts, indent=1) + "\n", encoding="utf-8")


def counted(name: str) -> dict[str, int]:
    """Count the tasks of a set, those solved, and the programs written that nest as theirs do."""
    examples = read_examples(f"karel/{name}", TASKS)
    found = solve(shipped_synthesizer(), Tasks.of(examples), BEAM)
    solved = found.judged.generalizes[:, 0]
    written = Batch({PROGRAM: program_column(np.ascontiguousarray(found.programs[:, 0]))})
    nests = np.asarray(DOMAIN.variable(name.removesuffix("-covered")).measure(written), np.bool_)
    return {
        "tasks": len(examples),
        "solved": int(solved.sum()),
        "nesting": int(nests.sum()),
        "by nesting": int((solved & nests).sum()),
    }


if __name__ == "__main__":
    main()
