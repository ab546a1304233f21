"""What the writers of numbers share: reading a result, writing a table."""

import json
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[1]


def read(name: str) -> dict[str, Any]:
    """Return the JSON object in results/NAME.json."""
    path = ROOT / "results" / f"{name}.json"
    value: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
    return value


def table(heads: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """Return a Markdown table."""
    bar = "|---" * len(heads) + "|"
    first, *others = (
        "|" + "|".join(f" {cell} " if cell else " " for cell in row) + "|" for row in (heads, *rows)
    )
    return "\n".join((first, bar, *others))


def percent(share: float) -> str:
    """Write a share of one as a percentage with one decimal."""
    return f"{100 * share:.1f} %"


def from_to(low: str, high: str) -> str:
    """Write a range, or one number if both ends are the same."""
    return low if low == high else f"{low} to {high}"
