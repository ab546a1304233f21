"""What runs of `karel/msr` do beside the original's: actions executed, branches never taken.

`python -m bench.karel_runs [VAL_PROGRAMS]`: with a list of original programs, our worlds on them
too, as they are and weighted to the known lengths (the list lacks long ones).
"""

import sys
from pathlib import Path

import numpy as np

from bench.fit_msr import lengths
from unskew.core.rng import generator
from unskew.domains.karel.language import tokens
from unskew.domains.karel.language.compiler import compile_programs
from unskew.domains.karel.running.interpreter import run
from unskew.domains.karel.sampling.pairs import MADE, draw_pairs
from unskew.domains.karel.sampling.programs import original_examples
from unskew.domains.karel.sampling.worlds import ORIGINAL
from unskew.domains.karel.world import BYTES

N, SEEDS, SHOWN = 10_000, 3, 5


def main() -> None:
    print("actions of a run, and examples that leave a branch out of the first five pairs;")
    print("the original's: 7.92 on average, 3/5/10/17/23/43/73 at 25/50/75/90/95/99/100 %; 17.5 %")
    for seed in range(SEEDS):
        made = original_examples(generator(seed, "runs"), N, 6)
        tell("ours", made.programs, made.inputs, np.ones(N))
    if len(sys.argv) < 2:
        return
    lines = Path(sys.argv[1]).read_text(encoding="utf-8").splitlines()
    rows = tokens.stacked([tokens.to_ids(line.split()) for line in lines])
    sizes = (rows > 0).sum(axis=1)
    have, want = np.bincount(sizes, minlength=200), np.pad(lengths(), (0, 200))
    weights = want[sizes] / have[sizes]
    for seed in range(SEEDS):
        made = draw_pairs(generator(seed, "runs"), compile_programs(rows), ORIGINAL, 6, 0, 20_000)
        fine = made.status == MADE
        tell("surviving programs", rows[fine], made.inputs[fine], np.ones(fine.sum()))
        tell("… weighted to the lengths", rows[fine], made.inputs[fine], weights[fine])


def tell(name: str, rows: np.ndarray, inputs: np.ndarray, weights: np.ndarray) -> None:
    n, k = inputs.shape[:2]
    code = compile_programs(rows)
    ran = run(code, inputs.reshape(-1, BYTES))
    actions = ran.actions.sum(axis=1)
    seen = np.bitwise_or.reduce(ran.coverage.reshape(n, k, 2)[:, :SHOWN], axis=1)
    missing = np.bitwise_count(seen).sum(axis=1) < 2 * code.tests
    mean = np.average(actions.reshape(n, k).mean(axis=1), weights=weights)
    points = np.percentile(actions, (25, 50, 75, 90, 95, 99, 100)).astype(int).tolist()
    missed = 100 * np.average(missing, weights=weights)
    print(f"{name:28} {mean:.2f}   {'/'.join(map(str, points))}   {missed:.1f} %")


if __name__ == "__main__":
    main()
