"""The paper's Karel datasets, recreated as named recipes, and the tables they start from."""

from __future__ import annotations

from itertools import product

import numpy as np

from unskew.core.arrays import Bytes
from unskew.core.batch import Batch
from unskew.core.recipe import Recipe
from unskew.core.rng import generator
from unskew.domains.karel.examples import INPUTS, OUTPUTS, PROGRAM, program_column
from unskew.domains.karel.formats.problems import problems
from unskew.domains.karel.language import tokens as t
from unskew.domains.karel.sources import action_programs

ORIGINAL_ROWS = {"train": 1_116_854, "val": 2_500, "test": 2_500}
NARROW = ((0.05, 0.85), (0.25, 0.65), (0.65, 0.25), (0.85, 0.05))  # r_wall, r_marker of table 1
NESTED_ROWS = 2_500
SHARD = 1 << 14  # examples: 50 MB of worlds
ACTION_LENGTHS, ACTION_PROGRAMS, SPECIFICATIONS = range(1, 9), 500, 10
AUGMENTED_LENGTHS, AUGMENTED_ROWS = 20, 20_000


def problem_table() -> Batch:
    """The real-world problems (section 5.2) as examples of one to four pairs."""
    import pyarrow as pa

    found = problems().values()
    rows = [problem.program for problem in found if problem.program is not None]
    return Batch(
        {
            PROGRAM: program_column(t.stacked(rows)),
            INPUTS: pa.array([problem.inputs.tobytes() for problem in found], pa.binary()),
            OUTPUTS: pa.array([problem.outputs.tobytes() for problem in found], pa.binary()),
            "name": pa.array([problem.name for problem in found]),
        }
    )


def action_table() -> Batch:
    """Up to 500 distinct programs of each of 1 to 8 actions, ten times (section 4.3)."""
    parts = [_distinct(length) for length in ACTION_LENGTHS]
    rows = [row[row > 0] for part in parts for row in np.repeat(part, SPECIFICATIONS, axis=0)]
    return Batch({PROGRAM: program_column(t.stacked(rows))})


def _distinct(length: int) -> Bytes:
    """Return all programs of so many actions, or 500 of them."""
    if 5**length <= ACTION_PROGRAMS:
        choices = product(range(t.FIRST_ACTION, t.FIRST_ACTION + 5), repeat=length)
        return np.array([[t.DEF, t.RUN, t.OPEN_RUN, *c, t.CLOSE_RUN] for c in choices], np.uint8)
    drawn = action_programs(generator(0, "karel/action-programs", length), np.full(4096, length))
    _, first = np.unique(drawn, axis=0, return_index=True)
    return drawn[np.sort(first)[:ACTION_PROGRAMS]]


def _recipes() -> dict[str, Recipe]:
    made = {
        f"msr-{split}": Recipe("karel/msr", rows, seed=seed, shard_size=SHARD)
        for seed, (split, rows) in enumerate(ORIGINAL_ROWS.items())
    }
    for split, seed in (("train", 5), ("test", 0)):  # no draw is in both
        made[f"uniform-{split}"] = Recipe(
            "karel/uniform",
            ORIGINAL_ROWS[split],
            seed=seed,
            given=f"karel/msr-{split}",
            shard_size=SHARD,
        )
    for (r_wall, r_marker), counts in product(NARROW, "GUA"):
        made[f"narrow-{r_wall}-{r_marker}-{counts}"] = Recipe(
            "karel/narrow",
            ORIGINAL_ROWS["test"],
            {"r_wall": r_wall, "r_marker": r_marker, "counts": counts},
            given="karel/msr-test",
        )
    for pair in ("while-in-while", "while-in-if"):
        made[pair] = Recipe("karel/msr", NESTED_ROWS, {"nested": pair}, seed=3)
        made[f"{pair}-covered"] = Recipe(  # the same programs; ours, to see whether they were shown
            "karel/msr", NESTED_ROWS, {"branches": "all"}, seed=3, given=f"karel/{pair}"
        )
    rows = SPECIFICATIONS * sum(min(5**length, ACTION_PROGRAMS) for length in ACTION_LENGTHS)
    made["actions-test"] = Recipe(
        "karel/actions", rows, {"pairs": 5}, given="karel/action-programs"
    )
    made["actions-train"] = Recipe(
        "karel/actions",
        AUGMENTED_LENGTHS * AUGMENTED_ROWS,
        {"max_length": AUGMENTED_LENGTHS},
        seed=4,
        shard_size=AUGMENTED_LENGTHS * 800,
    )
    return made


TABLES = {"problems": problem_table, "action-programs": action_table}
RECIPES = _recipes()
