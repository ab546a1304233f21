"""How fast `unskew discover` is: 100,000 short texts that all differ, in rows a second, and memory.

python -m bench.discover_speed

The goal is 60 s and 2 GiB on two cores.
"""

import time
from typing import Any

import numpy as np

import unskew
from bench.clock import peak
from bench.results import options, save
from unskew.core.rng import generator

N = 100_000
STEMS = ("ba", "ko", "ri", "tu", "me", "sa", "lo", "ni")
ENDS = ("n", "r", "s", "t", "l", "", "m", "k")


def main() -> None:
    parser = options(__doc__)
    parser.add_argument("-n", type=int, default=N, help="rows")
    chosen = parser.parse_args()
    save(chosen.output, {"bench": "discover_speed", **measured(chosen.n)})


def measured(n: int) -> dict[str, Any]:
    """Search n questions once; print and return rows a second and the largest memory."""
    rows = [{"question": text} for text in questions(n)]
    before, begin, work = peak(), time.perf_counter(), time.process_time()
    found = unskew.discover(rows)
    facts = {
        "rows": n,
        "different": len({row["question"] for row in rows}),
        "proposed": found.proposed,
        "seconds": time.perf_counter() - begin,
        "processor_seconds": time.process_time() - work,
        "mebibytes": peak(),
        "mebibytes_before": before,
    }
    print(
        f"{n:,} texts, {facts['different']:,} different, {found.proposed} features: "
        f"{n / facts['processor_seconds']:,.0f} rows a second of processor time "
        f"({facts['processor_seconds']:.1f} s; {facts['seconds']:.1f} s by the clock), "
        f"at most {facts['mebibytes']:,.0f} MiB, {before:,.0f} of them before"
    )
    return facts


def questions(n: int) -> list[str]:
    """Return questions of 6 to 15 words, a few of them frequent, and a number; hardly any twice."""
    rng = generator(0, "discover speed")
    words = [stem + end for stem in STEMS for end in ENDS]
    shares = 1 / np.arange(1, len(words) + 1)
    lengths = rng.integers(6, 16, n)
    drawn = iter(rng.choice(words, int(lengths.sum()), p=shares / shares.sum()).tolist())
    numbers = rng.integers(1, 10**6, n).tolist()
    return [
        " ".join(next(drawn) for _ in range(length)) + f" {number}?"
        for length, number in zip(lengths.tolist(), numbers, strict=True)
    ]


if __name__ == "__main__":
    main()
