"""What users call, per second of processor time: drawing, homogenizing, auditing, generating.

It uses public names only, so `python -m bench.versions --same --benches users` can run it on old
checkouts.
"""

import itertools
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

import unskew
from bench.results import options, save
from unskew.domains import load_domain

Job = Callable[[], int]
CALCULATOR, KAREL = 1 << 17, 2_000
NARROW = {"r_wall": 0.85, "r_marker": 0.05, "counts": "A"}
SOURCES = {
    **{f"calculator/{name}": {} for name in ("dcfg", "t2t", "rcfg", "bal")},
    **{f"karel/{name}": {} for name in ("msr", "uniform", "actions")},
    "karel/narrow": NARROW,
}
REPEATS = 5


def main() -> dict[str, Any]:
    print(f"Items per second of processor time (the best of {REPEATS})")
    with tempfile.TemporaryDirectory() as folder:
        return {name: _rate(name, job) for name, job in _jobs(Path(folder))}


def _jobs(folder: Path) -> list[tuple[str, Job]]:
    kept = unskew.homogenize("calculator/dcfg", by="length", epsilon=0.025, seed=0)
    plain = unskew.homogenize(
        lambda rng: int(rng.geometric(0.5)), by=lambda x: min(x, 8), epsilon=0.025, seed=0
    )
    rows = [{"a": i % 7, "text": "x" * (i % 30)} for i in range(50_000)]
    folders = (folder / str(number) for number in itertools.count())

    def generated(source: str, n: int, by: tuple[str, ...] = ()) -> Job:
        def job() -> int:
            unskew.generate(unskew.Recipe(source, n, homogenize=by), next(folders))
            return n

        return job

    return [
        *((f"draw {name}", _drawn(name, settings)) for name, settings in SOURCES.items()),
        ("homogenize calculator/dcfg", lambda: len(list(itertools.islice(kept, 100_000)))),
        ("homogenize a function", lambda: len(list(itertools.islice(plain, 10_000)))),
        ("audit calculator/dcfg", lambda: unskew.audit("calculator/dcfg", n=300_000).n),
        ("audit karel/msr", lambda: unskew.audit("karel/msr", n=6_000).n),
        ("audit dicts", lambda: unskew.audit(rows, by=["a"]).n),
        ("generate calculator/dcfg", generated("calculator/dcfg", 300_000, ("length",))),
        ("generate karel/msr", generated("karel/msr", 10_000)),
    ]


def _drawn(name: str, settings: dict[str, Any]) -> Job:
    domain, _, source = name.partition("/")
    made, rng = load_domain(domain).source(source, settings), np.random.default_rng(0)
    n = KAREL if domain == "karel" else CALCULATOR
    return lambda: len(made.draw(rng, n)[0])


def _rate(name: str, job: Job) -> float:
    job()  # compiles
    rates = []
    for _ in range(REPEATS):
        begin = time.process_time()
        items = job()
        rates.append(items / (time.process_time() - begin))
    print(f"{name:28}{max(rates):>14,.0f}/s", flush=True)
    return max(rates)


if __name__ == "__main__":
    chosen = options(__doc__).parse_args()
    save(chosen.output, main())
