"""What the head of the page says about all results: facts, and the numbers of the glossary."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence

from unskew.audits.report.words import shown
from unskew.experiments.table import FULL, LONGEST, Result, duration

WIDE = 14  # characters of a fact; a longer fact gets a row of its own


def facts(results: Sequence[Result]) -> list[tuple[str, str, bool]]:
    """Return facts about all experiments, each with its name and whether it is long."""
    cells = [cell for result in results for table in result.tables for cell in table.to_run]
    run = [cell for cell in cells if cell.ours is not None]
    compared = sum(cell.paper is not None for cell in run)
    terms = {
        "Experiments": str(len(results)),
        "Numbers": f"{len(run):,} of {len(cells):,} run, {compared:,} next to a number of the "
        "paper",
        "Time": _time(results),
        "Hardware": _distinct(results, "hardware"),
        "Version": _distinct(results, "unskew"),
        **_code(results),
    }
    return [(term, text, len(text) > WIDE) for term, text in terms.items() if text]


def _code(results: Sequence[Result]) -> dict[str, str]:
    """Return the commits that made the results, and the hash of the code if one is unknown."""
    commits = _distinct(results, "commit")
    code = {"Commit": re.sub(r"\b([0-9a-f]{10})[0-9a-f]{30}\b", r"\1", commits)}
    are_known = all(result.provenance.get("commit") for result in results)
    if not are_known or "unknown" in commits or "changed" in commits:
        code["Source"] = _distinct(results, "source_sha256")
    return code


def _time(results: Sequence[Result]) -> str:
    """Add up the time of all trainings; models that experiments share count once."""
    trained = {
        training["hash"]: training for result in results for training in result.trainings
    }.values()
    seconds = sum(float(training["seconds"]) for training in trained)
    seconds += sum(result.seconds for result in results if not result.trainings)
    overlap = any(int(training.get("at_once", 1)) > 1 for training in trained)
    return duration(seconds) + (" in total; some trainings ran at the same time" if overlap else "")


def not_full(results: Sequence[Result]) -> str:
    """Name the experiments that did not run at full scale, with their scales."""
    return ", ".join(
        f"{result.title} ({result.scale})" for result in results if result.scale != FULL
    )


def _distinct(results: Sequence[Result], fact: str) -> str:
    """List the different values of a fact in the provenance of the results."""
    texts = (str(result.provenance.get(fact) or "") for result in results)
    # An experiment whose models differ in a fact has a list of values already.
    values = dict.fromkeys(part for text in texts for part in text.split("; ") if part)
    return "; ".join(shown(value, LONGEST) for value in values)


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
