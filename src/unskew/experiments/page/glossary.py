"""The numbers in the glossary of Karel's experiments, taken from the results."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from unskew.audits.report.words import shown
from unskew.experiments.table import LONGEST, Result


def beams(results: Sequence[Result]) -> str:
    """Return the width of the beam on each test set, in words; empty if no result has it."""
    tests = {name: test for result in results for name, test in result.tests.items()}
    widths = {name: int(test["beam"]) for name, test in tests.items() if "beam" in test}
    if not widths:
        return ""
    (usual, _), *_ = Counter(widths.values()).most_common(1)
    by_beam: dict[int, list[str]] = {}
    for name, beam in widths.items():
        if beam != usual:
            by_beam.setdefault(beam, []).append(shown(name.removeprefix("karel/"), LONGEST))
    others = [f"{beam} on {' and '.join(names)}" for beam, names in by_beam.items()]
    return ", ".join([*others, f"{usual} {'elsewhere' if others else 'on every test set'}"])


def tries(results: Sequence[Result]) -> str:
    """Return after how many draws a search for valid worlds ends; empty if no result has it."""
    counts = dict.fromkeys(result.tries for result in results if result.tries)
    return " or ".join(f"{count:,}" for count in counts)
