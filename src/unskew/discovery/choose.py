"""Chooses a short list of features that does not repeat itself."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from unskew.core.variables.coded import Coded
from unskew.discovery.overlap import Overlaps
from unskew.discovery.proposal import Proposal
from unskew.discovery.score.tails import holm
from unskew.discovery.scored import Scored

# Share of datasets without skew in which any single feature may be found. With the 0.01 that
# combinations have (together.py), anything at all is found in at most one of twenty.
FALSE_ALARMS = 0.04
ALIKE = 0.9  # share of the entropy that each of two synonyms tells of the other
FOLLOWS = 0.98  # share of the entropy of a feature above which it follows from another one
EXPLAINED = 0.85  # share of a feature's score in nats that is that of a feature following from it
PENALTY = 0.5  # for a feature that others have said already


@dataclass(frozen=True)
class Chosen:
    """A proposal on the short list, and the names of those that it stands for.

    ``synonyms`` say the same. ``implied`` follow from it, or are skewed only as it is.
    """

    scored: Scored
    synonyms: tuple[str, ...] = ()
    implied: tuple[str, ...] = ()


def significant(chances: Sequence[float], tests: int | None = None) -> list[bool]:
    """Return which of many tests found something, by Holm's rule at 4 %.

    In at most one of twenty datasets without skew, anything at all is found, whatever the tests
    have to do with each other. ``tests`` is their number if some are not listed, as they failed.
    """
    silent = max(0, (tests or 0) - len(chances))
    adjusted = holm([*chances, *[1.0] * silent])
    return [bool(p <= FALSE_ALARMS) for p in adjusted[: len(chances)]]


def simplicity(proposal: Proposal) -> tuple[int, int, int, str]:
    """Return what sorts names by how simple they are: a path, a measure, a measure of measures."""
    name = proposal.name
    steps = name.count("(") + name.count(",")
    return len(proposal.paths), steps, len(name), name


def short_list(candidates: Sequence[Scored], top: int, about: Coded | None = None) -> list[Chosen]:
    """Return at most ``top`` candidates, those first that say most that the others do not.

    Near-synonyms come under the simplest name. The first is the one with the largest score. The
    score of each other one counts less, by up to half, the more of it the chosen ones say. What
    follows from a chosen one comes under it. So does what is skewed only as a chosen one is that
    follows from it: numbers of which too many are even are skewed in their parity alone.

    Args:
        candidates: what may be chosen, of the same rows.
        top: how many at most.
        about: the answers or failures that the scores are about; None if they are about skew.
    """
    ordered = sorted(candidates, key=lambda candidate: simplicity(candidate.proposal))
    features = [candidate.proposal.values for candidate in ordered]
    groups = _groups(Overlaps(features))
    leaders = [_leader(group, ordered) for group in groups]
    overlaps = Overlaps(features, about)
    waiting = {leader: (0.0, group) for leader, group in zip(leaders, groups, strict=True)}
    chosen: list[int] = []
    implied: dict[int, list[int]] = {}
    members: dict[int, list[int]] = {}

    def worth(place: int) -> float:
        return ordered[place].score * (1 - PENALTY * waiting[place][0])

    while waiting and len(chosen) < top:
        best = _simplest(overlaps, ordered, max(waiting, key=worth), list(waiting))
        members[best] = waiting.pop(best)[1]
        chosen.append(best)
        implied[best] = []
        for place, (said, group) in list(waiting.items()):
            if _is_implied(overlaps, ordered, place, best):
                implied[best] += [place, *(other for other in group if other != place)]
                del waiting[place]
            else:
                waiting[place] = max(said, overlaps.said(place, best)), group
    return [
        Chosen(
            ordered[place],
            tuple(ordered[other].proposal.name for other in members[place] if other != place),
            tuple(ordered[other].proposal.name for other in implied[place]),
        )
        for place in chosen
    ]


def _leader(group: Sequence[int], candidates: Sequence[Scored]) -> int:
    """Return the simplest feature of a group whose score is at least half of the best one."""
    best = max(candidates[place].score for place in group)
    return next(place for place in group if 2 * candidates[place].score >= best)


def _simplest(
    overlaps: Overlaps, candidates: Sequence[Scored], best: int, waiting: Sequence[int]
) -> int:
    """Return the feature of fewest paths and values that says what the best one says of others."""
    if not overlaps.is_about_others:
        return best
    same = [place for place in waiting if overlaps.said(best, place) >= EXPLAINED]

    def order(place: int) -> tuple[int, float, int]:
        return len(candidates[place].proposal.paths), overlaps.entropies[place], place

    return min([best, *same], key=order)


def _is_implied(overlaps: Overlaps, candidates: Sequence[Scored], place: int, chosen: int) -> bool:
    """Return whether a chosen feature leaves nothing to say about another one."""
    if overlaps.is_about_others:
        return overlaps.said(place, chosen) >= EXPLAINED
    if min(overlaps.entropies[place], overlaps.entropies[chosen]) == 0:
        return False  # all rows are alike in one of the two
    if overlaps.follows(place, chosen, FOLLOWS):
        return True
    explained = candidates[chosen].nats >= EXPLAINED * candidates[place].nats
    return explained and overlaps.follows(chosen, place, FOLLOWS)


def _groups(overlaps: Overlaps) -> list[list[int]]:
    """Return groups of features that say the same; the first of each is the simplest one.

    A feature belongs to the first group whose simplest feature is its synonym.
    """
    groups: list[list[int]] = []
    for place in range(len(overlaps.entropies)):
        for group in groups:
            if overlaps.alike(place, group[0], ALIKE):
                group.append(place)
                break
        else:
            groups.append([place])
    return groups
