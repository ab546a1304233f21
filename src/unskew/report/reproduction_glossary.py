"""What the words of Karel's experiments mean; numbers in it come from the results."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from html import escape

from unskew.report.reproduction_words import LONGEST, Result
from unskew.report.words import shown

TERMS = {
    "generalizes": "the first candidate program makes all six outputs, the held-out one too; on "
    "actions-test and on problems all pairs are shown, and none is held out",
    "original test set, msr-test": "recreated: programs and worlds like those of the original "
    "dataset, most of which is lost",
    "uniform worlds": "their size, share of walls and share of markers are drawn uniformly",
    "r_wall-r_marker-counts, narrow": "the share of cells that are walls, the share that hold "
    "markers, and how many these hold: G mostly one or two, U one to nine evenly, A mostly eight "
    "or nine",
    "covered": "the shown worlds together take every branch of the program",
    "whole, passes, stream": "how the training set is gone through: many times over a set as large "
    "as the original’s (whole), many times over a small one (passes), or as an endless stream, "
    "where a model’s name says neither",
    "baseline": "a model trained on data like the original’s",
    "uniform": "a model trained on uniform worlds",
    "augmented": "the baseline, with programs of actions alone added to its data",
    "beyond": "not in the paper: streams homogenized by what a program has (nesting, size, "
    "control flow), mixed with the data of the others; the longer one begins with weights that see "
    "what a program changed",
}


def glossary(results: Sequence[Result]) -> str:
    """Return the words and what they mean, to be unfolded."""
    terms = "".join(
        f"<div><dt>{escape(term)}</dt><dd>{escape(text)}</dd></div>"
        for term, text in {**TERMS, **dict(_counted(results))}.items()
    )
    return (
        "<details><summary>What the words mean</summary>"
        f'<dl class="glossary">{terms}</dl></details>'
    )


def _counted(results: Sequence[Result]) -> Iterator[tuple[str, str]]:
    """Return the words that need a number, where results have it."""
    tests = {name: test for result in results for name, test in (result.get("tests") or {}).items()}
    beams = {name: int(test["beam"]) for name, test in tests.items() if "beam" in test}
    if beams:
        yield "beam", f"how many candidate programs a model writes for a task: {_beams(beams)}"
    tries = dict.fromkeys(int(result["tries"]) for result in results if "tries" in result)
    if tries:
        yield (
            "programs without valid worlds",
            f"none were found in {' or '.join(f'{n:,}' for n in tries)} draws each; such programs "
            "are left out of a test set and counted under “What it was tested on”",
        )


def _beams(beams: Mapping[str, int]) -> str:
    """Name the test sets of every beam but the commonest."""
    (usual, _), *_ = Counter(beams.values()).most_common(1)
    by_beam: dict[int, list[str]] = {}
    for name, beam in beams.items():
        if beam != usual:
            by_beam.setdefault(beam, []).append(shown(name.removeprefix("karel/"), LONGEST))
    others = [f"{beam} on {' and '.join(names)}" for beam, names in by_beam.items()]
    return ", ".join([*others, f"{usual} {'elsewhere' if others else 'on every test set'}"])
