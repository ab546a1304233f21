"""Feeds every reader with damaged inputs: `make fuzz`; exit code 1 where a fault was found."""

from __future__ import annotations

import argparse
import sys
import threading
import time
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from tempfile import TemporaryDirectory

from fuzz.machinery import Result, Target, fuzz, save
from unskew.datasets.warm import warm_up

FOUND = Path(__file__).parent / "found"
ENOUGH = 1000  # inputs of a target, however slowly it reads
PREPARED = 2.0  # seconds until a target reads its first input


def main() -> int:
    from fuzz.targets import TARGETS  # not above: each process would import all of them

    chosen = _arguments(TARGETS)
    if chosen.again is not None:
        return _again(chosen.again, TARGETS)
    targets = [TARGETS[name] for name in chosen.only or TARGETS]
    shares = shared_inputs(targets, chosen.inputs)
    needed = {target.name: PREPARED + shares[target.name] / target.speed for target in targets}
    warm_up()  # compiling takes a minute or so in a new checkout
    time_left = TimeLeft(needed, time.monotonic() + 60 * chosen.minutes, chosen.workers)

    def job(target: Target) -> Result:
        seconds = time_left.share(target.name, time.monotonic())
        result = fuzz(target, shares[target.name], chosen.seed, seconds=seconds)
        time_left.done(target.name)
        print(_row(result), flush=True)
        return result

    print(f"{'target':<18}{'inputs':>10}{'refused':>10}{'read':>10}{'faults':>8}{'inputs/s':>10}")
    with ThreadPoolExecutor(chosen.workers) as pool:
        results = list(pool.map(job, targets))
    _print_faults(results)
    print(f"{sum(result.inputs for result in results):,} inputs, seed {chosen.seed}")
    return 1 if any(result.faults for result in results) else 0


def _arguments(targets: Mapping[str, Target]) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m fuzz", description=__doc__)
    parser.add_argument("--inputs", type=int, default=1_500_000, help="over all targets together")
    parser.add_argument("--seed", type=int, default=0, help="the same seed makes the same inputs")
    parser.add_argument("--only", action="append", choices=targets, help="a target; repeatable")
    parser.add_argument("--minutes", type=float, default=9.0, help="all targets together")
    parser.add_argument("--workers", type=int, default=2, help="targets at the same time")
    parser.add_argument("--again", type=Path, metavar="FILE", help="read one saved input again")
    return parser.parse_args()


def shared_inputs(targets: list[Target], inputs: int) -> dict[str, int]:
    """Share inputs among targets so that each takes about as long; slow ones get enough too."""
    total = sum(target.speed for target in targets)
    fewest = min(ENOUGH, inputs // len(targets))
    return {target.name: max(fewest, -(-inputs * target.speed // total)) for target in targets}


class TimeLeft:
    """Shares out the time until an end. What a target leaves over goes to those after it."""

    def __init__(self, needed: Mapping[str, float], end: float, workers: int) -> None:
        """Note the seconds that each target needs, and how many run at the same time."""
        self._needed, self._end, self._workers = dict(needed), end, workers
        self._running: dict[str, float] = {}  # when each of them has had its share
        self._lock = threading.Lock()

    def share(self, name: str, now: float) -> float:
        """Return the seconds of a target that begins now."""
        with self._lock:
            taken = sum(max(0.0, end - now) for end in self._running.values())
            free = max(0.0, self._workers * (self._end - now) - taken)
            seconds = free * self._needed[name] / sum(self._needed.values())
            del self._needed[name]
            self._running[name] = now + min(seconds, self._end - now)
            return max(0.0, self._running[name] - now)

    def done(self, name: str) -> None:
        """Give back what a target has left."""
        with self._lock:
            del self._running[name]


def _row(result: Result) -> str:
    faults = sum(result.times.values())
    read = result.inputs - result.refused - faults
    speed = result.inputs / result.seconds if result.seconds else 0
    return (
        f"{result.name:<18}{result.inputs:>10,}{result.refused:>10,}{max(0, read):>10,}"
        f"{faults:>8,}{speed:>10,.0f}"
    )


def _print_faults(results: list[Result]) -> None:
    for result in results:
        for key, fault in sorted(result.faults.items()):
            path = save(result.name, fault.data, FOUND)
            print(f"\n{result.name}: {fault.kind} at {fault.where}, {result.times[key]:,} times")
            print(f"  {fault.printed}\n  python -m fuzz --again {path}")
    if any(result.faults for result in results):
        print()


def _again(path: Path, targets: Mapping[str, Target]) -> int:
    """Read one input in this process, so that a debugger sees what happens."""
    name = path.name.rpartition("-")[0]
    if name not in targets:
        sys.exit(f"{path} is named after no target; the name begins with one and ends in -hash")
    with TemporaryDirectory(prefix="fuzz-") as folder:
        reader = targets[name].prepare(Path(folder))
        reader.read(path.read_bytes())
    print("read without an error")
    return 0


if __name__ == "__main__":
    sys.exit(main())
