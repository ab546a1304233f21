"""Compares the speed of two checkouts of this project: every bench of both, in turns.

`python -m bench.versions BEFORE AFTER` runs `python -m bench NAME` in both folders several times,
one after the other. It prints, for each figure, the ratio of the two medians: above 1, AFTER has
the larger figure. A figure is a number of items per second, a number of nanoseconds or MiB.

The benches are those of each checkout. With `--same`, both run the benches of this one: `users`
runs on any checkout, because it uses public names only.
"""

import json
import os
import subprocess
import sys
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory
from typing import Any

from bench.__main__ import BENCHES
from bench.results import options, save


def figures(checkout: Path, benches: Path, name: str) -> dict[str, float]:
    """Run a bench that lies in ``benches`` with the code of a checkout; return figures by name."""
    environment = {**os.environ, "PYTHONPATH": f"{checkout / 'src'}{os.pathsep}{benches}"}
    with TemporaryDirectory() as folder:
        path = Path(folder) / "figures.json"
        command = [sys.executable, "-m", "bench", name, "-o", str(path)]
        subprocess.run(command, cwd=benches, env=environment, check=True, capture_output=True)  # noqa: S603
        return dict(_flat(json.loads(path.read_text(encoding="utf-8"))))


def _flat(value: Any, name: str = "") -> Iterator[tuple[str, float]]:
    """Yield every number with its path; of a median with its spread, only the median."""
    if isinstance(value, dict):
        for key, item in value.items():
            yield from _flat(item, f"{name}/{key}".lstrip("/"))
    elif isinstance(value, list) and value:
        yield from _flat(value[0], name)
    elif isinstance(value, (int, float)):
        yield name, float(value)


def main() -> None:
    parser = options(__doc__)
    parser.add_argument("before", type=Path)
    parser.add_argument("after", type=Path)
    parser.add_argument("--benches", nargs="+", choices=(*BENCHES, "users"), default=BENCHES)
    parser.add_argument("--same", action="store_true", help="run the benches of this checkout")
    parser.add_argument("--repeats", type=int, default=3)
    chosen = parser.parse_args()
    checkouts = (chosen.before.resolve(), chosen.after.resolve())
    benches = (Path(__file__).parents[1],) * 2 if chosen.same else checkouts
    compared: dict[str, dict[str, Any]] = {}
    for name in chosen.benches:
        runs: list[dict[str, list[float]]] = [defaultdict(list), defaultdict(list)]
        for turn in range(chosen.repeats):
            for side in (0, 1) if turn % 2 == 0 else (1, 0):
                for figure, value in figures(checkouts[side], benches[side], name).items():
                    runs[side][figure].append(value)
        for figure, before in runs[0].items():
            after = runs[1].get(figure)
            if not after or not median(before):
                continue
            ratio = median(after) / median(before)
            compared[f"{name}/{figure}"] = {"before": before, "after": after, "ratio": ratio}
            spread = f"{min(before):,.4g} to {max(before):,.4g}"
            print(f"{name}/{figure:44} {ratio:6.3f}   before {spread}", flush=True)
    save(chosen.output, {"bench": "versions", "figures": compared})


if __name__ == "__main__":
    main()
