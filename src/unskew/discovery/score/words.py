"""Words of a large vocabulary: which of them come in many more rows than words usually do."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from unskew.discovery.proposal import Proposal
from unskew.discovery.score.cells import counted
from unskew.discovery.score.skew import Skew
from unskew.discovery.score.tails import normal_tail

SAME_ROWS = 0.8  # of the rows with one of two words, the share that has both: they are one group
SLACK = 2.0  # times the step that Zipf's law allows from one word to the next
SLOT = 0.9  # share of the rows that have exactly one of some words: they fill the same place

Flags = NDArray[np.bool_]


def word_skews(proposals: Sequence[Proposal]) -> list[Skew | None]:
    """Return the skew of words of one path; None for a word that is as frequent as words are.

    By Zipf's law, the r-th most frequent word comes (r + 1) / r times as often as the next one.
    A word stands out if it, or one that is no more frequent, comes in more than twice as many rows
    as this step allows. If the words that stand out fill one place, one of them in each row, they
    are compared with each other: then each should come equally often.
    """
    if not proposals:
        return []
    flags = np.stack([_has(proposal) for proposal in proposals])
    groups = _groups(flags)
    rows = [int(flags[group[0]].sum()) for group in groups]
    found: list[Skew | None] = [None] * len(proposals)
    head = _head(rows)
    if not head:
        return found
    n, j, chance = flags.shape[1], *head
    slot = flags[[group[0] for group in groups[:j]]].sum(axis=0)
    is_slot = j > 1 and float((slot == 1).mean()) >= SLOT
    for rank, group in enumerate(groups[:j], start=1):
        usual = 1 / j if is_slot else min(0.5, rows[j] / n * (j + 1) / rank)
        share = rows[rank - 1] / n
        if share <= usual:
            continue
        kl = _bernoulli(share, usual)
        p = normal_tail((share - usual) / math.sqrt(usual * (1 - usual) / n)) if is_slot else chance
        for place in group:
            found[place] = Skew(
                "zipf",
                kl,
                min(1.0, kl / math.log(2)),
                share - usual,
                p,
                (),
                1.0,
                counted(proposals[place].values),
                {True: usual, False: 1 - usual},
            )
    return found


def _head(rows: Sequence[int]) -> tuple[int, float] | None:
    """Return after how many words the widest step is, and how probable it is; None if no step."""
    widest: tuple[float, int, float] | None = None
    for j in range(1, len(rows)):
        allowed = SLACK * (j + 1) / j
        both, share = rows[j - 1] + rows[j], allowed / (1 + allowed)
        step = rows[j - 1] / max(1, rows[j]) / allowed
        if step > 1 and (widest is None or step > widest[0]):
            z = (rows[j - 1] - both * share - 0.5) / math.sqrt(both * share * (1 - share))
            widest = step, j, normal_tail(z)
    return widest and widest[1:]


def _has(proposal: Proposal) -> Flags:
    yes = np.array([value is True for value in proposal.values.distinct], dtype=np.bool_)
    flags: Flags = yes[proposal.values.codes]
    return flags


def _groups(flags: Flags) -> list[list[int]]:
    """Return words with nearly the same rows together, the most frequent first."""
    rows = flags.sum(axis=1)
    numbers = flags.astype(np.float32)
    both = numbers @ numbers.T
    either = rows[:, None] + rows[None, :] - both
    groups: list[list[int]] = []
    for place in np.argsort(-rows, kind="stable").tolist():
        for group in groups:
            if both[place, group[0]] >= SAME_ROWS * max(1.0, either[place, group[0]]):
                group.append(place)
                break
        else:
            groups.append([place])
    return groups


def _bernoulli(p: float, q: float) -> float:
    """Return the divergence of a yes with probability p from one with probability q."""
    terms = [(p, q), (1 - p, 1 - q)]
    return sum(a * math.log(a / max(b, 1e-12)) for a, b in terms if a > 0)


def word_again(proposal: Proposal, before: Skew) -> Skew:
    """Return the skew of a word in other rows, against what was usual in a sample."""
    counts = counted(proposal.values)
    rows, usual = sum(counts.values()), before.usual[True]
    share = counts.get(True, 0) / rows
    kl = _bernoulli(share, usual) if share > usual else 0.0
    p = normal_tail((share - usual) / math.sqrt(usual * (1 - usual) / rows))
    return replace(
        before,
        kl=kl,
        effect=min(1.0, kl / math.log(2)),
        total_variation=max(0.0, share - usual),
        p=max(p, before.p),
        counts=counts,
    )
