"""Resampling existing data: seconds beside Polars for the same file, and where the time goes."""

import subprocess
import sys
import tempfile
import time
from collections import defaultdict
from collections.abc import Callable, Iterator
from contextlib import chdir
from pathlib import Path
from statistics import median
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

import unskew
from bench.clock import seconds
from unskew.balance.allotment import most_possible, target_shares
from unskew.core.rng import generator
from unskew.datasets.resampling.choice import choice
from unskew.datasets.resampling.pool import open_finite, read_pool
from unskew.datasets.resampling.rows import taken_batches

ROWS, MANY = 1_000_000, 10_000_000
TURNS = 7
EPSILON = 0.025
DATA = Path("rows.parquet")


def main() -> dict[str, Any]:
    figures: dict[str, Any] = {}
    with tempfile.TemporaryDirectory() as folder, chdir(folder):
        for by in ("kind", "answer"):
            write_rows(ROWS)
            times = in_turns({"unskew": lambda by=by: ours(by), "polars": lambda by=by: peer(by)})
            ratio = median(times["unskew"]) / median(times["polars"])
            print(f"resample {ROWS:,} Parquet rows by {by}: {ratio:.2f} × Polars")
            for name, runs in times.items():
                print(f"{name:>28} {median(runs):6.3f} s ({min(runs):.3f} to {max(runs):.3f})")
            figures[f"resample by {by}"] = {"seconds": times, "ratio": ratio, "parts": parts(by)}
        figures["memory"] = {name: peak_of(name) for name in ("nothing", "ours", "peer")}
        print("peak memory, MiB: ", figures["memory"])
    figures["many"] = many()
    return figures


def write_rows(rows: int) -> None:
    """Write a file like those that people have: a text, a few categories, numbers."""
    rng = generator(0, "bench of resampling")
    numbers = rng.integers(0, 1 << 40, rows)
    table = {
        "id": np.arange(rows),
        "prompt": [
            f"What is {number} plus {number % 977}? Explain each step." for number in numbers
        ],
        "kind": np.array(["sum", "product", "root", "series", "proof"])[
            np.minimum(rng.geometric(0.5, rows) - 1, 4)
        ],
        "answer": np.minimum(rng.geometric(0.05, rows), 99),
        "score": rng.random(rows),
    }
    pq.write_table(pa.table(table), DATA, compression="zstd")


def ours(by: str = "kind") -> None:
    unskew.resample(DATA, by, path="ours.parquet", epsilon=EPSILON)


def peer(by: str = "kind") -> None:
    """Do the same in memory: as many rows of each value, at random, in the order of the data."""
    import polars as pl

    counted = pl.scan_parquet(DATA).group_by(by).len().collect()
    counts = counted["len"].to_numpy().astype(np.int64)
    wanted = np.round(most_possible(counts, EPSILON) * target_shares(counts, EPSILON))
    limits = counted.select(by, limit=pl.Series(wanted.astype(np.int64)))
    frame = pl.read_parquet(DATA).join(limits, on=by, how="left", maintain_order="left")
    chance = pl.int_range(pl.len()).shuffle(seed=0).over(by)
    frame.filter(chance < pl.col("limit")).drop("limit").write_parquet(
        "peer.parquet", compression="zstd"
    )


def in_turns(jobs: dict[str, Callable[[], None]]) -> dict[str, list[float]]:
    """Return the seconds of each job; they run one after the other, and each once before."""
    times: dict[str, list[float]] = defaultdict(list)
    for turn in range(TURNS + 1):
        for name, job in jobs.items():
            begin = time.perf_counter()
            job()
            if turn:
                times[name].append(time.perf_counter() - begin)
    return dict(times)


def parts(by: str) -> dict[str, float]:
    """Return the seconds of each step of ``resample``."""
    opened = open_finite(DATA)
    pool = read_pool(opened, by, lambda _: None)
    chosen = choice(pool, None, EPSILON, False)
    times = chosen.times(generator(0, "resample"))
    taken = list(taken_batches(opened, times))
    steps = {
        "reading the variable": lambda: read_pool(opened, by, lambda _: None),
        "choosing": lambda: chosen.times(generator(0, "resample")),
        "reading again": lambda: sum(len(batch) for batch in opened.read(None)),
        "… and taking": lambda: sum(len(batch) for batch in taken_batches(opened, times)),
        "writing": lambda: write(iter(taken)),
    }
    durations = {name: seconds(step, 3) for name, step in steps.items()}
    for name, duration in durations.items():
        print(f"{name:>28} {duration:6.3f} s")
    return durations


def write(batches: Iterator[Any]) -> None:
    from unskew.datasets.convert import writer

    writer(open_finite(DATA), Path("again.parquet"))(batches)


def peak_of(job: str) -> float:
    """Return the peak memory of a process that only does one job."""
    code = (
        "import bench.resampling as b; from bench.clock import peak; "
        f"getattr(b, {job!r}, int)(); print(peak())"
    )
    ran = subprocess.run(  # noqa: S603 - our own code
        [sys.executable, "-c", code], capture_output=True, text=True, check=True
    )
    return float(ran.stdout)


def many() -> dict[str, float]:
    """Return the seconds of weights and of an epoch of numbers for ten million rows."""
    values = np.minimum(generator(0, "many").geometric(0.05, MANY), 99)
    table = pa.table({"answer": values})
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "many.parquet")
        pq.write_table(table, path)
        weights = unskew.weights(path, "answer")
        sampler = unskew.Sampler(weights, n=MANY, replacement=True)
        durations = {
            "weights": seconds(lambda: unskew.weights(path, "answer"), 3),
            "first number of an epoch": seconds(lambda: next(iter(sampler)), 3),
        }
    for name, duration in durations.items():
        print(f"{name:>28} {duration:6.3f} s for {MANY:,} rows")
    return durations


if __name__ == "__main__":
    main()
