"""Data of others: rows a second and peak memory, each beside a library that does the same work.

Ours and the peer run in turns on one core; the ratio is the median of the ratios of the turns. A
library that is not installed is left out. `python -m bench.tables --rows 100_000_000` also audits
a file of so many rows.
"""

import gc
import json
import os
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Iterator
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from statistics import median
from typing import Any, TypeAlias

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

import unskew
from bench.clock import peak
from bench.results import options, save
from unskew.audits.auditor import Auditor
from unskew.core.batch import Batch
from unskew.core.rng import generator
from unskew.core.variables.column import column_variable
from unskew.core.variables.variable import SalientVariable
from unskew.domains import load_domain

ROWS, CHATS, LARGE = 1_000_000, 50_000, 10_000_000
ROWS_PER_BATCH = 1 << 16
REPEATS = 5
TABLE, CHAT, LARGE_TABLE = "table.parquet", "chat.jsonl", "large.parquet"
NAMES = ("count", "name", "score", "flag")

Job: TypeAlias = Callable[[Path], int]  # it reads a folder and returns how many rows it did


def main(rows: int = LARGE) -> dict[str, Any]:
    """Print and return the figures."""
    _use_one_core()
    figures: dict[str, Any] = {}
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        write_table(folder / TABLE, ROWS)
        write_chats(folder / CHAT, CHATS)
        print("Data of others, one core: rows a second, peak memory, and our time ÷ the peer's")
        for title, (ours, peers) in COMPARED.items():
            figures[title] = compare(folder, title, ours, peers)
        figures["small file"] = small(folder)
        write_table(folder / LARGE_TABLE, rows)
        figures["large"] = large(folder, rows)
    return figures


def compare(folder: Path, title: str, ours: str, peers: tuple[str, ...]) -> dict[str, Any]:
    """Run our job and those of the peers in turns, and print a line for each peer."""
    there = [peer for peer in peers if find_spec(_library(peer)) is not None]
    times: dict[str, list[float]] = {job: [] for job in (ours, *there)}
    rows = {job: JOBS[job](folder) for job in times}  # everything is imported and compiled by now
    for turn in range(REPEATS):
        for job in times if turn % 2 == 0 else reversed(times):
            gc.collect()
            start = time.perf_counter()
            JOBS[job](folder)
            times[job].append(time.perf_counter() - start)
    figures: dict[str, Any] = {}
    for job, seconds in times.items():
        memory = peak_of(folder, job)
        rate = rows[job] / median(seconds)
        figures[job] = {"rows_per_second": rate, "peak_mib": memory}
        ratio = ""
        if job != ours:
            of_turns = [mine / theirs for mine, theirs in zip(times[ours], seconds, strict=True)]
            figures[job]["ours_to_peer"] = median(of_turns)
            ratio = f"{median(of_turns):6.2f} × ({min(of_turns):.2f} to {max(of_turns):.2f})"
        print(f"{title:24}{job:24}{rate:>13,.0f}/s{memory:>8,.0f} MiB  {ratio}", flush=True)
    return figures


def small(folder: Path) -> dict[str, Any]:
    """Print the seconds and the memory of whole processes that count a small file, in turns."""
    path = folder / "small.jsonl"
    path.write_text("".join(f'{{"answer": {n % 5}}}\n' for n in range(SMALL)), encoding="utf-8")
    there = [name for name in SMALL_JOBS if find_spec(_library(name)) is not None]
    ran = [{name: _process(SMALL_JOBS[name], path) for name in there} for _ in range(REPEATS + 1)]
    figures: dict[str, Any] = {}
    for name in there:
        seconds = median(turn[name][0] for turn in ran[1:])
        ratio = median(turn["unskew audit"][0] / turn[name][0] for turn in ran[1:])
        memory = ran[-1][name][1]
        figures[name] = {"seconds": seconds, "peak_mib": memory, "ours_to_peer": ratio}
        print(
            f"{f'a file of {SMALL} lines':24}{name:24}{seconds:>13.2f} s{memory:>8,.0f} MiB"
            f"  {ratio:6.2f} ×",
            flush=True,
        )
    return figures


def _process(code: str, path: Path) -> tuple[float, float]:
    """Return the seconds of a process that runs code on a file, and its peak memory."""
    code += "; from bench.clock import peak; print(peak())"
    start = time.perf_counter()
    ran = subprocess.run(  # noqa: S603 - our own code
        [sys.executable, "-c", code, str(path)], capture_output=True, text=True, check=True
    )
    return time.perf_counter() - start, float(ran.stdout.split()[-1])


def large(folder: Path, rows: int) -> dict[str, Any]:
    """Audit a file of many rows in a process of its own."""
    start = time.perf_counter()
    memory = peak_of(folder, "large audit")
    seconds = time.perf_counter() - start
    print(f"{rows:,} rows on disk      audit{rows / seconds:>29,.0f}/s{memory:>8,.0f} MiB")
    return {"rows": rows, "rows_per_second": rows / seconds, "peak_mib": memory}


def peak_of(folder: Path, job: str) -> float:
    """Return the most memory of a process that does one job."""
    command = [sys.executable, "-m", "bench.tables", "--job", job, "--folder", str(folder)]
    ran = subprocess.run(command, capture_output=True, text=True, check=True)  # noqa: S603
    return float(ran.stdout.split()[-1])


def audit_table(folder: Path) -> int:
    return unskew.audit(folder / TABLE, by=five_variables()).n


def audit_batches(folder: Path) -> int:
    """The auditing core alone: Arrow batches in, counts and distinct rows out."""
    auditor = Auditor(five_variables())
    for batch in pq.ParquetFile(folder / TABLE).iter_batches(ROWS_PER_BATCH):
        auditor.add(Batch.from_arrow(batch))
    return auditor.result("table").n


def five_variables() -> list[SalientVariable]:
    return [*map(column_variable, NAMES), SalientVariable("count(tags)", count_tags)]


def count_tags(batch: Batch) -> Any:
    return pc.list_value_length(batch.columns["tags"]).to_numpy(zero_copy_only=False)


def polars_table(folder: Path) -> int:
    """Count every column, the float in twenty bins, and the distinct rows."""
    pl = import_module("polars")
    table = pl.read_parquet(folder / TABLE)
    bins = (pl.col("score") * 2).floor()
    for column in (*NAMES, "tags"):
        value = pl.col(column).list.len() if column == "tags" else pl.col(column)
        table.select(bins if column == "score" else value).to_series().value_counts(name="rows")
    distinct = table.unique().height
    return table.height if distinct else 0


def audit_chats(folder: Path) -> int:
    return unskew.audit(folder / CHAT, by={"turns": lambda row: len(row["messages"])}).n


def loads_chats(folder: Path) -> int:
    """A loop that counts turns and distinct lines."""
    turns: Counter[int] = Counter()
    lines = set()
    with (folder / CHAT).open(encoding="utf-8") as file:
        for line in file:
            turns[len(json.loads(line)["messages"])] += 1
            lines.add(line)
    return turns.total()


def datasets_chats(folder: Path) -> int:
    datasets = import_module("datasets")
    datasets.disable_progress_bars()
    with tempfile.TemporaryDirectory() as cache:
        rows = datasets.load_dataset(
            "json", data_files=str(folder / CHAT), split="train", cache_dir=cache
        )
        return len(Counter(map(len, rows["messages"]))) and len(rows)


def audit_text(folder: Path) -> int:
    return unskew.audit(folder / TABLE, by={"characters": lambda row: len(row["name"])}).n


def polars_text(folder: Path) -> int:
    pl = import_module("polars")
    table = pl.read_parquet(folder / TABLE)
    table.select(pl.col("name").str.len_chars()).to_series().value_counts(name="rows")
    return table.height if table.unique().height else 0


def resample_table(folder: Path) -> int:
    path = folder / "ours.parquet"
    path.unlink(missing_ok=True)
    unskew.resample(folder / TABLE, "name", KEPT, path=path)
    return ROWS


def polars_resample(folder: Path) -> int:
    """The same number of rows of each name, as far as it has so many."""
    pl = import_module("polars")
    table = pl.read_parquet(folder / TABLE)
    place = pl.int_range(pl.len()).shuffle(seed=0).over("name")
    most = KEPT // table["name"].n_unique()
    table.filter(place < most).write_parquet(folder / "polars.parquet")
    return ROWS


def gym_tasks(_: Path) -> int:
    batch, _ = load_domain("reasoning-gym").source("gcd").draw(generator(0, "bench"), TASKS)
    return len(batch)


def library_tasks(_: Path) -> int:
    return len(list(import_module("reasoning_gym").create_dataset("gcd", size=TASKS, seed=0)))


def audit_large(folder: Path) -> int:
    return unskew.audit(folder / LARGE_TABLE, by=five_variables()).n


KEPT = 10_000
JOBS: dict[str, Job] = {
    "unskew.audit": audit_table,
    "Auditor": audit_batches,
    "polars": polars_table,
    "unskew.audit chats": audit_chats,
    "json.loads": loads_chats,
    "datasets": datasets_chats,
    "unskew.audit text": audit_text,
    "polars text": polars_text,
    "unskew.resample": resample_table,
    "polars resample": polars_resample,
    "unskew tasks": gym_tasks,
    "reasoning_gym": library_tasks,
    "large audit": audit_large,
}
COMPARED = {
    "five columns, Parquet": ("unskew.audit", ("polars",)),
    "five columns, core": ("Auditor", ("polars",)),
    "chats, JSONL": ("unskew.audit chats", ("json.loads", "datasets")),
    "a text's length": ("unskew.audit text", ("polars text",)),
    "resample": ("unskew.resample", ("polars resample",)),
    "tasks of gcd": ("unskew tasks", ("reasoning_gym",)),
}
SMALL, TASKS = 100, 20_000
SMALL_JOBS = {
    "unskew audit": "from contextlib import suppress; import sys; from unskew.cli import main\n"
    "sys.argv[:1] = ['unskew', 'audit']\nwith suppress(SystemExit): main()\n0",
    "pandas": "import sys, pandas\n"
    "print(pandas.read_json(sys.argv[1], lines=True)['answer'].value_counts())",
    "polars": "import sys, polars\nprint(polars.read_ndjson(sys.argv[1])['answer'].value_counts())",
}


def _library(job: str) -> str:
    """Return the library that a job needs: the first word of its name."""
    return job.replace(".", " ").split(maxsplit=1)[0]


def write_table(path: Path, rows: int) -> None:
    """Write rows with a number, a short text, a float, a flag and a list of numbers."""
    writer = None
    for table in _tables(rows):
        writer = writer or pq.ParquetWriter(path, table.schema)
        writer.write_table(table)
    if writer is not None:
        writer.close()


def _tables(rows: int) -> Iterator[pa.Table]:
    rng = np.random.default_rng(0)
    words = np.array([f"word{number:03}" for number in range(150)])
    for start in range(0, rows, ROWS):
        n = min(ROWS, rows - start)
        ends = np.concatenate([[0], np.cumsum(rng.integers(0, 4, n))]).astype(np.int32)
        tags = pa.ListArray.from_arrays(ends, pa.array(rng.integers(0, 9, ends[-1])))
        columns = {
            "count": rng.geometric(0.05, n),
            "name": words[rng.zipf(1.5, n) % len(words)],
            "score": rng.normal(size=n),
            "flag": rng.random(n) < 0.3,
            "tags": tags,
        }
        yield pa.table(columns)


def write_chats(path: Path, rows: int) -> None:
    """Write conversations of two to nine messages."""
    rng = np.random.default_rng(0)
    words = [f"word{number}" for number in range(1000)]
    with path.open("w", encoding="utf-8") as file:
        for row, turns in enumerate(rng.integers(2, 10, rows).tolist()):
            messages = [
                {
                    "role": ("user", "assistant")[turn % 2],
                    "content": " ".join(words[i] for i in rng.integers(0, 1000, 12)),
                }
                for turn in range(turns)
            ]
            file.write(json.dumps({"id": row, "messages": messages, "meta": {"lang": "en"}}))
            file.write("\n")


def _use_one_core() -> None:
    """Stay on one core, so that what is compared is work and not the number of threads."""
    if hasattr(os, "sched_setaffinity"):
        os.sched_setaffinity(0, {min(os.sched_getaffinity(0))})
    pa.set_cpu_count(1)


def _command() -> None:
    parser = options(__doc__)
    parser.add_argument("--rows", type=int, default=LARGE, help="rows of the large file")
    parser.add_argument("--job", choices=JOBS, help="do this job once and print the peak memory")
    parser.add_argument("--folder", type=Path, help="where the files of the job are")
    chosen = parser.parse_args()
    if chosen.job:
        JOBS[chosen.job](chosen.folder)
        print(peak())
    else:
        save(chosen.output, {"bench": "tables", "figures": main(chosen.rows)})


if __name__ == "__main__":
    _command()
