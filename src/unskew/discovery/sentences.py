"""What was found of a feature, as a sentence for a person and as numbers by name."""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from typing import Any

import numpy as np

from unskew.audits.report.words import percent, shown, some
from unskew.discovery.combinations.failing import Slice
from unskew.discovery.combinations.joint import Joint
from unskew.discovery.combinations.terms import Term
from unskew.discovery.score.failure import Failure
from unskew.discovery.score.shift import Shift, Shifted
from unskew.discovery.score.shortcut import Blind, Shortcut
from unskew.discovery.score.skew import Skew
from unskew.discovery.scored import Scored
from unskew.discovery.short import short_name

FEW = 12  # values; of more numbers, the middle says more than the most frequent one
STRIKING = 0.2  # by which a share is larger than usual: then the value is worth naming


def sentence(scored: Scored) -> str:
    """Return what was found of a feature."""
    name, told = short_name(scored.proposal.name), scored.evidence
    if isinstance(told, Skew):
        return " ".join(filter(None, [_skew(name, told), _missing(name, told)]))
    if isinstance(told, Shortcut):
        return (
            f"A model that reads nothing but {name} scores {told.score:.2f}; always the same "
            f"answer scores {told.blind:.2f}."
        )
    if isinstance(told, Failure):
        worst = told.values[0]
        if split := _split(told):
            side, inside, outside = split
            return (
                f"The model fails in {percent(inside)} of the rows with {name} of {side}, and in "
                f"{percent(outside)} of the others."
            )
        return (
            f"The model fails in {percent(worst.rate)} of the {some(worst.rows, 'row')} with "
            f"{name} = {value(worst.value)}, and in {percent(worst.rest)} of the others."
        )
    return _shift(name, told)


def label_of(terms: Sequence[Term]) -> str:
    """Return values of several features as a text: ``size = 3, kind = 'sum'``."""
    return ", ".join(f"{short_name(name)} = {value(one)}" for name, one in terms)


def slice_sentence(told: Slice) -> str:
    """Return how often a model fails in a combination of values."""
    return (
        f"The model fails in {percent(told.rate)} of the {some(told.rows, 'row')} with "
        f"{_both(told.terms)}, and in {percent(told.rest)} of the others; of the rows with "
        f"{'one' if len(told.terms) == 2 else 'two'} of these alone, in at most "
        f"{percent(told.part)}."
    )


def joint_sentence(told: Joint) -> str:
    """Return how often a combination of values comes, and how often it should."""
    rows = f"{some(told.rows, 'row')} have" if told.rows != 1 else "1 row has"
    lead = rows if told.rows else "No row has"
    why = (
        "the two had nothing to do with each other"
        if len(told.terms) == 2
        else "each two of them came as they do, and nothing else mattered"
    )
    return f"{lead} {_both(told.terms)}; it would be about {told.expected:,.0f} if {why}."


def _both(terms: Sequence[Term]) -> str:
    named = [f"{short_name(name)} = {value(one)}" for name, one in terms]
    return f"{', '.join(named[:-1])} and {named[-1]}"


def blind_sentence(blind: Blind) -> str:
    """Return what a policy scores that does not read the question."""
    return (
        f"{percent(blind.share)} of the rows have the answer {value(blind.answer)}; a model that "
        f"never reads the question scores {blind.score:.2f}."
    )


def measures(scored: Scored) -> dict[str, Any]:
    """Return the numbers behind a score, by name."""
    told = scored.evidence
    if isinstance(told, Skew):
        return {
            "null": told.null,
            "kl": told.kl,
            "total_variation": told.total_variation,
            "missing": told.missing,
        }
    if isinstance(told, Shortcut):
        interval = (told.low, told.high)
        return {"accuracy": told.score, "interval": interval, "blind": told.blind}
    if isinstance(told, Failure):
        worst = told.values[0]
        return {
            "value": worst.value,
            "rows": worst.rows,
            "rate": worst.rate,
            "interval": (worst.low, worst.high),
            "rest": worst.rest,
        }
    most = told.values[0]
    return {
        "total_variation": told.variation,
        "value": most.value,
        "here": most.here,
        "there": most.there,
    }


def value(value: Hashable) -> str:
    """Return a value as a sentence names it: a text in quotes, unless it has some."""
    return repr(shown(value, 40)) if isinstance(value, str) else shown(value, 40)


def _split(failure: Failure) -> tuple[str, float, float] | None:
    """Return the half line of many numbers in which a model fails most, and both rates."""
    ordered = {one.value: one for one in failure.values if type(one.value) in (int, float)}
    if len(ordered) <= FEW or len(ordered) < len(failure.values):
        return None
    values = [ordered[value] for value in sorted(ordered)]  # type: ignore[type-var]
    rows = np.cumsum([one.rows for one in values], dtype=float)
    failed = np.cumsum([one.rows * one.rate for one in values])
    below = failed[:-1] / rows[:-1]
    above = (failed[-1] - failed[:-1]) / (rows[-1] - rows[:-1])
    sure = (above - below) * np.sqrt(rows[:-1] * (rows[-1] - rows[:-1]))
    cut = int(np.abs(sure).argmax())
    if sure[cut] > 0:
        return f"{shown(values[cut + 1].value)} or more", float(above[cut]), float(below[cut])
    return f"{shown(values[cut].value)} or less", float(below[cut]), float(above[cut])


def _skew(name: str, skew: Skew) -> str:
    excess, numbers = skew.excess(), _numbers(skew.counts)
    if excess is not None and (
        numbers is None or len(skew.counts) <= FEW or excess[1] - excess[2] >= STRIKING
    ):
        most, share, usual = excess
        lead = f"{percent(share)} of the rows have {name} = {value(most)}"
        if skew.null == "even":
            return f"{lead}; it would be {percent(usual)} if all values came equally often."
        if skew.null == "zipf":
            return f"{lead}; words as frequent as the next ones come in {percent(usual)}."
        return f"{lead}; it would be {percent(usual)} by chance."
    if numbers is None:
        most = max(skew.counts, key=lambda v: skew.counts[v])
        share = skew.counts[most] / skew.rows
        of = f"one of {len(skew.counts):,} values"
        return f"{percent(share)} of the rows have {name} = {value(most)}, {of}."
    return _middle(name, numbers)


def _middle(name: str, counts: Mapping[float, int]) -> str:
    """Say where half of the rows are in the range of their numbers."""
    ordered = sorted(counts)
    low, high = ordered[0], ordered[-1]
    half, held = sum(counts.values()) / 2, 0
    for middle in ordered:
        held += counts[middle]
        if held >= half:
            break
    if 2 * (middle - low) <= high - low:
        return (
            f"Half of the rows have {name} of {shown(middle)} or less; the largest is "
            f"{shown(high)}."
        )
    return f"Half of the rows have {name} of {shown(middle)} or more; the smallest is {shown(low)}."


def _numbers(counts: Mapping[Hashable, int]) -> Mapping[float, int] | None:
    """Return the counts of numbers; None if the values are no numbers."""
    there = {value: n for value, n in counts.items() if value is not None}
    if any(type(value) not in (int, float) for value in there):
        return None
    return there  # type: ignore[return-value]


def _missing(name: str, skew: Skew) -> str:
    if not skew.missing:
        return ""
    values = ", ".join(map(value, skew.missing[:3]))
    more = f" and {len(skew.missing) - 3:,} more" if len(skew.missing) > 3 else ""
    return f"No row has {name} = {values}{more}, though the values next to it are frequent."


def _shift(name: str, shift: Shift) -> str:
    def told(one: Shifted) -> str:
        return (
            f"{percent(one.here)} of the rows have {name} = {value(one.value)}; in the other data "
            f"it is {percent(one.there)}."
        )

    for side, where in ((shift.only_here, "this data"), (shift.only_there, "the other data")):
        if side and max(side[0].here, side[0].there) >= STRIKING:
            return f"{told(side[0])} Only {where} has it."
    return told(shift.values[0])
