"""Numbers that the glossary of Karel's experiments names, from the results."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from unskew.audits.report.words import shown
from unskew.experiments.page.words import LONGEST, Result


def beams(results: Sequence[Result]) -> str:
    """Say how wide the beam was, on which test sets; empty where no result says it."""
    tests = {name: test for result in results for name, test in (result.get("tests") or {}).items()}
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
    """Say in how many draws no valid worlds were found; empty where no result says it."""
    found = dict.fromkeys(int(result["tries"]) for result in results if "tries" in result)
    return " or ".join(f"{count:,}" for count in found)
