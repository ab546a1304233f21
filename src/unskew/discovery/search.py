"""From proposals to a short list: scored in a sample, and then again in all rows."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field, replace

from unskew.discovery.choose import Chosen, short_list, significant
from unskew.discovery.proposal import Proposal
from unskew.discovery.scored import AboutSkew, Question, Scored

FINALISTS = 50  # features that are measured again in all rows

BY_CHANCE = "features that are as chance would make them"
ALIKE = "features that are the same in all rows, or different in each"
NEAR = "features that say nearly the same as a finding"
IMPLIED = "features that follow from a finding, or are skewed only as it is"


@dataclass
class ShortList:
    """The features that were chosen, how many tests were made, and what was left out, and why."""

    chosen: Sequence[Chosen]
    tests: int
    left_out: Counter[str] = field(default_factory=Counter)


def search(
    proposals: Sequence[Proposal], question: Question, top: int, questions: int = 1
) -> ShortList:
    """Return the features that score best in a sample, without repeats.

    Where several questions are asked, each feature is tested as many times.
    """
    scores = question.scores(proposals)
    found = ShortList((), len(scores) * questions)
    found.left_out[ALIKE] = len(proposals) - len(scores)
    _choose(found, scores, question, top)
    return found


def search_again(
    proposals: Sequence[Proposal], before: ShortList, question: Question, top: int
) -> ShortList:
    """Return the features that score best in all rows, of those that a sample has shown.

    As many tests are counted as were made in the sample. What the sample showed to be alike comes
    together again.
    """
    words = tuple(one.scored for one in before.chosen if one.scored.proposal.null == "zipf")
    if isinstance(question, AboutSkew):
        question = replace(question, words=words)
    scores = question.scores(proposals)
    found = ShortList((), before.tests, Counter(before.left_out))
    found.left_out[BY_CHANCE] += len(proposals) - len(scores)
    _choose(found, scores, question, top)
    known = {one.scored.proposal.name: one for one in before.chosen}
    found.chosen = [_with(one, known) for one in found.chosen]
    return found


def _choose(found: ShortList, scores: Sequence[Scored], question: Question, top: int) -> None:
    is_found = significant([scored.p for scored in scores], found.tests)
    candidates = [scored for scored, yes in zip(scores, is_found, strict=True) if yes]
    found.left_out[BY_CHANCE] += len(scores) - len(candidates)
    found.chosen = short_list(candidates, top, question.about)
    near = sum(len(one.synonyms) for one in found.chosen)
    implied = sum(len(one.implied) for one in found.chosen)
    found.left_out[NEAR] += near
    found.left_out[IMPLIED] += implied
    more = len(candidates) - len(found.chosen) - near - implied
    found.left_out[f"findings beyond the first {top}, and what says the same"] += more


def _with(one: Chosen, known: dict[str, Chosen]) -> Chosen:
    """Return a chosen feature with all that it and its synonyms stood for in the sample."""
    names = [one.scored.proposal.name, *one.synonyms]
    same = [name for of in names for name in known[of].synonyms]
    follow = [name for of in [*names, *one.implied] for name in known[of].implied]
    also = [name for of in one.implied for name in known[of].synonyms]
    return replace(
        one,
        synonyms=tuple(dict.fromkeys([*one.synonyms, *same])),
        implied=tuple(dict.fromkeys([*one.implied, *also, *follow])),
    )
