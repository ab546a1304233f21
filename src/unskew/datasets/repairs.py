"""How what was given can be repaired: which command or function balances it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from unskew.core.recipe import Trust
from unskew.datasets.target import Target
from unskew.discover.repair import Repair


def repair_of(opened: Target, target: Any, trust: Trust = False) -> Repair:
    """Return how to balance a target: files are resampled, a source generates again."""
    is_named = isinstance(target, (str, Path, Target)) and opened.label != "examples"
    source = opened.source
    if source is not None:
        named = is_named or source.domain is not None
        if not named:
            return Repair("sampler", source.name)
        return Repair("source", source.name, dict(source.parameters), "balanced")
    if not is_named and opened.dataset is None:
        return Repair("object", opened.label)
    output = "balanced.jsonl" if opened.label.endswith(".jsonl") else "balanced.parquet"
    return Repair("data", opened.label, {}, output, trust is True)
