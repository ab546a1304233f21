"""What the benches share at both ends: the option ``-o``, and the JSON file that they write."""

import argparse
import json
from pathlib import Path
from typing import Any


def options(doc: str | None) -> argparse.ArgumentParser:
    """Return a parser with the option ``-o``; a bench adds its own options."""
    parser = argparse.ArgumentParser(description=doc)
    parser.add_argument("-o", "--output", type=Path, help="write the figures to this JSON file")
    return parser


def save(path: Path | None, facts: dict[str, Any]) -> None:
    """Write the figures of a bench with their provenance, if there is a file to write."""
    if path is not None:
        from unskew.experiments.provenance import provenance

        text = json.dumps({"provenance": provenance(), **facts}, indent=1)
        path.write_text(text + "\n", encoding="utf-8")
