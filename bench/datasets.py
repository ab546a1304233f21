"""Datasets: examples a second with one worker and two, what writing costs, and memory."""

import json
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from unskew import Recipe, generate
from unskew.core.batch import Batch
from unskew.datasets.engines import processes
from unskew.datasets.parts.part import make_part, measured
from unskew.datasets.run import shard

RECIPES = {
    "karel/msr": Recipe("karel/msr", 393_216, shard_size=16_384),
    "calculator/dcfg by length": Recipe(
        "calculator/dcfg", 500_000, homogenize=("length",), shard_size=65_536
    ),
}
ORIGINAL = 1_116_854


def main() -> dict[str, Any]:
    figures = dict[str, Any]()
    print("Datasets, workers started and files written included")
    for name, recipe in RECIPES.items():
        times = {}
        with tempfile.TemporaryDirectory() as folder:
            for workers in (1, 2):
                start = time.perf_counter()
                generate(recipe, Path(folder) / str(workers), engine=processes(workers))
                times[workers] = time.perf_counter() - start
            size = sum(path.stat().st_size for path in Path(folder, "1").rglob("*.parquet"))
        one, two = recipe.n / times[1], recipe.n / times[2]
        print(f"{name:28}{one:>10,.0f}/s one worker {two:>10,.0f}/s two   {two / one:.2f}x")
        writing, counting = (100 * share for share in _shares(recipe))
        figures[name] = {"one": one, "two": two, "writing": writing, "measuring": counting,
                       "bytes": size / recipe.n}  # fmt: skip
        print(
            f"{'':28}writing is {writing:.1f} % of drawing, measuring for the card {counting:.1f} %"
        )
        if name == "karel/msr":
            print(f"{'':28}{ORIGINAL / two:.0f} s for {ORIGINAL:,} examples on two cores")
    figures["memory"] = {str(rows): _peak(rows) for rows in (16_384, 65_536)}
    for rows, peak in figures["memory"].items():
        print(f"peak memory of a worker, karel/msr, {int(rows):,} rows in parts of 16,384: "
              f"{peak:,.0f} MiB")  # fmt: skip
    return figures


def _shares(recipe: Recipe) -> tuple[float, float]:
    """Writing and measuring a part, each as a share of drawing it; the quickest of three each."""
    shard(recipe, 0)  # compiled by now
    drawn = min(_seconds(lambda: shard(recipe, 1)) for _ in range(3))
    batch, tally = shard(recipe, 1)
    counted = min(_seconds(lambda: measured(recipe, Batch(batch.columns))) for _ in range(3))
    with tempfile.TemporaryDirectory() as folder:
        whole = min(
            _seconds(lambda: make_part(recipe, Path(folder), 1, Batch(batch.columns), tally))
            for _ in range(3)
        )
    return (whole - counted) / drawn, counted / drawn


def _seconds(work: Callable[[], object]) -> float:
    start = time.perf_counter()
    work()
    return time.perf_counter() - start


def _peak(rows: int) -> float:
    recipe = Recipe("karel/msr", rows, shard_size=16_384)
    code = (
        "import json, sys, tempfile; from bench.clock import peak; "
        "from unskew import Recipe, generate; "
        "recipe = Recipe.from_dict(json.loads(sys.argv[1])); "
        "generate(recipe, tempfile.mkdtemp()); "
        "print(peak())"
    )
    ran = subprocess.run(  # noqa: S603 - our own code
        [sys.executable, "-c", code, json.dumps(recipe.to_dict())],
        capture_output=True, text=True, check=True,
    )  # fmt: skip
    return float(ran.stdout)


if __name__ == "__main__":
    main()
