"""Prints the speed figures of a machine: `make bench`; with -o, writes them as JSON too."""

import argparse
import json
from pathlib import Path

from bench import calculator, datasets, homogenize, karel, karel_sources
from unskew.experiments.provenance import provenance

BENCHES = {
    "calculator": calculator.main,
    "homogenize": homogenize.main,
    "karel": karel.main,
    "karel_sources": karel_sources.main,
    "datasets": datasets.main,
}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("-o", "--output", type=Path, help="write the figures as JSON")
    chosen = parser.parse_args()
    figures = {name: bench() for name, bench in BENCHES.items()}
    if chosen.output:
        text = json.dumps({"provenance": provenance(), **figures}, indent=1)
        chosen.output.write_text(text + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
