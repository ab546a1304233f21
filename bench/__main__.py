"""Prints the speed figures of a machine: `make bench`; with -o, writes them as JSON too."""

import json
import subprocess
import sys
from importlib import import_module
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from bench.results import options, save

BENCHES = (
    *("calculator", "homogenize", "karel", "karel_sources", "datasets"),
    *("tables", "resampling"),
)


def main() -> None:
    parser = options(__doc__)
    parser.add_argument("name", nargs="?", choices=(*BENCHES, "users"), help="run only this bench")
    chosen = parser.parse_args()
    if not chosen.name:
        save(chosen.output, {name: apart(name) for name in BENCHES})
        return
    figures = import_module(f"bench.{chosen.name}").main()
    if chosen.output:
        chosen.output.write_text(json.dumps(figures), encoding="utf-8")


def apart(name: str) -> dict[str, Any]:
    """Run a bench in its own process, so that it measures only its own memory."""
    with TemporaryDirectory() as folder:
        path = Path(folder) / "figures.json"
        subprocess.run([sys.executable, "-m", "bench", name, "-o", path], check=True)  # noqa: S603
        figures: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
    return figures


if __name__ == "__main__":
    main()
