"""How far from uniform a dataset is, and how many draws it costs, by the size of its parts.

`python -m bench.parts -o results/parts.json` measures it again; docs/theory.md has the numbers.
"""

from statistics import mean
from typing import Any

from bench.results import options, save
from unskew import Recipe
from unskew.audits.records import VariableAudit
from unskew.core.tally import Tally
from unskew.datasets.run import shard

KEPT, SIZES, SEEDS = 64_000, (64_000, 8_000, 1_000, 250, 64), 3
CASES = {"calculator/dcfg": "length", "calculator/t2t": "max_depth"}


def main() -> None:
    chosen = options(__doc__).parse_args()
    rows = [measured(s, v, size) for s, v in CASES.items() for size in SIZES]
    for row in rows:
        print(row)
    save(chosen.output, {"kept": KEPT, "epsilon": 0.025, "seeds": SEEDS, "rows": rows})


def measured(source: str, variable: str, size: int) -> dict[str, Any]:
    """Return the total variation left and the draws per kept example, as means over the seeds."""
    tallies = [_tally(source, variable, size, seed) for seed in range(SEEDS)]
    left = [_left(tally, variable) for tally in tallies]
    return {"source": source, "variable": variable, "size": size,
            "variation": mean(left), "draws": mean(tally.cost for tally in tallies)}  # fmt: skip


def _tally(source: str, variable: str, size: int, seed: int) -> Tally:
    recipe = Recipe(source, KEPT, homogenize=(variable,), seed=seed, shard_size=size)
    tally = Tally()
    for index in range(recipe.shards):
        tally += shard(recipe, index)[1]
    return tally


def _left(tally: Tally, variable: str) -> float:
    """Return how far the kept examples are from uniform over all values that were drawn."""
    drawn, kept = tally.drawn_values[variable], tally.kept_values[variable]
    return VariableAudit(variable, {value: kept[value] for value in drawn}, False).total_variation


if __name__ == "__main__":
    main()
