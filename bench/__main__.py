"""Prints the speed figures of a machine: `make bench`; with -o, writes them as JSON too."""

import argparse
import json
import subprocess
import sys
from importlib import import_module
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

BENCHES = ("calculator", "homogenize", "karel", "karel_sources", "datasets")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("name", nargs="?", choices=BENCHES, help="one of them; all, unless named")
    parser.add_argument("-o", "--output", type=Path, help="write the figures as JSON")
    chosen = parser.parse_args()
    if chosen.name:
        figures = import_module(f"bench.{chosen.name}").main()  # nothing else is in its memory
    else:
        from unskew.experiments.provenance import provenance

        figures = {"provenance": provenance(), **{name: apart(name) for name in BENCHES}}
    if chosen.output:
        chosen.output.write_text(json.dumps(figures, indent=1) + "\n", encoding="utf-8")


def apart(name: str) -> dict[str, Any]:
    """Run a bench in a process of its own: what one leaves in memory is not another's."""
    with TemporaryDirectory() as folder:
        path = Path(folder) / "figures.json"
        subprocess.run([sys.executable, "-m", "bench", name, "-o", path], check=True)  # noqa: S603
        found: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
    return found


if __name__ == "__main__":
    main()
