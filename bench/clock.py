"""Timing that survives a noisy machine: several repetitions, the median and the spread."""

import time
from collections.abc import Callable
from pathlib import Path
from statistics import median


def rate(job: Callable[[], int], repeats: int = 7) -> tuple[float, float, float]:
    """Return (median, slowest, fastest) items per second; the first call is not counted."""
    job()
    rates = []
    for _ in range(repeats):
        begin = time.perf_counter()
        items = job()
        rates.append(items / (time.perf_counter() - begin))
    return median(rates), min(rates), max(rates)


def peak() -> float:
    """Return the most memory that this process had, in MiB.

    What getrusage says begins with what the process that started this one had.
    """
    status = Path("/proc/self/status").read_text(encoding="utf-8")
    return next(int(line.split()[1]) for line in status.splitlines() if "VmHWM" in line) / 1024


def seconds(job: Callable[[], object], repeats: int = 7) -> float:
    """Return the median time of a job; the first call is not counted."""
    job()
    times = []
    for _ in range(repeats):
        begin = time.perf_counter()
        job()
        times.append(time.perf_counter() - begin)
    return median(times)
