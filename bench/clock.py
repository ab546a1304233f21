"""Timing that survives a noisy machine: several repetitions, the median and the spread."""

import time
from collections.abc import Callable
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


def seconds(job: Callable[[], object], repeats: int = 7) -> float:
    """Return the median time of a job; the first call is not counted."""
    job()
    times = []
    for _ in range(repeats):
        begin = time.perf_counter()
        job()
        times.append(time.perf_counter() - begin)
    return median(times)
