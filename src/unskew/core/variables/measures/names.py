"""The names of measures: ``words(prompt)``, ``remainder(answer, 3)``, ``bins(price, 5, 9)``.

The grammar of a name:

    name     = variable | change "(" variable { "," number } ")"
    variable = path | measure "(" path { "," path } { "," argument } ")"
    change   = "bins" | "clip" | "round_to"

An argument stands in double quotes, as in JSON, if it holds commas, brackets or quotes. So does a
path before an argument.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from itertools import pairwise

from unskew.core.errors import UnskewError
from unskew.core.variables.measures import (
    basic,
    chats,
    lists,
    nested,
    numbers,
    pairs,
    pictures,
    texts,
)
from unskew.core.variables.measures.measure import VALUE, Measure, quoted, unquoted

# Each family of measures, and what it measures.
FAMILIES: dict[str, Sequence[Measure]] = {
    "the most common": basic.MEASURES,
    "numbers": numbers.MEASURES,
    "characters of a text": texts.CHARACTERS,
    "words and lines of a text": texts.WORDS,
    "tokens of a text": texts.TOKENS,
    "lists": lists.MEASURES,
    "messages": chats.MEASURES,
    "nested data": nested.MEASURES,
    "arrays and images": pictures.MEASURES,
    "two values together": pairs.MEASURES,
}
MEASURES = {measure.name: measure for family in FAMILIES.values() for measure in family}
# What changes the values of a measure, with how it is written.
CHANGES = {
    "bins": "bins(words(prompt), 5, 10, 20)",
    "clip": "clip(count(tags), 0, 9)",
    "round_to": "round_to(price, 10)",
}
_CALL = re.compile(r"(\w+)\((.*)\)", re.DOTALL)
_NUMBERS = re.compile(r"(.*?)((?:,\s*[-+]?[\d.]+(?:[eE][-+]?\d+)?\s*)+)", re.DOTALL)
_PART = re.compile(r'\s*("(?:[^"\\]|\\.)*"|[^",][^,]*|)\s*(?:,|$)', re.DOTALL)
_LONGEST = 10_000  # characters of a name


@dataclass(frozen=True)
class Name:
    """What a name means: a measure of paths, and perhaps a change with its numbers."""

    measure: Measure
    paths: tuple[str, ...]
    change: str = ""
    numbers: tuple[float, ...] = ()


def is_call(text: str) -> bool:
    """Return whether a text is written like a measure."""
    return _CALL.fullmatch(text) is not None


def parse_name(text: str) -> Name:
    """Return what a name means, or raise an error that says how to write one."""
    call = _CALL.fullmatch(text) if len(text) <= _LONGEST else None
    if call is None:
        return Name(VALUE, (text,))
    if call[1] not in CHANGES:
        return Name(*_measure(text, call[1], call[2].strip()))
    split = _NUMBERS.fullmatch(call[2])
    if split is None or not split[1].strip():
        raise UnskewError(
            f"{text!r} names no numbers after what it changes; write it as {CHANGES[call[1]]}"
        )
    inner, edges = split[1].strip(), tuple(map(_number, split[2].split(",")[1:]))
    _check_change(text, call[1], edges)
    inside = _CALL.fullmatch(inner)
    if inside is None:
        return Name(VALUE, (unquoted(inner),), call[1], edges)
    if inside[1] in CHANGES:
        raise UnskewError(
            f"{text!r} changes what is changed already; keep one of {call[1]} and {inside[1]}"
        )
    return Name(*_measure(inner, inside[1], inside[2].strip()), call[1], edges)


def _check_change(text: str, change: str, numbers: Sequence[float]) -> None:
    wrong = {
        "bins": not all(low < high for low, high in pairwise(numbers)),
        "clip": len(numbers) != 2 or numbers[0] > numbers[-1],
        "round_to": len(numbers) != 1 or numbers[0] <= 0,
    }
    needs = {
        "bins": "edges that go up",
        "clip": "two numbers, the smaller one first",
        "round_to": "one number above 0",
    }
    if wrong[change]:
        raise UnskewError(
            f"{text!r} has the numbers {', '.join(f'{n:g}' for n in numbers)}; {change} needs "
            f"{needs[change]}: write it as {CHANGES[change]}"
        )


def _number(text: str) -> float:
    text = text.strip()
    try:
        return int(text) if text.lstrip("+-").isdigit() else float(text)
    except ValueError:
        raise UnskewError(f"{text!r} is no number; write it as 5, 0.25 or 1e6") from None


def _measure(text: str, name: str, inside: str) -> tuple[Measure, tuple[str, ...]]:
    """Return the measure that a text names, and the texts of its paths."""
    measure = MEASURES.get(name)
    if measure is None:
        known = [*MEASURES, *CHANGES]
        near = get_close_matches(name, known, n=1, cutoff=0.7)
        some = [measure.name for measure in basic.MEASURES]
        more = f"choose from {', '.join(some)}, … ({len(known) - len(some)} more)"
        hint = f"did you mean {near[0]!r}?" if near else more
        raise UnskewError(f"unknown measure {name!r}; {hint}")
    if not inside:
        raise UnskewError(f"{text!r} names nothing to measure; write it as {example(measure)}")
    if measure.takes is None and measure.paths == 1:
        return measure, (unquoted(inside),)
    most = -1 if measure.takes == "texts" else measure.paths - 1 + (measure.takes is not None)
    parts = [unquoted(part) for part in _split(text, inside, most)]
    paths, arguments = tuple(parts[: measure.paths]), parts[measure.paths :]
    if len(paths) < measure.paths or not all(paths):
        raise UnskewError(
            f"{text!r} names {len(paths)} of {measure.paths} paths; write it as {example(measure)}"
        )
    if measure.takes is None:
        return measure, paths
    if not arguments or not all(arguments):
        what = "number" if measure.takes == "number" else "label"
        raise UnskewError(f"{text!r} names no {what}; write it as {example(measure)}")
    if measure.takes == "number":
        return measure.with_arguments(_divisor(text, arguments[0], measure)), paths
    return measure.with_arguments(*arguments), paths


def _split(text: str, inside: str, most: int) -> list[str]:
    """Split at commas outside of quotes, at most so many times; the rest is the last part."""
    parts: list[str] = []
    at = 0
    while at <= len(inside):
        if len(parts) == most and not inside[at:].lstrip().startswith('"'):
            return [*parts, inside[at:]]
        part = _PART.match(inside, at)
        if part is None:
            raise UnskewError(
                f"{text!r} cannot be read from {inside[at:]!r} on; write a label with commas or "
                'quotes as "a, b", and quotes inside it as \\"'
            )
        parts.append(part[1])
        if part.end() == len(inside) and not part[0].endswith(","):
            break
        at = part.end()
    return parts


def _divisor(text: str, argument: str, measure: Measure) -> int:
    if not (argument.isascii() and argument.isdigit() and 0 < int(argument[:30]) < 10**18):
        raise UnskewError(
            f"{text!r} has {argument!r}; give a whole number from 1 to 10^18: {example(measure)}"
        )
    return int(argument)


def example(measure: Measure) -> str:
    """Return how a measure is written."""
    return measure.example or f"{measure.name}({_PATHS.get(measure.needs, 'answer')})"


_PATHS = {
    "text": "prompt",
    "a list": "tags",
    "a list of numbers": "numbers",
    "messages": "messages",
    "dates": "date",
    "dates with a time": "date",
    "an array or image": "image",
    "a dict": "info",
    "nested data": "info",
    "any value": "info.level",
}


def changed_name(change: str, name: str, numbers: Sequence[float]) -> str:
    """Return the name of a variable that is put into bins, clipped or rounded."""
    inner = name if is_call(name) else quoted(name)
    return f"{change}({inner}, {', '.join(repr(n).removesuffix('.0') for n in numbers)})"
