"""A text as measures see it: its words, tokens, numbers and brackets, each worked out once.

A token is a word or name, a number, or one other character that is no space.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Sequence
from functools import cached_property, lru_cache
from typing import Any

_TOKEN = re.compile(r"\d+(?:\.\d+)?|[^\W\d]\w*|[^\w\s]")
_WORD = re.compile(r"\S+")
_SIGNED = re.compile(r"(?:(?<![\w.)\]])[-−])?(?<![\w.])\d+(?:\.\d+)?(?!\w|\.\d)")
OPERATORS = frozenset("+-*/%^=<>&|!~×÷·−≤≥≠±")
_OPEN, _CLOSE = "([{", ")]}"
_BRACKETS = re.compile(r"[()\[\]{}]")
LONGEST = 100_000  # characters of a text that are looked at for tokens
_MOST_DIGITS = 300
KEPT, KEPT_LENGTH = (
    4096,
    4096,
)  # texts that are kept with their parts, and characters of such a text


class Text:
    """The parts of one text. Each is worked out when it is first asked for."""

    def __init__(self, text: str) -> None:
        """Take the text."""
        self.text = text

    @cached_property
    def words(self) -> list[str]:
        """The parts between spaces."""
        return self.text.split()

    @cached_property
    def tokens(self) -> list[str]:
        """The tokens of the text."""
        return _TOKEN.findall(self.text[:LONGEST])

    @cached_property
    def folded(self) -> list[str]:
        """The tokens in lower case."""
        return _TOKEN.findall(self.text[:LONGEST].lower())

    @cached_property
    def counts(self) -> Counter[str]:
        """How often each token comes, as it is written and in lower case."""
        counts = Counter(self.folded)
        for token in self.tokens:
            if token != token.lower():
                counts[token] += 1
        return counts

    @cached_property
    def pairs(self) -> Counter[tuple[str, str]]:
        """How often two tokens in lower case follow each other."""
        return Counter(zip(self.folded, self.folded[1:], strict=False))

    @cached_property
    def names(self) -> list[str]:
        """The tokens that are words or names, in lower case."""
        return [token for token in self.folded if token[0].isalpha() or token[0] == "_"]

    @cached_property
    def numbers(self) -> list[int | float]:
        """The numbers that stand alone; a minus after another number or a bracket is none."""
        found = _SIGNED.findall(self.text[:LONGEST])
        return [_number(text.replace("−", "-")) for text in found if len(text) <= _MOST_DIGITS]

    @cached_property
    def operators(self) -> list[str]:
        """The operators: + - * / and other signs of arithmetic and comparison."""
        return [token for token in self.tokens if token in OPERATORS]

    @cached_property
    def depths(self) -> list[int]:
        """How many brackets are open around each token that is a word or a number."""
        return [depth for token, depth, _ in self._levels if token[0].isalnum()]

    @cached_property
    def deepest(self) -> int:
        """How many brackets are open at most."""
        return max((depth for _, depth, _ in self._levels), default=0)

    @cached_property
    def _levels(self) -> list[tuple[str, int, int]]:
        """For each token: the token, the number of open brackets around it, and its place."""
        depth, levels = 0, []
        for place, token in enumerate(self.tokens):
            depth -= token in _CLOSE and depth > 0
            depth += token in _OPEN
            levels.append((token, depth, place))
        return levels

    @cached_property
    def brackets(self) -> int:
        """The number of pairs of brackets."""
        opened, pairs = Counter[str](), 0
        for bracket in _BRACKETS.findall(self.text):
            at = _CLOSE.find(bracket)
            if at < 0:
                opened[bracket] += 1
            elif opened[_OPEN[at]]:
                opened[_OPEN[at]] -= 1
                pairs += 1
        return pairs

    def depth_without(self, label: str) -> int:
        """Return how many brackets are open at most, if those after a label do not count."""
        opened: list[bool] = []  # whether each open bracket counts
        deepest, depth, before = 0, 0, ""
        for token in self.tokens:
            if token in _OPEN:
                opened.append(before != label)
                depth += opened[-1]
                deepest = max(deepest, depth)
            elif token in _CLOSE and opened:
                depth -= opened.pop()
            before = token
        return deepest

    def main_operator(self) -> str | None:
        """Return the last of the operators that bind least, outside of most brackets."""
        best, found, before = (0, 0), None, ""
        for token, depth, _ in self._levels:
            binary = before[:1].isalnum() or before in _CLOSE
            if token in OPERATORS and before and binary:
                rank = (-depth, -_binding(token))
                if found is None or rank >= best:
                    best, found = rank, token
            before = token
        return found

    def occurrences(self, wanted: Sequence[str]) -> int:
        """Return how often any of some words or token sequences comes."""
        return sum(self._occurs(one) for one in wanted)

    def _occurs(self, wanted: str) -> int:
        """Return how often a word comes. A word in lower case stands for any case."""
        parts = split(wanted)
        if len(parts) == 1:
            return self.counts[parts[0]]
        any_case = wanted == wanted.lower()
        if len(parts) == 2 and any_case:
            return self.pairs[parts[0], parts[1]]
        if not parts:
            return self.text.count(wanted)
        tokens = self.folded if any_case else self.tokens
        size = len(parts)
        ends = range(len(tokens) - size + 1)
        return sum(tokens[at] == parts[0] and tuple(tokens[at : at + size]) == parts for at in ends)


def text_of(value: Any) -> Text | None:
    """Return the view of a text; None for another value.

    The last few texts are kept, so that several measures of some rows split each text once.
    """
    if not isinstance(value, str):
        return None
    return _kept(value) if type(value) is str and len(value) <= KEPT_LENGTH else Text(value)


@lru_cache(maxsize=KEPT)
def _kept(text: str) -> Text:
    return Text(text)


@lru_cache(maxsize=4096)
def split(wanted: str) -> tuple[str, ...]:
    """Return the tokens of a word that is looked for."""
    return tuple(_TOKEN.findall(wanted))


def with_tokens(text: str, change: Callable[[str], str]) -> str:
    """Return a text with each of its tokens changed."""
    return _TOKEN.sub(lambda match: change(match[0]), text)


def with_words(text: str, change: Callable[[str], str]) -> str:
    """Return a text with each of its words changed."""
    return _WORD.sub(lambda match: change(match[0]), text)


def _binding(operator: str) -> int:
    """Return how strongly an operator binds."""
    if operator in "*/%×÷·":
        return 2
    return 3 if operator in "^!~" else 1 if operator in "+-−±" else 0


def _number(text: str) -> int | float:
    return float(text) if "." in text else int(text)
