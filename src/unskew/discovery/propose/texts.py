"""Features of texts: lengths, characters, words, brackets, numbers, lines."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

import numpy as np

from unskew.discovery.derived import unjudged
from unskew.discovery.proposal import Field, Null, Proposal
from unskew.discovery.propose.make import Made, of_measure
from unskew.discovery.propose.tokens import Vocabulary, token_features
from unskew.discovery.scored import is_skewed

# What a generator chooses, or what follows from words that it draws.
_CHOSEN = (
    *("first_word", "second_word", "last_word", "first_token", "last_token", "first_character"),
    *("case", "first_operator", "last_operator", "first_number", "last_number", "longest_number"),
)
_FORMS = ("script", "lines", "blank_lines", "indentation")
# Lengths, which are sums of many parts.
_SUMS = ("words", "brackets", "depth", "operators", "numbers")
_DERIVED = (
    "sentences",
    *("leading_brackets", "trailing_brackets", "longest_line", "largest_number"),
    *("smallest_number", "sum_of_numbers", "letters", "capitals", "figures", "spaces"),
    *("punctuation", "fractions", "non_ascii", "distinct_characters", "distinct_words"),
    *("repeated_words", "mean_word", "longest_word", "shortest_word", "distinct_tokens"),
    "distinct_numbers",
)
# Lengths that follow from the number of parts: they are a skew only if that is one.
_LENGTHS = ("tokens", "characters", "mean_depth")
# What follows from the words or tokens.
_FOLLOWS = (
    *("longest_run", "is_palindrome", "in_order", "most_repeated", "doubled", "token_kinds"),
    *("operator_kinds", "main_operator", "number_order", "deeper_side"),
)
_DRAWN = ("even_numbers", "round_numbers")
_COUNTS = frozenset(
    {"brackets", "sentences", "capitals", "figures"}
    | {"punctuation", "non_ascii", "repeated_words", "doubled", "depth", "distinct_numbers"}
)


def texts(field: Field, rng: np.random.Generator) -> Iterator[Made]:
    """Propose lengths, characters, words and numbers of texts, and what is in their tokens."""
    vocabulary = Vocabulary.of(field)
    drawn = (vocabulary.redrawn(field, rng),)
    mixed = (vocabulary.mixed(field, rng) if vocabulary.is_small else shuffled(field, rng),)
    references = (*drawn, *mixed) if vocabulary.is_small else mixed
    words = {len(value.split()) for value in field.distinct if isinstance(value, str)}
    in_place = (shuffled(field, rng, in_place=True),) if len(words) == 1 and words != {1} else ()
    groups: tuple[tuple[Sequence[str], Null, Sequence[Field]], ...] = (
        (_CHOSEN, "even", references),
        (("starts", "ends"), "even", (mirrored(field),)),
        (_FORMS, "even", ()),
        (("last_character",), "even", references if _ends_in_words(field) else ()),
        (_SUMS, "bell", ()),
        (_DERIVED, "hill", in_place or references),
        (_FOLLOWS, "chance", in_place or references),
        (_DRAWN, "chance", drawn),
    )
    for names, null, by_chance in groups:
        for name in names:
            if name == "distinct_tokens" and vocabulary.is_small:
                continue  # which tokens come says more
            least = 0 if name in _COUNTS else None
            yield from of_measure(field, name, null=null, references=by_chance, least=least)
    of_parts = _number_of_parts(field, vocabulary)
    for name in _LENGTHS:
        for made in of_measure(field, name, null="bell"):
            follows = isinstance(made, Proposal) and of_parts and not is_skewed(of_parts)
            yield unjudged(made) if isinstance(made, Proposal) and follows else made
    yield from token_features(field, vocabulary, rng)


def _number_of_parts(field: Field, vocabulary: Vocabulary) -> Proposal | None:
    """Return how many numbers an expression has, or else how many units of its largest class."""
    if not vocabulary.is_small:
        return None
    classes = [group for group in vocabulary.classes if group not in vocabulary.slots]
    made = [*of_measure(field, "numbers", null="bell")]
    for group in sorted(classes, key=len, reverse=True)[:1]:
        made += of_measure(field, "occurrences", *group, null="bell")
    return next((one for one in made if isinstance(one, Proposal)), None)


def _ends_in_words(field: Field) -> bool:
    """Return whether many texts end with a letter or a digit, which a word decides."""
    last = [value[-1:].isalnum() for value in field.values if isinstance(value, str)]
    return sum(last) > len(last) / 20


_CORE = re.compile(r"\w+(?:\S*\w)?")
_STARTS = re.compile(r"(?:^|[.!?…]\s+)\W*(?=\w)")


def mirrored(field: Field) -> Field:
    """Return the texts from right to left."""
    swap = str.maketrans("()[]{}", ")(][}{")
    return field.with_values(
        [v[::-1].translate(swap) if isinstance(v, str) else None for v in field.values]
    )


def shuffled(field: Field, rng: np.random.Generator, *, in_place: bool = False) -> Field:
    """Return texts in which the words of all rows are shuffled; punctuation stays where it is.

    Sentences begin with a capital letter where they did so before. With ``in_place``, the texts
    have equally many words, and each word is one that stands in the same place in some row.
    """
    if in_place:
        rows = [value.split() for value in field.values if isinstance(value, str)]
        columns = [rng.permutation(np.array(c, dtype=object)) for c in zip(*rows, strict=True)]
        texts = iter([" ".join(words) for words in zip(*columns, strict=True)])
        return field.with_values([next(texts) if isinstance(v, str) else v for v in field.values])
    values = [value if isinstance(value, str) else "" for value in field.values]
    starts = [{m.end() for m in _STARTS.finditer(value)} for value in values]
    words = [list(_CORE.finditer(value)) for value in values]
    pool = [
        _lowered(match[0]) if match.start() in first else match[0]
        for first, matches in zip(starts, words, strict=True)
        for match in matches
    ]
    order = iter(rng.permutation(len(pool)).tolist())

    def other(match: re.Match[str], first: set[int]) -> str:
        word = pool[next(order)]
        capital = match.start() in first and match[0][:1].isupper()
        return f"{word[:1].upper()}{word[1:]}" if capital else word

    mixed = [
        _CORE.sub(lambda match: other(match, first), value)  # noqa: B023 - called at once
        for value, first in zip(values, starts, strict=True)
    ]
    return field.with_values(
        [text if isinstance(v, str) else None for text, v in zip(mixed, field.values, strict=True)]
    )


def _lowered(word: str) -> str:
    return f"{word[:1].lower()}{word[1:]}"
