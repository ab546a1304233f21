"""The figures of a run: recall and false findings, each with Wilson's 95 % interval."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from statistics import median
from typing import Any

from unskew.core.interval import wilson

GROUPS = ("type", "role", "strength", "together", "way")


def summary(results: list[dict[str, Any]]) -> dict[str, Any]:
    """Return recall of all plants and by group, and the share of clean data with a finding.

    A setting that could not be judged has missed all its plants, and counts as a false finding
    where nothing is planted.
    """
    plants = [_labelled(facts, plant) for facts in results for plant in facts["plants"]]
    found = [plant for plant in plants if plant["found"]]
    clean = [facts for facts in results if not facts["plants"]]
    return {
        "settings": len(results),
        "errors": sum("error" in facts for facts in results),
        "seconds": median([facts.get("seconds", 0.0) for facts in results]) if results else 0.0,
        "recall": share(plant["found"] for plant in plants),
        "recall_by": {group: _by(plants, group) for group in GROUPS},
        "carried_by": dict(Counter(p["by_kind"] for p in found if p.get("by_kind"))),
        "false": share(_false(facts) for facts in clean),
        "false_by_type": {
            name: share(_false(facts) for facts in clean if facts["type"] == name)
            for name in dict.fromkeys(facts["type"] for facts in clean)
        },
    }


def share(hits: Iterable[bool]) -> dict[str, Any]:
    """Return how many of how many, the share, and its interval."""
    listed = list(hits)
    n, count = len(listed), sum(listed)
    low, high = wilson(count / n if n else 0.0, n)
    of = count / n if n else None
    return {"of": n, "count": count, "share": of, "low": round(low, 4), "high": round(high, 4)}


def _labelled(facts: dict[str, Any], plant: dict[str, Any]) -> dict[str, Any]:
    way = "rows changed" if plant.get("changed") else "rows chosen"
    return plant | {"type": facts["type"], "together": str(len(facts["plants"])), "way": way}


def _by(plants: list[dict[str, Any]], group: str) -> dict[str, Any]:
    names = dict.fromkeys(plant[group] for plant in plants)
    return {name: share(p["found"] for p in plants if p[group] == name) for name in names}


def _false(facts: dict[str, Any]) -> bool:
    return bool(facts["findings"]) or "error" in facts


def lines(figures: dict[str, Any]) -> list[str]:
    """Return the figures as lines for a terminal."""
    texts = [f"{figures['settings']} settings, {figures['errors']} with an error"]
    texts.append(_line("recall@5", figures["recall"]))
    for group in GROUPS:
        texts += [_line(f"  {group} {name}", s) for name, s in figures["recall_by"][group].items()]
    texts.append(_line("clean data with a finding", figures["false"]))
    return texts + [_line(f"  {name}", s) for name, s in figures["false_by_type"].items()]


def _line(name: str, of: dict[str, Any]) -> str:
    shown = "–" if of["share"] is None else f"{of['share']:.3f}"
    return f"{name:32}{shown:>7}  {of['low']:.3f} to {of['high']:.3f}  of {of['of']}"
