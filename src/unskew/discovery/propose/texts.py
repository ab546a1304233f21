"""Features of texts: lengths, characters, words, brackets, numbers, lines."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from unskew.core.variables.measures.text import Text
from unskew.discovery.proposal import Field, Null
from unskew.discovery.propose.make import Made, of_measure, of_measures
from unskew.discovery.propose.tokens import Vocabulary, token_features

# What a generator chooses.
_CHOSEN = (
    *("first_word", "second_word", "last_word", "starts", "ends", "case", "script"),
    *("lines", "blank_lines", "indentation", "depth", "first_character", "last_character"),
    *("sentences", "leading_brackets", "trailing_brackets", "first_number", "last_number"),
    "longest_number",
)
# Sums and means of many parts.
_SUMS = (
    *("words", "tokens", "brackets", "mean_depth", "operators", "numbers", "longest_line"),
    *("largest_number", "smallest_number", "sum_of_numbers", "even_numbers", "round_numbers"),
    *("fractions", "characters", "letters", "capitals", "figures", "spaces", "punctuation"),
    *("non_ascii", "distinct_characters", "distinct_words", "repeated_words", "mean_word"),
    *("longest_word", "shortest_word", "distinct_tokens", "distinct_numbers"),
)
# What follows from the words or tokens.
_FOLLOWS = (
    *("longest_run", "is_palindrome", "in_order", "most_repeated", "doubled", "first_token"),
    *("last_token", "token_kinds", "operator_kinds", "first_operator", "last_operator"),
    *("main_operator", "number_order", "deeper_side"),
)
_NULLS: tuple[tuple[Sequence[str], Null], ...] = ((_SUMS, "bell"), (_FOLLOWS, "chance"))
_COUNTS = frozenset(
    {"words", "tokens", "brackets", "operators", "numbers", "sentences", "capitals", "figures"}
    | {"punctuation", "non_ascii", "repeated_words", "doubled", "depth", "distinct_numbers"}
)


def texts(field: Field, rng: np.random.Generator) -> Iterator[Made]:
    """Propose lengths, characters, words and numbers of texts, and what is in their tokens."""
    vocabulary = Vocabulary.of(field)
    if vocabulary.is_small:
        references = (vocabulary.redrawn(field, rng),) if vocabulary.classes else ()
    else:
        references = (shuffled(field, rng),)
    yield from of_measures(field, _CHOSEN)
    for names, null in _NULLS:
        for name in names:
            least = 0 if name in _COUNTS else None
            yield from of_measure(field, name, null=null, references=references, least=least)
    yield from token_features(field, vocabulary, rng)


def shuffled(field: Field, rng: np.random.Generator) -> Field:
    """Return texts of as many words as the rows have, with the words of all rows shuffled."""
    parts = [Text(value).words if isinstance(value, str) else [] for value in field.values]
    pool = [word for words in parts for word in words]
    order = rng.permutation(len(pool)).tolist()
    mixed: list[str | None] = []
    at = 0
    for words, value in zip(parts, field.values, strict=True):
        chosen = order[at : at + len(words)]
        at += len(words)
        mixed.append(" ".join([pool[i] for i in chosen]) if isinstance(value, str) else None)
    return field.with_values(mixed)
