"""How what was given can be repaired: which command or function balances it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from unskew.core.recipe import Trust
from unskew.datasets.target import Target
from unskew.discovery.repair import Repair
from unskew.io.lookup import find_source


def repair_of(opened: Target, target: Any, trust: Trust = False) -> Repair:
    """Return how to balance a target: files are resampled, a source generates again."""
    source = opened.source
    if source is not None:
        if source.domain is None and ":" not in source.name:  # a function without a name
            return Repair("sampler", "draw")
        return Repair("source", source.name, _set(source.name, source.parameters), "balanced")
    is_named = isinstance(target, (str, Path)) or opened.label != "examples"
    if not is_named:
        return Repair("object", "data")
    output = "balanced.jsonl" if opened.label.endswith(".jsonl") else "balanced.parquet"
    return Repair("data", opened.label, {}, output, trust is True)


def repair_of_both(opened: Target, target: Any, trust: Trust = False) -> Repair:
    """Return how to balance the second of two targets, beside the first."""
    repair = repair_of(opened, target, trust)
    name = {"object": "other", "sampler": "other"}.get(repair.form, repair.target)
    return replace(repair, target=name, output=f"other-{repair.output}")


def _set(name: str, parameters: Mapping[str, Any]) -> dict[str, Any]:
    """Return the parameters of a source that are not as they are by default."""
    usual = find_source(name).parameters
    return {key: value for key, value in parameters.items() if usual.get(key) != value}
